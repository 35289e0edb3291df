// SPDX-License-Identifier: Apache-2.0
// The command line.
#pragma once

#include "bench/op/op.h"
#include "host/common/stats.h"
#include <weft/mtx.h>

enum { BENCH_ITEMS_MAX = 32 };
// The files of a run, of --json, --csv, --trace and --html.
enum { BENCH_OUT_JSON = 0, BENCH_OUT_CSV, BENCH_OUT_TRACE, BENCH_OUT_HTML, BENCH_OUTS };

// One matrix to run: a specification for weft_generate, or the path of a file.
struct bench_source {
    const char *text;
    int generated;
};

struct bench_options {
    uint64_t given; // a bit for each row of the table of options
    int list, sweep, hash, no_roof, quiet;
    int regret;                   // nonzero: every algorithm of opencl, auto against the best
    int compare;                  // nonzero: --compare, of the two sources
    int compile, no_compile;      // compile: nonzero: measure the cost of compiling
    struct bench_source *sources; // one or more
    size_t nsources;
    char spec[128]; // of M N NNZ
    const struct bench_op *ops[BENCH_ITEMS_MAX];
    const struct weft_backend *backends[BENCH_ITEMS_MAX]; // in the order of weft__backends
    size_t nops, nbackends;
    int all_ops;             // nonzero: --op all
    int backends_given;      // nonzero: --backend
    const char *algos;       // "scan,merge", "all", or NULL: defaults of the operation
    int device;              // index; BENCH_ALL_DEVICES, BENCH_DEFAULT_DEVICE, BENCH_NAMED_DEVICE
    const char *device_word; // of BENCH_NAMED_DEVICE
    int device_given;        // nonzero: by --device, not by WEFT_DEVICE
    enum weft_type types[4];
    size_t ntypes;
    int types_given; // nonzero: --type
    enum weft_ofs ofs;
    enum weft_mtx_complex complex;
    int64_t limit; // bytes; 0: the default of weft_mtx_params
    uint64_t seed;
    int64_t products;
    int64_t hyb_width; // 0: not given
    struct bench_stop stop;
    const char *json, *csv;   // paths, "-": standard output; NULL: none
    int calls;                // whole calls to time; 0: none
    int profile, overhead;    // overhead: of profile, run as often unrecorded too
    const char *trace, *html; // of profile: paths; NULL: none
    char tune_text[160];      // of --tune
    struct {
        const char *name;
        int value;
    } tune[BENCH_AXES_MAX];
    int ntune;
    int tune_write;        // nonzero: --tune without a point
    double tune_s;         // 0: not given
    const char *tune_file; // NULL: not given
    int ops_given;         // nonzero: --op
    int sources_given;     // nonzero: matrices were named
    const char *study;     // "permute", or NULL: none
    const char *orders;    // of the study, "row,rcm"; NULL: all
    int trials;            // of the study
    double trial_s;        // least time of a trial
};

// For bench_options.device, which else is an index.
enum { BENCH_ALL_DEVICES = -1, BENCH_DEFAULT_DEVICE = -2, BENCH_NAMED_DEVICE = -3 };

// Exit statuses, a contract.
enum { BENCH_OK = 0, BENCH_WRONG = 1, BENCH_USAGE = 2, BENCH_DEVICE = 3 };

// Fill *out from the command line and WEFT_DEVICE. Gives -1 to go on, else the exit status, after a line on stderr
// (BENCH_USAGE) or what was asked for on stdout (--help, --version).
int bench_options_parse(struct bench_options *out, int argc, char **argv);
void bench_options_free(struct bench_options *options);
// Whether `name` is one of the words of a list with commas.
int bench_list_has(const char *list, const char *name);
