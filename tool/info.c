// SPDX-License-Identifier: Apache-2.0
// weft info: the measures of a matrix, the bytes of its formats on a device, and what weft would run.
#include "host/common/json.h"
#include "host/common/name.h"
#include "host/common/progress.h"
#include "host/common/word.h"
#include "host/internal/inside.h"
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/measure.h>
#include <weft/spmv.h>

enum { FORMATS = 7, SPLITS = 3 };
static const enum weft_spmv_algo formats[FORMATS] = {WEFT_SPMV_ALGO_CSR,    WEFT_SPMV_ALGO_ELL,  WEFT_SPMV_ALGO_SELL,
                                                     WEFT_SPMV_ALGO_SELL16, WEFT_SPMV_ALGO_SDIA, WEFT_SPMV_ALGO_HYB,
                                                     WEFT_SPMV_ALGO_COO};
static const int64_t splits[SPLITS] = {2, 16, 256};

struct report {
    struct weft_measures measures;
    double imbalance[SPLITS];
    // On the device; why_none: why there is none.
    int device_index;
    char device[128], why_none[1024];
    size_t format_bytes[FORMATS];
    char format_why[FORMATS][256]; // why the format is not for this matrix; "" when it is
    struct weft_spmv_info choice;
    char choice_why[1024];
};

// Make a plan and give its info; `why` gets the reason when there is none.
static weft_status plan_try(struct weft_spmv_info *out, char *why, size_t size, const struct tool_device *device,
                            const struct weft_device_csr *a, const struct weft_spmv_params *params)
{
    struct weft_spmv_plan *plan = NULL;
    weft_status status = weft_spmv_plan_create(&plan, device->ctx, device->queue, a, params);
    if (status) {
        struct weft_error err = {0};
        weft_context_error(&err, device->ctx);
        const char *text = err.status == status ? err.text : weft_status_text(status);
        snprintf(why, size, "%.*s", (int)strcspn(text, "\n"), text);
        return status;
    }
    *out = *weft_spmv_plan_info(plan);
    weft_spmv_plan_destroy(&plan);
    return WEFT_OK;
}

static weft_status device_ask(struct report *r, const struct weft_csr *a, const struct tool_options *o)
{
    struct tool_device device;
    struct weft_device_csr on_device = {0};
    struct weft_error err = {0};
    weft_status status = tool_device_open(&device, o, &err);
    if (status) {
        snprintf(r->why_none, sizeof r->why_none, "%.*s", (int)strcspn(err.text, "\n"), err.text);
        return status;
    }
    r->device_index = weft_context_device(device.ctx)->index;
    snprintf(r->device, sizeof r->device, "%s", weft_context_device(device.ctx)->name);
    bench_progress_begin("formats on %s", r->device);
    status = weft_device_csr_alloc(&on_device, device.ctx, weft_csr_shape(a));
    if (!status)
        status = weft_device_csr_write_sync(&on_device, device.ctx, device.queue, a);
    if (status) {
        weft_context_error(&err, device.ctx);
        snprintf(r->why_none, sizeof r->why_none, "%.*s", (int)strcspn(err.text, "\n"), err.text);
    }
    for (int i = 0; i < FORMATS && !status; i++) {
        struct weft_spmv_info info = {0};
        plan_try(&info, r->format_why[i], sizeof r->format_why[i], &device, &on_device,
                 weft_spmv_params(.policy.algo = formats[i]));
        r->format_bytes[i] = info.format_bytes;
        if (!r->format_why[i][0] && formats[i] != WEFT_SPMV_ALGO_CSR && info.params.policy.algo != formats[i]) {
            const char *last = strrchr(info.why, ';'); // before it: that it was asked for
            snprintf(r->format_why[i], sizeof r->format_why[i], "%s", last ? last + 2 : info.why);
        }
    }
    if (!status)
        plan_try(&r->choice, r->choice_why, sizeof r->choice_why, &device, &on_device,
                 weft_spmv_params(.policy.products = o->products));
    bench_progress_end();
    weft_device_csr_free(&on_device);
    tool_device_close(&device);
    return status;
}

