// SPDX-License-Identifier: Apache-2.0
// Counts device memory at clCreateBuffer of the call table and at the destructor of each buffer.
#include "memory.h"
#include "host/internal/inside.h"

#include <stdatomic.h>

static __typeof__(&clCreateBuffer) create;
static _Atomic int64_t held, peak, base;

static void CL_CALLBACK buffer_gone(cl_mem buffer, void *bytes)
{
    (void)buffer;
    atomic_fetch_sub(&held, (int64_t)(intptr_t)bytes);
}

static CL_API_ENTRY cl_mem CL_API_CALL create_counted(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                                                      cl_int *error)
{
    cl_mem buffer = create(context, flags, bytes, host, error);
    if (!buffer || clSetMemObjectDestructorCallback(buffer, buffer_gone, (void *)(intptr_t)bytes) != CL_SUCCESS)
        return buffer;
    int64_t now = atomic_fetch_add(&held, (int64_t)bytes) + (int64_t)bytes, old = atomic_load(&peak);
    while (now > old && !atomic_compare_exchange_weak(&peak, &old, now))
        ;
    return buffer;
}

void bench_memory_watch(void)
{
    create = weft__cl.clCreateBuffer;
    weft__cl.clCreateBuffer = create_counted;
}

void bench_memory_reset(void)
{
    atomic_store(&base, atomic_load(&held));
    atomic_store(&peak, atomic_load(&held));
}

int64_t bench_memory_peak(void)
{
    return atomic_load(&peak) - atomic_load(&base);
}
