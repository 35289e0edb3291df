// SPDX-License-Identifier: Apache-2.0
// A run of the bench, and one block of its results: one operation on one matrix, by every backend, device and algorithm.
#pragma once

#include "options.h"
#include "host/internal/out.h"
#include "profile.h"
#include "run.h"
#include "table.h"

struct device_slot {
    struct bench_device device;
    double copy_gbps; // NaN: could not be measured
    int announced;
    double best_vendor_ms; // of the block that is running; NaN: no vendor line yet
    double best_own_ms;    // likewise, of the lines of backend opencl but auto
};

struct bench {
    struct bench_options options;
    struct device_slot *slots; // devices in use
    size_t nslots;
    struct device_slot host; // its device has no context
    struct weft__out outs[BENCH_OUTS];
    off_t whole[BENCH_OUTS];         // of --json and --csv: bytes up to the end of the last whole record
    FILE *json, *csv, *trace, *html; // of outs; NULL: not wanted
    FILE *table;                     // NULL: none
    struct bench_profile profile;
    struct bench_table columns;
    int wrong, failed, refused, lines;
    int tuned[BENCH_AXES_MAX]; // nonzero: something that ran has this axis of --tune
    char command[1024];        // the command line, cut when it is longer
    // The block that is running: one operation on one matrix.
    const char *matrix;
    int64_t seed;
    double ref_ms[BENCH_CASES_MAX]; // by case, or [0]; NaN: no line of backend ref yet
};

// One operation on one matrix (NULL: an operation without one). seeded: the matrix came from the seed.
void bench_block_run(struct bench *b, const struct bench_op *op, const struct weft_csr *a, int seeded);
// Nonzero: the backend runs on the host.
int bench_host_only(const struct weft_backend *backend);
// A line on stderr.
// One record to the files that are wanted.
void bench_record_emit(struct bench *b, const struct bench_record *record);
// What was written to --json and --csv is a result: the files take their places. good: it was written, or memory lacked.
void bench_outputs_commit(struct bench *b, int good);
// Complain of one of b->outs; `error` is an errno.
void bench_output_failed(struct bench *b, const struct weft__out *out, int error);
__attribute__((format(printf, 1, 2))) void bench_complain(const char *format, ...);
