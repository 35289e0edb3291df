// SPDX-License-Identifier: Apache-2.0
// A layer of OpenCL in which the n-th call of a kind fails, once or from then on, below a whole program, or kernels are not run.
//
//     WEFT_FAULT_CALL=NAME   a call of weft's table: clCreateBuffer
//     WEFT_FAULT_N=N         counted from 1
//     WEFT_FAULT_EVER=1      every later one too
//     WEFT_FAULT_LIE=NAMES   kernels with one of these names, between spaces, are not run, and no call says so
//     WEFT_FAULT_COUNT=FILE  at the end the number of calls of each kind is written there
#include "tests/support/fault.h"
#include "tests/support/layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct weft__cl_table weft__cl; // that faults are put into: the layer's own
static cl_icd_dispatch mine;
static cl_int(CL_API_CALL *kernel_info)(cl_kernel, cl_kernel_info, size_t, void *, size_t *);

LAYER_INFO("faults")

static cl_int CL_API_CALL lying_launch(cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g,
                                       const size_t *l, cl_uint n, const cl_event *w, cl_event *event)
{
    char name[64] = " ";
    kernel_info(k, CL_KERNEL_FUNCTION_NAME, sizeof name - 2, name + 1, NULL);
    strcat(name, " ");
    if (!strstr(getenv("WEFT_FAULT_LIE"), name))
        return weft__cl.clEnqueueNDRangeKernel(q, k, d, o, g, l, n, w, event);
    return n || event ? weft__cl.clEnqueueMarkerWithWaitList(q, n, w, event) : CL_SUCCESS;
}

LAYER_EXPORT clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *count_out, const cl_icd_dispatch **out)
{
    const cl_icd_dispatch below = layer_below(count, target);
#define LAYER_BELOW(name, error) weft__cl.name = below.name;
    FAULT_CALLS(LAYER_BELOW)
#undef LAYER_BELOW
    kernel_info = below.clGetKernelInfo;
    fault_install();
#define LAYER_MINE(name, error) mine.name = weft__cl.name;
    FAULT_CALLS(LAYER_MINE)
#undef LAYER_MINE
    if (getenv("WEFT_FAULT_LIE"))
        mine.clEnqueueNDRangeKernel = lying_launch;
    const char *name = getenv("WEFT_FAULT_CALL"), *n = getenv("WEFT_FAULT_N"), *ever = getenv("WEFT_FAULT_EVER");
    for (int call = 0; name && n && call < FAULT_COUNT; call++)
        if (!strcmp(name, fault_name((enum fault_call)call))) {
            if (ever && *ever == '1')
                fault_set_ever((enum fault_call)call, atoi(n));
            else
                fault_set((enum fault_call)call, atoi(n));
        }
    *count_out = sizeof mine / sizeof(void *);
    *out = &mine;
    return CL_SUCCESS;
}

__attribute__((destructor)) static void counts_write(void)
{
    const char *path = getenv("WEFT_FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    for (int call = 0; file && call < FAULT_COUNT; call++)
        fprintf(file, "%s %d\n", fault_name((enum fault_call)call), fault_calls((enum fault_call)call));
    if (file)
        fclose(file);
}
