// SPDX-License-Identifier: Apache-2.0
// Reads and writes matrices as their arrays: a header of 64 bytes, row_ptr, col, val.
#include "host/common/binary.h"
#include "host/internal/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "weft matrix 1\n"
#define ORDER UINT32_C(0x01020304) // as this machine orders bytes

struct header {
    char magic[16];
    uint32_t order;
    int32_t type, ofs;
    int32_t unused;
    int64_t m, n, nnz;
    int64_t zero;
};

static weft_status fail(struct weft_error *err, weft_status status, const char *path, const char *why)
{
    return weft__error(err, status, "%.600s: %s", path, why);
}

// `bytes` bytes, or -1 with errno; 0 in errno: the file ends.
static int read_all(int fd, void *to, size_t bytes)
{
    char *at = to;
    while (bytes) {
        const ssize_t got = read(fd, at, bytes < ((size_t)1 << 30) ? bytes : (size_t)1 << 30);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got ? errno : 0;
            return -1;
        }
        at += got;
        bytes -= (size_t)got;
    }
    return 0;
}

int bench_binary_is(const char *path)
{
    char magic[sizeof MAGIC - 1];
    struct stat about;
    const int fd = stat(path, &about) || !S_ISREG(about.st_mode) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    const int is = fd >= 0 && !read_all(fd, magic, sizeof magic) && !memcmp(magic, MAGIC, sizeof magic);
    if (fd >= 0)
        close(fd);
    return is;
}

// Whether the header is of a matrix whose arrays fill the file.
static const char *header_wrong(const struct header *h, int64_t file_bytes)
{
    int64_t bytes = sizeof *h, part;
    if (memcmp(h->magic, MAGIC, sizeof MAGIC) || h->zero || h->unused)
        return "no file of weft convert";
    if (h->order != ORDER)
        return "written by a machine with another order of bytes";
    if (h->m < 0 || h->n < 0 || h->nnz < 0 || h->m > INT32_MAX || h->n > INT32_MAX ||
        (uint32_t)h->type > WEFT_TYPE_PATTERN || (uint32_t)h->ofs > WEFT_OFS_64)
        return "no matrix has such sizes";
    if (h->nnz && (!h->m || !h->n))
        return "its header promises entries without rows or columns";
    const int64_t entry = 4 + (int64_t)weft_type_bytes((enum weft_type)h->type);
    bytes += (h->m + 1) * (int64_t)weft_ofs_bytes((enum weft_ofs)h->ofs);
    if (__builtin_mul_overflow(h->nnz, entry, &part) || __builtin_add_overflow(bytes, part, &bytes) ||
        bytes != file_bytes)
        return "the file is not as long as its header says";
    return NULL;
}

static int64_t arrays_bytes(const struct header *h, enum weft_type type, enum weft_ofs ofs)
{
    return (h->m + 1) * (int64_t)weft_ofs_bytes(ofs) + h->nnz * (4 + (int64_t)weft_type_bytes(type));
}

static weft_status arrays_read(struct weft_csr *out, const struct header *h, int fd, const char *path,
                               struct weft_error *err)
{
    weft_status status =
        weft_csr_alloc(out, (struct weft_shape){h->m, h->n, h->nnz, (enum weft_type)h->type, (enum weft_ofs)h->ofs});
    if (status)
        return fail(err, status, path, weft_status_text(status));
    const size_t val = (size_t)h->nnz * weft_type_bytes(out->type);
    if (read_all(fd, out->row_ptr, (size_t)(h->m + 1) * weft_ofs_bytes(out->ofs)) ||
        read_all(fd, out->col, (size_t)h->nnz * 4) || (val && read_all(fd, out->val, val)))
        return fail(err, WEFT_EIO, path, errno ? strerror(errno) : "the file ends in the middle");
    struct weft_error wrong = {0};
    if (weft_csr_validate(out, &wrong))
        return fail(err, WEFT_EFORMAT, path, wrong.text);
    return WEFT_OK;
}

// Position p of values of one type as a value of another; 0: it does not fit.
static int value_set(void *to, enum weft_type type, int64_t p, double value)
{
    switch (type) {
    case WEFT_TYPE_F32:
        ((float *)to)[p] = (float)value;
        return isinf((float)value) == isinf(value);
    case WEFT_TYPE_F64:
        ((double *)to)[p] = value;
        return 1;
    case WEFT_TYPE_I32:
        if (!(value >= INT32_MIN && value <= INT32_MAX && value == trunc(value)))
            return 0;
        ((int32_t *)to)[p] = (int32_t)value;
        return 1;
    default:
        return 1;
    }
}

