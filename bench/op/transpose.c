// SPDX-License-Identifier: Apache-2.0
// A^T of the matrix of the run, by every backend, compared bit for bit with the serial reference.
#include "host/common/check_exact.h"
#include "host/internal/inside.h"
#include "op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const *transpose_algos(const struct weft_backend *backend)
{
    return backend->transpose.algos;
}

static weft_status transpose_input(struct bench_input *in, struct weft_error *err)
{
    struct weft_csr *want = in->data = calloc(1, sizeof *want);
    weft_status status = want ? weft__ref_transpose(want, in->a) : WEFT_ENOMEM;
    return status ? weft__error(err, status, "the reference transpose: %s", weft_status_text(status)) : WEFT_OK;
}

static void transpose_input_free(struct bench_input *in)
{
    if (in->data)
        weft_csr_free(in->data);
    free(in->data);
    in->data = NULL;
}

static int64_t transpose_bytes_min(const struct bench_run *run)
{
    const struct weft_csr *a = run->input->a;
    return a->nnz * 2 * (int64_t)(sizeof *a->col + weft_type_bytes(a->type)) +
           (a->m + 1 + a->n + 1) * (int64_t)weft_ofs_bytes(a->ofs);
}

struct transpose_state {
    void *backend;
};

static weft_status transpose_setup(struct bench_run *run, struct weft_error *err)
{
    struct transpose_state *s = run->state = calloc(1, sizeof *s);
    if (!s)
        return weft__error(err, WEFT_ENOMEM, "out of host memory");
    return run->backend->transpose.prepare(&s->backend, run->ctx, run->input->a, run->algo, &run->tune, &run->times,
                                           err);
}

static weft_status transpose_launch(struct bench_run *run, double *ms, struct weft_error *err)
{
    struct transpose_state *s = run->state;
    return run->backend->transpose.run(s->backend, ms, err);
}

static weft_status transpose_plain(struct bench_run *run, int runs, struct weft_error *err)
{
    struct transpose_state *s = run->state;
    return run->backend->transpose.plain ? run->backend->transpose.plain(s->backend, runs, err) : WEFT_EUNSUPPORTED;
}

static weft_status transpose_call(struct bench_run *run, double *ms, int *right, struct weft_error *err)
{
    struct transpose_state *s = run->state;
    struct weft_csr got = {0};
    char why[256];
    if (!run->backend->transpose.call)
        return WEFT_EUNSUPPORTED;
    const double start = bench_now_ms();
    const weft_status status = run->backend->transpose.call(s->backend, &got, err);
    *ms = bench_now_ms() - start;
    if (status)
        return status;
    *right = check_transpose(&got, run->input->data, why, sizeof why);
    if (!*right)
        weft__error(err, WEFT_EMATRIX, "one call: %s", why);
    weft_csr_free(&got);
    return WEFT_OK;
}

static weft_status transpose_poison(struct bench_run *run, struct weft_error *err)
{
    struct transpose_state *s = run->state;
    return run->backend->transpose.poison(s->backend, err);
}

static weft_status transpose_read(struct bench_run *run, struct weft_error *err)
{
    struct transpose_state *s = run->state;
    struct weft_csr got = {0};
    weft_status status = run->backend->transpose.result(s->backend, &got, &run->times, err);
    weft_csr_free(&got);
    return status;
}

static void transpose_transfers(const struct bench_run *run, int64_t *write_bytes, int64_t *read_bytes)
{
    const struct weft_csr *a = run->input->a;
    const int64_t entries = a->nnz * (int64_t)(sizeof *a->col + weft_type_bytes(a->type));
    *write_bytes = entries + (a->m + 1) * (int64_t)weft_ofs_bytes(a->ofs);
    *read_bytes = entries + (a->n + 1) * (int64_t)weft_ofs_bytes(a->ofs);
}

static weft_status transpose_verify(struct bench_run *run, int *right, struct weft_error *err)
{
    struct transpose_state *s = run->state;
    struct weft_csr got = {0};
    char why[256];
    weft_status status = run->backend->transpose.result(s->backend, &got, &run->times, err);
    if (status)
        return status;
    *right = check_transpose(&got, run->input->data, why, sizeof why);
    if (!*right)
        weft__error(err, WEFT_EMATRIX, "%s", why);
    if (*right && run->input->hash) {
        run->hash = weft_csr_hash(&got);
        run->has_hash = 1;
    }
    weft_csr_free(&got);
    return WEFT_OK;
}

static void transpose_finish(struct bench_run *run)
{
    struct transpose_state *s = run->state;
    if (!s)
        return;
    run->backend->transpose.finish(&s->backend);
    free(s);
    run->state = NULL;
}

const struct bench_op bench_transpose = {
    .name = "transpose",
    .help = "CSR to CSC",
    .defaults = "scan,merge",
    .hashes = 1,
    .algos = transpose_algos,
    .input = transpose_input,
    .input_free = transpose_input_free,
    .bytes_min = transpose_bytes_min,
    .setup = transpose_setup,
    .launch = transpose_launch,
    .plain = transpose_plain,
    .call = transpose_call,
    .poison = transpose_poison,
    .read = transpose_read,
    .transfers = transpose_transfers,
    .verify = transpose_verify,
    .finish = transpose_finish,
};
