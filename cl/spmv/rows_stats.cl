// SPDX-License-Identifier: Apache-2.0
// Distribution of the row lengths of a CSR matrix, and how far entries of a row lie apart: what the choice of a schedule rests on.
// Source:  -
// Mapping: 1-D; a work-item takes 32 consecutive rows, then strides over such blocks.
// Local:   BINS words + 13*WG longs.
// Needs:   BINS even, WG a power of two; figures[0 .. BINS-1] == 0.
// Gives:   figures[k]: rows of k entries, the last of BINS with all longer ones too; behind them, for each group 13 longs, i of them:
//          i = 0 .. 5: with 2^i lanes per row and 32 lanes side by side, steps that the 32 take together, summed;
//          i = 6: the longest row;
//          i = 7: of every 32nd row, 1024 times the share of its first 33 entries that lie more than NEAR columns from the
//                 one before in the order of columns, summed;
//          i = 8: rows that are not as long as the row before;
//          i = 9: of every 32nd row, 1024 times the share of its first 32 entries that lie more than SPAN columns from the
//                 diagonal, which meets row i at column i*n/m, summed;
//          i = 10: the most entries of a work-item's 32 rows;
//          i = 11: as i = 7, of those that also lie so far from the entry at their place in the row behind, at most as many as by i = 7;
//          i = 12: of one row of every 32, 1024 where its first 32 columns are those of the row before, summed.
// Order:   integers only, repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_BINS
#error "WEFT_BINS: bins of the histogram"
#endif

WEFT_KERNEL void rows_stats(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                            __global uint *restrict figures, idx_t m, idx_t n, ofs_t nnz)
{
    __local uint bins[WEFT_BINS];
    __local long all[SUMS * WEFT_WG];
    const uint lid = (uint)get_local_id(0);
    for (uint i = lid; i < WEFT_BINS; i += WEFT_WG)
        bins[i] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    long steps[6] = {0, 0, 0, 0, 0, 0}, longest = 0, far = 0, changes = 0, apart = 0, fullest = 0, lone = 0, alike = 0;
    for (long first = ROWS * (long)get_global_id(0); first < m; first += ROWS * (long)get_global_size(0)) {
        long most[6] = {0, 0, 0, 0, 0, 0};
        const long far_here = far_share(row_ptr[first], row_ptr[first + 1], col, nnz);
        far += far_here;
        apart += apart_share(row_ptr[first], row_ptr[first + 1], col, nnz, first, m, n);
        lone +=
            min(far_here, lone_share(row_ptr[first], row_ptr[first + 1], row_ptr[min(first + 2, (long)m)], col, nnz));
        alike += alike_share(row_ptr, col, first, m, nnz);
        fullest = max(fullest, (long)(row_ptr[min(first + ROWS, (long)m)] - row_ptr[first]));
        long before = first > 0 ? (long)(row_ptr[first] - row_ptr[first - 1]) : (long)(row_ptr[1] - row_ptr[0]);
        for (int r = 0; r < ROWS; r++) {
            long length = first + r < m ? (long)(row_ptr[first + r + 1] - row_ptr[first + r]) : 0;
            if (first + r < m) {
                atomic_inc(&bins[clamp(length, 0L, WEFT_BINS - 1L)]);
                changes += length != before;
                before = length;
            }
            longest = max(longest, length);
            for (int i = 0; i < 6; i++) {
                most[i] = max(most[i], length);
                if (((r + 1) & ((32 >> i) - 1)) == 0) {
                    steps[i] += (most[i] + (1 << i) - 1) >> i;
                    most[i] = 0;
                }
            }
        }
    }
    for (int i = 0; i < 6; i++)
        all[SUMS * lid + i] = steps[i];
    all[SUMS * lid + 6u] = longest;
    all[SUMS * lid + 7u] = far;
    all[SUMS * lid + 8u] = changes;
    all[SUMS * lid + 9u] = apart;
    all[SUMS * lid + 10u] = fullest;
    all[SUMS * lid + 11u] = lone;
    all[SUMS * lid + 12u] = alike;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = WEFT_WG / 2; d > 0u; d >>= 1) {
        if (lid < d) {
            for (uint i = 0; i < 6u; i++)
                all[SUMS * lid + i] += all[SUMS * (lid + d) + i];
            all[SUMS * lid + 6u] = max(all[SUMS * lid + 6u], all[SUMS * (lid + d) + 6u]);
            all[SUMS * lid + 7u] += all[SUMS * (lid + d) + 7u];
            all[SUMS * lid + 8u] += all[SUMS * (lid + d) + 8u];
            all[SUMS * lid + 9u] += all[SUMS * (lid + d) + 9u];
            all[SUMS * lid + 10u] = max(all[SUMS * lid + 10u], all[SUMS * (lid + d) + 10u]);
            all[SUMS * lid + 11u] += all[SUMS * (lid + d) + 11u];
            all[SUMS * lid + 12u] += all[SUMS * (lid + d) + 12u];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    __global long *const sums = (__global long *)(figures + WEFT_BINS) + SUMS * get_group_id(0);
    for (uint i = lid; i < SUMS; i += WEFT_WG)
        sums[i] = all[i];
    for (uint i = lid; i < WEFT_BINS; i += WEFT_WG)
        if (bins[i])
            atomic_add(&figures[i], bins[i]);
}
