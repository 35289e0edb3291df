// SPDX-License-Identifier: Apache-2.0
// weft-bench --compare: two files of results side by side.
#pragma once

#include "host/common/stats.h"

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdio.h>

// Compare the results in two files: documents of --profile, or JSON Lines of ordinary results, both of one kind.
// Those of bench->options, to the table and the file of --json. Gives an exit status: 0, or 2 after a line on stderr (a file is no such file, or nothing in them matches).
struct bench;
int bench_compare(struct bench *bench);

// ---- reading: compare_read.c -----------------------------------------------------------------------------------

// A result. What belongs to its matrix and way of computing decides which results are compared.
struct compare_entry {
    const cJSON *line;                                      // a line of the bench, or a run of a profile
    const cJSON *place;                                     // its device in a profile, else the line itself
    const char *matrix, *op, *backend, *algo, *type, *tune; // "": absent
    const char *device;
    double index, nnz, seed; // -1: absent
    int verified;
    const struct compare_entry *match;
};

struct compare_file {
    const char *path;
    int profile; // nonzero: of --profile
    cJSON *root; // the document, or an array of lines
    struct compare_entry *entries;
    size_t count;
};

// 0: not readable, with one line in `why`. Free in any case.
int compare_read(struct compare_file *out, const char *path, char *why, size_t size);
void compare_free(struct compare_file *file);
// Find for each entry of a the one of b that ran the same: on the same device where there is one, else on another.
// Of several on one device the last counts. Gives how many; *verified: how many of them are verified on both sides.
size_t compare_match(struct compare_file *a, struct compare_file *b, size_t *verified);
// Whether the entry and the one it is matched with are both verified.
int compare_verified(const struct compare_entry *entry);

// 0: the object has no time under this name.
int compare_time_of(struct bench_time *out, const cJSON *object, const char *name);
// Number and text of an object; NaN and "" when absent. object may be NULL.
double compare_number(const cJSON *object, const char *name);
const char *compare_text(const cJSON *object, const char *name);
