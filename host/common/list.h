// SPDX-License-Identifier: Apache-2.0
// The list of devices, for the bench and the tool.
#pragma once

#include <stdio.h>
#include <weft/device.h>

// One line a device, after trying it: index, platform, name, type, driver, memory, or why it cannot be used.
void bench_list_print(FILE *out, struct weft_device_info *list, size_t count);

// weft_device_find, but no text means no device.
int bench_list_find(const struct weft_device_info *list, size_t count, const char *text);

// Where it found none of `text`, which is not empty: "FROM: no GPU is in the list of devices".
enum { BENCH_LIST_WHY = 512 };
void bench_list_absent(char *out, size_t size, size_t count, const char *text, const char *from);

// "GPU" "CPU" "accelerator".
const char *bench_list_type(cl_device_type type);

// An array of one object a device, after trying it; NULL: out of memory. Only where cJSON is.
struct cJSON *bench_list_json(struct weft_device_info *list, size_t count);
