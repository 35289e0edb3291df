// SPDX-License-Identifier: Apache-2.0
// The record: docs/reference/profile-record.md says what every key is.
#pragma once

#include "record.h"
#include <cjson/cJSON.h>

// What the caller of the recorder knows; negative counts and NaN: not known.
struct profile_facts {
    size_t first_rep;         // repetitions before it warm up
    int64_t kernel_min_bytes; // least that the operation can move on the device
    int64_t write_min_bytes, read_min_bytes;
    int64_t flops;
    double copy_gbps, triad_gbps, queue_us; // ceilings of the device
    const char *resources_why;              // why registers are not known; NULL: nobody asked
    int program;                            // nonzero: a whole program, which has no phase gap, launch, analyse
};
#define PROFILE_FACTS_NONE                                                                                             \
    {                                                                                                                  \
        .kernel_min_bytes = -1, .write_min_bytes = -1, .read_min_bytes = -1, .flops = -1, .copy_gbps = NAN,            \
        .triad_gbps = NAN, .queue_us = NAN                                                                             \
    }

// All give 0 where memory runs out; the document is then for cJSON_Delete.

// With host, and empty arrays of devices and runs.
cJSON *profile_document(const char *program, const char *version, const char *command);
// Position of the device in the document, where it is added when it is not there yet; the host: device NULL. index: in
// weft's list of devices, -1: none. -1: no memory.
int profile_document_device(cJSON *document, cl_device_id device, int index);
// The last run of the document's array: an empty object. NULL: no memory.
cJSON *profile_document_run(cJSON *document);
// Everything that the repetitions say, from facts->first_rep on (one at least).
int profile_run_fill(cJSON *run, const struct profile *p, const struct profile_facts *facts);

// Numbers of 6 digits; what is not finite is left out.
int profile_json_number(cJSON *object, const char *name, double value);
int profile_json_count(cJSON *object, const char *name, int64_t value);    // negative is left out
int profile_json_text(cJSON *object, const char *name, const char *value); // NULL is left out
int profile_json_reason(cJSON *object, const char *name, const char *reason);
// A stat of `count` samples; none is left out.
int profile_json_stat(cJSON *object, const char *name, const double *samples, size_t count);
// Median of the stat, NaN where there is none.
double profile_json_median(const cJSON *object, const char *name);
