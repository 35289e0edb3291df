// SPDX-License-Identifier: Apache-2.0
// Random problems of the operations on matrices, with arrays of the host.
#include "soak.h"
#include "host/common/check_exact.h"
#include "host/common/check_spmv.h"
#include "host/internal/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/canonical.h>
#include <weft/convert.h>
#include <weft/permute.h>
#include <weft/spmv.h>

// The reference, or an exit.
static void need(weft_status status)
{
    if (status) {
        fprintf(stderr, "soak: the reference: %s\n", weft_status_text(status));
        exit(2);
    }
}

// Judge a matrix that a call gave, and free it; `want` is freed too.
static enum soak_result judged(struct soak *s, enum soak_result result, struct weft_csr *got, struct weft_csr *want)
{
    if (result == SOAK_RIGHT)
        result = soak_compared(s, check_transpose(got, want, s->why, sizeof s->why) && got->type == want->type);
    weft_csr_free(got);
    weft_csr_free(want);
    return result;
}

static struct weft_transpose_params transpose_params(struct soak *s)
{
    struct weft_transpose_params p = {
        .algo = (enum weft_transpose_algo)draw_below(&s->kind, WEFT_TRANSPOSE_ALGO_MERGE + 1)};
    soak_say(s, " %s", weft_transpose_algo_name(p.algo));
    if (p.algo)
        soak_tune(s, "transpose", weft_transpose_algo_name(p.algo), &p);
    return p;
}

static enum soak_result transpose(struct soak *s)
{
    struct weft_csr a = soak_matrix(s, draw_once(&s->shape, 4)), got = {0}, want = {0};
    const struct weft_transpose_params p = transpose_params(s);
    const int bad = weft_csr_validate(&a, NULL) != WEFT_OK;
    const enum soak_result result = soak_status(s, weft_transpose_sync(&got, s->ctx, &a, &p), bad);
    if (result == SOAK_RIGHT)
        need(weft__ref_transpose(&want, &a));
    weft_csr_free(&a);
    return judged(s, result, &got, &want);
}

static enum soak_result from_coo(struct soak *s)
{
    struct weft_csr a = soak_matrix(s, 0), got = {0}, want = {0};
    const struct weft_transpose_params p = transpose_params(s);
    struct weft_coo coo = {.m = a.m, .n = a.n, .nnz = a.nnz, .type = a.type, .col = a.col, .val = a.val};
    int bad = 0;
    coo.row = soak_memory((size_t)a.nnz * 4);
    for (int64_t q = 0; q < a.nnz; q++) {
        coo.row[q] = (int32_t)(draw_u64(&s->shape) % (uint64_t)a.m);
        bad |= a.col[q] < 0 || a.col[q] >= a.n;
    }
    const enum soak_result result = soak_status(s, weft_coo_to_csr_sync(&got, s->ctx, &coo, a.ofs, &p), bad);
    if (result == SOAK_RIGHT)
        need(weft_csr_from_coo(&want, &coo, a.ofs, NULL));
    free(coo.row);
    weft_csr_free(&a);
    return judged(s, result, &got, &want);
}

static enum soak_result to_coo(struct soak *s)
{
    struct weft_csr a = soak_matrix(s, 0);
    struct weft_coo got = {0};
    const int bad = weft_csr_validate(&a, NULL) != WEFT_OK;
    enum soak_result result = soak_status(s, weft_csr_to_coo_sync(&got, s->ctx, &a), bad);
    if (result == SOAK_RIGHT) {
        const size_t nnz = (size_t)a.nnz;
        int32_t *row = soak_memory(nnz * 4);
        weft__ref_expand(row, a.row_ptr, a.m, a.ofs);
        result = soak_compared(s, check_expand(got.row, row, a.nnz, s->why, sizeof s->why) &&
                                      !memcmp(got.col, a.col, nnz * 4) &&
                                      check_values(got.val, a.val, a.nnz, a.type, s->why, sizeof s->why));
        free(row);
        weft_coo_free(&got);
    }
    weft_csr_free(&a);
    return result;
}

static enum soak_result canonical(struct soak *s)
{
    struct weft_csr a = soak_matrix(s, 0), got = {0}, want = {0};
    struct weft_canonical_params p = {.keep = draw_once(&s->kind, 2)};
    p.always = draw_once(&s->kind, 2);
    soak_say(s, " keep=%d always=%d", p.keep, p.always);
    const int bad = weft_csr_validate(&a, NULL) != WEFT_OK;
    const enum soak_result result = soak_status(s, weft_canonical_sync(&got, s->ctx, &a, &p), bad);
    if (result == SOAK_RIGHT)
        need(weft__ref_canonical(&want, &a, p.keep));
    weft_csr_free(&a);
    return judged(s, result, &got, &want);
}