// The matrix on the device has all rows: `a` with the pointers of those that were left out. Its arrays are borrowed, but for
// row_ptr, which is the caller's to free where m->row is not NULL.
static weft_status rows_restore(struct weft_csr *out, const struct tool_matrix *m)
{
    const size_t width = weft_ofs_bytes(m->a.ofs);
    *out = m->a;
    if (!m->row)
        return WEFT_OK;
    char *ptr = malloc(((size_t)m->m + 1) * width);
    out->m = m->m;
    out->row_ptr = ptr;
    if (!ptr)
        return WEFT_ENOMEM;
    for (int64_t i = 0, at = 0; i <= m->m; i++) {
        memcpy(ptr + (size_t)i * width, (const char *)m->a.row_ptr + (size_t)at * width, width);
        at += at < m->a.m && m->row[at] == i;
    }
    return WEFT_OK;
}

static weft_status device_report(struct report *r, const struct tool_matrix *m, const struct tool_options *o)
{
    const size_t pointers = ((size_t)m->m + 1) * weft_ofs_bytes(m->a.ofs);
    const int64_t limit = tool_limit(m, o);
    struct weft_csr a;
    if (limit && pointers > (size_t)limit) {
        snprintf(r->why_none, sizeof r->why_none,
                 "formats take %zu bytes of row pointers, the limit is %lld (raise it with --limit)", pointers,
                 (long long)limit);
        return WEFT_ERANGE;
    }
    weft_status status = rows_restore(&a, m);
    if (status)
        snprintf(r->why_none, sizeof r->why_none, "%s", weft_status_text(status));
    else
        status = device_ask(r, &a, o);
    if (m->row)
        free(a.row_ptr);
    return status;
}

// ---- text ------------------------------------------------------------------------------------------------------

static void lengths_print(const char *what, const struct weft_lengths *l)
{
    const int64_t *q = l->quantile;
    char text[32];
    printf("%-11s %s empty; entries %lld to %lld, quartiles %lld %lld %lld, 5 %% %lld, 95 %% %lld, mean %.4g, "
           "deviation %.4g\n",
           what, tool_count_text(text, l->empty), (long long)q[0], (long long)q[6], (long long)q[2], (long long)q[3],
           (long long)q[4], (long long)q[1], (long long)q[5], l->mean, l->deviation);
}

static const char *schedule_name(enum weft_schedule schedule)
{
    return schedule == WEFT_SCHEDULE_CPU ? "CPU" : "GPU";
}

// "lanes 8, work-groups of 128, 4 entries each": the tuning that applies.
static void tuning_text(char *out, size_t size, const struct weft_spmv_params *p, int gpu)
{
    const struct {
        const char *name;
        int value;
    } values[] = {{"lanes", gpu ? p->gpu.lanes : p->cpu.lanes},
                  {"wg", gpu ? p->gpu.wg : p->cpu.wg},
                  {"ipt", gpu ? p->gpu.ipt : 0},
                  {"sigma", p->format.sigma}};
    size_t used = 0;
    *out = 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i].value && used < size)
            used +=
                (size_t)snprintf(out + used, size - used, "%s%s=%d", used ? ", " : "", values[i].name, values[i].value);
}

// "1.742 MB", "17.420 kB", "92 B", the numbers in one column.
static void bytes_print(size_t bytes)
{
    if (bytes < 1000)
        printf("%10zu B\n", bytes);
    else
        printf("%10.3f %s\n", (double)bytes * (bytes < 1000000 ? 1e-3 : 1e-6), bytes < 1000000 ? "kB" : "MB");
}

static void device_print(const struct report *r, const struct tool_options *o)
{
    if (!r->device[0] || r->why_none[0]) {
        printf("device      none: %s\n", r->why_none);
        return;
    }
    printf("device      %d: %s\n", r->device_index, r->device);
    for (int i = 0; i < FORMATS; i++) {
        printf("%-11s %-6s ", i ? "" : "formats", weft_spmv_algo_name(formats[i]));
        if (r->format_why[i][0])
            printf("not for this matrix: %s\n", r->format_why[i]);
        else
            bytes_print(r->format_bytes[i]);
    }
    if (r->choice_why[0]) {
        printf("choice      none: %s\n", r->choice_why);
        return;
    }
    char tuning[96];
    tuning_text(tuning, sizeof tuning, &r->choice.params, r->choice.schedule != WEFT_SCHEDULE_CPU);
    printf("choice      %s%s%s, %s schedule", weft_spmv_algo_name(r->choice.params.policy.algo), tuning[0] ? " " : "",
           tuning, schedule_name(r->choice.schedule));
    if (o->products)
        printf(", for %lld runs", (long long)o->products);
    printf("%s%s\n", r->choice.why[0] ? ": " : "", r->choice.why); // there is none for a matrix without entries
}

