// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels.h, and the variants of each for lint and the test of argument names.
#include "variants.h"
#include "plan.h"

#define SPMV  "spmv/spmv.clh"
#define ELL   "spmv/ell.clh"
#define SHARE "spmv/share.clh"
#define ROWS  "spmv/rows.clh"
#define SPEC_DEFINE(name, entry, file, ...)                                                                            \
    const struct weft__kernel_spec weft__##name##_spec = {#entry, {"spmv/" #file ".cl", __VA_ARGS__}};
WEFT__SPMV_KERNELS(SPEC_DEFINE)

static const struct {
    enum weft_type type; // of the matrix
    enum weft_ofs ofs;
    int f64_sums;
    enum weft_spmv_semiring semiring;
    int read; // 0 .. 2, as WEFT_READ
} shapes[] = {
    {WEFT_TYPE_F32, WEFT_OFS_32, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, 1},
    {WEFT_TYPE_F64, WEFT_OFS_64, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, 1},
    {WEFT_TYPE_F32, WEFT_OFS_64, 1, WEFT_SPMV_SEMIRING_PLUS_TIMES, 2},
    {WEFT_TYPE_I32, WEFT_OFS_32, 0, WEFT_SPMV_SEMIRING_MIN_PLUS, 1},
    {WEFT_TYPE_F32, WEFT_OFS_32, 0, WEFT_SPMV_SEMIRING_MIN_PLUS, 0},
    {WEFT_TYPE_PATTERN, WEFT_OFS_32, 0, WEFT_SPMV_SEMIRING_OR_AND, 1},
    {WEFT_TYPE_F64, WEFT_OFS_32, 0, WEFT_SPMV_SEMIRING_MAX_TIMES, 2},
    {WEFT_TYPE_F32, WEFT_OFS_32, 0, WEFT_SPMV_SEMIRING_CUSTOM, 0},
};
#define NSHAPES (sizeof shapes / sizeof *shapes)

static void shape_define(struct weft__variant *v, size_t i)
{
    struct weft__defines *d = &v->defines;
    int f64 = shapes[i].type == WEFT_TYPE_F64 || shapes[i].f64_sums;
    *d = (struct weft__defines){0};
    v->fp64 = f64;
    weft__define_types(d, shapes[i].type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : shapes[i].type, shapes[i].ofs);
    if (shapes[i].type == WEFT_TYPE_PATTERN)
        weft__define(d, "WEFT_ONES", "1");
    if (shapes[i].f64_sums)
        weft__define(d, "WEFT_ACC_F64", "1");
    weft__define(d, "WEFT_READ", "%d", shapes[i].read);
    weft__define(d, "WEFT_SEMIRING", "%d", (int)shapes[i].semiring);
    if (shapes[i].semiring == WEFT_SPMV_SEMIRING_CUSTOM) {
        weft__define(d, "WEFT_PLUS", "fmin(a, b)");
        weft__define(d, "WEFT_TIMES", "fmax(a, b)");
        weft__define(d, "WEFT_ZERO", "INFINITY");
    }
}

void weft__spmv_each_shape(weft__variant_fn *fn, void *arg, const struct weft__kernel_spec *spec,
                           enum weft_schedule schedule, int atomic, const struct weft__spmv_size *sizes)
{
    struct weft__variant v = {.spec = spec, .schedule = schedule};
    for (size_t i = 0; i < NSHAPES; i++) {
        if (atomic && shapes[i].f64_sums) // atomics add values
            continue;
        shape_define(&v, i);
        for (const struct weft__spmv_size *s = sizes; s->name; s++)
            weft__define(&v.defines, s->name, "%d", s->value);
        fn(arg, &v);
    }
}

// Large tiles of csr_flags and csr_hubs with the sums of shape i; those of more than 1024 entries a turn on NVIDIA's devices alone.
static void large_variant(weft__variant_fn *fn, void *arg, size_t i, int wg, int ipt, int gaps, int hubs)
{
    struct weft__variant v = {.spec = &weft__spmv_flags_spec, .schedule = WEFT_SCHEDULE_GPU, .ptx = wg * ipt > 1024};
    shape_define(&v, i);
    weft__define(&v.defines, "WEFT_WG", "%d", wg);
    weft__define(&v.defines, "WEFT_IPT", "%d", ipt);
    weft__define(&v.defines, "WEFT_GAPS", "%d", gaps);
    weft__define(&v.defines, "WEFT_STRIPED", "0");
    weft__define(&v.defines, "WEFT_TURNED", "0");
    weft__define(&v.defines, "WEFT_LARGE", "1");
    weft__define(&v.defines, "WEFT_HUBS", "%d", hubs);
    fn(arg, &v);
}

