// SPDX-License-Identifier: Apache-2.0
// The list of all backends, in the order of `--backend`.
#include "backend.h"

// References and vendors first: what comes later is compared with them as it is printed.
const struct weft_backend *const weft__backends[] = {
    &weft__backend_ref,      &weft__backend_omp,      &weft__backend_graphblas,
    &weft__backend_rsb,      &weft__backend_cusparse, &weft__backend_rocsparse,
    &weft__backend_viennacl, &weft__backend_opencl,   NULL,
};
