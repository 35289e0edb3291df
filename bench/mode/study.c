// SPDX-License-Identifier: Apache-2.0
// weft-bench --study permute: many independent trials of SpMV in several orders of rows and columns.
#include "study.h"
#include "host/internal/inside.h"
#include "host/common/product.h"
#include "host/common/progress.h"
#include "bench/run/rest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>
#include <weft/measure.h>

// A matrix in one order, with the x that belongs to it and, where entries were shuffled, a y of its own.
struct subject {
    struct weft_permutation p;
    struct weft_csr a;
    void *x;
    struct product_expected own; // all zero: the y of the matrix as it is, permuted
};

static int is_random(int order)
{
    return order == WEFT_ORDER_ROW || order == WEFT_ORDER_ROW_GRADIENT || order == WEFT_ORDER_COL_GRADIENT ||
           order == WEFT_ORDER_ROW_COL || bench_order_shuffles(order);
}

// ---- lines -----------------------------------------------------------------------------------------------------

// Algorithms of a backend that run without --algo; NULL: all.
static const char *default_algos(const struct weft_backend *backend)
{
    return !strcmp(backend->name, "ref")      ? "csr,coo"
           : !strcmp(backend->name, "omp")    ? "csr,csr_rows,csr_nnz"
           : !strcmp(backend->name, "opencl") ? "auto,csr_scalar,csr_lanes,csr_merge,coo"
                                              : NULL;
}

static size_t lines_collect(struct bench *b, struct study_line *lines)
{
    const struct bench_options *o = &b->options;
    size_t count = 0;
    for (size_t k = 0; k < o->nbackends; k++) {
        const struct weft_backend *backend = o->backends[k];
        const int host = bench_host_only(backend);
        const char *list = o->algos ? o->algos : default_algos(backend);
        struct weft_error err = {0};
        for (size_t i = 0; i < (host ? 1 : b->nslots); i++) {
            struct device_slot *slot = host ? &b->host : &b->slots[i];
            if (!host && backend->probe(slot->device.ctx, &err))
                continue;
            for (const char *const *algo = backend->spmv.algos; algo && *algo; algo++)
                if ((!list || bench_list_has(list, "all") || bench_list_has(list, *algo)) && count < STUDY_LINES_MAX)
                    lines[count++] = (struct study_line){.backend = backend, .algo = *algo, .slot = slot};
        }
    }
    return count;
}

static size_t orders_collect(const struct bench_options *o, int *orders)
{
    size_t count = 0;
    for (int i = 0; i < BENCH_ORDERS; i++)
        if (i == WEFT_ORDER_REGULAR || !o->orders || bench_list_has(o->orders, "all") ||
            bench_list_has(o->orders, bench_order_name(i)))
            orders[count++] = i;
    return count;
}

void bench_study_announce(struct bench *b)
{
    const struct bench_options *o = &b->options;
    struct study_line lines[STUDY_LINES_MAX];
    int orders[BENCH_ORDERS];
    const size_t nlines = lines_collect(b, lines), norders = orders_collect(o, orders);
    const double seconds = (double)(o->nsources * o->ntypes * norders * nlines) * (double)o->trials * o->trial_s;
    if (b->table)
        fprintf(b->table,
                "study of permutations: %zu matri%s x %zu type%s x %zu orders x %zu kernel%s x %d trial%s of %g s: "
                "%.0f s, and about half as much for preparing\n",
                o->nsources, o->nsources == 1 ? "x" : "ces", o->ntypes, o->ntypes == 1 ? "" : "s", norders, nlines,
                nlines == 1 ? "" : "s", o->trials, o->trials == 1 ? "" : "s", o->trial_s, seconds);
}

// ---- one trial ---------------------------------------------------------------------------------------------------

// Products until they have lasted trial_s by the host's clock: mean time of one, the first included, by device events or
// by the host's clock of a host backend. trial_s 0: a single one.
static weft_status products_time(const struct study_line *line, const struct subject *subject, double trial_s, void *y,
                                 double *mean_ms, int64_t *runs, char chosen[96], struct weft_error *err)
{
    const struct weft_backend_spmv *spmv = &line->backend->spmv;
    struct weft_backend_spmv_job job = {.a = &subject->a, .x = subject->x, .alpha = 1};
    struct weft_backend_times times = WEFT_BACKEND_NO_TIMES;
    void *state = NULL;
    double total = 0, ms = 0;
    *runs = 0;
    weft_status status = spmv->prepare(&state, line->slot->device.ctx, &job, line->algo, &times, err);
    bench_quiet(line->backend);
    const double start = bench_now_ms();
    while (!status && (!*runs || bench_now_ms() - start < trial_s * 1e3)) {
        status = spmv->run(state, &ms, err);
        total += ms;
        *runs += 1;
    }
    if (!status)
        status = spmv->result(state, y, &times, err);
    spmv->finish(&state);
    bench_threads_rest();
    *mean_ms = total / (double)*runs;
    memcpy(chosen, times.chosen, 96);
    return status;
}