static void report_print(const struct tool_matrix *m, const struct report *r, const struct tool_options *o)
{
    const struct weft_measures *v = &r->measures;
    char text[32], other[32];
    tool_text_begin(o);
    printf("matrix      %s\n", bench_text_line(m->name).text);
    printf("shape       %s x %s\n", tool_count_text(text, v->m), tool_count_text(other, v->n));
    printf("entries     %s", tool_count_text(text, v->nnz));
    if (v->nnz)
        printf(" (%.3g %% of all places)", 100.0 * (double)v->nnz / (double)v->m / (double)v->n);
    printf(", %s", weft_type_name(m->a.type));
    if (m->from_file)
        printf("; the file holds %s: %s, %s%s", tool_count_text(other, m->file.stored),
               weft_mtx_field_name(m->file.field), weft_mtx_symmetry_name(m->file.symmetry),
               m->valueless ? "; its values are left out (--complex real|imag takes a part of each)" : "");
    putchar('\n');
    lengths_print("rows", &v->row);
    lengths_print("columns", &v->col);
    if (v->pattern_symmetry < 0)
        printf("symmetry    none: not square\n");
    else if (m->valueless)
        printf("symmetry    pattern %.4g %%\n", 100 * v->pattern_symmetry);
    else
        printf("symmetry    pattern %.4g %%, values %.4g %%\n", 100 * v->pattern_symmetry, 100 * v->value_symmetry);
    printf("bandwidth   %s below the diagonal, ", tool_count_text(text, v->lower));
    printf("%s above; profile %s; mean distance %.4g columns\n", tool_count_text(text, v->upper),
           tool_count_text(other, v->profile), v->spread);
    printf("locality    %.3g lines of 64 bytes of x for each entry\n", v->x_lines);
    printf("entropy     H %.3f of %.3f possible (%lld x %lld buckets)\n", v->entropy,
           v->bucket_rows ? log((double)v->bucket_rows * (double)v->bucket_cols) : 0.0, (long long)v->bucket_rows,
           (long long)v->bucket_cols);
    printf("split       fullest of 2, 16, 256 equal parts of the rows: %.3g, %.3g, %.3g times the mean\n",
           r->imbalance[0], r->imbalance[1], r->imbalance[2]);
    device_print(r, o);
}

// ---- JSON ------------------------------------------------------------------------------------------------------

static void lengths_json(cJSON *object, const char *name, const struct weft_lengths *l)
{
    cJSON *to = cJSON_AddObjectToObject(object, name);
    double quantiles[WEFT_MEASURE_QUANTILES];
    for (int i = 0; i < WEFT_MEASURE_QUANTILES; i++)
        quantiles[i] = (double)l->quantile[i];
    cJSON_AddNumberToObject(to, "empty", (double)l->empty);
    cJSON_AddItemToObject(to, "quantiles", cJSON_CreateDoubleArray(quantiles, WEFT_MEASURE_QUANTILES));
    cJSON_AddNumberToObject(to, "mean", l->mean);
    cJSON_AddNumberToObject(to, "deviation", l->deviation);
    cJSON_AddNumberToObject(to, "entropy", l->entropy);
}

static void device_json(cJSON *top, const struct report *r, const struct tool_options *o)
{
    cJSON *device = cJSON_AddObjectToObject(top, "device");
    if (!r->device[0] || r->why_none[0]) {
        cJSON_AddStringToObject(device, "error", r->why_none);
        return;
    }
    cJSON_AddNumberToObject(device, "index", r->device_index);
    cJSON_AddStringToObject(device, "name", r->device);
    cJSON *bytes = cJSON_AddObjectToObject(device, "format_bytes"),
          *refused = cJSON_AddObjectToObject(device, "refused");
    for (int i = 0; i < FORMATS; i++)
        if (r->format_why[i][0])
            cJSON_AddStringToObject(refused, weft_spmv_algo_name(formats[i]), r->format_why[i]);
        else
            cJSON_AddNumberToObject(bytes, weft_spmv_algo_name(formats[i]), (double)r->format_bytes[i]);
    if (r->choice_why[0]) {
        cJSON_AddStringToObject(device, "error", r->choice_why);
        return;
    }
    char tuning[96];
    tuning_text(tuning, sizeof tuning, &r->choice.params, r->choice.schedule != WEFT_SCHEDULE_CPU);
    cJSON *choice = cJSON_AddObjectToObject(device, "choice");
    cJSON_AddStringToObject(choice, "algo", weft_spmv_algo_name(r->choice.params.policy.algo));
    cJSON_AddStringToObject(choice, "tuning", tuning);
    cJSON_AddStringToObject(choice, "schedule", schedule_name(r->choice.schedule));
    if (o->products)
        bench_json_count(choice, "products", (uint64_t)o->products);
    cJSON_AddNumberToObject(choice, "format_bytes", (double)r->choice.format_bytes);
    cJSON_AddNumberToObject(choice, "workspace_bytes", (double)r->choice.workspace_bytes);
    cJSON_AddStringToObject(choice, "why", r->choice.why);
}

