// SPDX-License-Identifier: Apache-2.0
// CSR to sliced DIA (spmv/sdia_cpu.cl): the rows of a slice are merged by their offsets, column minus row, least first.
// Source:  as spmv/sdia_pack_gpu.cl.
// Mapping: 1-D; `chunk` slices per work-item, then strides by the global size.
// Local:   none.
// Needs:   The fill: what the count found, and rows whose columns ascend.
// Gives:   sdia_count_cpu: size[i] = slots of slice i*slices/count, i < count (less than all of them: a sample), but no
//          more than limit*(its entries/32 + 1) where limit > 0; *unfit is 1 where columns of a row do not ascend,
//          and sizes are of no use. sdia_fill_cpu: slot and sdia_val (0 in padding).
// Order:   integers only.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif

#define ENDED     INT_MAX // no offset: the row has no more entries
#define UNORDERED INT_MIN // no offset: the next column is not greater

// The rows of a slice on their way: of each the offset at `p`.
struct rows {
    ofs_t p[32], stop[32];
    int head[32];
};

WEFT_INLINE void rows_begin(struct rows *s, __global const ofs_t *row_ptr, __global const idx_t *col, long first,
                            idx_t m)
{
    for (int r = 0; r < 32; r++) {
        s->p[r] = s->stop[r] = 0;
        if (first + r < m) {
            s->p[r] = row_ptr[first + r];
            s->stop[r] = row_ptr[first + r + 1];
        }
        s->head[r] = s->p[r] < s->stop[r] ? col[s->p[r]] - (idx_t)(first + r) : ENDED;
    }
}

WEFT_INLINE int rows_least(const struct rows *s)
{
    int least = ENDED;
    for (int r = 0; r < 32; r++)
        least = min(least, s->head[r]);
    return least;
}

WEFT_INLINE void row_advance(struct rows *s, int r, __global const idx_t *col, long first)
{
    const int next = ++s->p[r] < s->stop[r] ? col[s->p[r]] - (idx_t)(first + r) : ENDED;
    s->head[r] = next > s->head[r] ? next : UNORDERED;
}

// How many slots slices have: the size of a sample of them, or of all.
WEFT_KERNEL void sdia_count_cpu(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                __global long *restrict size, __global int *unfit, idx_t m, uint slices, uint count,
                                uint limit, uint chunk)
{
    for (ulong base = get_global_id(0) * chunk; base < count; base += get_global_size(0) * chunk)
        for (ulong i = base; i < min(base + chunk, (ulong)count); i++) {
            const long first = (long)(i * slices / count) * 32, last = min(first + 32, (long)m);
            const long most = limit ? limit * ((row_ptr[last] - row_ptr[first]) / 32 + 1) : LONG_MAX;
            struct rows s;
            rows_begin(&s, row_ptr, col, first, m);
            long slots = 0;
            int least = rows_least(&s);
            while (least != ENDED && least != UNORDERED && slots < most) {
                for (int r = 0; r < 32; r++)
                    if (s.head[r] == least)
                        row_advance(&s, r, col, first);
                least = rows_least(&s);
                slots++;
            }
            size[i] = slots;
            if (least == UNORDERED)
                atomic_or(unfit, 1);
        }
}

// The slots and values of each slice, at the places that the sizes of all say.
WEFT_KERNEL void sdia_fill_cpu(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                               __global const bits_t *restrict val, __global const long *restrict slice_ptr,
                               __global int2 *restrict slot, __global bits_t *restrict sdia_val, idx_t m, uint slices,
                               uint chunk)
{
    for (ulong base = get_global_id(0) * chunk; base < slices; base += get_global_size(0) * chunk)
        for (ulong slice = base; slice < min(base + chunk, (ulong)slices); slice++) {
            const long first = (long)slice * 32, end = slice_ptr[slice + 1];
            struct rows s;
            rows_begin(&s, row_ptr, col, first, m);
            for (long k = slice_ptr[slice]; k < end; k++) {
                const int least = rows_least(&s);
                uint mask = 0;
                for (int r = 0; r < 32; r++) {
                    const bool here = s.p[r] < s.stop[r] && s.head[r] == least;
                    mask |= (here ? 1u : 0u) << r;
#if WEFT_VAL_BITS > 0
                    sdia_val[k * 32 + r] = here ? val[s.p[r]] : (bits_t)0;
#endif
                    if (here)
                        row_advance(&s, r, col, first);
                }
                slot[k] = (int2)(least, (int)mask);
            }
        }
}
