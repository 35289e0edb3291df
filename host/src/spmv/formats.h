// SPDX-License-Identifier: Apache-2.0
// Formats that a plan converts to: ELL and its slices, coordinates; a hybrid is made of both.
#ifndef WEFT_SRC_SPMV_FORMATS_H
#define WEFT_SRC_SPMV_FORMATS_H

#include "host/src/spmv/spmv.h"

// spmv_ell.c: slices of `height` rows stored by columns.
struct weft__spmv_ell {
    cl_mem slice_ptr; // slices + 1 positions, 64-bit
    cl_mem col, val;  // `elements` each; val NULL for a pattern
    cl_mem perm;      // the row at each place; NULL: as they are
    cl_uint height, slices;
    int sigma; // rows of a sorted window, 1: not sorted
    int64_t elements;
    size_t bytes; // of all of it
    struct weft__kernel *run, *fill;
    const struct weft__kernel_spec *spec; // of run
    size_t groups, wg;
    cl_uint chunk; // places of a work-item
};
// Sizes, memory and kernels; the arrays are not filled. width >= 0: ELL, one slice of that many entries per row, longer
// rows are cut off; < 0: slices as long as their longest row. Blocks. Refuses more padding than params.max_padding.
weft_status weft__spmv_ell_create(struct weft__spmv_ell *e, struct weft_spmv_plan *plan, cl_command_queue queue,
                                  const struct weft_device_csr *a, int64_t width, int sigma);
weft_status weft__spmv_ell_fill(struct weft__spmv_ell *e, struct weft_spmv_plan *plan, struct weft__stream *stream,
                                const struct weft_device_csr *a);
weft_status weft__spmv_ell_run(const struct weft__spmv_ell *e, struct weft_spmv_plan *plan, struct weft__stream *stream,
                               const struct weft__spmv_call *call);
void weft__spmv_ell_release(struct weft__spmv_ell *e);
// CPU: rows of a work-item, a multiple of `step` up to `most`, so that small matrices still have work for every unit.
cl_uint weft__spmv_chunk(const struct weft_spmv_plan *plan, cl_uint most, cl_uint step);
// Slots or elements of the `per` slices side by side that have most. Blocks.
weft_status weft__spmv_heaviest(struct weft_spmv_plan *plan, cl_command_queue queue, cl_mem slice_ptr, cl_uint slices,
                                cl_uint per, int64_t *out);
// Resolve params.sigma: 1024 only where rows side by side differ. Errors: WEFT_EINVAL.
weft_status weft__spmv_sell_sigma(struct weft_spmv_plan *plan);

// spmv_sdia.c: elements that sliced DIA would need for each entry, from a sample of the slices; INFINITY where columns of
// a row do not ascend there. Counts above 2 are less than the truth. Blocks.
weft_status weft__spmv_sdia_sample(struct weft_spmv_plan *plan, cl_command_queue queue, double *padding);

// spmv_coo.c: coordinates in row order, added to y.
struct weft__spmv_coo {
    cl_mem row, col, val; // owned; val NULL for a pattern
    int64_t nnz;
    int atomic; // nonzero: the kernel of atomics
    cl_mem part, head;
    cl_uint tile, tiles;
    struct weft__kernel *run, *join;
    const struct weft__kernel_spec *spec; // of run
    size_t groups, wg, join_groups, join_wg;
    size_t bytes, workspace_bytes; // the matrix; the rest
};
// Kernels and scratch for c->nnz entries; the caller fills row, col and val.
weft_status weft__spmv_coo_create(struct weft__spmv_coo *c, struct weft_spmv_plan *plan);
// y = y + alpha*A*x
weft_status weft__spmv_coo_run(const struct weft__spmv_coo *c, struct weft_spmv_plan *plan, struct weft__stream *stream,
                               const struct weft__spmv_call *call);
void weft__spmv_coo_release(struct weft__spmv_coo *c);
// row[p] of every position p of `a`, or of `ptr` with 64-bit offsets where it is not NULL. Blocks.
weft_status weft__spmv_rows_expand(struct weft_spmv_plan *plan, cl_command_queue queue, cl_mem ptr, enum weft_ofs ofs,
                                   int64_t m, int64_t nnz, cl_mem row);

// spmv_hyb.c: the width that a hybrid has by itself.
int64_t weft__spmv_hyb_width(const struct weft_spmv_plan *plan);

// y = beta*y over `rows` elements (cl/spmv_scale.cl).
weft_status weft__spmv_scale_create(struct weft__kernel **out, struct weft_spmv_plan *plan);
weft_status weft__spmv_scale(struct weft__kernel *kernel, struct weft_spmv_plan *plan, struct weft__stream *stream,
                             int64_t rows, const struct weft__spmv_call *call);

#endif