// *a with other values and offsets; on failure *a is what it was.
static weft_status convert(struct weft_csr *a, enum weft_type type, enum weft_ofs ofs, const char *path,
                           struct weft_error *err)
{
    struct weft_csr out = {0};
    weft_status status = weft_csr_alloc(&out, (struct weft_shape){a->m, a->n, a->nnz, type, ofs});
    if (status)
        return fail(err, status, path, weft_status_text(status));
    for (int64_t i = 0; i <= a->m; i++)
        if (ofs == WEFT_OFS_64)
            ((int64_t *)out.row_ptr)[i] = weft_csr_ofs(a, i);
        else
            ((int32_t *)out.row_ptr)[i] = (int32_t)weft_csr_ofs(a, i);
    if (a->nnz)
        memcpy(out.col, a->col, (size_t)a->nnz * 4);
    for (int64_t p = 0; p < a->nnz && !status; p++)
        if (!value_set(out.val, type, p, weft__ref_get(a->val, a->type, p)))
            status = weft__error(err, WEFT_ERANGE, "%.600s: value %lld does not fit %s", path, (long long)p,
                                 weft_type_name(type));
    if (status) {
        weft_csr_free(&out);
        return status;
    }
    weft_csr_free(a);
    *a = out;
    return WEFT_OK;
}

weft_status bench_binary_read(struct weft_csr *out, struct weft_mtx_info *info, const char *path, enum weft_type type,
                              int as_stored, enum weft_ofs ofs, int64_t limit, struct weft_error *err)
{
    struct header h;
    struct stat about = {0};
    memset(out, 0, sizeof *out);
    memset(info, 0, sizeof *info);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(err, WEFT_EIO, path, strerror(errno));
    weft_status status = WEFT_OK;
    const char *wrong =
        fstat(fd, &about) || read_all(fd, &h, sizeof h) ? "cannot be read" : header_wrong(&h, about.st_size);
    if (wrong)
        status = fail(err, WEFT_EFORMAT, path, wrong);
    if (!status && as_stored)
        type = (enum weft_type)h.type;
    const int other = !status && (type != (enum weft_type)h.type || ofs != (enum weft_ofs)h.ofs);
    limit = weft__mtx_limit(limit, about.st_size);
    const int64_t bytes = about.st_size + (other ? arrays_bytes(&h, type, ofs) : 0);
    if (!status && bytes > limit)
        status = weft__error(err, WEFT_ERANGE, "%.600s: it takes %lld bytes, the limit is %lld (raise it with --limit)",
                             path, (long long)bytes, (long long)limit);
    if (!status)
        status = arrays_read(out, &h, fd, path, err);
    close(fd);
    if (!status && other)
        status = convert(out, type, ofs, path, err);
    if (status) {
        weft_csr_free(out);
        return status;
    }
    *info = (struct weft_mtx_info){.m = h.m, .n = h.n, .stored = h.nnz, .file_bytes = about.st_size};
    info->field = h.type == WEFT_TYPE_PATTERN ? WEFT_MTX_FIELD_PATTERN
                  : h.type == WEFT_TYPE_I32   ? WEFT_MTX_FIELD_INTEGER
                                              : WEFT_MTX_FIELD_REAL;
    info->limit_bytes = limit;
    return WEFT_OK;
}

weft_status bench_binary_write(const char *path, int fresh, const struct weft_csr *a, struct weft_error *err)
{
    const struct header h = {MAGIC, ORDER, (int32_t)a->type, (int32_t)a->ofs, 0, a->m, a->n, a->nnz, 0};
    struct weft__out out;
    int error = weft__out_open(&out, path, fresh);
    if (error)
        return fail(err, WEFT_EIO, path, strerror(error));
    error = weft__out_write(&out, &h, sizeof h);
    if (!error)
        error = weft__out_write(&out, a->row_ptr, (size_t)(a->m + 1) * weft_ofs_bytes(a->ofs));
    if (!error && a->nnz)
        error = weft__out_write(&out, a->col, (size_t)a->nnz * 4);
    if (!error && a->nnz && a->val)
        error = weft__out_write(&out, a->val, (size_t)a->nnz * weft_type_bytes(a->type));
    if (!error)
        error = weft__out_commit(&out);
    const int late = weft__out_close(&out);
    return error || late ? fail(err, WEFT_EIO, path, strerror(error ? error : late)) : WEFT_OK;
}
