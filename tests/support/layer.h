// SPDX-License-Identifier: Apache-2.0
// What the layers of OpenCL of the tests share: how a layer answers questions, and says what it is.
#pragma once

#include <CL/cl_layer.h>
#include <string.h>

#define LAYER_EXPORT __attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL

// The answer to a question of the form of clGetPlatformInfo.
static inline cl_int layer_answer(const void *from, size_t bytes, size_t size, void *value, size_t *needed)
{
    if (needed)
        *needed = bytes;
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, bytes);
    return CL_SUCCESS;
}

// The calls of what is below, of which the loader knows `count`.
static inline cl_icd_dispatch layer_below(cl_uint count, const cl_icd_dispatch *target)
{
    cl_icd_dispatch below = {0};
    const size_t bytes = count * sizeof(void *);
    memcpy(&below, target, bytes < sizeof below ? bytes : sizeof below);
    return below;
}

// clGetLayerInfo of a layer.
#define LAYER_INFO(text)                                                                                               \
    LAYER_EXPORT clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *needed)                          \
    {                                                                                                                  \
        static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;                                          \
        static const char name[] = text;                                                                               \
        return what == CL_LAYER_API_VERSION ? layer_answer(&version, sizeof version, size, value, needed)              \
               : what == CL_LAYER_NAME      ? layer_answer(name, sizeof name, size, value, needed)                     \
                                            : CL_INVALID_VALUE;                                                             \
    }
