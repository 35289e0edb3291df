// SPDX-License-Identifier: Apache-2.0
// The offset between the clock of events and that of the host, from bounds: something that the device has timed happened
// between two readings of the host's clock.
#pragma once

#include "model.h"

// Nanoseconds of CLOCK_MONOTONIC.
int64_t profile_now(void);

void profile_clock_init(struct profile_clock *clock);
// The offset, added to a time of the device, is at least low_ns and at most high_ns.
void profile_clock_bound(struct profile_clock *clock, int64_t low_ns, int64_t high_ns);
// offset_ns, error_ns from the bounds; 0 and 0 when there is none.
void profile_clock_solve(struct profile_clock *clock);
// Bounds from clGetDeviceAndHostTimer, where the driver has it, and from markers on the queue (in order, with profiling,
// nothing on it).
void profile_clock_sample(struct profile_clock *clock, cl_command_queue queue, cl_device_id device);
