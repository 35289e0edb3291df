// SPDX-License-Identifier: Apache-2.0
// Limits of work-groups and local memory: what the device and its kernels allow. GPU schedules take work-groups of 64 at
// least (weft_context_create).
#pragma once

#include "host/src/core/context.h"

#define WEFT__WG_LEAST 64

// The hostile build (-Dhostile=true) makes small problems large, so that every test runs what is rare: VALUE as it should be,
// or one that is far too small. Results are the same, time is not.
#ifdef WEFT_HOSTILE
#define WEFT__HOSTILE(value, small) (small)
#else
#define WEFT__HOSTILE(value, small) (value)
#endif
// The largest work-group to take, at most 1024, and the bytes of local memory there are.
size_t weft__wg_most(const struct weft_context *ctx);
size_t weft__local_most(const struct weft_context *ctx);
// `wg` halved until it is no larger than that.
int weft__wg_lower(const struct weft_context *ctx, int wg);
// Of small kernels that need nothing of a work-group: 64, less on devices that take less.
int weft__wg_small(const struct weft_context *ctx);

// A kernel may allow less than its device, which shows once it is compiled. What every operation does to create itself:
//
//     weft_status status;
//     WEFT__LIMITED(status, ctx, create(...));
//
// Where weft__kernel_create refused a kernel for its limit, create runs once more and finds that limit in weft__wg_most
// and weft__local_most; both hold in this thread until the loop ends, so that one operation does not change others.
struct weft__limit {
    struct weft_context *ctx;
    size_t wg, local; // before
    struct weft_error error;
    int rounds;
};
struct weft__limit weft__limit_begin(struct weft_context *ctx);
int weft__limit_again(struct weft__limit *limit, weft_status status);
#define WEFT__LIMITED(status, ctx, create)                                                                             \
    for (struct weft__limit limit = weft__limit_begin(ctx); (status) = (create), weft__limit_again(&limit, (status));) \
    continue
// Was the last kernel of this thread refused for its limit, so that create will run once more?
bool weft__limit_found(void);
// WEFT_ERANGE where the kernel does not take work-groups of `wg`, or takes more local memory than the device has.
weft_status weft__limit_check(struct weft_context *ctx, cl_kernel kernel, const char *name, size_t wg);
// The sub-groups that the driver makes of a work-group of `wg` in this kernel; 0: not told.
size_t weft__wave_of(const struct weft_context *ctx, cl_kernel kernel, size_t wg);
// WEFT_ERANGE where these are not those of the context: its lanes are then in local memory, and create runs once more.
weft_status weft__limit_wave(struct weft_context *ctx, cl_kernel kernel, const char *name, size_t wg);
