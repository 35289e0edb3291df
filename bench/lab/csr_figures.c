// SPDX-License-Identifier: Apache-2.0
// csr-figures SPEC...: a line of JSON for each generated matrix, for csr_fit.py and cpu_fit.py. It holds what auto knows of a matrix when it weighs
// the CSR schedules of a GPU: entries, longest row, empty rows, entries far from the one before, steps of 1 to 32 lanes a row. Then
// what each schedule is expected to take on an H200, by cost.c; csr_lanes with 2, 4 .. 32 lanes. And for cpu_fit.py what it knows when
// it weighs formats of a CPU: rows not as long as the one before, elements for each entry in slices of 8 sorted rows.
#include "host/internal/inside.h"

#include <math.h>
#include <stdio.h>
#include <weft/generate.h>

static void number_print(const char *before, double us)
{
    if (isinf(us))
        printf("%snull", before);
    else
        printf("%s%.9g", before, us);
}

static void costs_print(struct weft_spmv_plan *plan, enum weft_type type)
{
    plan->type = plan->a.type = type;
    printf("\"%s\":{\"csr_lanes\":[", weft_type_name(type));
    for (int lanes = 2; lanes <= 32; lanes *= 2)
        number_print(lanes > 2 ? "," : "", weft__spmv_lanes_cost(plan, lanes));
    number_print("],\"csr_scalar\":", weft__spmv_scalar_cost(plan));
    number_print(",\"csr_merge\":", weft__spmv_merge_cost(plan));
    number_print(",\"csr_flags\":", weft__spmv_flags_cost(plan));
    printf("}");
}

static void figures_print(const char *spec, const struct weft_csr *a)
{
    struct weft_context h200 = {.device = {.compute_units = 132, .lanes = WEFT_LANES_PTX, .fence = true},
                                .schedule = WEFT_SCHEDULE_GPU};
    struct weft_spmv_plan plan = {.ctx = &h200, .a = {.m = a->m, .n = a->n, .nnz = a->nnz}, .x_size = a->n};
    const struct weft__spmv_stats *s = &plan.stats;
    weft__spmv_stats_host(&plan.stats, a);
    plan.info.empty_rows = s->hist[0];
    printf("{\"matrix\":\"%s\",\"m\":%lld,\"n\":%lld,\"nnz\":%lld,\"max_row\":%lld,\"empty\":%lld,\"far\":%lld,"
           "\"changes\":%lld,\"padding\":%.6g,\"steps\":[",
           spec, (long long)a->m, (long long)a->n, (long long)a->nnz, (long long)s->max_row, (long long)s->hist[0],
           (long long)s->far, (long long)s->changes, weft__spmv_sorted_padding(&plan, 8));
    for (int k = 0; k < 6; k++)
        printf("%s%lld", k ? "," : "", (long long)s->steps[k]);
    printf("],\"expected\":{");
    costs_print(&plan, WEFT_TYPE_F32);
    printf(",");
    costs_print(&plan, WEFT_TYPE_F64);
    printf("}}\n");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: csr-figures SPEC...    generated matrices, as weft-bench -g takes them\n");
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        struct weft_csr a;
        struct weft_error err = {0};
        if (weft_generate(&a, argv[i], weft_generate_params(.type = WEFT_TYPE_PATTERN), &err)) {
            fprintf(stderr, "csr-figures: %s\n", err.text);
            return 2;
        }
        figures_print(argv[i], &a);
        weft_csr_free(&a);
    }
    return fflush(stdout) ? 3 : 0;
}
