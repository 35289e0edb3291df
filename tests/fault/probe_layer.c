// SPDX-License-Identifier: Apache-2.0
// A layer of OpenCL that changes nothing and writes the file WEFT_PROBE when the loader calls it: does this loader take layers?
// It shares nothing with layer.c, so that a fault there is not taken for a loader without layers.
#include <CL/cl_layer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL

static cl_icd_dispatch nothing; // calls that are NULL are those below

EXPORT clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *needed)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    static const char name[] = "probe";
    const void *from = what == CL_LAYER_NAME ? (const void *)name : (const void *)&version;
    const size_t bytes = what == CL_LAYER_NAME ? sizeof name : sizeof version;
    if ((what != CL_LAYER_NAME && what != CL_LAYER_API_VERSION) || (value && size < bytes))
        return CL_INVALID_VALUE;
    if (needed)
        *needed = bytes;
    if (value)
        memcpy(value, from, bytes);
    return CL_SUCCESS;
}

EXPORT clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *count_out, const cl_icd_dispatch **out)
{
    (void)count;
    (void)target;
    const char *path = getenv("WEFT_PROBE");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file)
        fclose(file);
    *count_out = sizeof nothing / sizeof(void *);
    *out = &nothing;
    return CL_SUCCESS;
}
