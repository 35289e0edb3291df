// SPDX-License-Identifier: Apache-2.0
// What the layer and its test agree on.
#ifndef TESTS_LIMITS_LAYER_H
#define TESTS_LIMITS_LAYER_H

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

// Asked of a platform: launches that the layer has refused, a cl_uint. Without the layer platforms do not know it.
#define LIMITS_REFUSED ((cl_platform_info)0x5746)

struct limits {
    unsigned wg, local, kernel;
};
static inline struct limits limits_read(void)
{
    struct limits out = {0};
    const char *text = getenv("WEFT_TEST_LIMITS");
    if (text && sscanf(text, "wg %u local %u kernel %u", &out.wg, &out.local, &out.kernel) == 2)
        out.kernel = out.wg;
    return out;
}

#endif
