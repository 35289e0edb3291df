// SPDX-License-Identifier: Apache-2.0
// How a plan of a segmented sort sorts a whole array on a GPU: digit by digit (segsort_radix.c).
#pragma once

#include "host/src/core/make.h"
#include "host/src/core/variants.h"
#include <weft/segsort.h>

enum { WEFT__RADIX_KERNELS = 5 };

struct weft__radix {
    enum weft_key key;
    int payload_bytes, chained;
    enum weft_ofs ofs; // of positions
    struct weft_segsort_radix params;
    size_t least;  // elements from which a call takes this form
    size_t groups; // of segsort_digits
    struct weft__kernel *k[WEFT__RADIX_KERNELS];
    cl_mem state;
    int dirty; // a run has failed half-way: the counts in `state` are not zero
};

// Resolve params->whole and params->gpu.radix, and what else `out` holds but kernels and memory. WEFT_SEGSORT_WHOLE_MERGE: the form
// is not taken. `why` says why, or where its tuning comes from.
weft_status weft__radix_resolve(struct weft__radix *out, struct weft_context *ctx, struct weft_segsort_params *params,
                                enum weft_key key, int payload_bytes, enum weft_ofs ofs, int64_t n_max, char *why,
                                size_t why_size);
// Bytes of the state, and of the scratch that weft__radix_run wants for n elements.
size_t weft__radix_state_bytes(const struct weft__radix *r);
size_t weft__radix_scratch_bytes(const struct weft__radix *r, size_t n);
// Kernels and the state; after a failure too weft__radix_release has to be called.
void weft__radix_make(struct weft__radix *r, struct weft__make *make);
void weft__radix_release(struct weft__radix *r);

// Keys and payload in one place.
struct weft__radix_place {
    cl_mem key, val;
};
// in, out: n elements, key and payload each maybe the same; tmp: n elements; scratch: as weft__radix_scratch_bytes says.
void weft__radix_run(struct weft__radix *r, struct weft__stream *stream, struct weft__radix_place in,
                     struct weft__radix_place out, struct weft__radix_place tmp, cl_mem scratch, size_t n);

void weft__radix_variants(weft__variant_fn *fn, void *arg);
