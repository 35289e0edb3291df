// SPDX-License-Identifier: Apache-2.0
// Host threads: OpenMP where the compiler has it, one thread where not.
#ifndef WEFT_THREADS_H
#define WEFT_THREADS_H

#include <stdint.h>

#ifdef _OPENMP
#include <omp.h>
#endif

// Threads to use when the caller asks for `asked` (0: as many as OpenMP gives).
static inline int weft__threads(int asked)
{
#ifdef _OPENMP
    return asked > 0 ? asked : omp_get_max_threads();
#else
    (void)asked;
    return 1;
#endif
}

// The same, but no more than `work` small steps are worth: on small inputs waking threads costs more than it brings.
static inline int weft__threads_for(int asked, int64_t work)
{
    int threads = weft__threads(asked);
    int64_t useful = 1 + work / 65536;
    return threads < useful ? threads : (int)useful;
}

#endif
