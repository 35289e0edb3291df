// SPDX-License-Identifier: Apache-2.0
// Sparse matrices in host memory, CSR and coordinates: made, checked, compared.
#ifndef WEFT_MATRIX_H
#define WEFT_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weft/status.h>

#ifdef __cplusplus
extern "C" {
#endif

// Type of the values of a matrix.
enum weft_type {
    WEFT_TYPE_F32 = 0, // IEEE single
    WEFT_TYPE_F64,     // IEEE double
    WEFT_TYPE_I32,     // signed 32-bit integer
    WEFT_TYPE_PATTERN  // no values: every stored entry counts as one
};
// "f32" "f64" "i32" "pattern"
WEFT_API const char *weft_type_name(enum weft_type type);
WEFT_API weft_status weft_type_parse(enum weft_type *out, const char *text);

// Width of offsets, that is of positions among the nonzeros. Row and column indices are always int32_t.
enum weft_ofs {
    WEFT_OFS_32 = 0, // int32_t: nnz up to 2^31-1
    WEFT_OFS_64      // int64_t
};
// "32" "64"
WEFT_API const char *weft_ofs_name(enum weft_ofs ofs);
WEFT_API weft_status weft_ofs_parse(enum weft_ofs *out, const char *text);

// What a matrix is but for its contents.
struct weft_shape {
    int64_t m;           // rows, 0 .. 2^31-1
    int64_t n;           // columns, 0 .. 2^31-1
    int64_t nnz;         // stored entries
    enum weft_type type; // of the values; default WEFT_TYPE_F32
    enum weft_ofs ofs;   // of the row pointers; default WEFT_OFS_32; not used for coordinates
};
#define weft_shape(...) ((struct weft_shape){__VA_ARGS__})

// Bytes of one value (0 for WEFT_TYPE_PATTERN) and of one offset; 0 for any other number.
WEFT_API size_t weft_type_bytes(enum weft_type type);
WEFT_API size_t weft_ofs_bytes(enum weft_ofs ofs);

// A sparse matrix in compressed sparse rows, in host memory, m x n with nnz stored entries.
// Read by columns it is a CSC matrix: the CSC form of A has the arrays of the CSR form of A^T.
// Duplicates, explicit zeros, empty rows and any order of columns inside a row are allowed.
struct weft_csr {
    int64_t m;           // rows, 0 .. 2^31-1
    int64_t n;           // columns, 0 .. 2^31-1
    int64_t nnz;         // stored entries
    enum weft_type type; // of val
    enum weft_ofs ofs;   // of row_ptr
    void *row_ptr;       // row pointers (size m+1): row i holds positions row_ptr[i] .. row_ptr[i+1]-1
    int32_t *col;        // column indices (size nnz), 0-based
    void *val;           // values (size nnz); NULL for WEFT_TYPE_PATTERN
};

// A sparse matrix as coordinates, in host memory; entries in any order.
struct weft_coo {
    int64_t m, n, nnz;
    enum weft_type type;
    int32_t *row; // row indices (size nnz), 0-based
    int32_t *col; // column indices (size nnz), 0-based
    void *val;    // values (size nnz); NULL for WEFT_TYPE_PATTERN
};

// Allocate the arrays of a CSR matrix, or of coordinates; contents are not set, except that an empty
// matrix gets row_ptr of zeros. On failure *out is all zero.
// Errors: WEFT_EINVAL out, negative size or m, n > 2^31-1, type, ofs, and of CSR entries where there are no rows or no columns;
// WEFT_ERANGE nnz too large for ofs; WEFT_ENOMEM.
WEFT_API weft_status weft_csr_alloc(struct weft_csr *out, struct weft_shape shape);
// Free the arrays and zero the struct; accepts NULL and an all-zero struct.
WEFT_API void weft_csr_free(struct weft_csr *a);
WEFT_API weft_status weft_coo_alloc(struct weft_coo *out, struct weft_shape shape);
WEFT_API void weft_coo_free(struct weft_coo *a);

// Check what every operation relies on: row_ptr[0] == 0, monotone, row_ptr[m] == nnz, 0 <= col < n.
// Errors: WEFT_EINVAL sizes, type, ofs or missing arrays; WEFT_EMATRIX with the first offending position in err->text.
WEFT_API weft_status weft_csr_validate(const struct weft_csr *a, struct weft_error *err);

// Bring row pointers and columns from one base to the other, in place: 1 for arrays that count from 1, as in Fortran and
// MATLAB, 0 for what every function here takes. weft_csr_rebase(&a, 1, 0, &err) goes before any of them. Equal bases: the
// check alone.
//   a         m x n, row_ptr from `from` to nnz + from, columns from .. n-1 + from; nothing is changed on failure
//   from, to  0 or 1
// Errors: WEFT_EINVAL sizes, type, ofs, missing arrays, another base; WEFT_EMATRIX row pointers do not lead from the base to
//         nnz + base or descend, or a column is out of range; WEFT_ERANGE to base 1: 2^31-1 entries with 32-bit offsets.
WEFT_API weft_status weft_csr_rebase(struct weft_csr *a, int from, int to, struct weft_error *err);

static inline struct weft_shape weft_csr_shape(const struct weft_csr *a)
{
    struct weft_shape shape = {a->m, a->n, a->nnz, a->type, a->ofs};
    return shape;
}
// The shape of the transpose.
static inline struct weft_shape weft_shape_transposed(struct weft_shape shape)
{
    struct weft_shape turned = {shape.n, shape.m, shape.nnz, shape.type, shape.ofs};
    return turned;
}
// Offset i of row_ptr whatever its width.
static inline int64_t weft_csr_ofs(const struct weft_csr *a, int64_t i)
{
    return a->ofs == WEFT_OFS_64 ? ((const int64_t *)a->row_ptr)[i] : ((const int32_t *)a->row_ptr)[i];
}

// CSR from coordinates, stable: entries of one row keep their order. `out` is allocated here.
// On failure it is all zero.
// Errors: WEFT_EINVAL sizes, type, ofs or missing arrays; WEFT_EMATRIX an index out of range; WEFT_ERANGE nnz too large for
//         ofs; WEFT_ENOMEM.
WEFT_API weft_status weft_csr_from_coo(struct weft_csr *out, const struct weft_coo *a, enum weft_ofs ofs,
                                       struct weft_error *err);
// Same shape, type, offsets width, arrays equal bit for bit; false where one has no valid sizes, types and arrays.
WEFT_API bool weft_csr_equal(const struct weft_csr *a, const struct weft_csr *b);
// 64-bit FNV-1a over row_ptr (as int64), col and val; equal for 32- and 64-bit offsets, and on machines of either byte order. 0: sizes, types or arrays
// that no matrix has.
WEFT_API uint64_t weft_csr_hash(const struct weft_csr *a);

#ifdef __cplusplus
}
#endif
#endif