static void large_each(weft__variant_fn *fn, void *arg)
{
    for (int gaps = 0; gaps < 2; gaps++) {
        for (size_t i = 0; i < NSHAPES; i++) {
            large_variant(fn, arg, i, 256, 4, gaps, 0);
            large_variant(fn, arg, i, 256, 4, gaps, 4096);
        }
        large_variant(fn, arg, 0, 256, 8, gaps, 0);
        for (size_t i = 0; i < 2; i++) { // the usual sums
            large_variant(fn, arg, i, 1024, 4, gaps, 0);
            large_variant(fn, arg, i, 1024, 4, gaps, 4096);
        }
    }
}

#define EACH WEFT__SPMV_EACH
#define EACH_VALUE(spec, schedule, ...)                                                                                \
    weft__spmv_each_shape(fn, arg, spec, schedule, 1, (const struct weft__spmv_size[]){__VA_ARGS__, {NULL, 0}})

// Conversions: no semiring, but every width of values and offsets.
static void convert_each(weft__variant_fn *fn, void *arg, const struct weft__kernel_spec *spec, int gpu_wg,
                         enum weft_schedule schedule)
{
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_PATTERN};
    for (int cpu = schedule == WEFT_SCHEDULE_CPU; cpu < 2 - (schedule == WEFT_SCHEDULE_GPU); cpu++)
        for (int i = 0; i < 3; i++) {
            struct weft__variant v = {.spec = spec, .schedule = cpu ? WEFT_SCHEDULE_CPU : WEFT_SCHEDULE_GPU};
            weft__define_types(&v.defines, types[i], i == 1 ? WEFT_OFS_64 : WEFT_OFS_32);
            weft__define(&v.defines, "WEFT_WG", "%d", cpu ? 1 : gpu_wg);
            weft__define(&v.defines, "WEFT_SORTED", "%d", i & 1);
            weft__define(&v.defines, "WEFT_SIGMA", "%d", i ? 1024 : 64);
            fn(arg, &v);
        }
}

static void rows_each(weft__variant_fn *fn, void *arg, const struct weft__kernel_spec *spec, int gpu_wg,
                      enum weft_schedule schedule)
{
    for (int cpu = schedule == WEFT_SCHEDULE_CPU; cpu < 2 - (schedule == WEFT_SCHEDULE_GPU); cpu++)
        for (int ofs = 0; ofs < 2; ofs++) {
            struct weft__variant v = {.spec = spec, .schedule = cpu ? WEFT_SCHEDULE_CPU : WEFT_SCHEDULE_GPU};
            weft__define_types(&v.defines, WEFT_TYPE_PATTERN, ofs ? WEFT_OFS_64 : WEFT_OFS_32);
            weft__define(&v.defines, "WEFT_WG", "%d", cpu ? 1 : gpu_wg);
            weft__define(&v.defines, "WEFT_BINS", "%d", WEFT__SPMV_BINS);
            fn(arg, &v);
        }
}

static void ell_each(weft__variant_fn *fn, void *arg, const struct weft__kernel_spec *spec)
{
    for (int sorted = 0; sorted < 2; sorted++)
        EACH(spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 256}, {"WEFT_IPT", 8}, {"WEFT_HEIGHT", 32}, {"WEFT_SORTED", sorted});
    for (int ipt = 8; ipt >= 4; ipt -= 4) {
        EACH(spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 128}, {"WEFT_IPT", ipt}, {"WEFT_HEIGHT", 0}, {"WEFT_SORTED", 0});
        for (int sorted = 0; sorted < 2; sorted++)
            EACH(spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 128}, {"WEFT_IPT", ipt}, {"WEFT_HEIGHT", 32},
                 {"WEFT_SORTED", sorted});
    }
}

