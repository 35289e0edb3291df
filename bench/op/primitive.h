// SPDX-License-Identifier: Apache-2.0
// What the benches of primitives share: a few arrays in, one or two out, exact results; the serial oracle as backend
// `ref`, threads as `omp`, a plan of the library as `opencl`.
#pragma once

#include "backends/omp/primitives.h"
#include "op.h"

enum { BENCH_PRIMITIVE_IN = 5, BENCH_PRIMITIVE_OUT = 2 };

struct bench_primitive {
    int inputs; // arrays of `in` that go to a device; those behind them are for the host
    // Bytes of every array; what is left alone is 0, an array that is not there.
    void (*sizes)(const struct bench_run *run, size_t *in_bytes, size_t *out_bytes);
    // The input; it may depend on the matrix, the seed and run->algo.
    void (*draw)(const struct bench_run *run, void *const *in);
    // The serial oracle: the reference result, and the line of backend `ref`.
    weft_status (*reference)(const struct bench_run *run, void *const *in, void *const *out);
    // Whether `out` is what the reference made, `want`; else `why` says where not.
    int (*right)(const struct bench_run *run, void *const *out, void *const *want, char *why, size_t size);
    // Backend `omp`.
    void (*threaded)(const struct bench_run *run, void *const *in, void *const *out);
    // The plan; plan_create also fills run->times.chosen and workspace_bytes.
    weft_status (*plan_create)(void **plan, struct bench_run *run);
    weft_status (*plan_run)(void *plan, const struct bench_run *run, const cl_mem *in, const cl_mem *out);
    void (*plan_destroy)(void **plan); // accepts *plan == NULL
};

// For bench/lab/cuda, whose rival works on the same data.
extern const struct bench_primitive bench_scan_primitive, bench_segsort_primitive, bench_histogram_primitive;

// Nonzero: the run is one of backend omp.
int bench_is_threaded(const struct bench_run *run);

// "ref" for backend ref, "auto" for omp and opencl.
const char *const *bench_primitive_algos(const struct weft_backend *backend);
// These go into struct bench_op as they are; a setup of an operation's own ends with this one.
weft_status bench_primitive_setup(struct bench_run *run, struct weft_error *err);
weft_status bench_primitive_input(struct bench_input *in, struct weft_error *err);
void bench_primitive_input_free(struct bench_input *in);
int64_t bench_primitive_bytes_min(const struct bench_run *run); // where the transfers are all that it needs
weft_status bench_primitive_launch(struct bench_run *run, double *ms, struct weft_error *err);
weft_status bench_primitive_poison(struct bench_run *run, struct weft_error *err);
weft_status bench_primitive_read(struct bench_run *run, struct weft_error *err);
void bench_primitive_transfers(const struct bench_run *run, int64_t *write_bytes, int64_t *read_bytes);
weft_status bench_primitive_verify(struct bench_run *run, int *right, struct weft_error *err);
void bench_primitive_finish(struct bench_run *run);
#define BENCH_PRIMITIVE_OP(of)                                                                                         \
    .primitive = &(of), .input = bench_primitive_input, .input_free = bench_primitive_input_free,                      \
    .launch = bench_primitive_launch, .poison = bench_primitive_poison, .read = bench_primitive_read,                  \
    .transfers = bench_primitive_transfers, .verify = bench_primitive_verify, .finish = bench_primitive_finish
