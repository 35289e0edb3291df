// SPDX-License-Identifier: Apache-2.0
// Rows of a CSR matrix in another order: their lengths, and then, with the new row pointers known, their entries.
// Source:  -
// Mapping: 1-D; PERMUTE_CHUNKED 0: work-items stride over the rows or entries by the global size (neighbours touch
//          neighbours); PERMUTE_CHUNKED 1: each work-item owns one contiguous chunk (CPU devices).
// Local:   none.
// Needs:   WEFT_WG, PERMUTE_CHUNKED, PERMUTE_COLS; row a permutation of 0 .. m-1, col_inv one of 0 .. n-1 (not read where
//          columns stay); val and out_val are not touched where there are no values.
// Gives:   permute_lengths: every element of lengths; permute_entries: every element of out_col and out_val.
// Order:   entries of a row keep theirs.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef PERMUTE_CHUNKED
#error "PERMUTE_CHUNKED: 0 strided by the global size, 1 a contiguous chunk for each work-item"
#endif
#ifndef PERMUTE_COLS
#error "PERMUTE_COLS: 1 columns move too, 0 they stay"
#endif
#ifndef WEFT_VAL_BITS
#error "WEFT_VAL_BITS: 0, 32 or 64"
#endif

#if PERMUTE_CHUNKED
#define FIRST(count) min((ulong)(count), get_global_id(0) * CHUNK(count))
#define END(count)   min((ulong)(count), FIRST(count) + CHUNK(count))
#define CHUNK(count) (((count) + get_global_size(0) - 1) / get_global_size(0))
#define STEP         1
#else
#define FIRST(count) get_global_id(0)
#define END(count)   (count)
#define STEP         get_global_size(0)
#endif

// lengths[i] = entries of row row[i].
WEFT_KERNEL void permute_lengths(__global const idx_t *restrict row, __global const ofs_t *restrict row_ptr,
                                 __global ofs_t *restrict lengths, ulong m)
{
    for (ulong i = FIRST(m), end = END(m); i < end; i += STEP) {
        idx_t from = row[i];
        lengths[i] = row_ptr[from + 1] - row_ptr[from];
    }
}

// Entry k of row i comes from entry k of row row[i]; out_row is the row of each entry.
WEFT_KERNEL void permute_entries(__global const idx_t *restrict row, __global const idx_t *restrict col_inv,
                                 __global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                 __global const bits_t *restrict val, __global const ofs_t *restrict out_ptr,
                                 __global const idx_t *restrict out_row, __global idx_t *restrict out_col,
                                 __global bits_t *restrict out_val, ulong nnz)
{
    for (ulong p = FIRST(nnz), end = END(nnz); p < end; p += STEP) {
        idx_t i = out_row[p];
        ofs_t from = row_ptr[row[i]] + ((ofs_t)p - out_ptr[i]);
#if PERMUTE_COLS
        out_col[p] = col_inv[col[from]];
#else
        out_col[p] = col[from];
#endif
#if WEFT_VAL_BITS
        out_val[p] = val[from];
#endif
    }
}
