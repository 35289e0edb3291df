// SPDX-License-Identifier: Apache-2.0
// Allocates the arrays of a transposition on a CUDA device, and copies them in and out.
#include "transpose.h"
#include "host/internal/inside.h"

#include <stdlib.h>

static size_t in_ptr_bytes(const struct cuda_transpose *t)
{
    return ((size_t)t->a->m + 1) * sizeof(int);
}

weft_status weft__cuda_transpose_take(struct cuda_transpose *t, struct cuda_session *s, const struct weft_csr *a,
                                      struct weft_backend_times *times, struct weft_error *err)
{
    if (a->ofs != WEFT_OFS_32)
        return weft__error(err, WEFT_EUNSUPPORTED, "%s's transposition has no 64-bit offsets", s->library);
    if (!a->m || !a->n) // cuSPARSE before CUDA 13.0 is wrong there
        return weft__error(err, WEFT_EUNSUPPORTED, "%s is not asked for a matrix without rows or columns", s->library);
    *t = (struct cuda_transpose){.a = a,
                                 .ptr_bytes = ((size_t)a->n + 1) * sizeof(int),
                                 .idx_bytes = (size_t)a->nnz * sizeof(int),
                                 .val_bytes = (size_t)a->nnz * weft_type_bytes(a->type)};
    weft_status status = weft__cuda_take(s, &t->row_ptr, in_ptr_bytes(t), "row pointers", err);
    if (!status)
        status = weft__cuda_take(s, &t->col, t->idx_bytes, "column indices", err);
    if (!status)
        status = weft__cuda_take(s, &t->val, weft__max(t->val_bytes, t->idx_bytes), "values", err);
    if (!status)
        status = weft__cuda_take(s, &t->out_ptr, t->ptr_bytes, "column pointers", err);
    if (!status)
        status = weft__cuda_take(s, &t->out_row, t->idx_bytes, "row indices", err);
    t->out_val = t->val;
    if (!status && a->type != WEFT_TYPE_PATTERN)
        status = weft__cuda_take(s, &t->out_val, t->val_bytes, "values of the transpose", err);
    if (!status)
        status = weft__cuda_write(t->row_ptr, a->row_ptr, in_ptr_bytes(t), &times->write_ms, err);
    if (!status)
        status = weft__cuda_write(t->col, a->col, t->idx_bytes, &times->write_ms, err);
    if (!status)
        status = weft__cuda_write(t->val, a->val, t->val_bytes, &times->write_ms, err);
    return status;
}

weft_status weft__cuda_transpose_have(struct cuda_transpose *t, struct cuda_session *call, struct weft_error *err)
{
    const struct weft_csr *a = t->a;
    call->block_count = 0;
    weft_status status = weft__cuda_have(call, &t->row_ptr, a->row_ptr, in_ptr_bytes(t), "row pointers", err);
    if (!status)
        status = weft__cuda_have(call, &t->col, a->col, t->idx_bytes, "column indices", err);
    if (!status)
        status =
            weft__cuda_have(call, &t->val, a->val, weft__max(t->val_bytes, a->val ? 0 : t->idx_bytes), "values", err);
    if (!status)
        status = weft__cuda_have(call, &t->out_ptr, NULL, t->ptr_bytes, "column pointers", err);
    if (!status)
        status = weft__cuda_have(call, &t->out_row, NULL, t->idx_bytes, "row indices", err);
    t->out_val = t->val;
    if (!status && a->val)
        status = weft__cuda_have(call, &t->out_val, NULL, t->val_bytes, "values of the transpose", err);
    return status;
}

weft_status weft__cuda_transpose_poison(const struct cuda_transpose *t, struct cuda_session *s, struct weft_error *err)
{
    weft_status status = weft__cuda_poison(s, t->out_ptr, t->ptr_bytes, err);
    if (!status)
        status = weft__cuda_poison(s, t->out_row, t->idx_bytes, err);
    if (!status && t->out_val != t->val) // else a pattern, and these are the input's
        status = weft__cuda_poison(s, t->out_val, t->val_bytes, err);
    return status;
}

static weft_status read_all(const struct cuda_transpose *t, struct weft_csr *out, double *ms, struct weft_error *err)
{
    weft_status status = weft__cuda_read(out->row_ptr, t->out_ptr, t->ptr_bytes, ms, err);
    if (!status)
        status = weft__cuda_read(out->col, t->out_row, t->idx_bytes, ms, err);
    if (!status)
        status = weft__cuda_read(out->val, t->out_val, t->val_bytes, ms, err);
    if (status)
        weft_csr_free(out);
    return status;
}

weft_status weft__cuda_transpose_result(const struct cuda_transpose *t, struct weft_csr *out,
                                        struct weft_backend_times *times, struct weft_error *err)
{
    const weft_status status = weft_csr_alloc(out, weft_shape_transposed(weft_csr_shape(t->a)));
    if (status)
        return weft__error(err, status, "a copy of the transpose: %s", weft_status_text(status));
    return read_all(t, out, &times->read_ms, err);
}

weft_status weft__cuda_transpose_read(const struct cuda_transpose *t, struct weft_csr *out, struct weft_error *err)
{
    double ms = 0;
    *out = (struct weft_csr){.m = t->a->n, .n = t->a->m, .nnz = t->a->nnz, .type = t->a->type, .ofs = t->a->ofs};
    out->row_ptr = malloc(t->ptr_bytes);
    out->col = malloc(weft__max(t->idx_bytes, 1));
    out->val = t->val_bytes ? malloc(t->val_bytes) : NULL;
    if (out->row_ptr && out->col && (!t->val_bytes || out->val))
        return read_all(t, out, &ms, err);
    weft_csr_free(out);
    return weft__error(err, WEFT_ENOMEM, "out of host memory for the transpose");
}
