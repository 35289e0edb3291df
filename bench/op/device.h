// SPDX-License-Identifier: Apache-2.0
// The devices of a run of the bench.
#pragma once

#include "op.h"
#include <stdio.h>

struct bench_device {
    struct weft_device_info info;
    struct weft_context *ctx;
    cl_command_queue queue; // in order, with profiling
};

// The log of the contexts; NULL: none.
extern void (*bench_device_log)(void *arg, const char *text);
// Context and queue on a device of weft_devices_list. cold: its programs are unknown to every cache, the driver's too.
weft_status bench_device_open(struct bench_device *out, const struct weft_device_info *info, int cold,
                              struct weft_error *err);
void bench_device_close(struct bench_device *device); // accepts an all-zero struct
// One line a device, and one for each backend that says whether it can run.
void bench_devices_print(FILE *out, struct weft_device_info *list, size_t count);
// The same as one object of JSON; 0: out of memory.
int bench_devices_json(FILE *out, struct weft_device_info *list, size_t count);
// Model name of the host's processor.
const char *bench_host_name(void);
