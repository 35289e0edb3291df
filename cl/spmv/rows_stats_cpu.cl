// SPDX-License-Identifier: Apache-2.0
// Figures of the rows of a CSR matrix, as spmv/rows_stats.cl tells them.
// Source:  -
// Mapping: 1-D; a work-item takes 32 consecutive rows, then strides over such blocks.
// Local:   BINS words.
// Needs:   BINS even; figures[0 .. BINS-1] == 0.
// Gives:   figures, as spmv/rows_stats.cl has them; a group is a work-item.
// Order:   integers only, repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_BINS
#error "WEFT_BINS: bins of the histogram"
#endif
#if WEFT_WG != 1
#error "WEFT_WG: 1"
#endif

WEFT_KERNEL void rows_stats_cpu(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                __global uint *restrict figures, idx_t m, idx_t n, ofs_t nnz)
{
    __local uint bins[WEFT_BINS];
    for (uint i = 0; i < WEFT_BINS; i++)
        bins[i] = 0u;
    long steps[6] = {0, 0, 0, 0, 0, 0}, longest = 0, far = 0, changes = 0, apart = 0, fullest = 0, lone = 0, alike = 0;
    for (long first = ROWS * (long)get_global_id(0); first < m; first += ROWS * (long)get_global_size(0)) {
        const int rows = (int)min((long)ROWS, m - first);
        long length[ROWS];
        const long far_here = far_share(row_ptr[first], row_ptr[first + 1], col, nnz);
        far += far_here;
        apart += apart_share(row_ptr[first], row_ptr[first + 1], col, nnz, first, m, n);
        lone +=
            min(far_here, lone_share(row_ptr[first], row_ptr[first + 1], row_ptr[min(first + 2, (long)m)], col, nnz));
        alike += alike_share(row_ptr, col, first, m, nnz);
        fullest = max(fullest, (long)(row_ptr[first + rows] - row_ptr[first]));
        for (int r = 0; r < ROWS; r++)
            length[r] = 0;
        for (int r = 0; r < rows; r++)
            length[r] = (long)(row_ptr[first + r + 1] - row_ptr[first + r]);
        for (int r = 0; r < rows; r++)
            bins[clamp(length[r], 0L, WEFT_BINS - 1L)]++;
        changes += first > 0 && (long)(row_ptr[first] - row_ptr[first - 1]) != length[0];
        for (int r = 1; r < rows; r++)
            changes += length[r] != length[r - 1];
        // With 2^i lanes a row, 32 / 2^i rows run side by side: their longest one.
        for (int r = 0; r < 32; r++)
            steps[5] += (length[r] + 31) >> 5;
        for (int i = 4; i >= 0; i--)
            for (int k = 0; k < 1 << i; k++) {
                length[k] = max(length[2 * k], length[2 * k + 1]);
                steps[i] += (length[k] + (1 << i) - 1) >> i;
            }
        longest = max(longest, length[0]);
    }
    __global long *const sums = (__global long *)(figures + WEFT_BINS) + SUMS * get_group_id(0);
    for (int i = 0; i < 6; i++)
        sums[i] = steps[i];
    sums[6] = longest;
    sums[7] = far;
    sums[8] = changes;
    sums[9] = apart;
    sums[10] = fullest;
    sums[11] = lone;
    sums[12] = alike;
    for (uint i = 0; i < WEFT_BINS; i++)
        if (bins[i])
            atomic_add(&figures[i], bins[i]);
}
