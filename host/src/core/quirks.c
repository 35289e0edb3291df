// SPDX-License-Identifier: Apache-2.0
// The table of what drivers get wrong.
#include "host/src/core/quirks.h"

#include <stdlib.h>
#include <string.h>

static const struct quirk {
    const char *platform; // how its name begins
    const char *release;  // what stands in its version before a number; NULL: the number begins the driver's version
    int since;            // from this number on; 0: all
    cl_device_type type;
    struct weft__quirks quirks;
} quirks[] = {
    // 2026-11-21, PoCL 5.0: a barrier of a sub-group is one of the whole work-group, shuffles and ballots are made of it,
    // and its compiler stops the process ("createParallelRegionBefore") or gives wrong results for kernels that hold many.
    {"Portable Computing Language", "PoCL ", 0, CL_DEVICE_TYPE_CPU, {.no_subgroups = 1}},
    // The same day, PoCL 5.0 of Ubuntu 24.04: the same stop for merge_sort and segsort_tile without sub-groups, optimised or
    // not. (PoCL 3.1 compiles them right.) 2026-11-23, PoCL 6.0 of Debian 13: 22 of 55 tests end by signals,
    // in segsort, transposition and conversion; with POCL_WORK_GROUP_METHOD=cbs merge_sort compiles for more than 200 s.
    // The same day, PoCL 7.1 of Debian sid: 17 of 49 tests fail, by wrong sums of 64 bits or by signal 11, and the probe of lanes
    // finds wrong ones. The schedule of a CPU is right in both.
    {"Portable Computing Language", "PoCL ", 5, CL_DEVICE_TYPE_CPU, {.no_subgroups = 1, .cpu_only = 1}},
    // 2026-11-21, Intel's CPU runtime 2026.22.10: its compiler ends the process by a fault in the pass
    // "sycl-kernel-reduce-cross-barrier-values" for some kernels with sub-groups (scan_bucket with packed pairs and 64-bit
    // offsets) and takes ten times as long for others. Without optimisation all of them are right.
    {"Intel(R) OpenCL", "", 0, CL_DEVICE_TYPE_CPU, {.asked_subgroups = 1}},
    // 2026-11-23, from the documentation of Intel's compute runtime (CL_MEM_ALLOW_UNRESTRICTED_SIZE_INTEL): its GPUs say that a
    // buffer has 4 GB at most. ocloc takes the option; no such GPU was at hand.
    {"Intel(R) OpenCL", "", 0, CL_DEVICE_TYPE_GPU, {.large_flag = 1 << 23}},
    // 2026-11-22, NVIDIA H200, driver 580: clEnqueueFillBuffer of 2^31 words or more never returns. Fills here are a kernel
    // (fill.c); no launch of it covers as many. 2026-11-23, the same: it says of kernels with a required size of 512 that they
    // take 256 work-items; they run with 512 and are right.
    {"NVIDIA CUDA", "", 0, CL_DEVICE_TYPE_GPU, {.fill_words = UINT64_C(1) << 30, .untold_groups = 1}},
    // 2026-11-23, rusticl of Mesa 22.3.6 on llvmpipe: it says of every kernel that it takes 32 work-items, those with a
    // required size of 256 among them, which run and are right.
    {"rusticl", NULL, 0, CL_DEVICE_TYPE_ALL, {.untold_groups = 1}},
    // 2026-11-23, Mesa 25.0.7 on llvmpipe: 25 of 56 tests fail in the schedule of a GPU, most by signal 11; the cause is not
    // known. (Scan and expand of 22.3.6 are right.) That of a CPU is right: 55 tests of 56 on 2026-11-24, one is skipped.
    {"rusticl", NULL, 25, CL_DEVICE_TYPE_CPU, {.untold_groups = 1, .cpu_only = 1}},
};

struct weft__quirks weft__quirks_of(const struct weft_device_info *info)
{
    struct weft__quirks out = {0};
    for (size_t i = 0; i < sizeof quirks / sizeof *quirks; i++) {
        const struct quirk *q = &quirks[i];
        const char *release = q->release ? strstr(info->platform_version, q->release) : NULL;
        const int number = !q->release ? atoi(info->driver) : release ? atoi(release + strlen(q->release)) : 0;
        if ((info->type & q->type) && !strncmp(info->platform, q->platform, strlen(q->platform)) && number >= q->since)
            out = q->quirks;
    }
    return out;
}
