// SPDX-License-Identifier: Apache-2.0
// The serial transposition of host/src/ref/transpose.c, timed by the host clock.
#include "backends/algo.h"
#include "host/internal/inside.h"
#include "host/common/clock.h"
#include "backends/backend.h"

#include <stdlib.h>
#include <string.h>

const char *const weft__ref_transpose_algos[] = {"ref", NULL};

struct ref_transpose {
    const struct weft_csr *a;
    struct weft_csr out;
    void *next; // scratch of n offsets
};

weft_status weft__ref_transpose_prepare(void **state, struct weft_context *ctx, const struct weft_csr *a,
                                        const char *algo, const struct weft_backend_tune *tune,
                                        struct weft_backend_times *times, struct weft_error *err)
{
    (void)ctx;
    *state = NULL;
    if (weft__algo_find(weft__ref_transpose_algos, algo, tune, "backend ref has no transposition", err) < 0)
        return WEFT_EINVAL;
    size_t ofs_bytes = weft_ofs_bytes(a->ofs), val_bytes = weft_type_bytes(a->type);
    size_t next_bytes = weft__mul((size_t)a->n, ofs_bytes);
    struct ref_transpose *t = calloc(1, sizeof *t);
    weft_status status = t ? weft_csr_alloc(&t->out, weft_shape_transposed(weft_csr_shape(a))) : WEFT_ENOMEM;
    if (!status && !(t->next = malloc(weft__max(1, next_bytes))))
        status = WEFT_ENOMEM;
    void *half_built = t;
    if (status) {
        weft__ref_transpose_finish(&half_built);
        return weft__error(err, status, "the transpose of %lld x %lld with %lld entries: %s", (long long)a->m,
                           (long long)a->n, (long long)a->nnz, weft_status_text(status));
    }
    // Touch the pages now, so that no run pays for them.
    memset(t->out.row_ptr, 0, ((size_t)a->n + 1) * ofs_bytes);
    memset(t->out.col, 0, (size_t)a->nnz * sizeof *t->out.col);
    if (val_bytes)
        memset(t->out.val, 0, (size_t)a->nnz * val_bytes);
    memset(t->next, 0, next_bytes);
    t->a = a;
    times->workspace_bytes = (int64_t)next_bytes;
    *state = t;
    return WEFT_OK;
}

weft_status weft__ref_transpose_run(void *state, double *ms, struct weft_error *err)
{
    (void)err;
    struct ref_transpose *t = state;
    double start = clock_ms();
    weft__ref_transpose_into(&t->out, t->a, t->next);
    *ms = clock_ms() - start;
    return WEFT_OK;
}

weft_status weft__ref_transpose_poison(void *state, struct weft_error *err)
{
    (void)err;
    struct ref_transpose *t = state;
    memset(t->out.row_ptr, 0xff, ((size_t)t->a->n + 1) * weft_ofs_bytes(t->a->ofs));
    memset(t->out.col, 0xff, (size_t)t->a->nnz * sizeof *t->out.col);
    if (t->out.val)
        memset(t->out.val, 0xff, (size_t)t->a->nnz * weft_type_bytes(t->a->type));
    return WEFT_OK;
}

weft_status weft__ref_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *times,
                                       struct weft_error *err)
{
    (void)times;
    const struct ref_transpose *t = state;
    const struct weft_csr *from = &t->out;
    weft_status status = weft_csr_alloc(out, weft_csr_shape(from));
    if (status)
        return weft__error(err, status, "a copy of the transpose: %s", weft_status_text(status));
    memcpy(out->row_ptr, from->row_ptr, ((size_t)from->m + 1) * weft_ofs_bytes(from->ofs));
    memcpy(out->col, from->col, (size_t)from->nnz * sizeof *out->col);
    if (from->type != WEFT_TYPE_PATTERN)
        memcpy(out->val, from->val, (size_t)from->nnz * weft_type_bytes(from->type));
    return WEFT_OK;
}

void weft__ref_transpose_finish(void **state)
{
    if (!state || !*state)
        return;
    struct ref_transpose *t = *state;
    weft_csr_free(&t->out);
    free(t->next);
    free(t);
    *state = NULL;
}
