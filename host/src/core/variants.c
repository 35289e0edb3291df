// SPDX-License-Identifier: Apache-2.0
// The lists of operations: the variants of their kernels, for lint and tests, and their tuning values.
#include "host/src/core/variants.h"
#include "host/src/core/fill.h"

#include <string.h>

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

const struct weft__tunables *const weft__tunables[] = {
    weft__expand_tunables,
    weft__histogram_tunables,
    weft__merge_tunables,
    weft__scan_tunables,
    weft__radix_tunables,
    weft__segsort_tunables,
    weft__spmv_csr_tunables,
    weft__spmv_flags_tunables,
    weft__spmv_ell_tunables,
    weft__spmv_sdia_tunables,
    weft__spmv_coo_tunables,
    weft__spmv_fixed_tunables,
    weft__spmv_scatter_tunables,
    weft__transpose_scan_gpu_tunables,
    weft__transpose_merge_gpu_tunables,
    weft__transpose_scan_cpu_tunables,
    weft__transpose_merge_cpu_tunables,
    NULL,
};

const struct weft__tunables *weft__tunables_of(const char *op, const char *algo, enum weft_schedule schedule)
{
    const struct weft__tunables *any = NULL;
    for (const struct weft__tunables *const *sets = weft__tunables; *sets; sets++)
        for (const struct weft__tunables *set = *sets; set->op; set++)
            if (!strcmp(set->op, op) && set->schedule == schedule) {
                if (set->algo && algo && !strcmp(set->algo, algo))
                    return set;
                any = set->algo ? any : set;
            }
    return any;
}
