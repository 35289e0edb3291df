// SPDX-License-Identifier: Apache-2.0
// What a backend tells a profiler of steps that no call of OpenCL shows. Functions are NULL while nobody listens.
#pragma once

#include <stdint.h>

enum weft_trace_kind {
    WEFT_TRACE_WRITE,
    WEFT_TRACE_READ,
    WEFT_TRACE_KERNEL,
    WEFT_TRACE_ALLOCATE, // no command of the device: the host made device memory
    WEFT_TRACE_CALL,     // or did something else in the library
    WEFT_TRACE_ANALYSE   // or waited for an analysis or conversion, as in convert_ms and analyse_ms
};

struct weft_backend_trace {
    // Begins (1) or ends (0): work that is the bench's own, as filling a buffer with what is no result.
    void (*own)(int begin);
    // A command has ended. bytes: of transfers; begin_ms, end_ms: clock_ms() before the call and when it was over;
    // device_ms: the device's own time of it, 0: not known.
    void (*command)(enum weft_trace_kind kind, const char *name, int64_t bytes, double begin_ms, double end_ms,
                    double device_ms);
};
// One in a program, whichever files have it.
__attribute__((weak)) extern struct weft_backend_trace weft__trace;
__attribute__((weak)) struct weft_backend_trace weft__trace;

static inline void weft__trace_own(int begin)
{
    if (weft__trace.own)
        weft__trace.own(begin);
}

static inline void weft__trace_command(enum weft_trace_kind kind, const char *name, int64_t bytes, double begin_ms,
                                       double end_ms, double device_ms)
{
    if (weft__trace.command)
        weft__trace.command(kind, name, bytes, begin_ms, end_ms, device_ms);
}
