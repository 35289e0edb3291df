// SPDX-License-Identifier: Apache-2.0
// Asks the system for huge pages, and for pages before they are needed.
#include "host/src/core/huge.h"
#include "host/src/core/error.h"

#include <stdlib.h>
#include <sys/mman.h>

#define PAGE_BYTES ((uintptr_t)4096)

void *weft__huge_alloc(size_t bytes)
{
    void *out = NULL;
    if (bytes < WEFT__HUGE_BYTES)
        return malloc(bytes);
    const size_t whole = weft__round_up(bytes, WEFT__HUGE_BYTES);
    if (posix_memalign(&out, WEFT__HUGE_BYTES, whole))
        return NULL;
    weft__huge_advise(out, whole);
    return out;
}

void weft__huge_advise(void *at, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t huge = WEFT__HUGE_BYTES, end = ((uintptr_t)at + bytes) / huge * huge;
    const uintptr_t first = ((uintptr_t)at + huge - 1) / huge * huge;
    if (first < end)
        madvise((char *)at + (first - (uintptr_t)at), end - first, MADV_HUGEPAGE);
#else
    (void)at;
    (void)bytes;
#endif
}

void weft__huge_touch(void *at, size_t bytes)
{
    const uintptr_t first = (uintptr_t)at / PAGE_BYTES * PAGE_BYTES;
    char *const start = at;
#ifdef MADV_POPULATE_WRITE // Linux 5.14: one call, and no byte changes
    if (!madvise(start - ((uintptr_t)at - first), bytes + ((uintptr_t)at - first), MADV_POPULATE_WRITE))
        return;
#endif
    for (size_t i = 0; i < bytes; i += PAGE_BYTES - (i ? 0 : (uintptr_t)at - first))
        *(volatile char *)(start + i) = 0;
}
