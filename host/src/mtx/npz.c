// SPDX-License-Identifier: Apache-2.0
// Reads and writes the files of scipy's save_npz: a zip archive with a numpy array in each member.
#include "host/src/mtx/mtx.h"

#include "host/src/core/error.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int weft__npz_is(const char *path)
{
    char begin[4];
    struct stat about;
    // A pipe is opened by its reader alone: what is written to it between two openings would be lost.
    const int regular = strcmp(path, "/dev/stdin") && !stat(path, &about) && S_ISREG(about.st_mode);
    const int fd = regular ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const int is =
        fd >= 0 && pread(fd, begin, sizeof begin, 0) == sizeof begin && !memcmp(begin, "PK\3\4", sizeof begin);
    if (fd >= 0)
        close(fd);
    return is;
}

#ifdef WEFT_HAVE_ARCHIVE

#include "host/src/core/out.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// A numpy array: `count` elements of `bytes` bytes, kind f, i, u, b, c, S or U, as numpy's letters are.
struct array {
    char *data; // (size count*bytes, in a block that `block` begins)
    void *block;
    char kind;
    size_t bytes;
    int64_t count;
};

enum { DATA, INDICES, INDPTR, ROW, COL, SHAPE, FORMAT, MEMBERS };
static const char *const names[MEMBERS] = {"data.npy", "indices.npy", "indptr.npy", "row.npy",
                                           "col.npy",  "shape.npy",   "format.npy"};

struct npz {
    struct array of[MEMBERS];
    const char *path;
    int64_t limit, taken; // bytes of memory
    struct weft_error *err;
};

static weft_status wrong(const struct npz *z, const char *member, const char *why)
{
    return weft__error(z->err, WEFT_EFORMAT, "%.600s: %s: %s", z->path, member, why);
}

static weft_status no_memory(const struct npz *z)
{
    return weft__error(z->err, WEFT_ENOMEM, "%.600s: %s", z->path, weft_status_text(WEFT_ENOMEM));
}

static weft_status over(const struct npz *z)
{
    return weft__error(z->err, WEFT_ERANGE, "%.600s: more than the limit of %lld bytes for a file of this length",
                       z->path, (long long)z->limit);
}

// ---- members -----------------------------------------------------------------------------------------------------

// The value behind 'key': in a header, a dictionary of Python; NULL: there is none.
static const char *header_value(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    at = at ? strchr(at + strlen(key), ':') : NULL;
    return at ? at + 1 + strspn(at + 1, " ") : NULL;
}

// Elements of a shape () or (5,); -1: more dimensions, as the blocks of bsr have. Which format it is stands in another member.
static int64_t shape_count(const char *shape)
{
    long long count;
    int length = 0;
    if (!strncmp(shape, "()", 2))
        return 1;
    if (sscanf(shape, "(%lld ,)%n", &count, &length) != 1 || !length || count < 0)
        return -1;
    return count;
}

static weft_status array_parse(struct array *a, const struct npz *z, const char *member, size_t bytes)
{
    const unsigned char *raw = a->block;
    char header[4096];
    if (bytes < 12 || memcmp(raw, "\x93NUMPY", 6) || raw[6] < 1 || raw[6] > 3)
        return wrong(z, member, "no array of numpy");
    const size_t first = raw[6] == 1 ? 10 : 12;
    const size_t length =
        raw[8] | (size_t)raw[9] << 8 | (raw[6] == 1 ? 0 : (size_t)raw[10] << 16 | (size_t)raw[11] << 24);
    if (length >= sizeof header || first + length > bytes)
        return wrong(z, member, "the header is cut, or longer than 4096 bytes");
    memcpy(header, raw + first, length);
    header[length] = 0;
    const char *type = header_value(header, "'descr'"), *shape = header_value(header, "'shape'");
    char order;
    unsigned size;
    int end = 0;
    if (!type || !shape || sscanf(type, "'%c%c%u'%n", &order, &a->kind, &size, &end) != 3 || !end)
        return wrong(z, member, "not an array of plain numbers");
    const char own = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    if (order != '|' && order != own && order != '=' && a->kind != 'U')
        return wrong(z, member, "numbers in another machine's order of bytes");
    a->count = shape_count(shape);
    a->bytes = a->kind == 'U' ? 4 * (size_t)size : size;
    if (size < 1 || a->bytes > (a->kind == 'U' ? 64 : 16) ||
        (a->count > 0 && weft__mul((size_t)a->count, a->bytes) > bytes - first - length))
        return wrong(z, member, a->kind == 'U' && size > 16 ? "a name of more than 16 letters" : "the array is cut");
    a->data = (char *)a->block + first + length;
    return WEFT_OK;
}

