// SPDX-License-Identifier: Apache-2.0
// Where the time of one repetition went.
#pragma once

#include "record.h"

struct profile_split {
    int64_t ns[PHASE_COUNT];    // they add up to end_ns - begin_ns of the repetition
    struct profile_span *spans; // the whole of the repetition, in order, neighbours of different phases
    size_t count;
    int64_t gap_ns; // between kernels of phase kernel that follow each other on a queue
    int overlaps;   // commands of a queue that start before the one before has ended
};

// Settled before. 0: no memory; else the caller frees the spans.
int profile_split(struct profile_split *out, const struct profile *p, const struct profile_rep *rep);