static void shuffled(struct soak *s, int32_t *out, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = (int32_t)i;
    for (int64_t i = count - 1; i > 0; i--) {
        const int64_t j = (int64_t)(draw_u64(&s->shape) % (uint64_t)(i + 1));
        const int32_t one = out[i];
        out[i] = out[j];
        out[j] = one;
    }
}

static enum soak_result permute(struct soak *s)
{
    struct weft_csr a = soak_matrix(s, 0), got = {0}, want = {0};
    struct weft_permutation p = {0};
    const struct weft_permute_params params = {.keep = draw_once(&s->kind, 2)};
    int32_t *row = soak_memory((size_t)a.m * 4), *col = soak_memory((size_t)a.n * 4);
    const int sides = (int)draw_below(&s->kind, 4);
    soak_say(s, " keep=%d sides=%d", params.keep, sides);
    shuffled(s, row, a.m);
    shuffled(s, col, a.n);
    need(weft_permutation_from(&p, a.m, a.n, sides & 1 ? row : NULL, sides & 2 ? col : NULL, NULL));
    const int bad = weft_csr_validate(&a, NULL) != WEFT_OK;
    const enum soak_result result = soak_status(s, weft_permute_sync(&got, s->ctx, &a, &p, &params), bad);
    if (result == SOAK_RIGHT)
        need(weft_csr_permute(&want, &a, &p, &params, NULL));
    weft_permutation_free(&p);
    weft_csr_free(&a);
    free(row);
    free(col);
    return judged(s, result, &got, &want);
}

static void vector_fill(struct soak *s, void *out, enum weft_type type, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const double x = (double)(draw_u64(&s->shape) % 65536) / 32768 - 1;
        if (type == WEFT_TYPE_F32)
            ((float *)out)[i] = (float)x;
        else if (type == WEFT_TYPE_F64)
            ((double *)out)[i] = x;
        else
            ((int32_t *)out)[i] = (int32_t)(x * 9);
    }
}

static struct weft_spmv_params spmv_params(struct soak *s)
{
    struct weft_spmv_params p = {.format.max_padding = 1e6};
    const int64_t form = draw_below(&s->kind, 8);
    p.policy.algo = (enum weft_spmv_algo)draw_below(&s->kind, WEFT_SPMV_ALGO_CSR_NODES + 1);
    if (form == 0)
        p.problem.semiring = (enum weft_spmv_semiring)draw_below(&s->kind, WEFT_SPMV_SEMIRING_MAX_TIMES + 1);
    if (form == 1)
        p.problem.transpose = (enum weft_spmv_transpose)draw_below(&s->kind, WEFT_SPMV_TRANSPOSE_BY_ATOMICS + 1);
    p.problem.f64_sums = form == 2;
    if (form == 3)
        p.policy.mode = WEFT_SPMV_MODE_REPRODUCIBLE;
    if (form == 3 || p.problem.transpose == WEFT_SPMV_TRANSPOSE_BY_ATOMICS)
        p.policy.algo = WEFT_SPMV_ALGO_AUTO;
    p.format.host_rest = p.policy.algo == WEFT_SPMV_ALGO_HYB && draw_once(&s->kind, 4);
    if (p.policy.algo == WEFT_SPMV_ALGO_SELL && draw_once(&s->kind, 2))
        p.format.sigma = 1 << draw_below(&s->kind, 11);
    if (p.policy.algo == WEFT_SPMV_ALGO_HYB)
        p.format.width = draw_below(&s->shape, 5);
    p.policy.products = draw_below(&s->kind, 2) * 100;
    soak_say(s, " %s, %s, transpose %s, f64_sums %d, mode %s, host_rest %d, sigma %d, width %lld",
             weft_spmv_algo_name(p.policy.algo), weft_spmv_semiring_name(p.problem.semiring),
             weft_spmv_transpose_name(p.problem.transpose), p.problem.f64_sums, weft_spmv_mode_name(p.policy.mode),
             p.format.host_rest, p.format.sigma, (long long)p.format.width);
    if (p.policy.algo != WEFT_SPMV_ALGO_AUTO && p.policy.algo != WEFT_SPMV_ALGO_CSR)
        soak_tune(s, "spmv", weft_spmv_algo_name(p.policy.algo), &p);
    return p;
}

