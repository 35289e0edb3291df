// SPDX-License-Identifier: Apache-2.0
// Matrices made up from a specification and a seed, for tests and benches.
#ifndef WEFT_GENERATE_H
#define WEFT_GENERATE_H

#include <weft/matrix.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_generate_params {
    enum weft_type type; // default WEFT_TYPE_F32
    enum weft_ofs ofs;   // default WEFT_OFS_32
    uint64_t seed;       // default 0; the same seed gives the same matrix on every machine and thread count
    bool integers;       // values are small integers (-8..8, no zero), exact in every type
};
#define weft_generate_params(...) (&(struct weft_generate_params){__VA_ARGS__})

// Make a matrix from a specification:
//   uniform:M,N,NNZ   every entry's row and column uniform and independent (duplicates possible), columns sorted in a row
//   heavy:M,N,NNZ,ROW as uniform, but ROW of the entries are in row M/2
//   rows:M,N,NNZ,K    as uniform, but half of the entries are in K rows that stand evenly
//   cols:M,N,NNZ,K    the same with columns
//   power:M,N,NNZ     rows and columns from a power law (a few heavy rows and columns, as in web graphs)
//   web:M,NNZ         M x M, rows from a power law; most columns are near the row, the others prefer a few hubs
//   rmat:M,NNZ        M x M, R-MAT with probabilities 0.57, 0.19, 0.19, 0.05
//   block:M,NNZ,B     M x M, dense squares of B rows at random places
//   kkt:M,NNZ         M x M, a symmetric saddle point: three quarters variables, the others constraints
//   circuit:M,NNZ     M x M, a diagonal, symmetric neighbours, and a few nets that many rows hang on
//   lp:M,N,NNZ        constraints of a linear program: a staircase, and some rows that link all columns
//   near:M,NNZ,W      M x M, as uniform, but columns at most W from the diagonal
//   arrow:M,W         M x M, W full rows and columns, and the diagonal
//   stencil5:K        5-point stencil on a K x K grid
//   stencil7:K        7-point stencil on a K x K x K grid
//   stencil27:K       27-point stencil on a K x K x K grid
//   fem:K,D           finite elements of D unknowns a point: blocks of D x D on a 27-point stencil
//   band:N,W          N x N, W diagonals around the main one (W odd)
//   dense:M,N         every entry stored
//
// +shuffled behind the numbers puts rows and columns in a random order, the same for both of a square matrix. +unsorted
// puts the columns of each row in a random order. Both: stencil27:120+shuffled+unsorted.
//
// Numbers may be written as 10M (k, M, G, T: powers of 1000), 1e6 or 1.5k.
// Values are uniform in [-1, 1) for f32, f64, or small integers; stencils have their usual values
// (diagonal positive, others -1).
// Errors: WEFT_EINVAL with what is wrong with the specification; WEFT_ERANGE; WEFT_ENOMEM.
WEFT_API weft_status weft_generate(struct weft_csr *out, const char *spec, const struct weft_generate_params *params,
                                   struct weft_error *err);

#ifdef __cplusplus
}
#endif
#endif
