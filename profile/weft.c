// SPDX-License-Identifier: Apache-2.0
// The recorder before weft's own table of calls.
#include "calls.h"
#include "host/internal/inside.h"

#include <dlfcn.h>

static struct weft__cl_table before;

int profile_calls_attach(struct profile *p)
{
    if (profile__active)
        return 0;
    before = weft__cl;
#define TAKE(name) profile__next.name = weft__cl.name;
    PROFILE_WRAPPED(TAKE)
    PROFILE_ASKED(TAKE)
#undef TAKE
    profile__next.clGetImageInfo = clGetImageInfo;
    profile__next.clGetKernelInfo = clGetKernelInfo;
    profile__next.clRetainKernel = clRetainKernel;
    *(void **)&profile__next.clGetDeviceAndHostTimer = dlsym(RTLD_DEFAULT, "clGetDeviceAndHostTimer");
    p->detach = profile_calls_detach;
    profile__active = p;
#define PUT(name) weft__cl.name = profile__wrapped.name;
    PROFILE_WRAPPED(PUT)
#undef PUT
    return 1;
}

void profile_calls_detach(void)
{
    if (!profile__active)
        return;
    weft__cl = before;
    profile__active = NULL;
}