static enum soak_result spmv(struct soak *s)
{
    struct weft_csr a = soak_matrix(s, 0), at = {0};
    const struct weft_spmv_params p = spmv_params(s);
    const int bad = weft_csr_validate(&a, NULL) != WEFT_OK, turned = p.problem.transpose != WEFT_SPMV_TRANSPOSE_PLAIN,
              ring = p.problem.semiring != WEFT_SPMV_SEMIRING_PLUS_TIMES;
    const enum weft_type type = a.type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : a.type;
    const int64_t nx = turned ? a.m : a.n, ny = turned ? a.n : a.m;
    const double alpha = ring ? 1 : (double)draw_below(&s->shape, 5) - 2,
                 beta = (double)draw_below(&s->shape, 3) - (ring ? 0 : 1);
    const size_t bytes = weft_type_bytes(type);
    void *x = soak_memory((size_t)nx * bytes), *y = soak_memory((size_t)ny * bytes),
         *y0 = soak_memory((size_t)ny * bytes);
    soak_say(s, " alpha=%g beta=%g", alpha, beta);
    vector_fill(s, x, type, nx);
    vector_fill(s, y0, type, ny);
    memcpy(y, y0, (size_t)ny * bytes);
    enum soak_result result = soak_status(s, weft_spmv_sync(y, s->ctx, alpha, &a, x, beta, &p), bad);
    if (result == SOAK_RIGHT && turned)
        need(weft__ref_transpose(&at, &a));
    const struct check_spmv job = {
        .a = turned ? &at : &a,
        .type = type,
        .semiring = p.problem.semiring,
        .f64_sums = p.problem.f64_sums,
        .parts = p.policy.algo == WEFT_SPMV_ALGO_AUTO ||
                 (p.policy.algo >= WEFT_SPMV_ALGO_HYB && p.policy.algo <= WEFT_SPMV_ALGO_COO_ATOMIC),
        .alpha = alpha,
        .beta = beta,
        .x = x,
        .y0 = y0};
    if (result == SOAK_RIGHT)
        result = soak_compared(s, check_spmv(&job, y, s->why, sizeof s->why));
    if (result == SOAK_RIGHT && p.policy.mode == WEFT_SPMV_MODE_REPRODUCIBLE) {
        weft__ref_spmv_fixed(&a, type, p.problem.f64_sums, alpha, x, beta, y0);
        s->why[0] = 0;
        result = soak_compared(s, !memcmp(y, y0, (size_t)ny * bytes));
    }
    weft_csr_free(&a);
    weft_csr_free(&at);
    free(x);
    free(y);
    free(y0);
    return result;
}

// The device's own check against the host's, on arrays that are right or wrong.
static enum soak_result validate(struct soak *s)
{
    struct weft_csr a = soak_matrix(s, 0);
    struct weft_device_csr d = {0};
    const enum weft_columns columns = (enum weft_columns)draw_below(&s->kind, WEFT_COLUMNS_UNIQUE + 1);
    struct weft_error host = {0}, device = {0};
    cl_int error;
    cl_command_queue queue =
        weft__cl.clCreateCommandQueue(weft_context_cl(s->ctx), weft_context_device(s->ctx)->id, 0, &error);
    weft_status status = error ? WEFT_EDEVICE : weft_device_csr_alloc(&d, s->ctx, weft_csr_shape(&a));
    soak_say(s, " columns %s", weft_columns_name(columns));
    if (!status)
        status = weft_device_csr_write_sync(&d, s->ctx, queue, &a);
    enum soak_result result = soak_status(s, status, 0);
    if (!status) {
        const weft_status want = weft_csr_validate_columns(&a, columns, &host),
                          got = weft_validate_sync(s->ctx, queue, &d, columns);
        weft_context_error(&device, s->ctx);
        snprintf(s->why, sizeof s->why, "host: %.190s; device: %.190s", want ? host.text : "right",
                 got ? device.text : "right");
        result = soak_compared(s, want == got);
    }
    if (!error)
        weft__cl.clReleaseCommandQueue(queue);
    weft_device_csr_free(&d);
    weft_csr_free(&a);
    return result;
}

const struct soak_op soak_matrices[] = {
    {"transpose", transpose}, {"coo_to_csr", from_coo}, {"csr_to_coo", to_coo}, {"canonical", canonical},
    {"permute", permute},     {"spmv", spmv},           {"validate", validate}, {NULL, NULL},
};
