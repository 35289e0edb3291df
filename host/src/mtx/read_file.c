// SPDX-License-Identifier: Apache-2.0
// The calls that read a matrix: what the caller gives is checked, a file or a text is opened, and read.c reads it.
#include "host/src/core/check.h"
#include "host/src/core/error.h"
#include "host/src/mtx/mtx.h"

#include <string.h>

static weft_status params_check(struct weft_csr *out, struct weft_mtx_info *info, struct weft_mtx_params *own,
                                const struct weft_mtx_params *params, struct weft_error *err)
{
    weft_status status = WEFT__NEED(err, {"out", out});
    if (status)
        return status;
    memset(out, 0, sizeof *out);
    if (info)
        memset(info, 0, sizeof *info);
    *own = params ? *params : (struct weft_mtx_params){0};
    status = weft__type_check(err, own->type);
    if (!status)
        status = weft__ofs_check(err, own->ofs);
    if (!status)
        status = weft__threads_check(err, own->threads);
    if (!status && (unsigned)own->complex > WEFT_MTX_COMPLEX_IMAG)
        status = weft__error(err, WEFT_EINVAL, "params.complex is %d, no part of complex values", (int)own->complex);
    if (!status && own->limit_bytes < 0)
        status = weft__error(err, WEFT_EINVAL, "params.limit_bytes is %lld, it must be 0 or more",
                             (long long)own->limit_bytes);
    return status;
}

static weft_status file_read(struct weft_csr *out, int32_t **row, struct weft_mtx_info *info, const char *path,
                             const struct weft_mtx_params *params, struct weft_error *err)
{
    struct weft_mtx_params own;
    struct weft__mtx_stream *stream;
    struct weft_error why;
    weft_status status = params_check(out, info, &own, params, err);
    if (status)
        return status;
    if (!path)
        return weft__error(err, WEFT_EINVAL, "path is NULL");
    if (weft__npz_is(path))
        return weft__npz_read(out, info, path, &own, err);
    status = weft__mtx_open_file(&stream, path, own.limit_bytes, &why);
    if (!status)
        status = weft__rb_open(&stream, own.limit_bytes, &why);
    if (status)
        return weft__error(err, status, "%s: %s", weft__mtx_name_end(path), why.text);
    return weft__mtx_read_stream(out, info, path, stream, 0, &own, row, err);
}

weft_status weft_mtx_read(struct weft_csr *out, struct weft_mtx_info *info, const char *path,
                          const struct weft_mtx_params *params, struct weft_error *err)
{
    return file_read(out, NULL, info, path, params, err);
}

weft_status weft__mtx_read_rows(struct weft_csr *out, int32_t **row, struct weft_mtx_info *info, const char *path,
                                const struct weft_mtx_params *params, struct weft_error *err)
{
    *row = NULL;
    return file_read(out, row, info, path, params, err);
}

weft_status weft_mtx_parse(struct weft_csr *out, struct weft_mtx_info *info, const char *name, const void *text,
                           size_t bytes, const struct weft_mtx_params *params, struct weft_error *err)
{
    struct weft_mtx_params own;
    struct weft__mtx_stream *stream;
    weft_status status = params_check(out, info, &own, params, err);
    if (status)
        return status;
    if (!text && bytes)
        return weft__error(err, WEFT_EINVAL, "text is NULL");
    name = name ? name : "(text)";
    status = weft__mtx_open_memory(&stream, text, bytes);
    if (status)
        return weft__error(err, status, "%s: %s", weft__mtx_name_end(name), weft_status_text(status));
    return weft__mtx_read_stream(out, info, name, stream, 0, &own, NULL, err);
}
