// SPDX-License-Identifier: Apache-2.0
// weft spmv: one product with a matrix on the device, compared with the reference, timed.
#include "host/common/check_spmv.h"
#include "host/common/clock.h"
#include "host/common/name.h"
#include "host/common/progress.h"
#include "host/common/word.h"
#include "host/internal/inside.h"
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 20 };

struct product {
    const struct weft_csr *a;
    enum weft_type type; // of x and y
    void *x, *y;         // on the host
    double ms[RUNS];     // of each run, from its start to its end on the device
    struct weft_spmv_info info;
};

static int compare_times(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// RUNS products with the plan's choice, the last one read back.
static weft_status product_run(struct product *p, const struct tool_device *device, const struct tool_options *o)
{
    struct weft_device_csr a = {0};
    struct weft_spmv_plan *plan = NULL;
    cl_mem x = NULL, y = NULL;
    const size_t bytes = weft_type_bytes(p->type), in = (size_t)p->a->n * bytes, out = (size_t)p->a->m * bytes;
    weft_status status = weft_device_csr_alloc(&a, device->ctx, weft_csr_shape(p->a));
    if (!status)
        status = weft_device_csr_write_sync(&a, device->ctx, device->queue, p->a);
    if (!status)
        status = weft_spmv_plan_create(
            &plan, device->ctx, device->queue, &a,
            weft_spmv_params(.policy.products = o->products ? o->products : RUNS, .problem.vec_type = p->type));
    if (!status)
        status = weft__buffer_create(&x, device->ctx, in, "x");
    if (!status)
        status = weft__buffer_create(&y, device->ctx, out, "y");
    cl_int error = CL_SUCCESS;
    if (!status && in)
        error = weft__cl.clEnqueueWriteBuffer(device->queue, x, CL_TRUE, 0, in, p->x, 0, NULL, NULL);
    for (int i = 0; i < RUNS && !status && error == CL_SUCCESS; i++) {
        const double begin = clock_ms();
        status = weft_spmv_run(plan, device->queue, y, 1, x, 0, 0, NULL, NULL);
        error = weft__cl.clFinish(device->queue);
        p->ms[i] = clock_ms() - begin;
    }
    if (!status && out && error == CL_SUCCESS)
        error = weft__cl.clEnqueueReadBuffer(device->queue, y, CL_TRUE, 0, out, p->y, 0, NULL, NULL);
    if (!status && error != CL_SUCCESS)
        status = weft__fail_cl(device->ctx, error, "SpMV");
    if (!status)
        p->info = *weft_spmv_plan_info(plan);
    weft_spmv_plan_destroy(&plan);
    if (x)
        weft__cl.clReleaseMemObject(x);
    if (y)
        weft__cl.clReleaseMemObject(y);
    weft_device_csr_free(&a);
    return status;
}

// y as a Matrix Market array of one column.
static int product_write(const struct product *p, const struct tool_options *o)
{
    struct weft__out out;
    const int whole = p->type == WEFT_TYPE_I32, digits = p->type == WEFT_TYPE_F64 ? 17 : 9;
    int code = tool_out_open(&out, o->out, o->force);
    if (code)
        return code;
    char line[64];
    int length = snprintf(line, sizeof line, "%%%%MatrixMarket matrix array %s general\n%lld 1\n",
                          whole ? "integer" : "real", (long long)p->a->m);
    int error = weft__out_write(&out, line, (size_t)length);
    for (int64_t i = 0; i < p->a->m && !error; i++) {
        const double value = weft__ref_get(p->y, p->type, i);
        // NaN without its sign, which devices set as they like.
        length = snprintf(line, sizeof line, "%.*g\n", whole ? 10 : digits, isnan(value) ? (double)NAN : value);
        error = weft__out_write(&out, line, (size_t)length);
    }
    if (!error)
        error = weft__out_commit(&out);
    const int late = weft__out_close(&out);
    return error || late ? tool_out_fail(o->out, error ? error : late) : TOOL_OK;
}

static int product_print(const struct product *p, const struct tool_matrix *m, const struct tool_device *device,
                         const struct tool_options *o)
{
    const struct weft_device_info *on = weft_context_device(device->ctx);
    const double median = (p->ms[RUNS / 2 - 1] + p->ms[RUNS / 2]) / 2;
    const double gflops = 2e-6 * (double)p->a->nnz / median;
    if (o->json) {
        cJSON *root = cJSON_CreateObject();
        cJSON_AddStringToObject(root, "matrix", m->name);
        cJSON_AddNumberToObject(root, "m", (double)p->a->m);
        cJSON_AddNumberToObject(root, "n", (double)p->a->n);
        cJSON_AddNumberToObject(root, "nnz", (double)p->a->nnz);
        cJSON_AddStringToObject(root, "type", weft_type_name(p->type));
        cJSON_AddStringToObject(root, "device", on->name);
        cJSON_AddStringToObject(root, "algo", weft_spmv_algo_name(p->info.params.policy.algo));
        cJSON_AddNumberToObject(root, "runs", RUNS);
        cJSON_AddNumberToObject(root, "median_ms", median);
        cJSON_AddNumberToObject(root, "quartile1_ms", p->ms[RUNS / 4]);
        cJSON_AddNumberToObject(root, "quartile3_ms", p->ms[3 * RUNS / 4]);
        cJSON_AddNumberToObject(root, "gflops", gflops);
        return tool_json_write(o, root);
    }
    char rows[32], columns[32], entries[32];
    if (bench_word_is_stream(o->out)) // y is printed there
        return TOOL_OK;
    tool_text_begin(o);
    printf("%s: %s x %s, %s entries, %s\n", bench_text_line(m->name).text, tool_count_text(rows, p->a->m),
           tool_count_text(columns, p->a->n), tool_count_text(entries, p->a->nnz), weft_type_name(p->type));
    printf("y = A*x with x = 1 on %s: %s, equal to the reference\n", on->name,
           weft_spmv_algo_name(p->info.params.policy.algo));
    printf("median of %d runs %.4g ms (quartiles %.4g, %.4g), %.3g GFLOP/s, the host waiting for each\n", RUNS, median,
           p->ms[RUNS / 4], p->ms[3 * RUNS / 4], gflops);
    return TOOL_OK;
}

// x of ones, in the type of the product.
static void ones_fill(struct product *p)
{
    for (int64_t j = 0; j < p->a->n; j++)
        switch (p->type) {
        case WEFT_TYPE_F64:
            ((double *)p->x)[j] = 1;
            break;
        case WEFT_TYPE_I32:
            ((int32_t *)p->x)[j] = 1;
            break;
        default:
            ((float *)p->x)[j] = 1;
        }
}

int tool_spmv(const struct tool_options *o)
{
    struct tool_matrix m;
    struct tool_device device;
    struct weft_error err = {0};
    int code = o->out ? tool_out_text_check(o->out) : TOOL_OK;
    if (!code && o->out)
        code = tool_out_check(o->out, o->force);
    if (code)
        return code;
    weft_status status = tool_device_open(&device, o, &err);
    if (status)
        return tool_fail(status, &err);
    code = tool_matrix_get(&m, o);
    struct product p = {.a = &m.a, .type = m.a.type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : m.a.type};
    const size_t bytes = weft_type_bytes(p.type);
    if (!code)
        code = tool_limit_check(&m, o, "vectors for", 2 * bytes * ((size_t)m.a.m + (size_t)m.a.n));
    if (!code) {
        p.x = malloc((size_t)m.a.n * bytes + 1);
        p.y = malloc((size_t)m.a.m * bytes + 1);
        if (!p.x || !p.y)
            code = tool_fail(WEFT_ENOMEM, NULL);
    }
    if (!code) {
        ones_fill(&p);
        bench_progress_begin("multiplying on %s", weft_context_device(device.ctx)->name);
        status = product_run(&p, &device, o);
        bench_progress_end();
        code = status ? tool_fail_device(status, device.ctx) : TOOL_OK;
    }
    char why[512];
    const struct check_spmv job = {.a = &m.a, .type = p.type, .alpha = 1, .x = p.x};
    if (!code && !check_spmv(&job, p.y, why, sizeof why)) {
        tool_complain("%s multiplies wrongly: %s", weft_context_device(device.ctx)->name, why);
        code = TOOL_WRONG;
    }
    if (!code) {
        qsort(p.ms, RUNS, sizeof *p.ms, compare_times);
        code = product_print(&p, &m, &device, o);
    }
    if (!code && o->out)
        code = product_write(&p, o);
    free(p.x);
    free(p.y);
    tool_matrix_free(&m);
    tool_device_close(&device);
    return code;
}
