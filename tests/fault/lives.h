// SPDX-License-Identifier: Apache-2.0
// Whole lives of the library: devices, context, compilation, disk cache, plans, runs, and the end of all.
#pragma once

#include "tests/support/csr.h"

// How they are lived.
extern struct lives {
    cl_device_id device;
    enum weft_schedule schedule;
    const char *cache_dir;
    enum weft_transpose_algo algo; // of transpose_life
    size_t spmv_case;              // of spmv_life
} lives;

// What they work on: made before anything fails, freed at the end.
void lives_make(struct rng *rng, enum weft_type type);
void lives_free(void);
// The name of a case of spmv_life; NULL behind the last.
const char *lives_spmv_name(size_t i);

// One life. *right: whether what it computed is right, as far as it came.
typedef weft_status life_fn(struct weft_error *err, int *right);
life_fn transpose_life;
life_fn spmv_life; // a plan, a run, new values, a run
life_fn permute_life;
life_fn canonical_life;