static weft_status member_read(struct array *a, struct npz *z, struct archive *archive, const char *member)
{
    size_t bytes = 0, room = 0;
    for (;;) {
        if (bytes == room) {
            room = room ? 2 * room : (size_t)1 << 16;
            if (z->taken + (int64_t)bytes > z->limit)
                return over(z);
            void *more = realloc(a->block, room);
            if (!more)
                return no_memory(z);
            a->block = more;
        }
        const la_ssize_t got = archive_read_data(archive, (char *)a->block + bytes, room - bytes);
        if (got < 0) {
            const char *why = archive_error_string(archive);
            return wrong(z, member, why ? why : "damaged data");
        }
        if (!got)
            break;
        bytes += (size_t)got;
    }
    z->taken += (int64_t)bytes;
    return array_parse(a, z, member, bytes);
}

static weft_status members_read(struct npz *z, struct archive *archive)
{
    struct archive_entry *entry;
    int code, arrays = 0;
    while ((code = archive_read_next_header(archive, &entry)) == ARCHIVE_OK) {
        const char *name = archive_entry_pathname(entry);
        for (int i = 0; i < MEMBERS; i++)
            if (name && !strcmp(name, names[i])) {
                if (z->of[i].block)
                    return wrong(z, name, "is there twice");
                arrays++;
                weft_status status = member_read(&z->of[i], z, archive, name);
                if (status)
                    return status;
            }
    }
    if (code == ARCHIVE_EOF && !arrays)
        return weft__error(z->err, WEFT_EFORMAT,
                           "%.600s: a zip archive without the arrays of scipy's save_npz: unpack what is in it",
                           z->path);
    if (code == ARCHIVE_EOF)
        return WEFT_OK;
    const char *why = archive_error_string(archive);
    return weft__error(z->err, WEFT_EIO, "%.600s: cannot unpack: %s", z->path, why ? why : "damaged data");
}

static weft_status file_read(struct npz *z)
{
    struct archive *archive = archive_read_new();
    if (!archive)
        return no_memory(z);
    archive_read_support_format_zip(archive);
    weft_status status;
    if (archive_read_open_filename(archive, z->path, (size_t)1 << 18) != ARCHIVE_OK) {
        const char *why = archive_error_string(archive);
        status = weft__error(z->err, WEFT_EIO, "%.600s: %s", z->path, why ? why : "cannot be opened");
    } else {
        status = members_read(z, archive);
    }
    archive_read_free(archive);
    return status;
}

// ---- arrays to a matrix --------------------------------------------------------------------------------------------

// Element i as an integer; 0: it is none of 64 bits.
static int whole_at(int64_t *out, const struct array *a, int64_t i)
{
    const char *at = a->data + (size_t)i * a->bytes;
    int64_t wide = 0;
    if (!strchr("iub", a->kind) || a->bytes > 8)
        return 0;
    memcpy(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? (char *)&wide : (char *)&wide + 8 - a->bytes, at, a->bytes);
    const int bits = (int)(8 * a->bytes);
    if (a->kind == 'i' && bits < 64 && wide >> (bits - 1) & 1)
        wide -= INT64_C(1) << bits;
    *out = wide;
    return a->kind != 'u' || wide >= 0;
}

// Element i as a number; of complex ones the part that is wanted.
static int number_at(double *out, const struct array *a, int64_t i, int imaginary)
{
    const char *at = a->data + (size_t)i * a->bytes;
    const size_t bytes = a->kind == 'c' ? a->bytes / 2 : a->bytes;
    int64_t whole;
    if (a->kind == 'c' && imaginary)
        at += bytes;
    if ((a->kind == 'f' || a->kind == 'c') && bytes == 8) {
        memcpy(out, at, 8);
        return 1;
    }
    if ((a->kind == 'f' || a->kind == 'c') && bytes == 4) {
        float single;
        memcpy(&single, at, 4);
        *out = (double)single;
        return 1;
    }
    if (!whole_at(&whole, a, i))
        return 0;
    *out = (double)whole;
    return 1;
}

// Whether these are numpy's bools, and each is true: what a pattern holds.
static int all_true(const struct array *a)
{
    return a->kind == 'b' && a->bytes == 1 && !memchr(a->data, 0, (size_t)a->count);
}

static weft_status indices_take(int32_t *out, const struct npz *z, int member, int64_t most)
{
    for (int64_t i = 0; i < z->of[member].count; i++) {
        int64_t value;
        if (!whole_at(&value, &z->of[member], i) || value < 0 || value >= most)
            return wrong(z, names[member], "an index is no number of a row or column of this matrix");
        out[i] = (int32_t)value;
    }
    return WEFT_OK;
}

