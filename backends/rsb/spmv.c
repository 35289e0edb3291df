// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y by rsb_spmv: in the blocks that librsb cuts A into by itself, or in those that its tuner finds
// in a second by trying.
#include "backends/algo.h"
#include "host/common/clock.h"
#include "host/internal/inside.h"
#include "backends/backend.h"

#include <rsb.h>
#include <stdlib.h>
#include <string.h>

const char *const weft__rsb_spmv_algos[] = {"blocks", "tuned", NULL};

struct rsb_spmv {
    struct weft_backend_spmv_job job;
    size_t y_bytes;
    void *y;
    struct rsb_mtx_t *a;
    float alpha32, beta32;
    const void *alpha, *beta; // in the type of the matrix
};

static weft_status fail(rsb_err_t error, const char *what, struct weft_error *err)
{
    char text[256] = "";
    if (error == RSB_ERR_NO_ERROR)
        return WEFT_OK;
    if (error == RSB_ERR_ENOMEM)
        return weft__error(err, WEFT_ENOMEM, "out of host memory in %s", what);
    rsb_strerror_r(error, text, sizeof text);
    text[strcspn(text, "\n")] = 0;
    return weft__error(err, WEFT_EDEVICE, "%s: %s", what, text);
}

static void rsb_end(void)
{
    rsb_lib_exit(RSB_NULL_EXIT_OPTIONS);
}

static weft_status rsb_begin(struct weft_error *err)
{
    static int begun;
    if (begun)
        return WEFT_OK;
    weft_status status = fail(rsb_lib_init(RSB_NULL_INIT_OPTIONS), "rsb_lib_init", err);
    if (!status) {
        begun = 1;
        atexit(rsb_end);
    }
    return status;
}

// Blocks of A, by way of coordinates: from CSR librsb takes no row whose columns descend. A pattern gets its ones.
static weft_status matrix_make(struct rsb_mtx_t **out, const struct weft_csr *a, rsb_type_t type,
                               struct weft_error *err)
{
    rsb_coo_idx_t *row = malloc(weft__mul((size_t)a->nnz, sizeof *row));
    float *ones = a->type == WEFT_TYPE_PATTERN ? malloc(weft__mul((size_t)a->nnz, sizeof *ones)) : NULL;
    weft_status status = WEFT_OK;
    rsb_err_t error = RSB_ERR_NO_ERROR;
    if (!row || (a->type == WEFT_TYPE_PATTERN && !ones))
        status = weft__error(err, WEFT_ENOMEM, "out of host memory for SpMV");
    for (int64_t i = 0; i < a->m && row; i++)
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++)
            row[p] = (rsb_coo_idx_t)i;
    for (int64_t p = 0; p < a->nnz && ones; p++)
        ones[p] = 1;
    if (!status) {
        *out = rsb_mtx_alloc_from_coo_const(ones ? ones : a->val, row, a->col, (rsb_nnz_idx_t)a->nnz, type,
                                            (rsb_coo_idx_t)a->m, (rsb_coo_idx_t)a->n, 0, 0,
                                            RSB_FLAG_DEFAULT_RSB_MATRIX_FLAGS | RSB_FLAG_DUPLICATES_SUM, &error);
        status = fail(error, "rsb_mtx_alloc_from_coo_const", err);
    }
    free(row);
    free(ones);
    return status;
}

static weft_status job_check(const struct weft_backend_spmv_job *job, const char *algo, int *tuned,
                             struct weft_error *err)
{
    const struct weft_csr *a = job->a;
    *tuned = weft__algo_find(weft__rsb_spmv_algos, algo, job->tune, "backend rsb has no SpMV", err);
    if (*tuned < 0)
        return WEFT_EINVAL;
    if (a->type == WEFT_TYPE_I32)
        return weft__error(err, WEFT_EUNSUPPORTED, "librsb has no SpMV of integers");
    if (!a->m || !a->n || !a->nnz)
        return weft__error(err, WEFT_EUNSUPPORTED, "librsb takes no matrix without entries");
    if (a->nnz > RSB_MAX_MATRIX_NNZ || a->m > RSB_MAX_MATRIX_DIM || a->n > RSB_MAX_MATRIX_DIM)
        return weft__error(err, WEFT_EUNSUPPORTED, "librsb takes %lld entries at most", (long long)RSB_MAX_MATRIX_NNZ);
    return WEFT_OK;
}

