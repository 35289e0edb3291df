// SPDX-License-Identifier: Apache-2.0
// A stand-in for the CUDA runtime and cuSPARSE, for machines without an NVIDIA GPU: the entry points that
// backends/cusparse calls, computing on the host. It holds a caller to what the documentation asks for, and more
// strictly than the libraries do: sizes, device and host pointers, live objects, sizes of buffers, waiting before
// results are looked at. It shows that the calls are made as they should be. It says nothing of NVIDIA's results or
// speed, and only tests link it.
#pragma once

#include "gpu.h"

#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <stdint.h>

// For tests: standin_reset of gpu.h gives the GPUs the UUIDs of sixteen times 1, 2, ...

// ---- for the stand-in's own files ----

// Work that was enqueued; it is done when the host waits.
struct standin_work {
    void (*run)(const struct standin_work *work);
    const void *in[5];
    void *out[4];
    int64_t n[4];
    double scalar[2];
    int type, alg;
};
void standin_enqueue(cudaStream_t stream, const struct standin_work *work);
void standin_count_sparse(void); // a call of a library was done on the device
// Transposes in[] = row_ptr, col, val to out[] = col_ptr, row, val (NULL: a pattern); n[] = m, n, entries; values of `size` bytes.
void standin_csr2csc(const struct standin_work *work, size_t size);
