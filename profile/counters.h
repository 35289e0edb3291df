// SPDX-License-Identifier: Apache-2.0
// Hardware counters, clocks and power of a device while it works, from whatever library or kernel interface this machine
// has: perf_event and sysfs for CPUs and the host, NVML and CUPTI for NVIDIA, rocm_smi and sysfs for AMD. Libraries are
// loaded at run time. What cannot be had is in the record all the same, with the reason. Nothing here prints or makes a
// run fail. docs/reference/profile-record.md lists them.
#pragma once

#include <cjson/cJSON.h>
#include <weft/device.h>

struct weft_counters;

// Counters of a device.
//   out      owned, close with weft_counters_close; NULL: out of memory. An object also where nothing can be counted,
//            so that weft_counters_json tells why
//   device   copied; NULL: the host
// Gives 0, or -1: not one counter can be had.
// Threads: one thread calls; threads that exist now and those that they start are counted (CPUs).
int weft_counters_open(struct weft_counters **out, const struct weft_device_info *device);
// Count from here until the next stop. Several pairs add up. A few microseconds each; with WEFT_COUNTERS=dram in the
// environment (NVIDIA) up to milliseconds. Both accept NULL.
void weft_counters_start(struct weft_counters *c);
void weft_counters_stop(struct weft_counters *c);
// What was counted so far, as docs/reference/profile-record.md describes it, owned by the caller; NULL: out of memory.
// Not between start and stop. c may be NULL: {"reason"}.
cJSON *weft_counters_json(struct weft_counters *c);
// Accepts NULL and *c == NULL; sets *c to NULL.
void weft_counters_close(struct weft_counters **c);
