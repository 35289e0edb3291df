// SPDX-License-Identifier: Apache-2.0
// One line of the results: set up, sample, verify, record.
#pragma once

#include "options.h"
#include "bench/op/device.h"
#include "record.h"

enum bench_outcome {
    BENCH_DONE = 0, // verified
    BENCH_SKIPPED,  // not possible here, and no fault
    BENCH_REFUSED,  // a tuning point outside what the operation allows
    BENCH_DIFFERS,  // compared, and wrong
    BENCH_FAILED    // device, driver or memory
};

// Read a matrix within o->limit: the file as weft_mtx_read, and what operations take for each row and column. Errors also:
// WEFT_ERANGE that they take more.
weft_status bench_matrix_read(struct weft_csr *out, const char *path, const struct bench_options *o,
                              struct weft_mtx_params *params, struct weft_error *err);

// What to run.
struct bench_case {
    const struct bench_op *op;
    const char *matrix; // its name; NULL: none
    int64_t seed;       // of what was generated; -1: nothing was
    struct bench_input *input;
    const struct weft_backend *backend;
    const char *algo;
    const struct bench_device *device; // NULL: the host
    const struct bench_options *options;
    struct bench_stop stop;
    struct {
        const char *name;
        int value;
    } tune[BENCH_AXES_MAX];
    int ntune;
};

// What came out; the texts of the record that no one else holds.
struct bench_result {
    struct bench_record record;
    enum bench_outcome outcome;
    char chosen[96], hash[24], tune[96], why[1024];
};

// Run the case. The record is filled but for matrix, copy_gbps, roof and speedups. A record that is not
// BENCH_DONE holds no number that was measured.
void bench_case_run(struct bench_result *out, const struct bench_case *c);
// Its parts: what is known before anything ran, of the record and of a run. events: empty, freed by the caller.
void bench_case_identify(struct bench_result *out, const struct bench_case *c);
struct bench_run bench_case_start(const struct bench_case *c, struct opencl_events *events);
// Before a device or the serial reference is timed: the threads that others have left waiting end.
void bench_quiet(const struct weft_backend *backend);
// What a case is that was not verified: `status`, or WEFT_OK for a result that differs.
enum bench_outcome bench_outcome_of(const struct bench_case *c, weft_status status);
// The tuning values of the case, NULL: none.
const struct weft__tunables *bench_case_tunables(const struct bench_case *c);
// Copy bandwidth in GB/s: best way to copy of the device, or of the host (device NULL); NaN: could not be measured.
double bench_copy_gbps(const struct bench_device *device, const struct bench_options *options);
