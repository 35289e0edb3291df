// SPDX-License-Identifier: Apache-2.0
// csr-figures SPEC...: a line of JSON for each generated matrix, for csr_fit.py and cpu_fit.py. It holds what auto knows of a matrix when it weighs
// the CSR schedules of a GPU: entries, longest row, empty rows, rows of one entry, entries far from the one before, and also from the one at
// their place in the row behind, steps of 1 to 32 lanes a row. Then
// what each schedule is expected to take on an H200, by cost.c; csr_lanes with 2, 4 .. 32 lanes. And for cpu_fit.py what it knows when
// it weighs formats of a CPU: rows not as long as the one before, elements for each entry in slices of 8 sorted rows, columns of a hybrid
// with the entries and rows of its rest. Then what a plan counts later: elements in slices of windows, and the share of the heaviest
// work-item. And what repays by cost_cpu.c on two cores with vectors of 8 and of 16 floats, and of 16 by Intel, what saves most first,
// for 1000 and for 100 products.
#include "host/internal/inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/generate.h>

enum { HEIGHT = 8, WINDOW = 1024, CORES = 2 };
#define SORTED_SAVES 0.9        // of the elements, at most, where a plan sorts windows
#define CACHE        (32 << 20) // bytes
#define PADDING      4          // elements for each entry, at most

static void number_print(const char *before, double us)
{
    if (isinf(us))
        printf("%snull", before);
    else
        printf("%s%.9g", before, us);
}

static void costs_print(struct weft_spmv_plan *plan, enum weft_type type)
{
    plan->type = plan->acc = plan->a.type = type;
    printf("\"%s\":{\"csr_lanes\":[", weft_type_name(type));
    for (int lanes = 2; lanes <= 32; lanes *= 2)
        number_print(lanes > 2 ? "," : "", weft__spmv_lanes_cost(plan, lanes));
    number_print("],\"csr_scalar\":", weft__spmv_scalar_cost(plan));
    number_print(",\"csr_merge\":", weft__spmv_merge_cost(plan));
    number_print(",\"csr_flags\":", weft__spmv_flags_cost(plan));
    printf("}");
}

static int longer(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left < right) - (left > right);
}

// Of slices of rows of these lengths; a work-item has `chunk` rows.
static struct weft__spmv_load slices_load(const int64_t *lengths, int64_t m, int64_t chunk)
{
    struct weft__spmv_load load = {.items = ceil((double)m / (double)chunk)};
    double item = 0;
    for (int64_t first = 0; first < m; first += HEIGHT) {
        int64_t longest = 0;
        for (int64_t row = first; row < first + HEIGHT && row < m; row++)
            longest = longest < lengths[row] ? lengths[row] : longest;
        item = (first % chunk ? item : 0) + (double)HEIGHT * (double)longest;
        load.longest = fmax(load.longest, item);
        load.elements += (double)HEIGHT * (double)longest;
    }
    return load;
}

// Of the slices that a plan makes; false without memory.
static bool plan_load(const struct weft_csr *a, int64_t chunk, struct weft__spmv_load *load)
{
    int64_t *lengths = malloc(((size_t)a->m + 1) * sizeof *lengths);
    if (!lengths)
        return false;
    for (int64_t row = 0; row < a->m; row++)
        lengths[row] = weft_csr_ofs(a, row + 1) - weft_csr_ofs(a, row);
    const struct weft__spmv_load as_given = slices_load(lengths, a->m, chunk);
    for (int64_t row = 0; row < a->m; row += WINDOW)
        qsort(lengths + row, (size_t)(a->m - row < WINDOW ? a->m - row : WINDOW), sizeof *lengths, longer);
    *load = slices_load(lengths, a->m, chunk);
    if (load->elements > SORTED_SAVES * as_given.elements)
        *load = as_given;
    free(lengths);
    return true;
}

