// SPDX-License-Identifier: Apache-2.0
// Does a device compute right numbers? Every operation on small problems, each compared with the serial reference.
#ifndef WEFT_SELFTEST_H
#define WEFT_SELFTEST_H

#include <weft/context.h>

#ifdef __cplusplus
extern "C" {
#endif

// One problem. The strings are borrowed for the time of the call.
struct weft_selftest_result {
    const char *what;    // operation, types, algorithm and tuning: "scan i32, inclusive 0, ..."
    const char *kernels; // that ran, in the order of their first launch, with spaces between
    bool right;          // every number is the reference's
    weft_status status;  // not WEFT_OK: the problem could not be run, and `text` says why
    const char *text;    // "" where there is nothing to say
    double ms;           // host time, with compilation
};
typedef void weft_selftest_fn(void *arg, const struct weft_selftest_result *result);

// Run every operation with the algorithms, types and tuning that the device's defaults take; call fn (which may be NULL) for
// each. Programs come from the context's cache. What was right is recorded there, so that plans need not try it again
// (weft_context_params.no_selftest). What the device does not support is left out.
// Errors: WEFT_EINVAL ctx is NULL; WEFT_EDEVICE a number is wrong; else the first status of what could not be run.
// Blocks: yes. A second once everything is compiled; minutes before, on a processor.
// Threads: no other call may use the context meanwhile.
WEFT_API weft_status weft_selftest(struct weft_context *ctx, weft_selftest_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif
#endif