static weft_status values_take(void *out, enum weft_type type, const struct npz *z, int imaginary)
{
    const struct array *a = &z->of[DATA];
    for (int64_t i = 0; i < a->count && type != WEFT_TYPE_PATTERN; i++) {
        double value;
        if (!number_at(&value, a, i, imaginary))
            return wrong(z, names[DATA], "values of a type that is not read");
        if (type == WEFT_TYPE_F64)
            ((double *)out)[i] = value;
        else if (type == WEFT_TYPE_F32)
            ((float *)out)[i] = (float)value;
        else if (value >= INT32_MIN && value <= INT32_MAX && value == trunc(value))
            ((int32_t *)out)[i] = (int32_t)value;
        if ((type == WEFT_TYPE_F32 && isinf((float)value) != isinf(value)) ||
            (type == WEFT_TYPE_I32 && !(value >= INT32_MIN && value <= INT32_MAX && value == trunc(value))))
            return weft__error(z->err, WEFT_ERANGE, "%.600s: value %lld does not fit %s", z->path, (long long)i,
                               weft_type_name(type));
    }
    return WEFT_OK;
}

// Rows (or columns) of the entries from pointers.
static weft_status pointers_take(int32_t *out, const struct npz *z, int64_t lines)
{
    const struct array *ptr = &z->of[INDPTR];
    int64_t begin = 0, end;
    if (ptr->count != lines + 1 || !whole_at(&begin, ptr, 0) || begin)
        return wrong(z, names[INDPTR], "not one pointer more than there are rows or columns, from 0 on");
    for (int64_t i = 0; i < lines; i++, begin = end) {
        if (!whole_at(&end, ptr, i + 1) || end < begin || end > z->of[INDICES].count)
            return wrong(z, names[INDPTR], "pointers descend, or pass the entries");
        for (int64_t p = begin; p < end; p++)
            out[p] = (int32_t)i;
    }
    return begin == z->of[INDICES].count ? WEFT_OK : wrong(z, names[INDPTR], "pointers end before the entries");
}

static weft_status entries_take(struct weft_coo *coo, const struct npz *z, const char *format, int imaginary)
{
    weft_status status;
    if (!strcmp(format, "coo")) {
        status = indices_take(coo->row, z, ROW, coo->m);
        if (!status)
            status = indices_take(coo->col, z, COL, coo->n);
    } else {
        const int rows = !strcmp(format, "csr");
        status = indices_take(rows ? coo->col : coo->row, z, INDICES, rows ? coo->n : coo->m);
        if (!status)
            status = pointers_take(rows ? coo->row : coo->col, z, rows ? coo->m : coo->n);
    }
    return status ? status : values_take(coo->val, coo->type, z, imaginary);
}

// A name of bytes, or as scipy before 1.0 wrote it of characters of 32 bits in either order of bytes, whose letters are of 7 bits. 0:
// it is none.
static int name_take(char out[8], const struct array *a)
{
    const size_t each = a->kind == 'U' ? 4 : 1, letters = a->bytes / each;
    memset(out, 0, 8);
    if ((a->kind != 'S' && a->kind != 'U') || letters > 7)
        return 0;
    for (size_t i = 0; i < letters; i++) {
        const unsigned char *at = (const unsigned char *)a->data + i * each;
        const unsigned letter = each == 1 ? at[0] : at[0] | at[3];
        if (each == 4 && ((at[0] && at[3]) || at[1] || at[2] || letter > 0x7f))
            return 0;
        out[i] = (char)letter;
    }
    return 1;
}

// The format's name and the sizes; all arrays that it wants are there, of one length.
static weft_status sizes_take(struct weft_coo *out, char format[8], const struct npz *z)
{
    const struct array *f = &z->of[FORMAT], *shape = &z->of[SHAPE], *data = &z->of[DATA];
    for (int i = SHAPE; i < MEMBERS; i++)
        if (!z->of[i].block)
            return wrong(z, names[i], "is not there: no file of scipy's save_npz");
    if (f->count != 1 || !name_take(format, f))
        return wrong(z, names[FORMAT], "not a name of 7 letters or fewer, as numpy's S3 and U3");
    if (strcmp(format, "csr") && strcmp(format, "csc") && strcmp(format, "coo"))
        return weft__error(z->err, WEFT_EUNSUPPORTED, "%.600s: format %s: csr, csc and coo are read", z->path,
                           weft__mtx_quote_string(format).text);
    if (shape->count != 2 || !whole_at(&out->m, shape, 0) || !whole_at(&out->n, shape, 1) || out->m < 0 || out->n < 0 ||
        out->m > INT32_MAX || out->n > INT32_MAX)
        return wrong(z, names[SHAPE], "not two sizes up to 2^31-1");
    const int coo = !strcmp(format, "coo"), wanted[] = {DATA, coo ? ROW : INDICES, coo ? COL : INDPTR};
    for (int i = 0; i < 3; i++)
        if (!z->of[wanted[i]].block || z->of[wanted[i]].count < 0)
            return wrong(z, names[wanted[i]], z->of[wanted[i]].block ? "has not one dimension" : "is not there");
    if (data->count != z->of[wanted[1]].count || (coo && data->count != z->of[COL].count))
        return wrong(z, names[DATA], "not as many values as indices");
    out->nnz = data->count;
    return WEFT_OK;
}

