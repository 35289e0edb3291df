// SPDX-License-Identifier: Apache-2.0
// What a device can do at best, measured in this run: what profiles are held against.
#pragma once

#include "device.h"

enum { BENCH_CEILING_SAMPLES = 10 };

struct bench_ceilings {
    double triad_gbps;                       // a = b + s*c in f32; NaN: could not be measured
    double launch_us[BENCH_CEILING_SAMPLES]; // host time of an empty kernel until clFinish is back
    double queue_us[BENCH_CEILING_SAMPLES];  // of each of many empty kernels enqueued together
    int launches;                            // samples of both; 0: the host, which launches nothing
};

// device NULL: the host.
void bench_ceilings_measure(struct bench_ceilings *out, const struct bench_device *device);
