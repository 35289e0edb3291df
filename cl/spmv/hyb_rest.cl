// SPDX-License-Identifier: Apache-2.0
// What of a CSR matrix does not fit an ELL part of `width` entries per row: how many entries of each row, and which.
// Source:  -
// Mapping: 1-D; a row (hyb_count) or an entry of the rest (hyb_rest) per work-item, `chunk` of them on a CPU, then
//          strides by the global size.
// Local:   none.
// Needs:   hyb_rest: rest_ptr, the sums of `count` before each row; row[q] the row of entry q of the rest.
// Gives:   hyb_count: count[0 .. m-1].  hyb_rest: rest_col[q], and rest_val[q] where the matrix has values.
// Order:   entries keep their order.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif

// How many entries of each row are beyond the ELL part.
WEFT_KERNEL void hyb_count(__global const ofs_t *restrict row_ptr, __global long *restrict count, idx_t m, long width,
                           uint chunk)
{
    for (long first = (long)get_global_id(0) * chunk; first < m; first += (long)get_global_size(0) * chunk)
        for (long row = first; row < min(first + chunk, (long)m); row++)
            count[row] = max((long)(row_ptr[row + 1] - row_ptr[row]) - width, 0l);
}

// Columns and values of the entries beyond the ELL part.
WEFT_KERNEL void hyb_rest(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                          __global const bits_t *restrict val, __global const long *restrict rest_ptr,
                          __global const idx_t *restrict row, __global idx_t *restrict rest_col,
                          __global bits_t *restrict rest_val, long count, long width, uint chunk)
{
    for (long first = (long)get_global_id(0) * chunk; first < count; first += (long)get_global_size(0) * chunk)
        for (long q = first; q < min(first + chunk, count); q++) {
            ofs_t p = row_ptr[row[q]] + (ofs_t)(width + q - rest_ptr[row[q]]);
            rest_col[q] = col[p];
#if WEFT_VAL_BITS > 0
            rest_val[q] = val[p];
#endif
        }
}
