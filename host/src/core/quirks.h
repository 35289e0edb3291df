// SPDX-License-Identifier: Apache-2.0
// What drivers get wrong although they announce it: the one place that looks at names.
#pragma once

#include <stdint.h>
#include <weft/device.h>

#define WEFT__LARGE_OPTION "-cl-intel-greater-than-4GB-buffer-required"

struct weft__quirks {
    int no_subgroups;    // not to be used, whatever the driver announces
    int asked_subgroups; // only when asked for
    int cpu_only;        // kernels for GPUs end the process
    uint64_t fill_words; // most words of one fill; 0: any number
    int untold_groups;   // what it says of a kernel's largest work-group is no limit
    // What it says of a buffer's largest size is no limit for buffers of this flag and programs of WEFT__LARGE_OPTION.
    cl_mem_flags large_flag;
};
// Of the device; needs platform, platform_version, driver and type of `info`.
struct weft__quirks weft__quirks_of(const struct weft_device_info *info);
