// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n; several work-items ("lanes") per row.
// Source:  N. Bell, M. Garland, Implementing Sparse Matrix-Vector Multiplication on Throughput-Oriented Processors,
//          SC'09, the "vector" kernel; here with 2 to 32 lanes, and IPT entries of each lane in flight.
// Mapping: 1-D; group g owns rows g*WG/LPR .., then as many rows further on, until m; lane l of a row takes entries
//          l, l + LPR, ...
// Local:   WG accumulators where lanes have no shuffle, else none.
// Needs:   LPR a power of two, 2 .. 32; WG a multiple of 32; IPT 1 .. 8; row_ptr[m] == nnz; any row length.
// Gives:   y.
// Order:   each lane from the left, then pairs of lanes at distance LPR/2 .. 1; repeatable for one LPR.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_LPR
#error "WEFT_LPR: lanes per row"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: entries of one lane read together"
#endif
#if WEFT_LPR < 2 || WEFT_LPR > 32 || (WEFT_LPR & (WEFT_LPR - 1)) || WEFT_WG % 32
#error "WEFT_LPR: a power of two, 2 to 32; WEFT_WG: a multiple of 32"
#endif

// Sum of this lane's entries p, p + LPR, ... before end.
WEFT_INLINE acc_t lane_sum(__global const idx_t *col, __global const val_t *val, __global const val_t *x, ofs_t p,
                           ofs_t end)
{
    acc_t sum = ZERO;
    for (; p < end; p += WEFT_LPR * WEFT_IPT) {
        idx_t c[WEFT_IPT];
        acc_t a[WEFT_IPT], b[WEFT_IPT];
        for (int i = 0; i < WEFT_IPT; i++) { // past the end, the last entry again: no branch around a load
            ofs_t q = min(p + i * WEFT_LPR, end - 1);
            c[i] = read_col(col, q);
            a[i] = read_val(val, q);
        }
        for (int i = 0; i < WEFT_IPT; i++)
            b[i] = (acc_t)x[c[i]];
        for (int i = 0; i < WEFT_IPT; i++)
            sum = p + i * WEFT_LPR < end ? plus(sum, times(a[i], b[i])) : sum;
    }
    return sum;
}

WEFT_KERNEL void spmv_csr_lanes(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                __global const val_t *restrict val, __global const val_t *restrict x,
                                __global val_t *restrict y, idx_t m, acc_t alpha, acc_t beta)
{
    __local acc_t mem[LANE_MEM];
    const uint lid = (uint)get_local_id(0), lane = lid % WEFT_LPR;
    const long step = (long)get_num_groups(0) * (WEFT_WG / WEFT_LPR);
    for (long first = (long)get_group_id(0) * (WEFT_WG / WEFT_LPR); first < m; first += step) {
        long row = first + lid / WEFT_LPR;
        acc_t sum = ZERO;
        if (row < m)
            sum = lane_sum(col, val, x, row_ptr[row] + (ofs_t)lane, row_ptr[row + 1]);
        sum = lanes_plus(sum, WEFT_LPR, mem);
        if (row < m && lane == 0u)
            put(y, (idx_t)row, sum, alpha, beta);
    }
}
