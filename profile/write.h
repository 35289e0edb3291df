// SPDX-License-Identifier: Apache-2.0
// Forms of the record for people and for other programs. All give 0 when the file could not be written.
#pragma once

#include "record.h"
#include <cjson/cJSON.h>
#include <stdio.h>

// The document, indented by tabs.
int profile_json_write(FILE *out, const cJSON *document);
// One run as a table of at most 110 columns.
int profile_text_write(FILE *out, const cJSON *document, const cJSON *run);
// A row for each phase and each kernel of each run.
int profile_csv_write(FILE *out, const cJSON *document);

// Chrome's trace format (JSON object with traceEvents), which Perfetto reads: every repetition of every run. Times are
// microseconds from the first repetition.
struct profile_trace {
    FILE *out;
    int64_t begin_ns;
    int runs, events;
    int failed; // nonzero: memory lacked; what the file does not take, it knows itself
};
void profile_trace_begin(struct profile_trace *t, FILE *out);
// All repetitions of p; `label` names the run. index of the first command that counts: reps before first_rep are left out.
void profile_trace_run(struct profile_trace *t, const struct profile *p, size_t first_rep, const char *label);
int profile_trace_end(struct profile_trace *t);
