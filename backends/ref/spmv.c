// SPDX-License-Identifier: Apache-2.0
// The serial product of host/src/ref/spmv.c, timed by the host clock.
#include "internal.h"
#include "ref/ref.h"
#include "../clock.h"
#include "ref_backend.h"

#include <stdlib.h>
#include <string.h>

const char *const weft__ref_spmv_algos[] = {"csr", NULL};

struct ref_spmv {
    struct weft_backend_spmv_job job;
    enum weft_type type; // of x and y
    size_t y_bytes;
    void *y;
};

weft_status weft__ref_spmv_prepare(void **state, struct weft_context *ctx, const struct weft_backend_spmv_job *job,
                                   const char *algo, struct weft_backend_times *times, struct weft_error *err)
{
    (void)ctx;
    *state = NULL;
    if (algo && strcmp(algo, weft__ref_spmv_algos[0]))
        return weft__error(err, WEFT_EINVAL, "backend ref has no product named \"%s\"", algo);
    struct ref_spmv *s = calloc(1, sizeof *s);
    if (!s)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for a product");
    s->job = *job;
    s->type = job->a->type == WEFT_PATTERN ? WEFT_F32 : job->a->type;
    s->y_bytes = weft__mul((size_t)job->a->m, weft_type_bytes(s->type));
    s->y = malloc(weft__max(1, s->y_bytes));
    if (!s->y) {
        free(s);
        return weft__error(err, WEFT_ENOMEM, "out of host memory for y");
    }
    memset(s->y, 0xff, s->y_bytes); // NaN: what no run wrote is no result; and no run pays for the pages
    times->workspace_bytes = 0;
    times->format_bytes = job->a->nnz * (int64_t)(4 + weft_type_bytes(job->a->type)) +
                          (job->a->m + 1) * (int64_t)weft_ofs_bytes(job->a->ofs);
    *state = s;
    return WEFT_OK;
}

weft_status weft__ref_spmv_run(void *state, double *ms, struct weft_error *err)
{
    (void)err;
    struct ref_spmv *s = state;
    if (s->job.beta != 0)
        memcpy(s->y, s->job.y, s->y_bytes);
    double start = clock_ms();
    weft__ref_spmv(s->job.a, s->type, s->job.alpha, s->job.x, s->job.beta, s->y);
    *ms = clock_ms() - start;
    return WEFT_OK;
}

weft_status weft__ref_spmv_result(void *state, void *y, struct weft_backend_times *times, struct weft_error *err)
{
    (void)times;
    (void)err;
    const struct ref_spmv *s = state;
    memcpy(y, s->y, s->y_bytes);
    return WEFT_OK;
}

void weft__ref_spmv_finish(void **state)
{
    if (!state || !*state)
        return;
    struct ref_spmv *s = *state;
    free(s->y);
    free(s);
    *state = NULL;
}
