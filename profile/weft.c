// SPDX-License-Identifier: Apache-2.0
// The recorder before weft's own table of calls.
#include "calls.h"
#include "clock.h"
#include "host/internal/inside.h"

#include <dlfcn.h>

static struct weft__cl_table before;

// Copies through pinned memory, in which threads of the library copy beside the driver.
static void stage_note(bool begins)
{
    static _Thread_local int64_t began;
    const int64_t now = profile_now();
    if (!begins)
        profile_span_add(profile__active, PHASE_STAGE, began, now);
    began = now;
}

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
    weft__stage_told = stage_note;
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
    weft__stage_told = NULL;
    profile__active = NULL;
}
