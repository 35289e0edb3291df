// SPDX-License-Identifier: Apache-2.0
// The list of operations with the variants of their kernels, for lint and tests.
#include "host/src/core/variants.h"
#include "host/src/core/fill.h"

void weft__fill_variants(weft__variant_fn *fn, void *arg)
{
    struct weft__variant v = {.spec = &weft__fill_spec};
    weft__define(&v.defines, "WEFT_WG", "64");
    fn(arg, &v);
}

const struct weft__operation weft__operations[] = {
    {"fill", weft__fill_variants},
    {"probe", weft__probe_variants},
    {"segsort", weft__segsort_variants},
    {"transpose_merge_gpu", weft__transpose_merge_gpu_variants},
    {"merge", weft__merge_variants},
    {"copy", weft__copy_variants},
    {"csr_pair", weft__csr_pair_variants},
    {"transpose_scan_cpu", weft__transpose_scan_cpu_variants},
    {"transpose_merge_cpu", weft__transpose_merge_cpu_variants},
    {"gather", weft__gather_variants},
    {"mirror", weft__mirror_variants},
    {"permute", weft__permute_variants},
    {"transpose_scan_gpu", weft__transpose_scan_gpu_variants},
    {"scan", weft__scan_variants},
    {"histogram", weft__histogram_variants},
    {"expand", weft__expand_variants},
    {"spmv", weft__spmv_variants},
    {"validate", weft__validate_variants},
    {"canonical", weft__canonical_variants},
    {NULL, NULL},
};
