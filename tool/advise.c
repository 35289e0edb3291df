// SPDX-License-Identifier: Apache-2.0
// weft advise: does another order of rows and columns pay? By the model of advice.h, and by trying.
#include "advise.h"
#include "host/common/json.h"
#include "host/common/name.h"
#include "host/common/progress.h"
#include "host/common/word.h"
#include "host/common/clock.h"
#include "host/internal/inside.h"

#include <math.h>
#include <string.h>

// ---- output ----------------------------------------------------------------------------------------------------

// The order that saves most by what was predicted, or measured; regular when none pays.
static enum weft_order best_of(const struct advise *s, int measured)
{
    const double products = s->o->products ? (double)s->o->products : INFINITY;
    enum weft_order best = WEFT_ORDER_REGULAR;
    double least = 1;
    for (int i = 1; i < WEFT_ORDER_COUNT; i++) {
        const struct trial *t = &s->trials[i];
        const double ratio = measured ? t->ratio : t->advice.ratio;
        const double cost = ratio + (measured ? t->permute : t->advice.permute) / products;
        if ((measured ? t->pays : t->advice.pays) && cost < least) {
            least = cost;
            best = (enum weft_order)i;
        }
    }
    return best;
}

// Whether following the advice gave what it promised: the advised order was faster (or, advised to leave the matrix as
// it is, no order paid).
static int advice_right(const struct advise *s)
{
    const enum weft_order advised = best_of(s, 0);
    return advised ? s->trials[advised].pays : best_of(s, 1) == WEFT_ORDER_REGULAR;
}

// NaN is no figure: a matrix without rows has no time to compare with.
static const char *figure_text(char text[32], const char *format, double value)
{
    if (isnan(value))
        return "-";
    snprintf(text, 32, format, value);
    return text;
}

// Three digits, and those before the point without an exponent, so that columns stay where they are.
static const char *runs_text(char text[32], double runs)
{
    return figure_text(text, runs < 999.5 ? "%.3g" : runs < 1e6 ? "%.0f" : "%.0e", runs);
}

static const char *after_text(char text[32], double after)
{
    return isinf(after) ? "never" : figure_text(text, "%.0f", after);
}

static double measured_after(const struct trial *t)
{
    return t->ratio < 1 ? ceil(t->permute / (1 - t->ratio)) : INFINITY;
}

static void text_print(const struct advise *s)
{
    const struct tool_options *o = s->o;
    char text[32], more[32], low[32], high[32], rows[32], cols[32];
    tool_text_begin(o);
    printf("%s: %s x %s, ", bench_text_line(s->m.name).text, tool_count_text(rows, s->m.a.m),
           tool_count_text(cols, s->m.a.n));
    printf("%s entries, %s; device %d: %s\n", tool_count_text(text, s->m.a.nnz), weft_type_name(s->m.a.type),
           weft_context_device(s->device.ctx)->index, weft_context_device(s->device.ctx)->name);
    if (!s->m.a.nnz && !o->measure) {
        printf("advice: leave the matrix as it is: without entries every order takes the same time\n");
        return;
    }
    printf("%-13s%s%s\n", "", s->model ? "          time of SpMV        permuting, in runs pays after" : "",
           o->measure ? "  measured: time  permuting  pays after" : "");
    printf("%-13s%s%s\n", "order", s->model ? "     (19 of 20 within)         (19 of 20 within)     (runs)" : "", "");
    for (int i = 1; i < WEFT_ORDER_COUNT; i++) {
        const struct trial *t = &s->trials[i];
        printf("%-13s", weft_order_name(t->order));
        if (s->model)
            printf(" %5.2f (%4.2f to %5.2f) %6s (%6s to %6s) %10s", t->advice.ratio, t->advice.low, t->advice.high,
                   runs_text(more, t->advice.permute), runs_text(low, t->advice.permute_low),
                   runs_text(high, t->advice.permute_high), after_text(text, t->advice.after));
        if (o->measure)
            printf(" %15.2f %10s %11s", t->ratio, runs_text(more, t->permute), after_text(text, measured_after(t)));
        putchar('\n');
    }
    if (o->products)
        snprintf(rows, sizeof rows, "%lld runs", (long long)o->products);
    else
        snprintf(rows, sizeof rows, "many runs");
    if (s->model) {
        const enum weft_order best = best_of(s, 0);
        const struct advice *advice = &s->trials[best].advice;
        if (best) // an interval that holds 1: it may as well be slower
            printf("advice for %s: %sorder %s, predicted to take %.0f %% of the time of the matrix as it is%s\n", rows,
                   advice->high >= 1 ? "perhaps " : "", weft_order_name(best), 100 * advice->ratio,
                   advice->high >= 1 ? ", which is within what the model cannot tell" : "");
        else
            printf("advice for %s: leave the matrix as it is: no order saves more than %g %% of the time%s\n", rows,
                   100 * ADVICE_GAIN, o->products ? ", permuting included" : "");
    }
    if (o->measure) {
        const enum weft_order best = best_of(s, 1);
        char none[64];
        snprintf(none, sizeof none, "no order saves more than %g %% of the time", 100 * ADVICE_GAIN);
        printf("measured: %s%s%s\n", best ? "best is order " : none, best ? weft_order_name(best) : "",
               !s->model         ? ""
               : advice_right(s) ? "; the advice was right"
                                 : "; the advice was wrong");
    }
}

