// SPDX-License-Identifier: Apache-2.0
// A stand-in for HIP and rocSPARSE, for machines without an AMD GPU: the entry points that backends/rocsparse calls,
// computing on the host. It holds a caller to what the documentation asks for, and more strictly than the libraries do:
// sizes, device and host pointers, live handles, sizes of workspaces, the order of calls. It shows that the calls are
// made as they should be. It says nothing of AMD's results or speed, and only tests link it.
#ifndef TESTS_STANDIN_H
#define TESTS_STANDIN_H

#include <stddef.h>

// ---- for tests ----

// Start anew with `devices` GPUs (PCI 0000:03:00.0, 0000:83:00.0, 0001:03:00.0): nothing is alive, nothing was broken.
void standin_reset(int devices);
// Objects and blocks of device memory that are alive.
long standin_alive(void);
// The first rule that a caller has broken since the reset; NULL: none.
const char *standin_complaint(void);
// Make the call-th call from now fail, other than those that release; 0: none.
void standin_fail(long call);
// Calls since the reset that could have failed.
long standin_calls(void);
// Calls of rocSPARSE between the last two records of events, on the stream of these; HIP's number of the current GPU.
long standin_timed(void);
int standin_device(void);

// ---- for the stand-in's own files ----

enum standin_kind {
    STANDIN_STREAM,
    STANDIN_EVENT,
    STANDIN_HANDLE,
    STANDIN_MAT_DESCR,
    STANDIN_MAT_INFO,
    STANDIN_HYB,
    STANDIN_SPMAT,
    STANDIN_DNVEC
};
// First member of everything that a caller holds.
struct standin_object {
    enum standin_kind kind;
    int alive;
    struct standin_object *next;
};
// Nonzero: this call is to fail. Counts it.
int standin_enter(void);
void standin_count_sparse(const void *stream);
__attribute__((format(printf, 1, 2))) void standin_complain(const char *format, ...);
// An object of `bytes` bytes, zero but for its head; dead ones stay in memory until the reset, so that they are known.
void *standin_create(enum standin_kind kind, size_t bytes);
int standin_is(const void *object, enum standin_kind kind); // complains when it is not, or dead
void standin_destroy(const void *object);
// Host address of `bytes` bytes at a device address; NULL and a complaint where they are not inside one live block.
void *standin_at(const void *device, size_t bytes, const char *what);
// Write `value` when the device is waited for next: what an asynchronous call gives to the host.
void standin_later(int *to, int value);

#endif