weft_status weft__rsb_spmv_prepare(void **state, struct weft_context *ctx, const struct weft_backend_spmv_job *job,
                                   const char *algo, struct weft_backend_times *times, struct weft_error *err)
{
    (void)ctx;
    *state = NULL;
    int tuned;
    weft_status status = job_check(job, algo, &tuned, err);
    if (!status)
        status = rsb_begin(err);
    if (status)
        return status;
    const int wide = job->a->type == WEFT_TYPE_F64;
    struct rsb_spmv *s = calloc(1, sizeof *s);
    if (!s)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for SpMV");
    *state = s;
    s->job = *job;
    s->alpha32 = (float)job->alpha;
    s->beta32 = (float)job->beta;
    s->alpha = wide ? (void *)&s->job.alpha : (void *)&s->alpha32;
    s->beta = wide ? (void *)&s->job.beta : (void *)&s->beta32;
    s->y_bytes = weft__mul((size_t)job->a->m, wide ? sizeof(double) : sizeof(float));
    s->y = malloc(s->y_bytes);
    if (!s->y)
        status = weft__error(err, WEFT_ENOMEM, "out of host memory for y");
    double start = clock_ms();
    if (!status)
        status = matrix_make(&s->a, job->a, wide ? RSB_NUMERICAL_TYPE_DOUBLE : RSB_NUMERICAL_TYPE_FLOAT, err);
    times->convert_ms = clock_ms() - start;
    if (!status && tuned) {
        memset(s->y, 0, s->y_bytes);
        start = clock_ms();
        status = fail(rsb_tune_spmm(&s->a, NULL, NULL, 0, 1, RSB_TRANSPOSITION_N, s->alpha, NULL, 1,
                                    RSB_FLAG_WANT_COLUMN_MAJOR_ORDER, job->x, (rsb_nnz_idx_t)job->a->n, s->beta, s->y,
                                    (rsb_nnz_idx_t)job->a->m),
                      "rsb_tune_spmm", err);
        times->analyse_ms = clock_ms() - start;
    }
    size_t bytes = 0;
    if (!status)
        status = fail(rsb_mtx_get_info(s->a, RSB_MIF_TOTAL_SIZE__TO__SIZE_T, &bytes), "rsb_mtx_get_info", err);
    times->format_bytes = (int64_t)bytes;
    if (status)
        weft__rsb_spmv_finish(state);
    else
        memset(s->y, 0xff, s->y_bytes); // NaN: what no run wrote is no result
    return status;
}

weft_status weft__rsb_spmv_run(void *state, double *ms, struct weft_error *err)
{
    struct rsb_spmv *s = state;
    if (s->job.beta != 0)
        memcpy(s->y, s->job.y, s->y_bytes);
    double start = clock_ms();
    rsb_err_t error = rsb_spmv(RSB_TRANSPOSITION_N, s->alpha, s->a, s->job.x, 1, s->beta, s->y, 1);
    *ms = clock_ms() - start;
    return fail(error, "rsb_spmv", err);
}

weft_status weft__rsb_spmv_poison(void *state, struct weft_error *err)
{
    (void)err;
    const struct rsb_spmv *s = state;
    memset(s->y, 0xff, s->y_bytes);
    return WEFT_OK;
}

weft_status weft__rsb_spmv_result(void *state, void *y, struct weft_backend_times *times, struct weft_error *err)
{
    (void)times;
    (void)err;
    const struct rsb_spmv *s = state;
    memcpy(y, s->y, s->y_bytes);
    return WEFT_OK;
}

void weft__rsb_spmv_finish(void **state)
{
    if (!state || !*state)
        return;
    struct rsb_spmv *s = *state;
    rsb_mtx_free(s->a);
    free(s->y);
    free(s);
    *state = NULL;
}
