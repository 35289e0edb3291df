// SPDX-License-Identifier: Apache-2.0
// Backend `cub`: what nvcc compiles, and what calls it.
#pragma once

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum cub_transpose_algo {
    CUB_PAIRS,  // row and value travel through the sort
    CUB_GATHER, // the place of an entry does
};

// Arrays on the device, m and n at least 1.
struct cub_transpose {
    int m, n, nnz, value_bytes; // value_bytes: 0, 4, 8
    const int *row_ptr, *col;
    const void *val;
    int *out_ptr, *out_row;
    void *out_val;
};

// "CUB 3.0.2"
const char *weft__cub_number(void);
// Enqueues a transposition. Without `work`, *bytes says how much of it is needed, and nothing is enqueued.
cudaError_t weft__cub_transpose(const struct cub_transpose *t, enum cub_transpose_algo algo, void *work, size_t *bytes,
                                cudaStream_t stream);

#ifdef __cplusplus
}
#endif