static cJSON *report_json(const struct tool_matrix *m, const struct report *r, const struct tool_options *o)
{
    const struct weft_measures *v = &r->measures;
    cJSON *top = cJSON_CreateObject();
    cJSON_AddStringToObject(top, "matrix", m->name);
    cJSON_AddNumberToObject(top, "m", (double)v->m);
    cJSON_AddNumberToObject(top, "n", (double)v->n);
    cJSON_AddNumberToObject(top, "nnz", (double)v->nnz);
    cJSON_AddStringToObject(top, "type", weft_type_name(m->a.type));
    if (m->from_file) {
        cJSON_AddStringToObject(top, "field", weft_mtx_field_name(m->file.field));
        cJSON_AddStringToObject(top, "symmetry", weft_mtx_symmetry_name(m->file.symmetry));
        cJSON_AddNumberToObject(top, "stored", (double)m->file.stored);
    }
    lengths_json(top, "rows", &v->row);
    lengths_json(top, "columns", &v->col);
    if (v->pattern_symmetry >= 0) {
        cJSON_AddNumberToObject(top, "pattern_symmetry", v->pattern_symmetry);
        if (!m->valueless)
            cJSON_AddNumberToObject(top, "value_symmetry", v->value_symmetry);
    }
    cJSON_AddNumberToObject(top, "lower", (double)v->lower);
    cJSON_AddNumberToObject(top, "upper", (double)v->upper);
    cJSON_AddNumberToObject(top, "profile", (double)v->profile);
    cJSON_AddNumberToObject(top, "spread", v->spread);
    cJSON_AddNumberToObject(top, "x_lines", v->x_lines);
    cJSON_AddNumberToObject(top, "entropy", v->entropy);
    cJSON_AddNumberToObject(top, "bucket_rows", (double)v->bucket_rows);
    cJSON_AddNumberToObject(top, "bucket_cols", (double)v->bucket_cols);
    cJSON *split = cJSON_AddObjectToObject(top, "imbalance");
    for (int i = 0; i < SPLITS; i++) {
        char name[24];
        snprintf(name, sizeof name, "%lld", (long long)splits[i]);
        cJSON_AddNumberToObject(split, name, r->imbalance[i]);
    }
    device_json(top, r, o);
    return top;
}

int tool_info(const struct tool_options *o)
{
    struct tool_matrix m;
    struct report r = {0};
    struct weft_error err = {0};
    int code = tool_matrix_get_rows(&m, o);
    if (code)
        return code;
    bench_progress_begin("measuring %s", m.name);
    weft_status status = weft__measure(&r.measures, &m.a, m.row, m.m, 0, &err);
    for (int i = 0; i < SPLITS && !status; i++)
        status = weft__load_imbalance(&r.imbalance[i], &m.a, m.row, m.m, splits[i], &err);
    bench_progress_end();
    if (status)
        code = tool_fail(status, &err);
    if (!code) {
        status = device_report(&r, &m, o);
        if (status && o->device_given) { // without -d the rest is worth having
            tool_complain("%s", r.why_none);
            code = status == WEFT_ERANGE && !r.device[0] ? TOOL_USAGE : TOOL_DEVICE;
        }
    }
    if (!code && !bench_word_is_stream(o->json))
        report_print(&m, &r, o);
    if (!code && o->json)
        code = tool_json_write(o, report_json(&m, &r, o));
    tool_matrix_free(&m);
    return code;
}
