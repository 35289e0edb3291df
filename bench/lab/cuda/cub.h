// SPDX-License-Identifier: Apache-2.0
// CUB's primitives on one GPU, and a histogram by atomics, for main.c: the part that nvcc compiles.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum cub_op {
    CUB_SCAN,     // DeviceScan::ExclusiveSum of int32
    CUB_SORT,     // DeviceRadixSort::SortPairs of uint32 keys, all bits, with 32-bit payloads
    CUB_COUNT,    // DeviceHistogram::HistogramEven of int32, a bin for each value of 0 .. bins-1
    CUB_POINTERS, // CUB_COUNT, and ExclusiveSum of the counts
    // The same two by a memset and one atomic addition for each element: CUB's histogram is made for few bins.
    CUB_COUNT_ATOMIC,
    CUB_POINTERS_ATOMIC,
};

struct cub_job {
    enum cub_op op;
    int64_t n, bins;
    const void *in[2]; // n elements each; in[1]: CUB_SORT only
    void *out[2];      // the result is copied here. CUB_COUNT: bins counts; CUB_POINTERS: bins+1; by atomics as many
    int reps;
    double *ms; // [reps] times by CUDA events
    size_t workspace_bytes;
};

static inline int cub_counts(enum cub_op op)
{
    return op == CUB_COUNT || op == CUB_COUNT_ATOMIC;
}
static inline int cub_points(enum cub_op op)
{
    return op == CUB_POINTERS || op == CUB_POINTERS_ATOMIC;
}

// Take the first GPU whose name is part of `like` ("": the first). 1, or 0 with one line in `why`: there is none.
int cub_open(const char *like, char name[256], char driver[32], char why[256]);
// Name and version of the library.
const char *cub_version(void);
// Copy in, run once to warm up, then `reps` times, copy out. 1; 0: failed; -1: no memory for it on the GPU.
int cub_run(struct cub_job *job, char why[256]);

#ifdef __cplusplus
}
#endif