static void number_add(cJSON *object, const char *name, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(object, name, value);
}

static cJSON *json_make(const struct advise *s)
{
    const struct tool_options *o = s->o;
    cJSON *top = cJSON_CreateObject();
    cJSON_AddStringToObject(top, "matrix", s->m.name);
    cJSON_AddNumberToObject(top, "m", (double)s->m.a.m);
    cJSON_AddNumberToObject(top, "n", (double)s->m.a.n);
    cJSON_AddNumberToObject(top, "nnz", (double)s->m.a.nnz);
    cJSON_AddStringToObject(top, "type", weft_type_name(s->m.a.type));
    cJSON_AddStringToObject(top, "device", weft_context_device(s->device.ctx)->name);
    cJSON_AddNumberToObject(top, "device_index", weft_context_device(s->device.ctx)->index);
    bench_json_count(top, "seed", o->seed);
    if (o->products)
        bench_json_count(top, "products", (uint64_t)o->products);
    if (s->model)
        cJSON_AddStringToObject(top, "model", s->model->from);
    cJSON *orders = cJSON_AddArrayToObject(top, "orders");
    for (int i = 0; i < WEFT_ORDER_COUNT; i++) {
        const struct trial *t = &s->trials[i];
        cJSON *order = cJSON_CreateObject();
        cJSON_AddItemToArray(orders, order);
        cJSON_AddStringToObject(order, "order", weft_order_name(t->order));
        number_add(order, "surprises", t->measures.surprises);
        number_add(order, "waste", t->measures.waste);
        number_add(order, "imbalance", t->measures.imbalance);
        number_add(order, "x_lines", t->measures.x_lines);
        if (i && s->model) {
            number_add(order, "ratio", t->advice.ratio);
            number_add(order, "low", t->advice.low);
            number_add(order, "high", t->advice.high);
            number_add(order, "permute_products", t->advice.permute);
            number_add(order, "permute_low", t->advice.permute_low);
            number_add(order, "permute_high", t->advice.permute_high);
            number_add(order, "pays_after", t->advice.after);
            cJSON_AddBoolToObject(order, "pays", t->advice.pays);
        }
        if (o->measure) {
            cJSON *measured = cJSON_AddObjectToObject(order, "measured");
            number_add(measured, "product_ms", advise_median(t->ms));
            number_add(measured, "ratio", t->ratio);
            if (i) {
                number_add(measured, "permute_products", t->permute);
                number_add(measured, "pays_after", measured_after(t));
                cJSON_AddBoolToObject(measured, "pays", t->pays);
            }
        }
    }
    if (s->model)
        cJSON_AddStringToObject(top, "advice", weft_order_name(best_of(s, 0)));
    if (o->measure)
        cJSON_AddStringToObject(top, "measured_best", weft_order_name(best_of(s, 1)));
    if (s->model && o->measure)
        cJSON_AddBoolToObject(top, "right", advice_right(s));
    return top;
}

