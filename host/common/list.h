// SPDX-License-Identifier: Apache-2.0
// The list of devices, for the bench and the tool.
#ifndef BENCH_LIST_H
#define BENCH_LIST_H

#include <stdio.h>
#include <weft/device.h>

// One line a device, after trying it: index, platform, name, type, driver, memory, or why it cannot be used.
void bench_list_print(FILE *out, struct weft_device_info *list, size_t count);

#endif
