// SPDX-License-Identifier: Apache-2.0
// Every kernel that the library can compile, with every set of defines that matters: what lint compiles offline, and
// what the test of argument names builds.
#pragma once

#include "host/src/core/program.h"
#include "host/src/core/tunable.h"

// One program text and one kernel in it. Numbers that only size things (work-group, items) have one or two typical
// values; whatever changes the code has all of its values.
struct weft__variant {
    const struct weft__kernel_spec *spec;
    enum weft_schedule schedule; // devices it is made for; WEFT_SCHEDULE_AUTO: all
    int fp64;                    // nonzero: only for devices with double precision
    int int64_atomics;           // nonzero: only for devices with 64-bit atomics
    int ptx;                     // nonzero: only for NVIDIA's devices
    struct weft__defines defines;
};
typedef void weft__variant_fn(void *arg, const struct weft__variant *variant);

// Call fn for each variant of one operation: each operation's source file defines its own, weft__NAME_variants.
typedef void weft__variants_fn(weft__variant_fn *fn, void *arg);
// clang-format off
#define WEFT__OPERATIONS(X) \
    X(fill) \
    X(probe) \
    X(segsort) \
    X(transpose_merge_gpu) \
    X(merge) \
    X(copy) \
    X(csr_pair) \
    X(litmus) \
    X(transpose_scan_cpu) \
    X(transpose_merge_cpu) \
    X(gather) \
    X(mirror) \
    X(permute) \
    X(transpose_scan_gpu) \
    X(scan) \
    X(histogram) \
    X(expand) \
    X(spmv) \
    X(validate) \
    X(rebase) \
    X(canonical)
// clang-format on
#define WEFT__VARIANTS_DECLARE(name) weft__variants_fn weft__##name##_variants;
WEFT__OPERATIONS(WEFT__VARIANTS_DECLARE)

// All operations; ends with name NULL.
struct weft__operation {
    const char *name;
    weft__variants_fn *variants;
};
extern const struct weft__operation weft__operations[];

// The tuning values of each operation, arrays weft__NAME_tunables that end with op NULL.
// clang-format off
#define WEFT__TUNED(X) \
    X(expand) \
    X(histogram) \
    X(merge) \
    X(scan) \
    X(radix) \
    X(segsort) \
    X(spmv_csr) \
    X(spmv_flags) \
    X(spmv_nodes) \
    X(spmv_ell) \
    X(spmv_sdia) \
    X(spmv_panels) \
    X(spmv_coo) \
    X(spmv_fixed) \
    X(spmv_scatter) \
    X(transpose_scan_gpu) \
    X(transpose_merge_gpu) \
    X(transpose_scan_cpu) \
    X(transpose_merge_cpu)
// clang-format on
#define WEFT__TUNED_DECLARE(name) extern const struct weft__tunables weft__##name##_tunables[];
WEFT__TUNED(WEFT__TUNED_DECLARE)
// All of them; ends with NULL.
extern const struct weft__tunables *const weft__tunables[];
// Those of an operation for an algorithm, by its name, and a schedule; NULL: none.
const struct weft__tunables *weft__tunables_of(const char *op, const char *algo, enum weft_schedule schedule);
