// SPDX-License-Identifier: Apache-2.0
// Method: pieces of the entries are formatted (and compressed, each as a gzip member of its own) by all threads and
// written in order.
#include "host/src/core/error.h"
#include "host/src/mtx/mtx.h"
#include "host/src/core/out.h"
#include "host/src/core/threads.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/mtx.h>
#include <zlib.h>

#define PIECE_ENTRIES 65536
#define ENTRY_BYTES   64 // two indices of 10 digits, a value of 24 characters at most, blanks
#define HEADER_BYTES  256

struct piece {
    char *text;
    size_t bytes;
    unsigned char *packed;
};

static char *put_integer(char *to, int64_t value)
{
    char digits[24];
    int count = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (value < 0)
        *to++ = '-';
    do
        digits[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    while (count)
        *to++ = digits[--count];
    return to;
}

// Enough digits that the same number is read back.
static char *put_real(char *to, double value, int digits)
{
    if (isnan(value))
        return (char *)memcpy(to, "nan", 3) + 3;
    if (fabs(value) < 1e6 && value == (double)(int32_t)value && !(value == 0 && signbit(value)))
        return put_integer(to, (int32_t)value);
    return to + snprintf(to, 32, "%.*g", digits, value);
}

static char *put_value(char *to, const struct weft_csr *a, int64_t p)
{
    switch (a->type) {
    case WEFT_TYPE_F32:
        return put_real(to, (double)((const float *)a->val)[p], 9);
    case WEFT_TYPE_F64:
        return put_real(to, ((const double *)a->val)[p], 17);
    case WEFT_TYPE_I32:
        return put_integer(to, ((const int32_t *)a->val)[p]);
    case WEFT_TYPE_PATTERN:
        break;
    }
    return to;
}

static char *put_header(char *to, const struct weft_csr *a)
{
    const char *field = a->type == WEFT_TYPE_PATTERN ? "pattern" : a->type == WEFT_TYPE_I32 ? "integer" : "real";
    return to + snprintf(to, HEADER_BYTES, "%%%%MatrixMarket matrix coordinate %s general\n%lld %lld %lld\n", field,
                         (long long)a->m, (long long)a->n, (long long)a->nnz);
}

// The row that position p < nnz belongs to.
static int64_t row_of(const struct weft_csr *a, int64_t p)
{
    int64_t low = 0, high = a->m;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (weft_csr_ofs(a, middle) <= p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void piece_format(struct piece *piece, const struct weft_csr *a, int64_t begin, int64_t end)
{
    char *to = piece->text;
    if (begin == 0)
        to = put_header(to, a);
    for (int64_t p = begin, i = begin < end ? row_of(a, begin) : 0; p < end; p++) {
        while (weft_csr_ofs(a, i + 1) <= p)
            i++;
        to = put_integer(to, i + 1);
        *to++ = ' ';
        to = put_integer(to, (int64_t)a->col[p] + 1);
        if (a->type != WEFT_TYPE_PATTERN) {
            *to++ = ' ';
            to = put_value(to, a, p);
        }
        *to++ = '\n';
    }
    piece->bytes = (size_t)(to - piece->text);
}

static weft_status piece_pack(struct piece *piece, size_t *packed_bytes)
{
    z_stream zip = {0};
    if (deflateInit2(&zip, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return WEFT_ENOMEM;
    size_t room = deflateBound(&zip, (uLong)piece->bytes);
    piece->packed = malloc(room);
    int code = Z_MEM_ERROR;
    if (piece->packed) {
        zip.next_in = (unsigned char *)piece->text;
        zip.avail_in = (uInt)piece->bytes;
        zip.next_out = piece->packed;
        zip.avail_out = (uInt)room;
        code = deflate(&zip, Z_FINISH);
    }
    *packed_bytes = zip.total_out;
    deflateEnd(&zip);
    return code == Z_STREAM_END ? WEFT_OK : WEFT_ENOMEM;
}

static weft_status bytes_write(int fd, const void *data, size_t bytes, int *reason)
{
    const char *from = data;
    while (bytes) {
        ssize_t done = write(fd, from, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            *reason = errno;
            return WEFT_EIO;
        }
        from += done;
        bytes -= (size_t)done;
    }
    return WEFT_OK;
}

struct writer {
    int fd;
    const struct weft_csr *a;
    int gzip;
    int64_t pieces;
    locale_t plain;
    pthread_mutex_t lock; // guards what follows
    pthread_cond_t change;
    int64_t taken, written; // pieces
    weft_status failed;     // the first failure; later pieces do nothing
    int reason;             // errno of WEFT_EIO
};

// Piece i as the bytes of the file.
static weft_status piece_make(struct piece *piece, const struct writer *w, int64_t i, size_t *bytes)
{
    const int64_t begin = i * PIECE_ENTRIES, end = begin + PIECE_ENTRIES;
    piece->text = malloc(HEADER_BYTES + PIECE_ENTRIES * ENTRY_BYTES);
    if (!piece->text)
        return WEFT_ENOMEM;
    piece_format(piece, w->a, begin, end < w->a->nnz ? end : w->a->nnz);
    *bytes = piece->bytes;
    return w->gzip ? piece_pack(piece, bytes) : WEFT_OK;
}

// What each thread does: make the next piece, wait until those before it are written, write it. Pieces are taken in
// order, so that the first that is not written is always in the hands of a thread that does not wait.
static void pieces_work(void *arg)
{
    struct writer *w = arg;
    locale_t before = uselocale(w->plain); // of this thread alone
    pthread_mutex_lock(&w->lock);
    while (w->taken < w->pieces && !w->failed) {
        struct piece piece = {0};
        size_t bytes = 0;
        const int64_t i = w->taken++;
        int reason = 0;
        pthread_mutex_unlock(&w->lock);
        weft_status status = piece_make(&piece, w, i, &bytes);
        pthread_mutex_lock(&w->lock);
        while (w->written < i)
            pthread_cond_wait(&w->change, &w->lock);
        if (!w->failed && !status) {
            pthread_mutex_unlock(&w->lock);
            status = bytes_write(w->fd, w->gzip ? (void *)piece.packed : piece.text, bytes, &reason);
            pthread_mutex_lock(&w->lock);
        }
        if (status && !w->failed) {
            w->failed = status;
            w->reason = reason;
        }
        w->written = i + 1;
        pthread_cond_broadcast(&w->change);
        free(piece.text);
        free(piece.packed);
    }
    pthread_mutex_unlock(&w->lock);
    uselocale(before);
}

// Format, compress and write; *reason is the errno of WEFT_EIO.
static weft_status pieces_write(int fd, const struct weft_csr *a, int gzip, int *reason)
{
    struct writer w = {fd, a, gzip, .pieces = a->nnz / PIECE_ENTRIES + 1};
    w.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (w.plain == (locale_t)0)
        return WEFT_ENOMEM;
    struct weft__team team;
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.change, NULL);
    weft__team_begin(&team, 0);
    weft__team_run(&team, weft__team_threads(&team, a->nnz), pieces_work, &w);
    weft__team_end(&team);
    pthread_cond_destroy(&w.change);
    pthread_mutex_destroy(&w.lock);
    freelocale(w.plain);
    *reason = w.reason;
    return w.failed;
}

static int name_ends(const char *path, const char *end)
{
    size_t length = strlen(path), tail = strlen(end);
    return length >= tail && !strcmp(path + length - tail, end);
}

static weft_status write_failed(struct weft_error *err, const char *name, weft_status status, int reason)
{
    return weft__error(err, status, "%.600s: cannot write: %s", name,
                       status == WEFT_EIO ? strerror(reason) : weft_status_text(status));
}

weft_status weft_mtx_write_fd(int fd, const char *name, const struct weft_csr *a, bool gzip, struct weft_error *err)
{
    weft_status status = weft_csr_validate(a, err);
    if (status)
        return status;
    int reason = 0;
    status = pieces_write(fd, a, gzip, &reason);
    return status ? write_failed(err, name ? name : "(file)", status, reason) : WEFT_OK;
}

weft_status weft__mtx_write(const char *path, int fresh, const struct weft_csr *a, struct weft_error *err)
{
    if (!path || !*path)
        return weft__error(err, WEFT_EINVAL, path ? "the path is empty" : "path is NULL");
    weft_status status = weft_csr_validate(a, err);
    if (status)
        return status;
    if (name_ends(path, ".tar.gz") || name_ends(path, ".tgz") || name_ends(path, ".tar"))
        return weft__error(err, WEFT_EINVAL, "%.600s: archives are read, not written; name it .mtx or .mtx.gz", path);
    struct weft__out out;
    int reason = weft__out_open(&out, path, fresh);
    if (reason)
        return weft__error(err, reason == ENOMEM ? WEFT_ENOMEM : WEFT_EIO, "%.600s: cannot create: %s", path,
                           strerror(reason));
    reason = weft__out_write(&out, "", 0); // empties what is written in place
    status = reason ? WEFT_EIO : pieces_write(out.fd, a, name_ends(path, ".gz"), &reason);
    if (!status && fsync(out.fd) < 0 && errno != EINVAL)
        reason = errno;
    if (!status && !reason)
        reason = weft__out_commit(&out);
    const int error = weft__out_close(&out);
    if (!status && !reason)
        reason = error;
    return status || reason ? write_failed(err, path,
                                           status             ? status
                                           : reason == ENOMEM ? WEFT_ENOMEM
                                                              : WEFT_EIO,
                                           reason)
                            : WEFT_OK;
}

weft_status weft_mtx_write(const char *path, const struct weft_csr *a, struct weft_error *err)
{
    return weft__mtx_write(path, 0, a, err);
}
