// SPDX-License-Identifier: Apache-2.0
// weft-bench --profile: an operation end to end, several times, with every command and call recorded.
#pragma once

#include "host/internal/out.h"
#include "run.h"
#include "profile/write.h"

struct bench_profile {
    cJSON *document;
    struct profile *recorder;
    struct profile_trace trace; // out NULL: none is wanted
    FILE *trace_file;
};

// trace: where to write the trace, NULL: nowhere. 0: out of host memory.
int bench_profile_open(struct bench_profile *out, const char *command, FILE *trace);
// Run the case and put it into the document; *out has its identity and outcome. copy_gbps: of its device. table: where
// its table goes, NULL: nowhere.
void bench_profile_case(struct bench_profile *p, const struct bench_case *c, double copy_gbps, FILE *table,
                        struct bench_result *out);
// Write what is complete by now, so that it outlives what happens later: the document to the path of `json`, where that is
// a file (it is written anew each time). Gives 0, or an errno.
int bench_profile_save(const struct bench_profile *p, const struct weft__out *json);
// Write the document to those of the files that are open, and end the trace: each that has taken all of it takes its
// place. errors: 0, or the errno of each.
void bench_profile_write(struct bench_profile *p, struct weft__out outs[BENCH_OUTS], int errors[BENCH_OUTS]);
void bench_profile_close(struct bench_profile *p); // accepts an all-zero struct
