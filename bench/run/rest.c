// SPDX-License-Identifier: Apache-2.0
// Ends waiting threads of OpenMP, where it can be asked to.
#include "rest.h"

#ifdef WEFT_HAVE_OMP_PAUSE
#include <omp.h>
#endif

void bench_threads_rest(void)
{
#ifdef WEFT_HAVE_OMP_PAUSE
    omp_pause_resource_all(omp_pause_soft);
#endif
}
