// SPDX-License-Identifier: Apache-2.0
// What the layer and its test agree on.
#pragma once

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Asked of a platform: launches that the layer has refused, a cl_uint. Without the layer platforms do not know it.
#define LIMITS_REFUSED ((cl_platform_info)0x5746)

// What WEFT_TEST_LIMITS says. All zero: nothing, or a word that is none.
struct limits {
    unsigned wg, local;            // work-items of a group, bytes of local memory
    unsigned kernel;               // work-items that each kernel allows by itself; default wg
    unsigned fp64, atomics64, ooo; // 0: no double precision, no 64-bit atomics, no queue out of order; default 1
    unsigned ballot, sized;        // 0: sub-groups without ballot, without sizes on request; default 1
    unsigned units, alloc, bits; // compute units, bytes of one buffer (a quarter of all), address bits; 0: as they are
};
static inline struct limits limits_read(void)
{
    struct limits out = {.fp64 = 1, .atomics64 = 1, .ooo = 1, .ballot = 1, .sized = 1};
    const struct {
        const char *name;
        unsigned *value;
    } words[] = {{"wg", &out.wg},         {"local", &out.local},         {"kernel", &out.kernel},
                 {"fp64", &out.fp64},     {"atomics64", &out.atomics64}, {"ooo", &out.ooo},
                 {"units", &out.units},   {"alloc", &out.alloc},         {"bits", &out.bits},
                 {"ballot", &out.ballot}, {"sized", &out.sized}};
    const char *text = getenv("WEFT_TEST_LIMITS");
    char name[16];
    unsigned value;
    int used;
    for (; text && sscanf(text, "%15s %u%n", name, &value, &used) == 2; text += used) {
        size_t i = 0;
        while (i < sizeof words / sizeof *words && strcmp(words[i].name, name) != 0)
            i++;
        if (i == sizeof words / sizeof *words)
            return (struct limits){0};
        *words[i].value = value;
    }
    out.kernel = out.kernel ? out.kernel : out.wg;
    return out;
}
