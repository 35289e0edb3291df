// SPDX-License-Identifier: Apache-2.0
// Litmus: tries whether work-groups of one launch hand words to each other as the kernels count on.
#pragma once

#include "host/src/core/context.h"

#include <stdbool.h>

// What became of one protocol, or of a mutant of it. The strings live as long as the program.
struct weft__litmus_result {
    const char *protocol, *used_by;
    const char *change; // of the mutant; NULL: as the kernels do it
    bool used;          // kernels of this device count on it
    uint64_t slots;     // that two groups went through
    uint64_t met;       // of these: one of them waited there for the other, so that both ran
    uint64_t wrong;     // of these: something was lost, or torn
    double seconds;
};
typedef void weft__litmus_fn(void *arg, const struct weft__litmus_result *result);

// Try each protocol, then its mutants, for `seconds` in all beside compiling; a mutant ends where it fails. *out_wrong: what was
// wrong of the protocols that the device's kernels count on. A mutant that never fails says that these runs would not have
// shown that fault. What needs 64-bit atomics is left out where there are none.
// Errors: WEFT_EINVAL ctx or out_wrong is NULL; those of kernels and buffers.
weft_status weft__litmus(uint64_t *out_wrong, struct weft_context *ctx, double seconds, weft__litmus_fn *fn, void *arg);
