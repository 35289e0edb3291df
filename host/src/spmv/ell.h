// SPDX-License-Identifier: Apache-2.0
// ELL and sliced ELL, of which hybrids and columns in 16 bits are made too.
#pragma once

#include "plan.h"

enum {
    WEFT__ELL_SLICE_PTR, // slices + 1 positions, 64-bit
    WEFT__ELL_COL,
    WEFT__ELL_VAL,  // NULL for a pattern
    WEFT__ELL_PERM, // the row at each place; NULL: as they are
    WEFT__ELL_BUFFERS
};
enum { WEFT__ELL_RUN, WEFT__ELL_FILL, WEFT__ELL_KERNELS };
// Slices of `height` rows stored by columns; ELL is one slice.
struct weft__spmv_ell {
    cl_mem b[WEFT__ELL_BUFFERS];
    // All of them, each from its byte `at` on, which products read, and COL and VAL are gone; NULL: they read those above.
    cl_mem packed;
    int64_t at[WEFT__ELL_BUFFERS];
    struct weft__kernel *k[WEFT__ELL_KERNELS];
    bool sliced; // false: ELL
    cl_uint height, slices;
    int sigma;              // rows of a sorted window, 1: not sorted
    int64_t elements, last; // last: of the last slice
    size_t bytes;           // of all of it
    size_t groups, wg;
    cl_uint chunk; // places of a work-item
    cl_uint pack;  // of a conversion
};
// Sizes, memory and kernels; the arrays are not filled. width >= 0: ELL, one slice of that many entries per row, longer
// rows are cut off; < 0: slices as long as their longest row. Blocks. Refuses more padding than params.format.max_padding.
weft_status weft__spmv_ell_create(struct weft__spmv_ell *e, struct weft_spmv_plan *plan, cl_command_queue queue,
                                  int64_t width, int sigma);
weft_status weft__spmv_ell_fill(struct weft__spmv_ell *e, struct weft__stream *stream, const struct weft_device_csr *a);
// Bind what a kernel takes of the arrays.
weft_status weft__spmv_ell_bind(const struct weft__spmv_ell *e, struct weft_spmv_plan *plan,
                                struct weft__kernel *kernel);
weft_status weft__spmv_ell_run(const struct weft__spmv_ell *e, struct weft_spmv_plan *plan, struct weft__stream *stream,
                               const struct weft__spmv_call *call);
void weft__spmv_ell_release(struct weft__spmv_ell *e);
// Resolve params.format.sigma: 1024 only where rows side by side differ. Errors: WEFT_EINVAL.
weft_status weft__spmv_sell_sigma(struct weft_spmv_plan *plan);

// What all sliced formats share. CPU: rows of a work-item, a multiple of `step` up to `most`, so that small matrices
// still have work for every unit.
cl_uint weft__spmv_chunk(const struct weft_spmv_plan *plan, cl_uint most, cl_uint step);
// CPU: work-items of a product.
size_t weft__spmv_items(const struct weft_spmv_plan *plan);
// Slots or elements of the `per` slices side by side that have most. Blocks.
weft_status weft__spmv_heaviest(struct weft_spmv_plan *plan, cl_command_queue queue, cl_mem slice_ptr, cl_uint slices,
                                cl_uint per, int64_t *out);
