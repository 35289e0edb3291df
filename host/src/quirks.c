// SPDX-License-Identifier: Apache-2.0
#include "quirks.h"

#include <string.h>

static const struct quirk {
    const char *platform; // how its name begins
    cl_device_type type;
    struct weft__quirks quirks;
} quirks[] = {
    // 2026-11-21, PoCL 5.0: a barrier of a sub-group is one of the whole work-group, shuffles and ballots are made of it,
    // and its compiler stops the process ("createParallelRegionBefore") or gives wrong results for kernels that hold many.
    {"Portable Computing Language", CL_DEVICE_TYPE_CPU, {.no_subgroups = 1}},
    // 2026-11-21, Intel's CPU runtime 2026.22.10: its compiler ends the process by a fault in the pass
    // "sycl-kernel-reduce-cross-barrier-values" for some kernels with sub-groups (scan_bucket with packed pairs and 64-bit
    // offsets) and takes ten times as long for others. Without optimisation all of them are right.
    {"Intel(R) OpenCL", CL_DEVICE_TYPE_CPU, {.asked_subgroups = 1}},
};

struct weft__quirks weft__quirks_of(const struct weft_device_info *info)
{
    struct weft__quirks out = {0};
    for (size_t i = 0; i < sizeof quirks / sizeof *quirks; i++)
        if ((info->type & quirks[i].type) && !strncmp(info->platform, quirks[i].platform, strlen(quirks[i].platform)))
            out = quirks[i].quirks;
    return out;
}