static weft_status matrix_make(struct weft_csr *out, struct weft_mtx_info *info, struct npz *z,
                               const struct weft_mtx_params *p)
{
    struct weft_coo sizes = {0}, coo = {0};
    char format[8];
    weft_status status = sizes_take(&sizes, format, z);
    if (status)
        return status;
    const char kind = z->of[DATA].kind;
    if (info)
        *info = (struct weft_mtx_info){.m = sizes.m,
                                       .n = sizes.n,
                                       .stored = sizes.nnz,
                                       .limit_bytes = z->limit,
                                       .file_bytes = z->taken,
                                       .field = kind == 'c'              ? WEFT_MTX_FIELD_COMPLEX
                                                : kind == 'f'            ? WEFT_MTX_FIELD_REAL
                                                : all_true(&z->of[DATA]) ? WEFT_MTX_FIELD_PATTERN
                                                                         : WEFT_MTX_FIELD_INTEGER};
    if (kind == 'c' && p->complex == WEFT_MTX_COMPLEX_REFUSE && p->type != WEFT_TYPE_PATTERN)
        return weft__error(z->err, WEFT_EUNSUPPORTED, "%.600s: complex values", z->path);
    if (p->ofs == WEFT_OFS_32 && sizes.nnz > INT32_MAX)
        return weft__error(z->err, WEFT_ERANGE, "%.600s: %lld entries do not fit offsets of 32 bits", z->path,
                           (long long)sizes.nnz);
    const size_t entry = 2 * (8 + weft_type_bytes(p->type)),
                 rows = weft__mul((size_t)sizes.m + 1, weft_ofs_bytes(p->ofs));
    if (weft__add(weft__add(weft__mul((size_t)sizes.nnz, entry), rows), (size_t)z->taken) > (size_t)z->limit)
        return over(z);
    status = weft_coo_alloc(&coo, weft_shape(sizes.m, sizes.n, sizes.nnz, p->type, p->ofs));
    if (status)
        return no_memory(z);
    status = entries_take(&coo, z, format, p->complex == WEFT_MTX_COMPLEX_IMAG);
    if (!status && (status = weft_csr_from_coo(out, &coo, p->ofs, NULL)))
        weft__error(z->err, status, "%.600s: %s", z->path, weft_status_text(status));
    weft_coo_free(&coo);
    return status;
}

weft_status weft__npz_read(struct weft_csr *out, struct weft_mtx_info *info, const char *path,
                           const struct weft_mtx_params *params, struct weft_error *err)
{
    struct weft_error own;
    struct npz z = {.path = path, .err = err ? err : &own};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const off_t bytes = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    if (fd >= 0)
        close(fd);
    z.limit = weft__mtx_limit(params->limit_bytes, bytes > 0 ? bytes : 0);
    weft_status status = file_read(&z);
    if (!status)
        status = matrix_make(out, info, &z, params);
    for (int i = 0; i < MEMBERS; i++)
        free(z.of[i].block);
    return status;
}

// ---- writing -------------------------------------------------------------------------------------------------------

struct writer {
    struct archive *archive;
    struct weft__out out;
    int error; // errno of the first failure
};

static la_ssize_t piece_write(struct archive *archive, void *arg, const void *data, size_t bytes)
{
    struct writer *w = arg;
    (void)archive;
    const int error = weft__out_write(&w->out, data, bytes);
    if (error)
        w->error = error;
    return error ? -1 : (la_ssize_t)bytes;
}

static void piece_put(struct writer *w, const void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes && !w->error;) {
        const la_ssize_t put =
            archive_write_data(w->archive, (const char *)data + done, weft__min(bytes - done, (size_t)1 << 30));
        if (put <= 0)
            w->error = w->error ? w->error : EIO;
        else
            done += (size_t)put;
    }
}