// ---- the whole -------------------------------------------------------------------------------------------------

static weft_status trials_make(struct advise *s, struct weft_error *err)
{
    // Without entries every order takes the same time, and the model, which is of entries, says nothing.
    const struct advice none = {
        .ratio = 1, .low = 1, .high = 1, .permute = NAN, .permute_low = NAN, .permute_high = NAN, .after = INFINITY};
    const double x_bytes = (double)s->m.a.n * (double)weft_type_bytes(s->type);
    weft_status status = WEFT_OK;
    for (int i = 0; i < WEFT_ORDER_COUNT && !status; i++) {
        struct trial *t = &s->trials[i];
        t->order = (enum weft_order)i;
        const double start = clock_ms();
        status = weft_permutation_alloc(&t->p, t->order, &s->m.a, s->o->seed, err);
        t->order_ms = clock_ms() - start;
        if (!status)
            status = weft_csr_permute(&t->a, &s->m.a, &t->p, NULL, err);
        if (!status)
            status = advice_measure(&t->measures, &t->a, err);
        if (!status && i && s->model && !s->m.a.nnz)
            t->advice = none;
        else if (!status && i && s->model)
            advice_predict(&t->advice, s->model, &s->trials[0].measures, &t->measures, t->order, x_bytes,
                           s->o->products);
        if (!s->o->measure)
            weft_csr_free(&t->a);
    }
    return status;
}

static void trial_free(struct trial *t)
{
    weft_spmv_plan_destroy(&t->plan);
    weft_device_csr_free(&t->on_device);
    weft__buffer_release(&t->x);
    weft__buffer_release(&t->y);
    weft_permutation_free(&t->p);
    weft_csr_free(&t->a);
}

int tool_advise(const struct tool_options *options)
{
    struct tool_options o = *options;
    struct advise s = {.o = &o};
    struct weft_error err = {0};
    if (o.type_given && o.type == WEFT_TYPE_I32) {
        tool_complain("advice is for SpMV of f32, f64 or pattern");
        return TOOL_USAGE;
    }
    if (!o.type_given) // whatever the file holds
        o.type_given = 1, o.type = WEFT_TYPE_F32;
    s.type = o.type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : o.type;
    weft_status status = tool_device_open(&s.device, &o, &err);
    if (status)
        return tool_fail(status, &err);
    s.model = advice_model_of(weft_context_device(s.device.ctx));
    int code = TOOL_OK;
    if (!s.model && !o.measure) {
        tool_complain("there is no model for devices like %s (--measure tries every order)",
                      weft_context_device(s.device.ctx)->name);
        code = TOOL_USAGE;
    }
    if (!code)
        code = tool_matrix_get(&s.m, &o);
    if (!code) // two maps each of rows and columns, in every order
        code =
            tool_limit_check(&s.m, &o, "advice on", 8 * (size_t)WEFT_ORDER_COUNT * ((size_t)s.m.m + (size_t)s.m.a.n));
    if (!code) {
        bench_progress_begin("orders of %s", s.m.name);
        status = trials_make(&s, &err);
        bench_progress_end();
        code = status ? tool_fail(status, &err) : o.measure ? advise_measure(&s) : TOOL_OK;
    }
    if (!code && !bench_word_is_stream(o.json))
        text_print(&s);
    if (!code && o.json)
        code = tool_json_write(&o, json_make(&s));
    for (int i = 0; i < WEFT_ORDER_COUNT; i++)
        trial_free(&s.trials[i]);
    tool_matrix_free(&s.m);
    tool_device_close(&s.device);
    return code;
}
