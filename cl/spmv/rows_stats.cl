// SPDX-License-Identifier: Apache-2.0
// Distribution of the row lengths of a CSR matrix, and how far entries of a row lie apart: what the choice of a schedule rests on.
// Source:  -
// Mapping: 1-D; a work-item takes 32 consecutive rows, then strides over such blocks.
// Local:   BINS words + 8*WG longs.
// Needs:   BINS > 1, WG a power of two; hist[0 .. BINS-1] == 0.
// Gives:   hist[k] rows of k entries, the last bin with all longer ones too; for each group sums[8*grp + i]:
//          i = 0 .. 5: with 2^i lanes per row and 32 lanes side by side, steps that the 32 take together, summed;
//          i = 6: the longest row;
//          i = 7: of every 32nd row, 1024 times the share of its first 33 entries that lie more than NEAR columns from the
//                 one before, summed.
// Order:   integers only, repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_BINS
#error "WEFT_BINS: bins of the histogram"
#endif

#define NEAR 8

// Of a row from begin to end. Nothing is read where these are no positions.
WEFT_INLINE long far_share(ofs_t begin, ofs_t end, __global const idx_t *col, ofs_t nnz)
{
    long far = 0;
    if (begin < 0 || end > nnz || begin >= end || end - begin < 2)
        return 0;
    const ofs_t last = end - begin > 33 ? begin + 32 : end - 1;
    for (ofs_t p = begin; p < last; p++)
        far += abs_diff(col[p + 1], col[p]) > (uint)NEAR;
    return 1024 * far / (long)(last - begin);
}

WEFT_KERNEL void rows_stats(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                            __global uint *restrict hist, __global long *restrict sums, idx_t m, ofs_t nnz)
{
    __local uint bins[WEFT_BINS];
    __local long all[8 * WEFT_WG];
    const uint lid = (uint)get_local_id(0);
    for (uint i = lid; i < WEFT_BINS; i += WEFT_WG)
        bins[i] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    long steps[6] = {0, 0, 0, 0, 0, 0}, longest = 0, far = 0;
    for (long first = 32 * (long)get_global_id(0); first < m; first += 32 * (long)get_global_size(0)) {
        long most[6] = {0, 0, 0, 0, 0, 0};
        far += far_share(row_ptr[first], row_ptr[first + 1], col, nnz);
        for (int r = 0; r < 32; r++) {
            long length = first + r < m ? (long)(row_ptr[first + r + 1] - row_ptr[first + r]) : 0;
            if (first + r < m)
                atomic_inc(&bins[min(length, (long)(WEFT_BINS - 1))]);
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
        all[8u * lid + i] = steps[i];
    all[8u * lid + 6u] = longest;
    all[8u * lid + 7u] = far;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = WEFT_WG / 2; d > 0u; d >>= 1) {
        if (lid < d) {
            for (uint i = 0; i < 6u; i++)
                all[8u * lid + i] += all[8u * (lid + d) + i];
            all[8u * lid + 6u] = max(all[8u * lid + 6u], all[8u * (lid + d) + 6u]);
            all[8u * lid + 7u] += all[8u * (lid + d) + 7u];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = lid; i < 8u; i += WEFT_WG)
        sums[8u * (uint)get_group_id(0) + i] = all[i];
    for (uint i = lid; i < WEFT_BINS; i += WEFT_WG)
        if (bins[i])
            atomic_add(&hist[i], bins[i]);
}
