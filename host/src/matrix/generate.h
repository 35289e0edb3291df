// SPDX-License-Identifier: Apache-2.0
// Specifications of generated matrices, and the patterns that are drawn entry by entry.
#pragma once

#include "host/src/core/random.h"
#include "host/src/core/threads.h"

#include <weft/matrix.h>

// Those up to WEFT__GENERATE_LAST_DRAWN are drawn as coordinates.
enum weft__generate_kind {
    WEFT__GENERATE_UNIFORM,
    WEFT__GENERATE_HEAVY,
    WEFT__GENERATE_ROWS,
    WEFT__GENERATE_COLS,
    WEFT__GENERATE_POWER,
    WEFT__GENERATE_WEB,
    WEFT__GENERATE_RMAT,
    WEFT__GENERATE_BLOCK,
    WEFT__GENERATE_KKT,
    WEFT__GENERATE_CIRCUIT,
    WEFT__GENERATE_LP,
    WEFT__GENERATE_NEAR,
    WEFT__GENERATE_LAST_DRAWN = WEFT__GENERATE_NEAR,
    WEFT__GENERATE_ARROW,
    WEFT__GENERATE_STENCIL5,
    WEFT__GENERATE_STENCIL7,
    WEFT__GENERATE_STENCIL27,
    WEFT__GENERATE_FEM,
    WEFT__GENERATE_BAND,
    WEFT__GENERATE_DENSE
};

struct weft__generate_spec {
    enum weft__generate_kind kind;
    int64_t m, n, nnz; // nnz: of drawn ones
    int64_t extra;     // ROW, K, W, B: the number beside the sizes
    int64_t unknowns;  // D: of each point
    int diagonal;      // value on the diagonal of a stencil; 0: values are drawn
    int shuffled;      // rows and columns in a random order, in the same one where m == n
    int unsorted;      // columns of a row in a random order
};

enum weft__generate_stream {
    WEFT__STREAM_ROW = 1,
    WEFT__STREAM_COL,
    WEFT__STREAM_VAL,
    WEFT__STREAM_ROW_ORDER,
    WEFT__STREAM_COL_ORDER,
    WEFT__STREAM_NEAR,
    WEFT__STREAM_SHUFFLE,
    WEFT__STREAM_UNSORTED
};

// A bijection of 0 .. count-1 without a pattern.
struct weft__scatter {
    int64_t count;
    uint64_t order[6]; // multipliers (odd) and summands
    int bits;          // of the domain: smallest with 2^bits >= count
};
struct weft__scatter weft__scatter_of(int64_t count, uint64_t key);
int32_t weft__scatter(const struct weft__scatter *scatter, uint64_t x);

// Entries that a thread draws at a time.
#define WEFT__DRAWS 65536
static inline int64_t weft__draws_end(int64_t chunk, int64_t count)
{
    return chunk * WEFT__DRAWS + WEFT__DRAWS < count ? chunk * WEFT__DRAWS + WEFT__DRAWS : count;
}

// The entries of a drawn pattern, in no order; equal ones are possible. Errors: WEFT_ENOMEM.
weft_status weft__generate_draw(struct weft_coo *out, const struct weft__generate_spec *spec, uint64_t seed,
                                struct weft__team *team);
