// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A in sliced DIA: of each 32 rows the diagonals that they touch, with a mask of the rows that
// have an entry there (spmv/sdia_pack_gpu.cl). An entry costs its value, and a diagonal 8 bytes for 32 rows.
// Source:  as spmv/sdia_pack_gpu.cl.
// Mapping: 1-D; group g owns WG*ROWS rows, those of part g or of as many parts before the last, then strides; work-item l has rows l,
//          l + WG, ... of a part.
// Local:   none.
// Needs:   IPT 1 .. 8 entries of a row read together, ROWS 1 .. 4; slots slice_ptr[s] .. slice_ptr[s+1]-1 of slice s
//          ascend by offset; slot k is (offset, mask), and row r of the slice has the value val[k*32 + r] in column
//          row + offset where bit r of the mask is set. Other values are not multiplied, and x is not read for them but
//          at 0. There are 8 slots more, which are read and not used.
// Gives:   y.
// Order:   entries of a row from the left; repeatable, the bits of spmv/ell.cl for rows whose columns ascend.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: entries of a row read together"
#endif
#ifndef WEFT_ROWS
#error "WEFT_ROWS: rows of a work-item at a time"
#endif

// Loops over rows and slots are unrolled, so that arrays are registers.
//
// IPT slots of each row from slot k of its slice on: `s` has them, and gets those behind. full: all rows have as many.
WEFT_INLINE void step(acc_t *sum, int2 *s, __global const int2 *slot, __global const val_t *val,
                      __global const val_t *x, const long *begin, const uint *count, idx_t row, uint k, bool full)
{
    acc_t a[WEFT_ROWS * WEFT_IPT], b[WEFT_ROWS * WEFT_IPT];
    bool on[WEFT_ROWS * WEFT_IPT];
#pragma unroll
    for (int j = 0; j < WEFT_ROWS; j++) {
        const idx_t own = (idx_t)((uint)row + (uint)(j * WEFT_WG));
        const uint last = count[j] ? count[j] - 1u : 0u; // past the end this one again: no branch around a load
        __global const val_t *from = val + begin[j] * 32 + (own & 31);
#pragma unroll
        for (int i = 0; i < WEFT_IPT; i++)
            a[j * WEFT_IPT + i] = read_val_at(from, (long)(full ? k + (uint)i : min(k + (uint)i, last)) * 32);
#pragma unroll
        for (int i = 0; i < WEFT_IPT; i++) {
            const int2 one = s[j * WEFT_IPT + i];
            const bool here = ((uint)one.y & 1u << (own & 31)) && (full || k + (uint)i < count[j]);
            on[j * WEFT_IPT + i] = here;
            b[j * WEFT_IPT + i] = (acc_t)x[here ? own + one.x : 0];
        }
    }
#pragma unroll
    for (int j = 0; j < WEFT_ROWS; j++) {
#pragma unroll
        for (int i = 0; i < WEFT_IPT; i++) {
            const uint next = k + WEFT_IPT + (uint)i;
            s[j * WEFT_IPT + i] = slot[begin[j] + (full ? next : min(next, count[j]))];
        }
    }
#pragma unroll
    for (int j = 0; j < WEFT_ROWS; j++) {
#pragma unroll
        for (int i = j * WEFT_IPT; i < (j + 1) * WEFT_IPT; i++)
            sum[j] = on[i] ? plus(sum[j], times(a[i], b[i])) : sum[j];
    }
}

WEFT_KERNEL void spmv_sdia(__global const long *restrict slice_ptr, __global const int2 *restrict slot,
                           __global const val_t *restrict val, __global const val_t *restrict x,
                           __global val_t *restrict y, idx_t m, acc_t alpha, acc_t beta, uint backward)
{
    const long part = (long)WEFT_WG * WEFT_ROWS, parts = ((long)m + part - 1) / part;
    for (long at = (long)get_group_id(0); at < parts; at += (long)get_num_groups(0)) {
        const long row = part_at(at, parts, backward) * part + (long)get_local_id(0);
        long begin[WEFT_ROWS];
        uint count[WEFT_ROWS], least = UINT_MAX, most = 0u, k = 0u;
        acc_t sum[WEFT_ROWS];
        int2 s[WEFT_ROWS * WEFT_IPT];
#pragma unroll
        for (int j = 0; j < WEFT_ROWS; j++) {
            const long own = row + j * WEFT_WG;
            const uint slice = (uint)min(own, m - 1l) / 32u;
            begin[j] = slice_ptr[slice];
            count[j] = own < m ? (uint)(slice_ptr[slice + 1u] - begin[j]) : 0u;
            begin[j] = count[j] ? begin[j] : 0;
            least = min(least, count[j]);
            most = max(most, count[j]);
            sum[j] = ZERO;
        }
#pragma unroll
        for (int j = 0; j < WEFT_ROWS; j++) {
#pragma unroll
            for (int i = 0; i < WEFT_IPT; i++)
                s[j * WEFT_IPT + i] = most > 0u ? slot[begin[j] + i] : (int2)(0, 0);
        }
        for (; k + WEFT_IPT <= least; k += WEFT_IPT)
            step(sum, s, slot, val, x, begin, count, (idx_t)row, k, true);
        for (; k < most; k += WEFT_IPT)
            step(sum, s, slot, val, x, begin, count, (idx_t)row, k, false);
#pragma unroll
        for (int j = 0; j < WEFT_ROWS; j++)
            if (row + j * WEFT_WG < m)
                put(y, (idx_t)(row + j * WEFT_WG), sum[j], alpha, beta);
    }
}
