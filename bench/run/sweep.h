// SPDX-License-Identifier: Apache-2.0
// Every point of an operation's tuning axes, as tables.
#pragma once

#include "run.h"

// Run every point of the case's axes. `emit` gets each result (records for JSON and CSV), `out` (NULL: none) the
// tables: a row for each value of the first axis, a column for each of the second, a table for each point of the
// others; the best of all is marked.
void bench_sweep(FILE *out, const struct bench_case *c, void (*emit)(void *arg, struct bench_result *result),
                 void *arg);
