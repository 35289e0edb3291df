// SPDX-License-Identifier: Apache-2.0
// Registers, spills and what follows from them.
#pragma once

#include "model.h"

// What ptxas says of kernel `name` in a build log made with -cl-nv-verbose: registers, spill_bytes, stack_bytes, local_bytes
// (where it says) and target. 0: the log has no such kernel.
int profile_ptxas_parse(struct profile_resources *out, const char *log, const char *name);
// Compile the program of `kernel` once more for that log, on devices of NVIDIA; a program whose text was there before is not.
// One thread calls. Gives NULL, or the reason why nothing was
// filled in. The kernel must be alive.
const char *profile_ptxas_ask(struct profile_resources *out, cl_kernel kernel, cl_device_id device, const char *name);

struct profile_occupancy {
    int groups, waves, waves_max; // of a compute unit
    const char *limit;            // "waves", "groups", "registers", "local"
};
// NULL, or why it cannot be computed. The model is that of tests/lint/occupancy.py.
const char *profile_occupancy(struct profile_occupancy *out, const struct profile_resources *r, int64_t wg);
