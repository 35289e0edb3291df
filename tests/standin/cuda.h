// SPDX-License-Identifier: Apache-2.0
// A stand-in for the CUDA runtime and cuSPARSE, for machines without an NVIDIA GPU: the entry points that
// backends/cusparse calls, computing on the host. It holds a caller to what the documentation asks for, and more
// strictly than the libraries do: sizes, device and host pointers, live objects, sizes of buffers, waiting before
// results are looked at. It shows that the calls are made as they should be. It says nothing of NVIDIA's results or
// speed, and only tests link it.
#ifndef TESTS_STANDIN_CUDA_H
#define TESTS_STANDIN_CUDA_H

#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <stdint.h>

// ---- for tests ----

// Start anew with `devices` GPUs, whose UUIDs are sixteen times 1, 2, ...: nothing is alive, nothing was broken.
void standin_reset(int devices);
long standin_alive(void);            // objects and blocks of device memory
const char *standin_complaint(void); // the first rule that was broken since the reset; NULL: none
void standin_fail(long call);        // make the call-th call from now fail, other than those that release; 0: none
long standin_calls(void);            // calls since the reset that could have failed
int standin_device(void);            // the current GPU

// ---- for the stand-in's own files ----

enum standin_kind { STANDIN_STREAM = 0x1d1e1, STANDIN_EVENT, STANDIN_HANDLE, STANDIN_MATRIX, STANDIN_VECTOR };
// First member of everything that a caller holds.
struct standin_object {
    enum standin_kind kind;
    int alive;
    struct standin_object *next;
};
// Work that was enqueued; it is done when the host waits.
struct standin_work {
    void (*run)(const struct standin_work *work);
    const void *in[5];
    void *out[4];
    int64_t n[4];
    double scalar[2];
    int type, alg;
};
int standin_enter(void); // nonzero: this call is to fail
__attribute__((format(printf, 1, 2))) void standin_complain(const char *format, ...);
void *standin_create(enum standin_kind kind, size_t bytes);
int standin_is(const void *object, enum standin_kind kind); // complains when it is not, or not alive
void standin_destroy(void *object, enum standin_kind kind);
// Host address of `bytes` bytes at a device address; NULL and a complaint where they are not inside one live block.
void *standin_at(const void *device, size_t bytes, const char *what);
void standin_enqueue(cudaStream_t stream, const struct standin_work *work);
void standin_count_sparse(void); // a call of cuSPARSE was done on the device

#endif
