// SPDX-License-Identifier: Apache-2.0
// --study permute: products with one matrix in several orders of its rows and columns, many independent trials of each;
// after A. Jain, I. Bustany, P. D'Alberto, "Randomization of Sparse Matrix by Vector Multiplication".
#pragma once

#include "bench/run/block.h"
#include "host/common/advice.h"
#include "host/common/order.h"

enum { STUDY_LINES_MAX = 64 };

// One kernel on one device.
struct study_line {
    const struct weft_backend *backend;
    const char *algo;
    struct device_slot *slot; // &bench->host: the host
    double warm_ms;           // host time of the line before the first trial: compilation is in it, not in the trials
    char chosen[96];          // of the last trial
};

// What came out of one order and line.
struct study_cell {
    double *gflops;    // of each trial (size trials)
    int64_t runs;      // products of the trial that had the fewest
    double permute_ms; // host time of permuting on the line's device (host lines: on the host); negative: not measured
    const char *skipped; // why there is nothing; NULL: there is
    char why[1024];      // what went wrong; "": nothing
    int wrong;           // nonzero: it was a result
};

// What came out of one order.
struct study_order {
    int order;       // of host/common/order.h
    double *entropy; // H of each trial (size trials)
    double order_ms; // host time of making the permutation (of shuffling entries: the matrix), the least
    double host_ms;  // of permuting the matrix on the host, the least
    struct advice_measures measures; // of the first trial
    struct study_cell cells[STUDY_LINES_MAX];
};

struct study {
    struct bench *bench;
    const struct weft_csr *a;
    int trials;
    struct study_line lines[STUDY_LINES_MAX];
    size_t nlines;
    struct study_order orders[BENCH_ORDERS];
    size_t norders;
};

// Say how long the study will take, before it begins.
void bench_study_announce(struct bench *b);
// Run it for one matrix and type, print the table, write the records.
void bench_study_run(struct bench *b, const struct weft_csr *a);

// study_report.c: the head of the CSV file; the table and the records of a study that has run. 0: cannot be written.
int study_csv_head(FILE *out);
void study_table(FILE *out, const struct study *s);
int study_records(const struct study *s);
