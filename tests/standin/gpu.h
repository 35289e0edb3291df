// SPDX-License-Identifier: Apache-2.0
// What the stand-ins for CUDA (cuda.h) and for HIP (hip.h) share: the objects and the device memory that a caller
// holds, the first rule that it broke, the call that is to fail, the current GPU.
#pragma once

#include <stddef.h>

// ---- for tests ----

// Start anew with `devices` GPUs, none of them current: nothing is alive, nothing was broken.
void standin_reset(int devices);
long standin_alive(void);            // objects and blocks of device memory
const char *standin_complaint(void); // the first rule that was broken since the reset; NULL: none
void standin_fail(long call);        // make the call-th call from now fail, other than those that release; 0: none
long standin_calls(void);            // calls since the reset that could have failed
int standin_device(void);            // the runtime's number of the current GPU; -1: none was chosen

// ---- for the stand-ins' own files ----

enum standin_kind {
    STANDIN_STREAM,
    STANDIN_EVENT,
    STANDIN_HANDLE,
    STANDIN_MATRIX, // from here cuSPARSE's
    STANDIN_VECTOR,
    STANDIN_MAT_DESCR, // from here rocSPARSE's
    STANDIN_MAT_INFO,
    STANDIN_HYB,
    STANDIN_SPMAT,
    STANDIN_DNVEC,
    STANDIN_SPMV
};
// First member of everything that a caller holds.
struct standin_object {
    enum standin_kind kind;
    int alive;
    struct standin_object *next;
};
// The runtime's part of a reset: forget what was enqueued and counted.
void standin_reset_runtime(void);
int standin_enter(void); // counts a call; nonzero: it is to fail
__attribute__((format(printf, 1, 2))) void standin_complain(const char *format, ...);
int standin_devices(void);
int standin_set_device(int device); // zero: there is no such GPU, and the current one stays
// An object of `bytes` bytes, zero but for its head; dead ones stay in memory until the reset, so that they are known.
void *standin_create(enum standin_kind kind, size_t bytes);
// Whether it is alive and of this kind; complains when not.
int standin_is(const void *object, enum standin_kind kind);
int standin_destroy(const void *object, enum standin_kind kind); // the same; then it is dead
// Device address of a new block, whose bytes are not set.
void *standin_alloc(size_t bytes);
int standin_free(void *block, const char *what); // zero, and a complaint: no live block begins there
// Host address of `bytes` bytes at a device address; NULL and a complaint where they are not inside one live block.
void *standin_at(const void *device, size_t bytes, const char *what);
int standin_on_device(const void *address); // whether it is in a live block, or its end
