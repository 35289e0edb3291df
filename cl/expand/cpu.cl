// SPDX-License-Identifier: Apache-2.0
// row[p] = i where row_ptr[i] <= p < row_ptr[i+1].
// Source:  cuts as D. Merrill, M. Garland, Merge-Based Parallel Sparse Matrix-Vector Multiplication, SC'16, section
//          III: equal steps on the path that merges row ends and positions.
// Mapping: 1-D; work-item g owns steps g*chunk .. (g+1)*chunk-1 and finds its first and last row by bisection.
// Local:   none.
// Needs:   row_ptr[0] == 0, ascending, row_ptr[m] == nnz.
// Gives:   row, every position.
// Order:   integers only.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_OFS_BITS
#error "WEFT_OFS_BITS: width of row_ptr"
#endif

// Rows that end within the first d steps: the largest i with row_ptr[i] + i <= d.
static inline idx_t rows_before(__global const ofs_t *row_ptr, idx_t m, long d)
{
    idx_t lo = 0, hi = m;
    while (lo < hi) {
        idx_t mid = hi - (hi - lo) / 2;
        if ((long)row_ptr[mid] + mid <= d)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

WEFT_KERNEL void expand_cpu(__global const ofs_t *row_ptr, __global idx_t *row, idx_t m, long nnz, ulong chunk)
{
    long d = min((long)(get_global_id(0) * chunk), m + nnz), d_end = min(d + (long)chunk, m + nnz);
    idx_t i = rows_before(row_ptr, m, d), last = rows_before(row_ptr, m, d_end);
    ofs_t p = (ofs_t)(d - i), end = (ofs_t)(d_end - last);
    for (; i < last; i++)
        for (ofs_t row_end = row_ptr[i + 1]; p < row_end; p++)
            row[p] = i;
    for (; p < end; p++)
        row[p] = last;
}