static void cell_fail(struct study_cell *cell, weft_status status, const struct weft_error *err)
{
    snprintf(cell->why, sizeof cell->why, "%s", err->text[0] ? err->text : weft_status_text(status));
    cell->why[strcspn(cell->why, "\n")] = 0;
    if (status == WEFT_EUNSUPPORTED)
        cell->skipped = cell->why;
}

static void cell_trial(struct study *s, struct study_line *line, struct study_cell *cell, int trial,
                       const struct subject *subject, const struct product_expected *e, enum weft_type type, void *y)
{
    struct weft_error err = {0};
    double ms;
    int64_t runs;
    if (cell->why[0])
        return;
    weft_status status = products_time(line, subject, s->bench->options.trial_s, y, &ms, &runs, line->chosen, &err);
    if (status) {
        cell_fail(cell, status, &err);
    } else if (!product_right(y, type, &subject->p, subject->own.rows ? &subject->own : e, cell->why,
                              sizeof cell->why)) {
        cell->wrong = 1;
    } else {
        cell->gflops[trial] = ms > 0 ? 2e-6 * (double)s->a->nnz / ms : 0;
        cell->runs = !trial || runs < cell->runs ? runs : cell->runs;
    }
}

// ---- permuting -------------------------------------------------------------------------------------------------

static void subject_free(struct subject *subject)
{
    weft_permutation_free(&subject->p);
    weft_csr_free(&subject->a);
    product_expected_free(&subject->own);
    free(subject->x);
    subject->x = NULL;
}

static weft_status subject_make(struct subject *out, struct study *s, struct study_order *order, int trial,
                                enum weft_type type, const void *x, struct weft_error *err)
{
    const uint64_t seed = s->bench->options.seed + (uint64_t)trial;
    const size_t bytes = weft_type_bytes(type);
    subject_free(out);
    const int shuffles = bench_order_shuffles(order->order);
    const double start = bench_now_ms();
    weft_status status = shuffles ? bench_order_make(&out->a, &out->p, order->order, s->a, seed, err)
                                  : weft_permutation_alloc(&out->p, (enum weft_order)order->order, s->a, seed, err);
    const double made = bench_now_ms();
    if (!status && !shuffles)
        status = weft_csr_permute(&out->a, s->a, &out->p, NULL, err);
    const double permuted = bench_now_ms();
    out->x = calloc(weft__max(1, (size_t)s->a->n), bytes);
    if (!status && !out->x)
        status = weft__error(err, WEFT_ENOMEM, "out of host memory for x");
    if (!status)
        status = weft_vector_permute(out->x, x, &out->p, WEFT_PERMUTE_SIDE_COLS, 0, bytes);
    if (!status && shuffles)
        status = product_expect(&out->own, &out->a, type, out->x);
    if (!status) {
        struct weft_density d = {0};
        status = weft_density_alloc(&d, &out->a, NULL, err);
        order->entropy[trial] = status ? 0 : weft_density_entropy(&d);
        weft_density_free(&d);
    }
    if (!status && !trial)
        status = advice_measure(&order->measures, &out->a, err);
    order->order_ms = trial ? fmin(order->order_ms, made - start) : made - start;
    order->host_ms = trial ? fmin(order->host_ms, permuted - made) : permuted - made;
    return status;
}

static void permute_times(struct study *s, struct study_order *order, const struct weft_permutation *p)
{
    const int shuffles = bench_order_shuffles(order->order); // which no device does
    for (size_t l = 0; l < s->nlines; l++) {
        const struct device_slot *slot = s->lines[l].slot;
        double ms = -1;
        for (size_t k = 0; k < l && !shuffles; k++)
            if (s->lines[k].slot == slot)
                ms = order->cells[k].permute_ms;
        if (ms < 0 && !shuffles && slot == &s->bench->host)
            ms = order->host_ms;
        else if (ms < 0 && !shuffles)
            ms = product_permute_ms(slot->device.ctx, slot->device.queue, s->a, p);
        order->cells[l].permute_ms = ms;
    }
}

// ---- the study of one matrix -------------------------------------------------------------------------------------

