// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n; several work-items ("lanes") per row.
// Source:  N. Bell, M. Garland, Implementing Sparse Matrix-Vector Multiplication on Throughput-Oriented Processors,
//          SC'09, the "vector" kernel; here with 2 to 32 lanes that read STEP entries at once, fours at
//          multiples of four, and keep IPT such reads in flight. Few lanes for long rows: the rows that run side by side
//          are then at like columns, and share what the first cache holds of x. With STEP 1 lanes side by side read x of entries side by side.
// Mapping: 1-D; group g owns BLOCKS*WG/LPR rows, WG/LPR at a time, those of part g or of as many parts before the last; lane l of a row
//          takes STEP entries l, l + LPR, ...
// Local:   WG accumulators where lanes have no shuffle, else none.
// Needs:   LPR a power of two, 2 .. 32; WG a multiple of 32; BLOCKS 1 .., with which all rows are owned; STEP 4 or 1; IPT 1 .. 8; col and val begin at multiples of 32
//          bytes; row_ptr[m] == nnz; whole == nnz rounded down to a multiple of four; any row length.
// Gives:   y.
// Order:   each lane from the left into IPT sums in turn, two with STEP 1, those from the left, then pairs of lanes at distance
//          LPR/2 .. 1; repeatable for one LPR and IPT.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_LPR
#error "WEFT_LPR: lanes per row"
#endif
#ifndef WEFT_BLOCKS
#error "WEFT_BLOCKS: times that a group takes rows that follow each other"
#endif
#ifndef WEFT_STEP
#error "WEFT_STEP: entries of one read"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: reads of one lane in flight"
#endif
#if WEFT_STEP != 4 && WEFT_STEP != 1
#error "WEFT_STEP: 4 or 1"
#endif
#if WEFT_LPR < 2 || WEFT_LPR > 32 || (WEFT_LPR & (WEFT_LPR - 1)) || WEFT_WG % 32
#error "WEFT_LPR: a power of two, 2 to 32; WEFT_WG: a multiple of 32"
#endif

#if WEFT_STEP == 4
// Sum of this lane's entries of a row: fours lane, lane + LPR, ... of those that hold entries begin .. end-1; the last
// nnz % 4 entries of the matrix (from `whole` on) one by one.
WEFT_INLINE acc_t lane_sum(__global const idx_t *col, __global const val_t *val, __global const val_t *x, pos_t begin,
                           pos_t end, uint lane, pos_t whole)
{
    const pos_t last = min(end, whole);
    acc_t sum[WEFT_IPT];
    for (int u = 0; u < WEFT_IPT; u++)
        sum[u] = ZERO;
    for (pos_t p = (begin & ~(pos_t)3) + (pos_t)(4u * lane); p < last; p += 4 * WEFT_LPR * WEFT_IPT) {
        idx_t c[WEFT_IPT][4];
        acc_t a[WEFT_IPT][4];
        for (int u = 0; u < WEFT_IPT; u++) { // past the end, the last four again: no branch around a load
            pos_t q = p + u * 4 * WEFT_LPR;
            read_four(c[u], a[u], col, val, u ? min(q, (last - 1) & ~(pos_t)3) : q);
        }
        for (int u = 0; u < WEFT_IPT; u++)
            for (int i = 0; i < 4; i++) {
                pos_t q = p + u * 4 * WEFT_LPR + i;
                if (q >= begin && q < last)
                    sum[u] = plus(sum[u], times(a[u][i], (acc_t)x[c[u][i]]));
            }
    }
    for (pos_t q = max(begin, whole) + (pos_t)lane; q < end; q += WEFT_LPR)
        sum[0] = plus(sum[0], times(read_val(val, q), (acc_t)x[read_col(col, q)]));
    for (int u = 1; u < WEFT_IPT; u++)
        sum[0] = plus(sum[0], sum[u]);
    return sum[0];
}
#else
// Sum of this lane's entries of a row: lane, lane + LPR, ... of entries begin .. end-1.
WEFT_INLINE acc_t lane_sum(__global const idx_t *col, __global const val_t *val, __global const val_t *x, pos_t begin,
                           pos_t end, uint lane, pos_t whole)
{
    acc_t sum[2] = {ZERO, ZERO};
    for (pos_t p = begin + (pos_t)lane; p < end; p += WEFT_LPR * WEFT_IPT) {
        idx_t c[WEFT_IPT];
        acc_t a[WEFT_IPT], b[WEFT_IPT];
        for (int u = 0; u < WEFT_IPT; u++) { // past the end, the last one again: no branch around a load
            const pos_t q = u ? min(p + u * WEFT_LPR, end - 1) : p;
            c[u] = read_col(col, q);
            a[u] = read_val(val, q);
        }
        for (int u = 0; u < WEFT_IPT; u++)
            b[u] = (acc_t)x[c[u]];
        for (int u = 0; u < WEFT_IPT; u++)
            if (!u || p + u * WEFT_LPR < end)
                sum[u & 1] = plus(sum[u & 1], times(a[u], b[u]));
    }
    return plus(sum[0], sum[1]);
}
#endif

WEFT_KERNEL void spmv_csr_lanes(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                __global const val_t *restrict val, __global const val_t *restrict x,
                                __global val_t *restrict y, idx_t m, long whole, acc_t alpha, acc_t beta, uint backward)
{
    LANE_MEMORY(acc_t, mem);
    const uint lid = (uint)get_local_id(0), lane = lid % WEFT_LPR;
    const long part = (long)WEFT_BLOCKS * (WEFT_WG / WEFT_LPR),
               begin = part_at((long)get_group_id(0), (long)get_num_groups(0), backward) * part,
               last = min(begin + part, (long)m);
    // One loop: with another around it some patterns took 1.1 times as long on an H200.
    for (long first = begin; first < last; first += WEFT_WG / WEFT_LPR) {
        const long row = first + lid / WEFT_LPR;
        acc_t sum = ZERO;
        if (row < last)
            sum = lane_sum(col, val, x, row_ptr[row], row_ptr[row + 1], lane, (pos_t)whole);
        sum = lanes_plus(sum, WEFT_LPR, mem);
        if (row < last && lane == 0u)
            put(y, (idx_t)row, sum, alpha, beta);
    }
}
