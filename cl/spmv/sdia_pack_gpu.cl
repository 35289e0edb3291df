// SPDX-License-Identifier: Apache-2.0
// CSR to sliced DIA (spmv/sdia.cl): the rows of a slice are merged by their offsets, column minus row, least first.
// Source:  k-way merge; formats of diagonals within parts of a matrix: X. Sun, Y. Zhang et al., Optimizing SpMV for
//          Diagonal Sparse Matrices on GPU, ICPP 2011 (CRSD). Ours: each 32 rows have diagonals of their own, with a
//          mask of the rows that have an entry on each.
// Mapping: 1-D; 32 rows side by side per work-group, a row per work-item, then strides by the number of groups.
// Local:   where lanes have no shuffle 128 bytes.
// Needs:   WG is 32. The fill: what the count found, and rows whose columns ascend.
// Gives:   sdia_count: size[i] = slots of slice i*slices/count, i < count (less than all of them: a sample), but no more
//          than limit*(its entries/32 + 1) where limit > 0; *unfit is 1 where columns of a row do not ascend, and sizes
//          are of no use. sdia_fill: slot, with 8 zeros behind, and sdia_val (0 in padding).
// Order:   integers only.

#if WEFT_WG != 32
#error "WEFT_WG: work-group size, 32"
#endif

#define ENDED     INT_MAX // no offset: the row has no more entries
#define UNORDERED INT_MIN // no offset: the next column is not greater

// A row on its way: the offset at `p`, and the one behind, read ahead.
struct row {
    ofs_t p, stop;
    idx_t row;
    int head, next;
};

WEFT_INLINE int offset_after(const struct row *r, __global const idx_t *col)
{
    return r->stop - r->p > 1 ? col[r->p + 1] - r->row : ENDED;
}

WEFT_INLINE struct row row_begin(__global const ofs_t *row_ptr, __global const idx_t *col, ulong slice, idx_t m)
{
    const long i = (long)slice * 32 + (long)get_local_id(0);
    struct row r = {0, 0, (idx_t)i, ENDED, ENDED};
    if (i < m) {
        r.p = row_ptr[i];
        r.stop = row_ptr[i + 1];
    }
    if (r.p < r.stop)
        r.head = col[r.p] - r.row;
    r.next = offset_after(&r, col);
    return r;
}

WEFT_INLINE void row_advance(struct row *r, __global const idx_t *col)
{
    r->p++;
    r->head = r->next > r->head ? r->next : UNORDERED;
    r->next = offset_after(r, col);
}

// The least v of the 32 work-items. Uniform control flow.
WEFT_INLINE int least_of(int v, __local uint *mem)
{
#ifdef WEFT_LANES_FAST
    for (uint d = LANES / 2u; d > 0u; d >>= 1)
        v = min(v, (int)lane_get((uint)v, lane_id() ^ d, mem));
#else
    mem[lane_id()] = (uint)v;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < LANES; i++)
        v = min(v, (int)mem[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    return v;
}

// How many slots slices have: the size of a sample of them, or of all.
WEFT_KERNEL void sdia_count(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                            __global long *restrict size, __global int *unfit, idx_t m, uint slices, uint count,
                            uint limit)
{
    LANE_MEMORY(uint, mem);
    for (ulong i = get_group_id(0); i < count; i += get_num_groups(0)) {
        const ulong slice = i * slices / count;
        const long first = (long)slice * 32, last = min(first + 32, (long)m);
        const long most = limit ? limit * ((row_ptr[last] - row_ptr[first]) / 32 + 1) : LONG_MAX;
        struct row r = row_begin(row_ptr, col, slice, m);
        long slots = 0;
        int least = least_of(r.head, mem);
        while (least != ENDED && least != UNORDERED && slots < most) {
            if (r.head == least)
                row_advance(&r, col);
            least = least_of(r.head, mem);
            slots++;
        }
        if (get_local_id(0) == 0) {
            size[i] = slots;
            if (least == UNORDERED)
                atomic_or(unfit, 1);
        }
    }
}

// The slots and values of each slice, at the places that the sizes of all say.
WEFT_KERNEL void sdia_fill(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                           __global const bits_t *restrict val, __global const long *restrict slice_ptr,
                           __global int2 *restrict slot, __global bits_t *restrict sdia_val, idx_t m, uint slices)
{
    LANE_MEMORY(uint, mem);
    for (ulong slice = get_group_id(0); slice < slices; slice += get_num_groups(0)) {
        struct row r = row_begin(row_ptr, col, slice, m);
        const long end = slice_ptr[slice + 1];
        for (long k = slice_ptr[slice]; k < end; k++) {
            const int least = least_of(r.head, mem);
            const bool here = r.p < r.stop && r.head == least;
            const uint mask = lane_ballot(here, mem);
#if WEFT_VAL_BITS > 0
            sdia_val[k * 32 + (long)get_local_id(0)] = here ? val[r.p] : (bits_t)0;
#endif
            if (get_local_id(0) == 0)
                slot[k] = (int2)(least, (int)mask);
            if (here)
                row_advance(&r, col);
        }
        if (slice + 1 == slices && get_local_id(0) < 8)
            slot[end + (long)get_local_id(0)] = (int2)(0, 0);
    }
}
