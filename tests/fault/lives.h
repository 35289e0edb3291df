// SPDX-License-Identifier: Apache-2.0
// Whole lives of the library: devices, context, compilation, disk cache, plans, runs, and the end of all.
#pragma once

#include "tests/support/csr.h"

#include <weft/permute.h>

// How they are lived.
extern struct lives {
    cl_device_id device;
    enum weft_schedule schedule;
    const char *cache_dir;
    enum weft_transpose_algo algo; // of transpose_life
    size_t number;                 // of the case of spmv_life or operation_life
} lives;

// What they work on: made before anything fails, freed at the end.
extern const struct lives_made {
    const struct weft_csr *input, *permuted;
    const struct weft_coo *coordinates; // of input, row by row
    const struct weft_permutation *permutation;
} lives_made;
void lives_make(struct rng *rng, enum weft_type type);
void lives_free(void);
void lives_operations_make(struct rng *rng);
// The name of a case of spmv_life, or of operation_life in the schedule of `lives`; NULL behind the last.
const char *lives_spmv_name(size_t i);
const char *lives_operation_name(size_t i);

// A context and a queue of it. *right: nothing is there after a failure.
weft_status lives_begin(struct weft_context **ctx, cl_command_queue *queue, struct weft_error *err, int *right);
// Wait before anything is released, and fetch what the context says of a failure.
void lives_finish(struct weft_context *ctx, cl_command_queue queue, weft_status status, struct weft_error *err,
                  int *right);

// One life. *right: whether what it computed is right, as far as it came.
typedef weft_status life_fn(struct weft_error *err, int *right);
life_fn transpose_life;
life_fn spmv_life; // a plan, a run, new values, a run
life_fn permute_life;
life_fn canonical_life;
life_fn operation_life; // a primitive, or another operation, with all its public functions
life_fn devices_life;
