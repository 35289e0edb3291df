// SPDX-License-Identifier: Apache-2.0
// A run of the bench, and one block of its results: one operation on one matrix, by every backend, device and algorithm.
#ifndef BENCH_BLOCK_H
#define BENCH_BLOCK_H

#include "options.h"
#include "profile.h"
#include "run.h"
#include "support/table.h"

struct device_slot {
    struct bench_device device;
    double copy_gbps; // NaN: could not be measured
    int announced;
    double best_vendor_ms; // of the block that is running; NaN: no vendor line yet
};

struct bench {
    struct bench_options options;
    struct device_slot *slots; // devices in use
    size_t nslots;
    struct device_slot host; // its device has no context
    FILE *json, *csv, *table, *trace, *html;
    struct bench_profile profile;
    struct bench_table columns;
    int wrong, failed, unreadable, lines;
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
__attribute__((format(printf, 1, 2))) void bench_complain(const char *format, ...);

#endif