// What weft__spmv_choose() would take, the most saving first; of sliced DIA without padding, since the matrix is not there.
static void repaying_print(struct weft_spmv_plan *plan, const struct weft__spmv_load *load)
{
    const double nnz = (double)plan->a.nnz, padded = weft__spmv_sorted_padding(plan, HEIGHT) * nnz, items = load->items,
                 longest = HEIGHT * (double)plan->stats.max_row;
    const struct weft__spmv_load diagonals = {.elements = nnz, .longest = fmax(nnz / items, longest), .items = items},
                                 sorted = {
                                     .elements = padded, .longest = fmax(padded / items, longest), .items = items};
    struct {
        enum weft_spmv_algo algo;
        double us;
    } saving[] = {{WEFT_SPMV_ALGO_SDIA, 0},
                  {weft__spmv_cpu_narrow(plan) ? WEFT_SPMV_ALGO_SELL16 : WEFT_SPMV_ALGO_SELL, 0},
                  {WEFT_SPMV_ALGO_HYB, 0}};
    if (nnz > 0) {
        saving[0].us = weft__spmv_cpu_saves(plan, saving[0].algo, &diagonals);
        if (padded <= PADDING * nnz && load->elements <= PADDING * nnz &&
            weft__spmv_cpu_gains(plan, saving[1].algo, load))
            saving[1].us = weft__spmv_cpu_saves(plan, saving[1].algo, &sorted);
        saving[2].us = weft__spmv_cpu_hyb_saves(plan);
    }
    printf("[");
    for (int shown = 0;; shown++) {
        int most = 0;
        for (int i = 1; i < 3; i++)
            most = saving[i].us > saving[most].us ? i : most;
        if (saving[most].us <= 0)
            break;
        printf("%s\"%s\"", shown ? "," : "", weft_spmv_algo_name(saving[most].algo));
        saving[most].us = 0;
    }
    printf("]");
}

// Those that cost_cpu.c tells apart.
static const struct kind {
    const char *name, *vendor;
    int vector;
} kinds[] = {{"8", "", 8}, {"16", "", 16}, {"intel", "GenuineIntel", 16}};

static void cpu_print(struct weft_spmv_plan *plan, const struct weft_csr *a, const struct kind *kind)
{
    struct weft_context cpu = {
        .device = {.compute_units = CORES, .cache_bytes = CACHE, .type = CL_DEVICE_TYPE_CPU},
        .schedule = WEFT_SCHEDULE_CPU,
        .vector = kind->vector,
    };
    snprintf(cpu.device.vendor, sizeof cpu.device.vendor, "%s", kind->vendor);
    plan->ctx = &cpu;
    plan->info.schedule = WEFT_SCHEDULE_CPU;
    plan->info.max_row = plan->stats.max_row;
    plan->info.params.format.max_padding = PADDING;
    struct weft__spmv_load load = {0};
    const int64_t items = a->m ? (int64_t)weft__spmv_items(plan) : 0,
                  rows = items ? (a->m + items - 1) / items : HEIGHT;
    if (!plan_load(a, (rows + HEIGHT - 1) / HEIGHT * HEIGHT, &load)) {
        fprintf(stderr, "csr-figures: out of memory\n");
        exit(3);
    }
    load.items = fmax(1, (double)items);
    if (kind == kinds)
        printf("\"windows\":%.6g,\"heaviest\":%.6g,\"repays\":{", load.elements / fmax((double)a->nnz, 1),
               load.longest / fmax(load.elements, 1));
    printf("%s\"%s\":{", kind == kinds ? "" : ",", kind->name);
    for (int wide = 0; wide < 2; wide++) {
        plan->type = plan->acc = plan->a.type = wide ? WEFT_TYPE_F64 : WEFT_TYPE_F32;
        printf("%s\"%s\":[", wide ? "," : "", weft_type_name(plan->type));
        for (int products = 1000; products >= 100; products /= 10) {
            plan->info.params.policy.products = products;
            fputs(products < 1000 ? "," : "", stdout);
            repaying_print(plan, &load);
        }
        printf("]");
    }
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
    printf("{\"matrix\":\"%s\",\"m\":%lld,\"n\":%lld,\"nnz\":%lld,\"max_row\":%lld,\"empty\":%lld,\"single\":%lld,"
           "\"far\":%lld,\"lone\":%lld,\"alike\":%lld,"
           "\"changes\":%lld,\"padding\":%.6g,\"steps\":[",
           spec, (long long)a->m, (long long)a->n, (long long)a->nnz, (long long)s->max_row, (long long)s->hist[0],
           (long long)s->hist[1], (long long)s->far, (long long)s->lone, (long long)s->alike, (long long)s->changes,
           weft__spmv_sorted_padding(&plan, 8));
    for (int k = 0; k < 6; k++)
        printf("%s%lld", k ? "," : "", (long long)s->steps[k]);
    const int64_t columns = weft__spmv_hyb_width(&plan);
    const struct weft__spmv_rest rest = weft__spmv_hyb_rest(&plan, columns);
    printf("],\"hyb\":[%lld,%.0f,%.0f],\"expected\":{", (long long)columns, rest.entries, rest.rows);
    costs_print(&plan, WEFT_TYPE_F32);
    printf(",");
    costs_print(&plan, WEFT_TYPE_F64);
    printf("},");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        cpu_print(&plan, a, &kinds[i]);
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
