// SPDX-License-Identifier: Apache-2.0
// rocsparse_?csr2csc: A^T in CSR is A in CSC. It sorts the entries by column, stably, and gathers the
// values; those of i32 travel as f32, which no gather changes.
#include "backends/algo.h"
#include "host/common/clock.h"
#include "rocsparse_backend.h"

#include <stdlib.h>
#include <string.h>

const char *const weft__rocsparse_transpose_algos[] = {"csr2csc", NULL};

struct rocsparse_transpose {
    struct rocsparse_gpu gpu;
    struct rocsparse_csr a;
    enum weft_type type;
    void *col_ptr, *row, *val; // A^T (sizes n+1, nnz, nnz); val is NULL for a pattern
    void *workspace;
};

// What csr2csc leaves undone.
static weft_status fits(const struct weft_csr *a, struct weft_error *err)
{
    if (!a->m || !a->n) // releases before 3.0 return without having written the pointers of the result
        return weft__error(err, WEFT_EUNSUPPORTED, "rocSPARSE transposes no matrix without rows or columns");
    return WEFT_OK;
}

weft_status weft__rocsparse_transpose_prepare(void **state, struct weft_context *ctx, const struct weft_csr *a,
                                              const char *algo, const struct weft_backend_tune *tune,
                                              struct weft_backend_times *times, struct weft_error *err)
{
    *state = NULL;
    if (weft__algo_find(weft__rocsparse_transpose_algos, algo, tune, "backend rocsparse has no transposition", err) < 0)
        return WEFT_EINVAL;
    weft_status status = fits(a, err);
    if (status)
        return status;
    struct rocsparse_transpose *t = calloc(1, sizeof *t);
    if (!t)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for a transposition");
    *state = t;
    t->type = a->type;
    const rocsparse_action action = a->type == WEFT_TYPE_PATTERN ? rocsparse_action_symbolic : rocsparse_action_numeric;
    size_t workspace = 0, nnz = (size_t)a->nnz;
    status = weft__rocsparse_open(&t->gpu, ctx, err);
    if (!status)
        status = weft__rocsparse_csr_create(&t->a, a, err);
    if (!status)
        status = weft__rocsparse_alloc(&t->col_ptr, ((size_t)a->n + 1) * sizeof(int32_t), "memory for col_ptr", err);
    if (!status)
        status = weft__rocsparse_alloc(&t->row, nnz * sizeof(int32_t), "memory for row", err);
    if (!status && a->type != WEFT_TYPE_PATTERN)
        status = weft__rocsparse_alloc(&t->val, nnz * weft_type_bytes(a->type), "memory for val of the transpose", err);
    double start = clock_ms();
    if (!status)
        status = weft__rocsparse_csr_write(&t->a, a, err);
    times->write_ms = clock_ms() - start;
    if (!status)
        status = weft__rocsparse_lib(rocsparse_csr2csc_buffer_size(t->gpu.handle, t->a.m, t->a.n, t->a.nnz,
                                                                   t->a.row_ptr, t->a.col, action, &workspace),
                                     "rocsparse_csr2csc_buffer_size", err);
    if (!status)
        status = weft__rocsparse_alloc(&t->workspace, workspace, "workspace", err);
    times->workspace_bytes = (int64_t)workspace;
    if (status)
        weft__rocsparse_transpose_finish(state);
    return status;
}

weft_status weft__rocsparse_transpose_run(void *state, double *ms, struct weft_error *err)
{
    struct rocsparse_transpose *t = state;
    const rocsparse_action action = t->type == WEFT_TYPE_PATTERN ? rocsparse_action_symbolic : rocsparse_action_numeric;
    weft_status status = weft__rocsparse_begin(&t->gpu, err);
    if (status)
        return status;
    status = weft__rocsparse_lib(ROCSPARSE_CALL(t->type, csr2csc, t->gpu.handle, t->a.m, t->a.n, t->a.nnz, t->a.val,
                                                t->a.row_ptr, t->a.col, t->val, t->row, t->col_ptr, action,
                                                rocsparse_index_base_zero, t->workspace),
                                 "rocsparse_csr2csc", err);
    return weft__rocsparse_end(&t->gpu, status, ms, err);
}

weft_status weft__rocsparse_transpose_poison(void *state, struct weft_error *err)
{
    struct rocsparse_transpose *t = state;
    const size_t nnz = (size_t)t->a.nnz;
    weft_status status = weft__rocsparse_poison(t->col_ptr, ((size_t)t->a.n + 1) * sizeof(int32_t), err);
    if (!status)
        status = weft__rocsparse_poison(t->row, nnz * sizeof(int32_t), err);
    if (!status)
        status = weft__rocsparse_poison(t->val, nnz * weft_type_bytes(t->type), err);
    return status;
}

weft_status weft__rocsparse_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *times,
                                             struct weft_error *err)
{
    struct rocsparse_transpose *t = state;
    weft_status status = weft_csr_alloc(out, weft_shape(t->a.n, t->a.m, t->a.nnz, t->type, WEFT_OFS_32));
    if (status)
        return weft__error(err, status, "a copy of the transpose: %s", weft_status_text(status));
    size_t nnz = (size_t)out->nnz;
    double start = clock_ms();
    status =
        weft__rocsparse_read(out->row_ptr, t->col_ptr, ((size_t)out->m + 1) * sizeof(int32_t), "read col_ptr", err);
    if (!status)
        status = weft__rocsparse_read(out->col, t->row, nnz * sizeof *out->col, "read row", err);
    if (!status && t->type != WEFT_TYPE_PATTERN)
        status = weft__rocsparse_read(out->val, t->val, nnz * weft_type_bytes(t->type), "read val", err);
    times->read_ms = clock_ms() - start;
    if (status)
        weft_csr_free(out);
    return status;
}

void weft__rocsparse_transpose_finish(void **state)
{
    if (!state || !*state)
        return;
    struct rocsparse_transpose *t = *state;
    weft__rocsparse_free(&t->workspace);
    weft__rocsparse_free(&t->col_ptr);
    weft__rocsparse_free(&t->row);
    weft__rocsparse_free(&t->val);
    weft__rocsparse_csr_free(&t->a);
    weft__rocsparse_close(&t->gpu);
    free(t);
    *state = NULL;
}