// One array; shape: the text of its dimensions.
static void member_put(struct writer *w, const char *name, const char *type, const char *shape, const void *data,
                       size_t bytes)
{
    char header[128] = "\x93NUMPY\1";
    const int end = 10 + snprintf(header + 10, sizeof header - 10,
                                  "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    memset(header + end, ' ', sizeof header - (size_t)end);
    header[7] = 0;
    header[8] = sizeof header - 10;
    header[9] = 0;
    header[sizeof header - 1] = '\n';
    struct archive_entry *entry = archive_entry_new();
    if (!entry) {
        w->error = ENOMEM;
        return;
    }
    archive_entry_set_pathname(entry, name);
    archive_entry_set_size(entry, (la_int64_t)(sizeof header + bytes));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    if (!w->error && archive_write_header(w->archive, entry) != ARCHIVE_OK)
        w->error = w->error ? w->error : EIO;
    archive_entry_free(entry);
    piece_put(w, header, sizeof header);
    piece_put(w, data, bytes);
}

static void matrix_put(struct writer *w, const struct weft_csr *a, const void *ones)
{
    static const char order[] = {__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>', 0};
    const size_t val = weft_type_bytes(a->type), ofs = weft_ofs_bytes(a->ofs);
    const int64_t sizes[2] = {a->m, a->n};
    char entries[32], rows[32], type[8];
    snprintf(entries, sizeof entries, "(%lld,)", (long long)a->nnz);
    snprintf(rows, sizeof rows, "(%lld,)", (long long)a->m + 1);
    snprintf(type, sizeof type, "%si4", order);
    member_put(w, names[INDICES], type, entries, a->col, (size_t)a->nnz * 4);
    snprintf(type, sizeof type, "%si%zu", order, ofs);
    member_put(w, names[INDPTR], type, rows, a->row_ptr, ((size_t)a->m + 1) * ofs);
    member_put(w, names[FORMAT], "|S3", "()", "csr", 3);
    snprintf(type, sizeof type, "%si8", order);
    member_put(w, names[SHAPE], type, "(2,)", sizes, sizeof sizes);
    snprintf(type, sizeof type, "%s%c%zu", order, a->type == WEFT_TYPE_I32 ? 'i' : 'f', val);
    member_put(w, names[DATA], val ? type : "|b1", entries, val ? a->val : ones, (size_t)a->nnz * (val ? val : 1));
}

weft_status weft__npz_write(const char *path, int fresh, const struct weft_csr *a, struct weft_error *err)
{
    weft_status status = weft_csr_validate(a, err);
    if (status)
        return status;
    struct writer w = {.archive = archive_write_new()};
    void *ones = a->type == WEFT_TYPE_PATTERN ? malloc((size_t)a->nnz + 1) : NULL;
    w.error = !w.archive || (a->type == WEFT_TYPE_PATTERN && !ones) ? ENOMEM : weft__out_open(&w.out, path, fresh);
    if (ones)
        memset(ones, 1, (size_t)a->nnz);
    if (!w.error) {
        archive_write_set_format_zip(w.archive);
        archive_write_zip_set_compression_store(w.archive);
        archive_write_set_bytes_in_last_block(w.archive, 1);
        if (archive_write_open(w.archive, &w, NULL, piece_write, NULL) != ARCHIVE_OK)
            w.error = w.error ? w.error : EIO;
        matrix_put(&w, a, ones);
        if (archive_write_close(w.archive) != ARCHIVE_OK && !w.error)
            w.error = EIO;
    }
    if (!w.error)
        w.error = weft__out_commit(&w.out);
    const int late = weft__out_close(&w.out);
    archive_write_free(w.archive);
    free(ones);
    const int error = w.error ? w.error : late;
    return error ? weft__error(err, error == ENOMEM ? WEFT_ENOMEM : WEFT_EIO, "%.600s: %s", path, strerror(error))
                 : WEFT_OK;
}

#else

static weft_status absent(const char *path, struct weft_error *err)
{
    return weft__error(err, WEFT_EUNSUPPORTED, "%.600s: a zip archive or .npz, and this build has no libarchive", path);
}

weft_status weft__npz_read(struct weft_csr *out, struct weft_mtx_info *info, const char *path,
                           const struct weft_mtx_params *params, struct weft_error *err)
{
    (void)out;
    (void)info;
    (void)params;
    return absent(path, err);
}

weft_status weft__npz_write(const char *path, int fresh, const struct weft_csr *a, struct weft_error *err)
{
    (void)fresh;
    (void)a;
    return absent(path, err);
}

#endif