static weft_status study_alloc(struct study *s)
{
    for (size_t i = 0; i < s->norders; i++) {
        struct study_order *order = &s->orders[i];
        order->entropy = calloc((size_t)s->trials, sizeof *order->entropy);
        if (!order->entropy)
            return WEFT_ENOMEM;
        for (size_t l = 0; l < s->nlines; l++)
            if (!(order->cells[l].gflops = calloc((size_t)s->trials, sizeof *order->cells[l].gflops)))
                return WEFT_ENOMEM;
    }
    return WEFT_OK;
}

static void study_free(struct study *s)
{
    for (size_t i = 0; i < s->norders; i++) {
        free(s->orders[i].entropy);
        for (size_t l = 0; l < s->nlines; l++)
            free(s->orders[i].cells[l].gflops);
    }
}

// Trials are the outer loop, so that what changes with time on the machine meets every order alike.
static weft_status trials_run(struct study *s, const void *x, const struct product_expected *e, enum weft_type type,
                              void *y, struct subject *subjects, struct weft_error *err)
{
    const int64_t total = (int64_t)s->trials * (int64_t)s->norders * (int64_t)s->nlines;
    int64_t done = 0;
    for (int trial = 0; trial < s->trials; trial++)
        for (size_t i = 0; i < s->norders; i++) {
            struct study_order *order = &s->orders[i];
            if (!trial || is_random(order->order)) {
                weft_status status = subject_make(&subjects[i], s, order, trial, type, x, err);
                if (status)
                    return status;
                if (!trial)
                    permute_times(s, order, &subjects[i].p);
            } else {
                order->entropy[trial] = order->entropy[0];
            }
            for (size_t l = 0; l < s->nlines; l++) {
                struct study_line *line = &s->lines[l];
                if (!trial && !i) { // compiles
                    struct weft_error ignored = {0};
                    double ms;
                    int64_t runs;
                    const double start = bench_now_ms();
                    products_time(line, &subjects[i], 0, y, &ms, &runs, line->chosen, &ignored);
                    line->warm_ms = bench_now_ms() - start;
                }
                cell_trial(s, line, &order->cells[l], trial, &subjects[i], e, type, y);
                bench_progress_bytes(NULL, ++done, total);
            }
        }
    return WEFT_OK;
}

static void outcome_count(struct bench *b, const struct study *s)
{
    for (size_t i = 0; i < s->norders; i++)
        for (size_t l = 0; l < s->nlines; l++) {
            const struct study_cell *cell = &s->orders[i].cells[l];
            b->lines++;
            b->wrong |= cell->wrong;
            b->failed |= cell->why[0] && !cell->wrong && !cell->skipped;
        }
}

void bench_study_run(struct bench *b, const struct weft_csr *a)
{
    const struct bench_options *o = &b->options;
    const enum weft_type type = a->type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : a->type;
    struct study *s = calloc(1, sizeof *s);
    struct subject subjects[BENCH_ORDERS] = {0};
    struct product_expected e = {0};
    struct weft_error err = {0};
    int orders[BENCH_ORDERS];
    const size_t bytes = weft_type_bytes(type);
    struct weft_csr x = {0}; // a row of n random values
    char spec[48];
    snprintf(spec, sizeof spec, "dense:1,%lld", (long long)a->n);
    void *y = calloc(weft__max(1, (size_t)a->m), bytes);
    weft_status status = s && y ? WEFT_OK : WEFT_ENOMEM;
    if (!status)
        status = weft_generate(&x, spec, weft_generate_params(.type = type, .seed = o->seed), &err);
    if (!status) {
        *s = (struct study){.bench = b, .a = a, .trials = o->trials};
        s->nlines = lines_collect(b, s->lines);
        s->norders = orders_collect(o, orders);
        for (size_t i = 0; i < s->norders; i++)
            s->orders[i].order = orders[i];
        status = study_alloc(s);
    }
    if (!status)
        status = product_expect(&e, a, type, x.val);
    if (!status) {
        bench_progress_begin("study of %s, %s", b->matrix, weft_type_name(a->type));
        status = trials_run(s, x.val, &e, type, y, subjects, &err);
        bench_progress_end();
    }
    if (status) {
        bench_complain("%s: %s", b->matrix, err.text[0] ? err.text : weft_status_text(status));
        b->failed = 1;
    } else {
        outcome_count(b, s);
        if (b->table)
            study_table(b->table, s);
        bench_outputs_commit(b, study_records(s));
    }
    for (int i = 0; i < BENCH_ORDERS; i++)
        subject_free(&subjects[i]);
    if (s)
        study_free(s);
    free(s);
    product_expected_free(&e);
    weft_csr_free(&x);
    free(y);
}