void weft__spmv_variants_shared(weft__variant_fn *fn, void *arg)
{
    rows_each(fn, arg, &weft__rows_stats_spec, 64, WEFT_SCHEDULE_GPU);
    rows_each(fn, arg, &weft__rows_stats_cpu_spec, 1, WEFT_SCHEDULE_CPU);
    rows_each(fn, arg, &weft__rows_tiles_spec, 64, WEFT_SCHEDULE_AUTO);
    rows_each(fn, arg, &weft__rows_flags_spec, 64, WEFT_SCHEDULE_AUTO);
    rows_each(fn, arg, &weft__rows_flags_count_spec, 64, WEFT_SCHEDULE_AUTO);
    rows_each(fn, arg, &weft__rows_flags_before_spec, 64, WEFT_SCHEDULE_AUTO);
    rows_each(fn, arg, &weft__rows_flags_rows_spec, 64, WEFT_SCHEDULE_AUTO);
    rows_each(fn, arg, &weft__rows_flags_cross_spec, 64, WEFT_SCHEDULE_AUTO);
    EACH(&weft__spmv_join_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 64}, {"WEFT_JOIN", 32});
    EACH(&weft__spmv_join_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 256}, {"WEFT_JOIN", 256});
    EACH(&weft__spmv_join_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1}, {"WEFT_JOIN", 1});
    EACH(&weft__spmv_scalar_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 128});
    EACH(&weft__spmv_scalar_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1});
    for (int ipt = 4; ipt <= 16; ipt *= 2)
        EACH(&weft__spmv_gaps_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 128}, {"WEFT_IPT", ipt});
    EACH(&weft__spmv_gaps_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 128}, {"WEFT_IPT", 8}, {"WEFT_FAR", 1});
    for (int lanes = 2; lanes <= 32; lanes *= 4)
        EACH(&weft__spmv_lanes_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 256}, {"WEFT_BLOCKS", 2}, {"WEFT_LPR", lanes},
             {"WEFT_STEP", 4}, {"WEFT_IPT", 3});
    EACH(&weft__spmv_lanes_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 128}, {"WEFT_BLOCKS", 1}, {"WEFT_LPR", 32},
         {"WEFT_STEP", 4}, {"WEFT_IPT", 1});
    for (int ipt = 4; ipt <= 8; ipt += 4)
        EACH(&weft__spmv_lanes_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 256}, {"WEFT_BLOCKS", 1}, {"WEFT_LPR", 2 * ipt},
             {"WEFT_STEP", 1}, {"WEFT_IPT", ipt});
    EACH(&weft__spmv_lanes_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 256}, {"WEFT_BLOCKS", 1}, {"WEFT_LPR", 8},
         {"WEFT_STEP", 4}, {"WEFT_IPT", 3}, {"WEFT_FAR", 1});
    EACH(&weft__spmv_merge_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 256}, {"WEFT_IPT", 8});
    EACH(&weft__spmv_merge_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 256}, {"WEFT_IPT", 8}, {"WEFT_CUT", 1},
         {"WEFT_ITEMS", 1912}, {"WEFT_SNAP", 128});
    EACH(&weft__spmv_merge_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 128}, {"WEFT_IPT", 12});
    for (int gaps = 0; gaps < 2; gaps++)
        for (int form = 0; form < 3; form++) // as they are, turned, striped
            EACH(&weft__spmv_flags_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 128}, {"WEFT_IPT", 8}, {"WEFT_GAPS", gaps},
                 {"WEFT_STRIPED", form == 2}, {"WEFT_TURNED", form == 1}, {"WEFT_LARGE", 0}, {"WEFT_HUBS", 0});
    for (int gaps = 0; gaps < 2; gaps++)
        EACH(&weft__spmv_flags_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 256}, {"WEFT_IPT", 4}, {"WEFT_GAPS", gaps},
             {"WEFT_STRIPED", 0}, {"WEFT_TURNED", 0}, {"WEFT_LARGE", 0}, {"WEFT_HUBS", 0});
    EACH(&weft__spmv_flags_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 128}, {"WEFT_IPT", 16}, {"WEFT_GAPS", 0},
         {"WEFT_STRIPED", 1}, {"WEFT_TURNED", 0}, {"WEFT_LARGE", 0}, {"WEFT_HUBS", 0});
    EACH(&weft__spmv_flags_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 256}, {"WEFT_IPT", 16}, {"WEFT_GAPS", 1},
         {"WEFT_STRIPED", 1}, {"WEFT_TURNED", 0}, {"WEFT_LARGE", 0}, {"WEFT_HUBS", 0});
    large_each(fn, arg);
    EACH(&weft__spmv_flags_join_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 64});
    EACH(&weft__spmv_cpu_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1}, {"WEFT_LPR", 1});
    EACH(&weft__spmv_cpu_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1}, {"WEFT_LPR", 2});
    EACH(&weft__spmv_cpu_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1}, {"WEFT_LPR", 8});
    EACH(&weft__spmv_gaps_cpu_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1}, {"WEFT_LPR", 1});
    EACH(&weft__spmv_gaps_cpu_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1}, {"WEFT_LPR", 2});
    EACH(&weft__spmv_gaps_cpu_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1}, {"WEFT_LPR", 8});
    convert_each(fn, arg, &weft__ell_sort_spec, 256, WEFT_SCHEDULE_GPU);
    convert_each(fn, arg, &weft__ell_sort_cpu_spec, 1, WEFT_SCHEDULE_CPU);
    convert_each(fn, arg, &weft__ell_width_spec, 64, WEFT_SCHEDULE_AUTO);
    convert_each(fn, arg, &weft__ell_fill_spec, 64, WEFT_SCHEDULE_GPU);
    convert_each(fn, arg, &weft__ell_fill_cpu_spec, 1, WEFT_SCHEDULE_CPU);
    convert_each(fn, arg, &weft__hyb_count_spec, 64, WEFT_SCHEDULE_AUTO);
    convert_each(fn, arg, &weft__hyb_rest_spec, 64, WEFT_SCHEDULE_AUTO);
    ell_each(fn, arg, &weft__spmv_ell_spec);
    ell_each(fn, arg, &weft__spmv_ell_packed_spec);
    EACH(&weft__spmv_ell_cpu_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1}, {"WEFT_BLOCK", 8}, {"WEFT_SORTED", 1});
    EACH(&weft__spmv_ell_cpu_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1}, {"WEFT_BLOCK", 1024}, {"WEFT_SORTED", 0});
    convert_each(fn, arg, &weft__sdia_count_spec, 32, WEFT_SCHEDULE_GPU);
    convert_each(fn, arg, &weft__sdia_fill_spec, 32, WEFT_SCHEDULE_GPU);
    convert_each(fn, arg, &weft__sdia_count_cpu_spec, 1, WEFT_SCHEDULE_CPU);
    convert_each(fn, arg, &weft__sdia_fill_cpu_spec, 1, WEFT_SCHEDULE_CPU);
    EACH(&weft__spmv_sdia_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 128}, {"WEFT_IPT", 4}, {"WEFT_ROWS", 1});
    EACH(&weft__spmv_sdia_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 128}, {"WEFT_IPT", 5}, {"WEFT_ROWS", 2});
    EACH(&weft__spmv_sdia_cpu_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1});
    EACH(&weft__spmv_segment_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 256}, {"WEFT_IPT", 7}, {"WEFT_TILED", 1});
    EACH(&weft__spmv_coo_cpu_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1});
    EACH(&weft__spmv_coo_join_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 64}, {"WEFT_JOIN", 32});
    EACH(&weft__spmv_coo_join_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1}, {"WEFT_JOIN", 1});
    EACH(&weft__spmv_fixed_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 256}, {"WEFT_IPT", 8}, {"WEFT_TILED", 1});
    EACH(&weft__spmv_fixed_cpu_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1});
    EACH(&weft__spmv_fixed_join_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 64});
    EACH(&weft__spmv_fixed_join_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1});
    EACH(&weft__spmv_scale_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 64}, {"WEFT_CHUNK", 16});
    EACH(&weft__spmv_scale_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1}, {"WEFT_CHUNK", 4096});
    EACH(&weft__spmv_add_spec, WEFT_SCHEDULE_AUTO, {"WEFT_WG", 64});
    for (int cpu = 0; cpu < 2; cpu++) {
        enum weft_schedule schedule = cpu ? WEFT_SCHEDULE_CPU : WEFT_SCHEDULE_GPU;
        int wg = cpu ? 1 : 256;
        EACH_VALUE(&weft__spmv_atomic_spec, schedule, {"WEFT_WG", wg}, {"WEFT_ATOMIC", 1});
        EACH_VALUE(&weft__spmv_scatter_spec, schedule, {"WEFT_WG", wg}, {"WEFT_LPR", cpu ? 1 : 8}, {"WEFT_ATOMIC", 1});
    }
}
