// SPDX-License-Identifier: Apache-2.0
// Every kernel that the library can compile, with every set of defines that matters: what lint compiles offline, and
// what the test of argument names builds.
#ifndef WEFT_VARIANTS_H
#define WEFT_VARIANTS_H

#include "host/src/core/program.h"
#include "host/src/core/tunable.h"

// One program text and one kernel in it. Numbers that only size things (work-group, items) have one or two typical
// values; whatever changes the code has all of its values.
struct weft__variant {
    const struct weft__kernel_spec *spec;
    enum weft_schedule schedule; // devices it is made for; WEFT_SCHEDULE_AUTO: all
    int fp64;                    // nonzero: only for devices with double precision
    int int64_atomics;           // nonzero: only for devices with 64-bit atomics
    struct weft__defines defines;
};
typedef void weft__variant_fn(void *arg, const struct weft__variant *variant);

// Call fn for each variant of one operation. Each operation's source file defines its own.
typedef void weft__variants_fn(weft__variant_fn *fn, void *arg);
weft__variants_fn weft__segsort_variants;
weft__variants_fn weft__transpose_merge_gpu_variants;
weft__variants_fn weft__scan_variants, weft__histogram_variants, weft__expand_variants;
weft__variants_fn weft__spmv_variants;
weft__variants_fn weft__merge_variants;
weft__variants_fn weft__transpose_scan_cpu_variants, weft__transpose_merge_cpu_variants;
weft__variants_fn weft__gather_variants, weft__mirror_variants, weft__permute_variants;
weft__variants_fn weft__canonical_variants, weft__validate_variants;
weft__variants_fn weft__csr_pair_variants;
weft__variants_fn weft__probe_variants, weft__fill_variants, weft__copy_variants, weft__transpose_scan_gpu_variants;

// All operations; ends with name NULL.
struct weft__operation {
    const char *name;
    weft__variants_fn *variants;
};
extern const struct weft__operation weft__operations[];

// The tuning values of each operation, arrays that end with op NULL.
extern const struct weft__tunables weft__expand_tunables[], weft__histogram_tunables[], weft__merge_tunables[],
    weft__radix_tunables[], weft__scan_tunables[], weft__segsort_tunables[], weft__spmv_coo_tunables[],
    weft__spmv_csr_tunables[], weft__spmv_ell_tunables[], weft__spmv_fixed_tunables[], weft__spmv_flags_tunables[],
    weft__spmv_scatter_tunables[], weft__spmv_sdia_tunables[], weft__transpose_merge_cpu_tunables[],
    weft__transpose_merge_gpu_tunables[], weft__transpose_scan_cpu_tunables[], weft__transpose_scan_gpu_tunables[];
// All of them; ends with NULL.
extern const struct weft__tunables *const weft__tunables[];
// Those of an operation for an algorithm, by its name, and a schedule; NULL: none.
const struct weft__tunables *weft__tunables_of(const char *op, const char *algo, enum weft_schedule schedule);

#endif
