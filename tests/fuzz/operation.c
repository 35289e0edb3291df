// SPDX-License-Identifier: Apache-2.0
// Fuzz target: every public operation with arrays of the host, against the serial reference. The bytes choose the
// operation, types, algorithm, tuning, shape and pattern, and what of the arrays is wrong (bench/lab/soak/soak.h).
#include "fuzz.h"
#include "bench/lab/soak/soak.h"
#include "host/internal/inside.h"

#include <stdio.h>
#include <stdlib.h>

static struct weft_context *contexts[2];
static int count = -1;

static cl_int CL_API_CALL build_plain(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                                      void(CL_CALLBACK *notify)(cl_program, void *), void *arg)
{
    char text[512];
    snprintf(text, sizeof text, "%s -cl-opt-disable", options ? options : "");
    return clBuildProgram(program, n, devices, text, notify, arg);
}

// The default device in both schedules. Without a device nothing is run.
static void begin(void)
{
    count = 0;
    for (int schedule = WEFT_SCHEDULE_GPU; schedule <= WEFT_SCHEDULE_CPU; schedule++)
        count += !weft_context_create(
            &contexts[count],
            weft_context_params(.schedule = (enum weft_schedule)schedule, .tune_file = "", .no_selftest = true), NULL);
    weft__cl.clBuildProgram = build_plain;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (count < 0)
        begin();
    if (!count || bytes < 2)
        return 0;
    // Few kinds, since each compiles: 64 of them by one byte.
    struct soak s = {.ctx = contexts[data[0] % count],
                     .kind = {.state = data[1] % 64},
                     .shape = {.state = bytes, .data = data + 2, .left = bytes - 2},
                     .most = 2000,
                     .hostile = 1};
    const char *op;
    if (soak_run(&s, NULL, &op) >= SOAK_WRONG) {
        fprintf(stderr, "%s: %s\n", s.text, s.why);
        abort();
    }
    return 0;
}
