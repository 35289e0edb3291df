// SPDX-License-Identifier: Apache-2.0
// Pages of the host that libraries free and take again in each run.
#pragma once

#if defined(__linux__)
#include <malloc.h>
#endif

// glibc gives large blocks back to the kernel as they are freed, and the next run pays for pages that the kernel has to clear: a
// quarter to almost a half of what MKL's transposition takes. Where a library makes its result anew in each run, its backend
// has freed memory stay with the process from the end of `prepare` to `finish`: weft's own outputs are made once.
static inline void weft__pages_keep(void)
{
#if defined(__linux__) && defined(M_MMAP_MAX) && defined(M_TRIM_THRESHOLD)
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1); // never
#endif
}

// What is free goes back, and large blocks again go back each by itself, from where glibc lets that bound rise: since mallopt it stays.
static inline void weft__pages_give(void)
{
#if defined(__linux__) && defined(M_MMAP_MAX) && defined(M_TRIM_THRESHOLD)
    mallopt(M_MMAP_MAX, 65536);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}
