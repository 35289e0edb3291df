// SPDX-License-Identifier: Apache-2.0
// Finds the offset between the clock of a device and that of the host.
#include "clock.h"
#include "next.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 4 };

int64_t profile_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void profile_clock_init(struct profile_clock *clock)
{
    *clock = (struct profile_clock){.low_ns = INT64_MIN, .high_ns = INT64_MAX};
}

void profile_clock_bound(struct profile_clock *clock, int64_t low_ns, int64_t high_ns)
{
    clock->samples++;
    clock->low_ns = low_ns > clock->low_ns ? low_ns : clock->low_ns;
    clock->high_ns = high_ns < clock->high_ns ? high_ns : clock->high_ns;
}

void profile_clock_solve(struct profile_clock *clock)
{
    clock->offset_ns = clock->error_ns = 0;
    if (!clock->samples)
        return;
    // Half of a distance that may be of either sign; the sum of both could overflow.
    int64_t half = (clock->high_ns - clock->low_ns) / 2;
    clock->offset_ns = clock->low_ns + half;
    // A time of the device may lie a grain before what it is of, and then a bound is as much too high.
    clock->contradicts = clock->high_ns - clock->low_ns < -clock->grain_ns;
    clock->error_ns = (half < 0 ? -half : half) + clock->grain_ns;
}

// What the device's clock shows, and the host's before and after. PoCL 3.1 announces the call and has another clock in
// it than in its events; so bounds that the markers exclude are left out.
static int timer_sample(cl_device_id device, int64_t *low, int64_t *high)
{
    char version[80] = "";
    cl_platform_id platform = NULL;
    cl_ulong grain = 0;
    // The loader passes the call on by a table that ends before it, in drivers of older versions. In OpenCL 3.0 it is
    // optional, and a platform without it (NVIDIA's) has a timer of resolution 0: it is not called at all.
    profile__next.clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof version - 1, version, NULL);
    if (strncmp(version, "OpenCL ", 7) || strtod(version + 7, NULL) < 2.1 ||
        profile__next.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) != CL_SUCCESS ||
        profile__next.clGetPlatformInfo(platform, CL_PLATFORM_HOST_TIMER_RESOLUTION, sizeof grain, &grain, NULL) !=
            CL_SUCCESS ||
        !grain)
        return 0;
    cl_ulong on_device = 0, on_host = 0;
    *low = INT64_MIN;
    *high = INT64_MAX;
    for (int i = 0; i < SAMPLES && profile__next.clGetDeviceAndHostTimer; i++) {
        int64_t before = profile_now();
        if (profile__next.clGetDeviceAndHostTimer(device, &on_device, &on_host) != CL_SUCCESS || !on_device)
            return 0;
        int64_t after = profile_now();
        *low = before - (int64_t)on_device > *low ? before - (int64_t)on_device : *low;
        *high = after - (int64_t)on_device < *high ? after - (int64_t)on_device : *high;
    }
    return *low != INT64_MIN && *low <= *high;
}

static void marker_sample(struct profile_clock *clock, cl_command_queue queue)
{
    cl_event event = NULL;
    cl_ulong queued = 0, end = 0;
    int64_t before = profile_now();
    if (profile__next.clEnqueueMarkerWithWaitList(queue, 0, NULL, &event) != CL_SUCCESS)
        return;
    int64_t after = profile_now();
    profile__next.clFinish(queue);
    int64_t done = profile_now();
    if (profile__next.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED, sizeof queued, &queued, NULL) ==
            CL_SUCCESS &&
        profile__next.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) == CL_SUCCESS &&
        queued && end >= queued) {
        profile_clock_bound(clock, before - (int64_t)queued, after - (int64_t)queued);
        profile_clock_bound(clock, before - (int64_t)queued, done - (int64_t)end);
    }
    profile__next.clReleaseEvent(event);
}

void profile_clock_sample(struct profile_clock *clock, cl_command_queue queue, cl_device_id device)
{
    int64_t low, high;
    for (int i = 0; i < SAMPLES; i++)
        marker_sample(clock, queue);
    if (timer_sample(device, &low, &high) && (!clock->samples || (low <= clock->high_ns && high >= clock->low_ns))) {
        profile_clock_bound(clock, low, high);
        clock->timer = 1;
    }
}
