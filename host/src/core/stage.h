// SPDX-License-Identifier: Apache-2.0
// Large copies between host and device through pinned memory, by several threads.
#pragma once

#include "host/src/core/stream.h"

// An array on both sides: bytes first .. first+bytes-1 of the buffer.
struct weft__copy {
    cl_mem buffer;
    size_t first;
    void *host; // written by copies out alone
    size_t bytes;
};
// A ring of pinned buffers (slots), which a context makes as it needs them and keeps. An array travels in chunks of a slot:
//
//     to the device      threads copy a chunk into its slot, piece by piece; the driver sends the slot
//     from the device    the driver fills a slot; threads copy it out, piece by piece
//
// While the driver moves some slots, the threads copy others. Calls of OpenCL are those of the calling thread alone. Fresh pages
// of a result are touched by threads that have nothing to copy, as long as the device works.
enum {
    WEFT__STAGE_SLOTS = 16,        // of the ring
    WEFT__STAGE_SLOTS_MOST = 64,   //
    WEFT__STAGE_THREADS = 16,      // that copy, the caller's among them, where the process has as many processors
    WEFT__STAGE_SLOT = 2 << 20,    // bytes of a slot
    WEFT__STAGE_PIECE = 256 << 10, // bytes that a thread copies at a time
    WEFT__STAGE_LEAST = 64 << 10   // smaller copies go directly
};
enum weft__stage_way {
    WEFT__STAGE_IN,       // to the device: over when it is there
    WEFT__STAGE_IN_LEAVE, // over when the host's arrays were read; then weft__stage_settle
    WEFT__STAGE_OUT       // from the device
};

// Values other than the defaults from WEFT_STAGE="slots,KiB of a slot,threads,KiB of a piece, which is the least that is
// staged, too", to find those; only while the context is made.
void weft__stage_begin(struct weft_context *ctx);
// Do copies of that many bytes go through the stage? Not where the device shares the host's memory.
bool weft__stage_takes(const struct weft_context *ctx, size_t bytes);
// Move all of `copies` whose bytes the stage takes; sets *done to whether it did. Arguments were checked. Not done, and no
// failure: there is no pinned memory; the context's log has a line about it, once. One transfer at a time runs in a context,
// others wait.
// Errors: those of the driver; the host's memory or the buffers then hold some of the chunks.
weft_status weft__stage_move(bool *done, struct weft_context *ctx, cl_command_queue queue, enum weft__stage_way way,
                             const struct weft__copy *copies, int count);
// Wait for what transfers of WEFT__STAGE_IN_LEAVE left on its way in `queue`. Errors: those of the driver, also of chunks that
// another transfer has waited for.
weft_status weft__stage_settle(struct weft_context *ctx, cl_command_queue queue);
// Called by weft__stage_move in its caller's thread: when threads begin to copy, and when all have ended. NULL: nobody asks. Set
// while nothing runs.
extern void (*weft__stage_told)(bool begins);
// Release what the context has; no transfer runs.
void weft__stage_free(struct weft_context *ctx);
