// SPDX-License-Identifier: Apache-2.0
// CSR from entries that lie in several places, in parallel and stable. Used by the reader and by weft_csr_from_coo.
#pragma once

#include "host/src/core/threads.h"

#include <weft/matrix.h>

// Some entries; the order of the slices and of the entries in each is the order of the whole.
struct weft__coo_slice {
    int64_t count;
    const int32_t *row; // row indices (size count), each already known to lie in 0 .. m-1
    const int32_t *col; // column indices (size count), each already known to lie in 0 .. n-1
    const void *val;    // values (size count), or NULL: every value is one
};

// What an entry (i, j) off the diagonal stands for besides itself.
enum weft__mirrored {
    WEFT__MIRROR_NONE = 0,
    WEFT__MIRROR_SAME,   // (j, i) with the same value
    WEFT__MIRROR_NEGATED // (j, i) with the value negated
};

// Make `out`, m x n, of all slices; a mirrored entry takes its place right after its origin. Entries of a row keep
// their order, whatever the team. Scratch: 4 bytes an entry, and the entries of the fullest group of rows once a thread.
// Errors: WEFT_ERANGE more entries than `ofs` counts; WEFT_ENOMEM. On failure *out is all zero.
weft_status weft__csr_build(struct weft_csr *out, int64_t m, int64_t n, enum weft_type type, enum weft_ofs ofs,
                            const struct weft__coo_slice *slices, size_t slice_count, enum weft__mirrored mirror,
                            struct weft__team *team);
