// SPDX-License-Identifier: Apache-2.0
// y = A*x with the matrix of the run, by every backend. Each line is verified twice: the result that was timed against
// the bound for its rounding errors, and a run on small integers, which must be exact.
#include "host/internal/inside.h"
#include "host/common/check_spmv.h"
#include "op.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct spmv_input {
    enum weft_type type; // of x and y
    void *x;             // n values in [-1, 1), or small integers for i32
    void *x_small;       // n small integers
    void *val_small;     // nnz small integers; NULL for a pattern
};

struct spmv_state {
    void *backend;
    void *y;
};

static const char *const *spmv_algos(const struct weft_backend *backend)
{
    return backend->spmv.algos;
}

// 53 random bits for position i, by the finalizer of splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014).
static double unit(uint64_t seed, size_t i)
{
    uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// `count` values: in [-1, 1), or the integers -4 .. 4; NULL: no memory.
static void *vector_make(enum weft_type type, size_t count, uint64_t seed, int small)
{
    void *out = malloc(weft__max(1, weft__mul(count, weft_type_bytes(type))));
    for (size_t i = 0; i < count && out; i++) {
        double u = unit(seed, i), value = small ? (double)(int)(u * 9) - 4 : 2 * u - 1;
        if (type == WEFT_TYPE_F32)
            ((float *)out)[i] = (float)value;
        else if (type == WEFT_TYPE_F64)
            ((double *)out)[i] = value;
        else
            ((int32_t *)out)[i] = (int32_t)value;
    }
    return out;
}

static void spmv_input_free(struct bench_input *in)
{
    struct spmv_input *data = in->data;
    if (!data)
        return;
    free(data->x);
    free(data->x_small);
    free(data->val_small);
    free(data);
    in->data = NULL;
}

static weft_status spmv_input(struct bench_input *in, struct weft_error *err)
{
    const struct weft_csr *a = in->a;
    struct spmv_input *data = in->data = calloc(1, sizeof *data);
    if (!data)
        return weft__error(err, WEFT_ENOMEM, "out of host memory");
    data->type = a->type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : a->type;
    data->x = vector_make(data->type, (size_t)a->n, in->seed, data->type == WEFT_TYPE_I32);
    data->x_small = vector_make(data->type, (size_t)a->n, in->seed + 1, 1);
    if (a->type != WEFT_TYPE_PATTERN)
        data->val_small = vector_make(a->type, (size_t)a->nnz, in->seed + 2, 1);
    if (!data->x || !data->x_small || (a->type != WEFT_TYPE_PATTERN && !data->val_small))
        return weft__error(err, WEFT_ENOMEM, "out of host memory for the vectors");
    return WEFT_OK;
}

static int64_t spmv_bytes_min(const struct bench_run *run)
{
    const struct weft_csr *a = run->input->a;
    const struct spmv_input *data = run->input->data;
    return a->nnz * (int64_t)(sizeof *a->col + weft_type_bytes(a->type)) +
           (a->m + 1) * (int64_t)weft_ofs_bytes(a->ofs) + (a->n + a->m) * (int64_t)weft_type_bytes(data->type);
}

static int64_t spmv_flops(const struct bench_run *run)
{
    return 2 * run->input->a->nnz;
}

// The less of two times of the same step, where both were taken.
static double less(double a, double b)
{
    return a >= 0 && b >= 0 ? fmin(a, b) : a;
}

// The whole operation on small integers, apart from what was timed. It is prepared a second time: the first time of a process also
// holds what drivers do at the first launch of a kernel, such as bringing its code to the device.
static weft_status exact_verify(struct bench_run *run, int *right, char *why, size_t why_size, struct weft_error *err)
{
    const struct spmv_input *data = run->input->data;
    const struct weft_backend_spmv *backend = &run->backend->spmv;
    struct spmv_state *s = run->state;
    struct weft_csr a = *run->input->a;
    a.val = data->val_small;
    struct weft_backend_spmv_job job = {.a = &a,
                                        .x = data->x_small,
                                        .alpha = 1,
                                        .products = run->input->products,
                                        .hyb_width = run->input->hyb_width,
                                        .tune = &run->tune};
    struct check_spmv check = {.a = &a, .type = data->type, .exact = 1, .alpha = 1, .x = data->x_small};
    struct weft_backend_times times = run->times;
    void *state = NULL;
    double ms;
    weft_status status = backend->prepare(&state, run->ctx, &job, run->algo, &times, err);
    if (!status)
        status = backend->run(state, &ms, err);
    if (!status)
        status = backend->result(state, s->y, &times, err);
    if (!status)
        *right = check_spmv(&check, s->y, why, why_size);
    backend->finish(&state);
    if (!status && !strcmp(times.chosen, run->times.chosen)) {
        run->times.analyse_ms = less(run->times.analyse_ms, times.analyse_ms);
        run->times.convert_ms = less(run->times.convert_ms, times.convert_ms);
    }
    return status;
}

static weft_status spmv_setup(struct bench_run *run, struct weft_error *err)
{
    const struct spmv_input *data = run->input->data;
    const struct weft_csr *a = run->input->a;
    struct spmv_state *s = run->state = calloc(1, sizeof *s);
    if (s)
        s->y = malloc(weft__max(1, weft__mul((size_t)a->m, weft_type_bytes(data->type))));
    if (!s || !s->y)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for y");
    struct weft_backend_spmv_job job = {.a = a,
                                        .x = data->x,
                                        .alpha = 1,
                                        .products = run->input->products,
                                        .hyb_width = run->input->hyb_width,
                                        .tune = &run->tune};
    return run->backend->spmv.prepare(&s->backend, run->ctx, &job, run->algo, &run->times, err);
}

static weft_status spmv_launch(struct bench_run *run, double *ms, struct weft_error *err)
{
    struct spmv_state *s = run->state;
    return run->backend->spmv.run(s->backend, ms, err);
}

static weft_status spmv_plain(struct bench_run *run, int runs, struct weft_error *err)
{
    struct spmv_state *s = run->state;
    return run->backend->spmv.plain ? run->backend->spmv.plain(s->backend, runs, err) : WEFT_EUNSUPPORTED;
}

// f32 by atomics: NVIDIA's devices add no subnormal numbers (weft/spmv.h).
static struct check_spmv check_of(const struct bench_run *run)
{
    const struct spmv_input *data = run->input->data;
    return (struct check_spmv){.a = run->input->a,
                               .type = data->type,
                               .alpha = 1,
                               .x = data->x,
                               .flushes = data->type == WEFT_TYPE_F32 && !strcmp(run->algo, "coo_atomic") && run->ctx &&
                                          weft_context_device(run->ctx)->lanes == WEFT_LANES_PTX};
}

// y is fresh memory each time, as that of a program's first call.
static weft_status spmv_call(struct bench_run *run, double *ms, int *right, struct weft_error *err)
{
    const struct spmv_input *data = run->input->data;
    struct spmv_state *s = run->state;
    const struct check_spmv check = check_of(run);
    char why[256];
    if (!run->backend->spmv.call)
        return WEFT_EUNSUPPORTED;
    void *y = malloc(weft__max(1, weft__mul((size_t)run->input->a->m, weft_type_bytes(data->type))));
    if (!y)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for y");
    const double start = bench_now_ms();
    const weft_status status = run->backend->spmv.call(s->backend, y, err);
    *ms = bench_now_ms() - start;
    *right = !status && check_spmv(&check, y, why, sizeof why);
    if (!status && !*right)
        weft__error(err, WEFT_EMATRIX, "one call: %s", why);
    free(y);
    return status;
}

static weft_status spmv_poison(struct bench_run *run, struct weft_error *err)
{
    struct spmv_state *s = run->state;
    return run->backend->spmv.poison(s->backend, err);
}

static weft_status spmv_read(struct bench_run *run, struct weft_error *err)
{
    struct spmv_state *s = run->state;
    return run->backend->spmv.result(s->backend, s->y, &run->times, err);
}

static void spmv_transfers(const struct bench_run *run, int64_t *write_bytes, int64_t *read_bytes)
{
    const struct spmv_input *data = run->input->data;
    *read_bytes = run->input->a->m * (int64_t)weft_type_bytes(data->type);
    *write_bytes = spmv_bytes_min(run) - *read_bytes;
}

static weft_status spmv_verify(struct bench_run *run, int *right, struct weft_error *err)
{
    struct spmv_state *s = run->state;
    const struct check_spmv check = check_of(run);
    char why[256];
    weft_status status = run->backend->spmv.result(s->backend, s->y, &run->times, err);
    if (status)
        return status;
    *right = check_spmv(&check, s->y, why, sizeof why);
    if (!*right) {
        weft__error(err, WEFT_EMATRIX, "%s", why);
        return WEFT_OK;
    }
    if (run->input->hash) {
        run->hash = check_hash(s->y, (size_t)run->input->a->m * weft_type_bytes(check.type));
        run->has_hash = 1;
    }
    run->backend->spmv.finish(&s->backend); // two matrices may be more than the device holds
    status = exact_verify(run, right, why, sizeof why, err);
    if (!status && !*right)
        weft__error(err, WEFT_EMATRIX, "on small integers: %s", why);
    return status;
}

static void spmv_finish(struct bench_run *run)
{
    struct spmv_state *s = run->state;
    if (!s)
        return;
    run->backend->spmv.finish(&s->backend);
    free(s->y);
    free(s);
    run->state = NULL;
}

const struct bench_op bench_spmv = {
    .name = "spmv",
    .help = "y = A*x",
    .defaults = "csr,auto",
    .draws = 1,
    .products = 1,
    .hashes = 1,
    .algos = spmv_algos,
    .input = spmv_input,
    .input_free = spmv_input_free,
    .bytes_min = spmv_bytes_min,
    .flops = spmv_flops,
    .setup = spmv_setup,
    .launch = spmv_launch,
    .plain = spmv_plain,
    .call = spmv_call,
    .poison = spmv_poison,
    .read = spmv_read,
    .transfers = spmv_transfers,
    .verify = spmv_verify,
    .finish = spmv_finish,
};
