// SPDX-License-Identifier: Apache-2.0
// Method: one thread at a time reads (and inflates) a block of whole lines; each block is parsed by whichever thread
// is free, into arrays of its own; the arrays of all blocks, in order, become the matrix. Nothing is sized by
// what the file claims, only by what it holds, until both agree. Errors stay in their blocks, and the first in the
// order of the file is reported, so that messages do not depend on threads.
#include "host/src/matrix/csr_build.h"
#include "host/src/matrix/indices.h"
#include "host/src/core/error.h"
#include "host/src/mtx/mtx.h"
#include "host/src/core/threads.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_RAISE "(raise it with limit_bytes of weft_mtx_params)"

#define RETURNS_ALONE "lines end in a carriage return alone, which ends none here (tr '\\r' '\\n' mends it)"

struct reader {
    const char *name; // for messages, shortened at its front
    struct weft__mtx_stream *stream;
    struct weft_mtx_params params;
    struct weft_mtx_info info;
    struct weft__mtx_format format;
    struct weft__powers powers;
    locale_t locale; // "C"
    size_t block_bytes;
    char *carry; // the beginning of a line whose end is not read yet (size block_bytes + 1)
    size_t carry_bytes;
    int ended;         // the stream gave its last byte
    int64_t size_line; // number of the size line; the first block starts after it
    struct weft__mtx_block **blocks;
    size_t block_count, block_room;
    struct weft_error tail; // why reading ended early, after the last block
    // Shared by the threads, under `lock`; block_count and blocks too.
    pthread_mutex_t lock;
    pthread_cond_t change; // a block was read, or none will follow
    size_t taken;          // blocks given to a thread for parsing
    int reading;           // a thread reads the next block
    int done;              // no block will follow
    int64_t entries;       // found so far
    int64_t done_bytes;    // of the file, read so far
    int64_t bytes;         // of all the file; of a pipe those read so far
    int over;              // the limit is reached, and reading ended
    // Where the rows without entries are left out: the index of each row that is there. NULL: none is left out.
    int32_t **row;
    size_t few; // blocks that may wait for a thread
    struct weft__team team;
    const int64_t *first; // of an array file: the number of each block's first entry
    atomic_int failed;    // a block lacked memory for its indices
};

// ---- limit -----------------------------------------------------------------------------------------------------

static int64_t limit_of(const struct reader *r)
{
    return weft__mtx_limit(r->params.limit_bytes, r->bytes);
}

static enum weft__mirrored mirror(const struct reader *r);

// Bytes that the entries take when the matrix is built: as read, and in their places with the row of each.
static size_t entries_bytes(const struct reader *r)
{
    const size_t each = 8 + weft_type_bytes(r->params.type);
    return weft__mul((size_t)r->entries, mirror(r) ? 3 * each : 2 * each);
}

static int limit_passed(const struct reader *r)
{
    const size_t limit = (size_t)limit_of(r);
    return entries_bytes(r) > limit || (r->info.file_bytes > r->done_bytes && (size_t)r->info.file_bytes > limit);
}

// At a line of the text; index: at an index there.
static weft_status fail_in(const struct reader *r, int64_t line, int index, weft_status status, const char *text,
                           struct weft_error *err)
{
    if (r->stream->line_of)
        line = r->stream->line_of(r->stream, line, index);
    return weft__error(err, status, "%s:%lld: %s", r->name, (long long)line, text);
}

static weft_status fail_at(const struct reader *r, int64_t line, weft_status status, const char *text,
                           struct weft_error *err)
{
    return fail_in(r, line, 0, status, text, err);
}

static weft_status fail(const struct reader *r, weft_status status, const char *text, struct weft_error *err)
{
    return weft__error(err, status, "%s: %s", r->name, text);
}

// Where no block could be read; `line` would have been the next one.
static weft_status fail_read(const struct reader *r, int64_t line, const struct weft_error *why, struct weft_error *err)
{
    if (r->stream->error_line)
        return weft__error(err, why->status, "%s:%lld: %s", r->name, (long long)r->stream->error_line, why->text);
    return why->status == WEFT_EFORMAT ? fail_at(r, line, why->status, why->text, err)
                                       : fail(r, why->status, why->text, err);
}

// ---- lines -----------------------------------------------------------------------------------------------------

// Fill the buffer of `block` with whole lines, none at the end of the text.
static weft_status block_fill(struct reader *r, struct weft__mtx_block *block, struct weft_error *err)
{
    char *buffer = block->buffer;
    const size_t room = r->block_bytes + 1; // a line of block_bytes characters, and its end
    size_t have = r->carry_bytes;
    if (have)
        memcpy(buffer, r->carry, have);
    r->carry_bytes = 0;
    while (!r->ended && have < room) {
        int64_t got = r->stream->read(r->stream, buffer + have, room - have, err);
        if (got < 0)
            return err->status;
        r->ended = got == 0;
        have += (size_t)got;
        r->info.file_bytes += got;
    }
    size_t used = have;
    if (!r->ended) {
        const char *last = memrchr(buffer, '\n', have);
        if (!last)
            return weft__error(err, WEFT_EFORMAT, "the line is longer than %zu characters%s", r->block_bytes,
                               memchr(buffer, '\r', have) ? "; " RETURNS_ALONE : "");
        used = (size_t)(last + 1 - buffer);
        r->carry_bytes = have - used;
        if (!r->carry && !(r->carry = malloc(room)))
            return weft__error(err, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
        memcpy(r->carry, buffer + used, r->carry_bytes);
    } else if (have && buffer[have - 1] != '\n') {
        buffer[used++] = '\n';
    }
    memset(buffer + used, 0, WEFT__NUMBER_PAD);
    block->begin = buffer;
    block->end = buffer + used;
    return WEFT_OK;
}

// The next lines of the text; *out NULL at its end.
static weft_status block_next(struct reader *r, struct weft__mtx_block **out, struct weft_error *err)
{
    struct weft__mtx_block *block = calloc(1, sizeof *block);
    weft_status status = WEFT_OK;
    *out = NULL;
    if (!block || !(block->buffer = malloc(r->block_bytes + 2 + WEFT__NUMBER_PAD)))
        status = weft__error(err, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
    if (!status)
        status = block_fill(r, block, err);
    if (status || block->begin == block->end)
        weft__mtx_block_free(block);
    else
        *out = block;
    return status;
}

// Count what was read of the file.
static void bytes_count(struct reader *r)
{
    r->done_bytes = r->stream->done_bytes;
    r->bytes = weft__mtx_file_bytes(r->stream);
}

static weft_status over_fail(const struct reader *r, int64_t line, struct weft_error *err)
{
    struct weft_error why;
    weft__error(&why, WEFT_ERANGE, "%s than the limit of %lld bytes for a file of this length " LIMIT_RAISE,
                entries_bytes(r) > (size_t)limit_of(r) ? "the entries take more memory"
                                                       : "the file unpacks to more text",
                (long long)limit_of(r));
    return fail_at(r, line, WEFT_ERANGE, why.text, err);
}

// The header, a comment, a blank line or the size line, from p to its end.
static weft_status header_line(struct reader *r, int64_t line, const char *p, const char *end, struct weft_error *why)
{
    const char *word = weft__blanks_skip(p);
    weft_status status = WEFT_OK;
    if (line > 1 && (*word == '%' || *word == '\n'))
        return WEFT_OK;
    if (line > 1)
        r->size_line = line;
    const char *cr = memchr(p, '\r', (size_t)(end - p));
    if (cr && *weft__blanks_skip(cr) != '\n' && (line > 1 || !strncasecmp(p, "%%MatrixMarket", 14)))
        return weft__error(why, WEFT_EFORMAT, RETURNS_ALONE);
    if (weft__mtx_line_long(p, end))
        return weft__error(why, WEFT_EFORMAT, WEFT__MTX_LINE_LONG);
    if (line > 1) {
        status = weft__mtx_sizes_parse(&r->info, word, why);
        if (!status && r->params.ofs == WEFT_OFS_32 && r->info.stored > INT32_MAX)
            status =
                weft__error(why, WEFT_ERANGE, "32-bit offsets cannot count %lld entries", (long long)r->info.stored);
        return status;
    }
    status = weft__mtx_header_parse(&r->info, p, why);
    if (!status && r->info.field == WEFT_MTX_FIELD_COMPLEX && r->params.type != WEFT_TYPE_PATTERN &&
        r->params.complex == WEFT_MTX_COMPLEX_REFUSE)
        status =
            weft__error(why, WEFT_EUNSUPPORTED, "complex values do not fit %s; ask for their real or imaginary parts",
                        weft_type_name(r->params.type));
    return status;
}

// Read to the end of the size line; *rest gets the lines that were read with it.
static weft_status header_read(struct reader *r, struct weft__mtx_block **rest, struct weft_error *err)
{
    struct weft_error why;
    struct weft__mtx_block *block = NULL;
    int64_t line = 0;
    weft_status status = WEFT_OK;
    while (!status && !r->size_line) {
        weft__mtx_block_free(block);
        status = block_next(r, &block, &why);
        if (status)
            return fail_read(r, line + 1, &why, err);
        bytes_count(r);
        if (limit_passed(r)) {
            weft__mtx_block_free(block);
            return over_fail(r, line + 1, err);
        }
        if (!block)
            return line ? fail_at(r, line, WEFT_EFORMAT, "the file ends before its size line", err)
                        : fail_at(r, 1, WEFT_EFORMAT, "the file is empty", err);
        while (!status && !r->size_line && block->begin < block->end) {
            const char *p = block->begin, *end = memchr(p, '\n', (size_t)(block->end - p));
            block->begin = end + 1;
            status = header_line(r, ++line, p, end, &why);
        }
    }
    if (status) {
        weft__mtx_block_free(block);
        return fail_at(r, line, status, why.text, err);
    }
    *rest = block;
    return WEFT_OK;
}

// ---- entries ---------------------------------------------------------------------------------------------------

// Take over a block that was read; r->lock is held.
static void block_keep(struct reader *r, struct weft__mtx_block *block)
{
    if (r->block_count == r->block_room) {
        size_t room = r->block_room * 2 + 16;
        void *blocks = realloc(r->blocks, room * sizeof *r->blocks);
        if (!blocks) {
            weft__mtx_block_free(block);
            weft__error(&r->tail, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
            r->done = 1;
            return;
        }
        r->blocks = blocks;
        r->block_room = room;
    }
    r->blocks[r->block_count++] = block;
}

// What each thread does until all blocks are parsed: read the next block if nobody does and few enough wait, else
// parse one, else sleep (a thread that spins would slow the one that inflates).
static void blocks_work(void *arg)
{
    struct reader *r = arg;
    pthread_mutex_lock(&r->lock);
    for (;;) {
        size_t ready = r->block_count - r->taken;
        if (!r->reading && !r->done && ready < r->few) {
            struct weft__mtx_block *block;
            r->reading = 1;
            pthread_mutex_unlock(&r->lock);
            weft_status status = block_next(r, &block, &r->tail);
            if (r->params.progress)
                r->params.progress(r->params.progress_arg, r->stream->done_bytes, r->stream->total_bytes);
            pthread_mutex_lock(&r->lock);
            r->reading = 0;
            bytes_count(r);
            r->over |= limit_passed(r);
            if (status || !block)
                r->done = 1;
            else
                block_keep(r, block);
            r->done |= r->over;
            pthread_cond_broadcast(&r->change);
        } else if (ready) {
            struct weft__mtx_block *block = r->blocks[r->taken++];
            pthread_mutex_unlock(&r->lock);
            weft__mtx_block_parse(block, &r->format);
            pthread_mutex_lock(&r->lock);
            r->entries += block->entries;
            r->over |= !r->reading && limit_passed(r);
            // An error: what is read is parsed, no more is read.
            if (r->over || block->status || r->entries > r->info.stored)
                r->done = 1;
        } else if (r->reading || !r->done) {
            pthread_cond_wait(&r->change, &r->lock);
        } else {
            break;
        }
    }
    pthread_cond_broadcast(&r->change);
    pthread_mutex_unlock(&r->lock);
}

// Read on after `first` and have everything parsed.
static void blocks_read(struct reader *r, struct weft__mtx_block *first)
{
    const size_t text = r->stream->text_bytes, most = (size_t)r->team.most;
    // Text that is compressed shrinks to a third or a quarter.
    const size_t bytes = text ? text : weft__mul(8, (size_t)r->stream->total_bytes);
    const int threads = r->ended ? 1 : bytes ? (int)weft__min(most, 1 + bytes / r->block_bytes) : (int)most;
    r->few = threads > 1 ? 4 * (size_t)threads : 1;
    block_keep(r, first);
    weft__team_run(&r->team, threads, blocks_work, r);
}

// The first thing wrong in the order of the file.
static weft_status blocks_check(const struct reader *r, struct weft_error *err)
{
    int64_t line = r->size_line, seen = 0, stored = r->info.stored;
    struct weft_error count;
    for (size_t b = 0; b < r->block_count; b++) {
        const struct weft__mtx_block *block = r->blocks[b];
        seen += block->entries;
        if (seen > stored) {
            weft__error(&count, WEFT_EFORMAT, "%lld entries are announced here, and the file holds more",
                        (long long)stored);
            return fail_at(r, r->size_line, WEFT_EFORMAT, count.text, err);
        }
        if (block->status == WEFT_ENOMEM)
            return fail(r, block->status, block->text, err);
        if (block->status)
            return fail_in(r, line + block->error_line + 1, block->error_index, block->status, block->text, err);
        line += block->lines;
    }
    if (r->tail.status)
        return fail_read(r, line + 1, &r->tail, err);
    if (r->over)
        return over_fail(r, r->size_line, err);
    if (seen < stored) {
        weft__error(&count, WEFT_EFORMAT, "%lld entries are announced here, and the file holds %lld", (long long)stored,
                    (long long)seen);
        return fail_at(r, r->size_line, WEFT_EFORMAT, count.text, err);
    }
    return WEFT_OK;
}

// ---- matrix ----------------------------------------------------------------------------------------------------

// Entries before column j of an array file.
static int64_t array_column(const struct weft_mtx_info *info, int64_t j)
{
    if (info->symmetry == WEFT_MTX_SYMMETRY_GENERAL)
        return j * info->m;
    return j * (info->symmetry == WEFT_MTX_SYMMETRY_SKEW ? info->n - 1 : info->n) - j * (j - 1) / 2;
}

// Give the entries of an array file, which are numbers first, first + 1, ... of its columns, their indices.
static weft_status array_place(struct weft__mtx_block *block, const struct weft_mtx_info *info, int64_t first)
{
    block->row = malloc(((size_t)block->entries + 1) * sizeof *block->row);
    block->col = malloc(((size_t)block->entries + 1) * sizeof *block->col);
    if (!block->row || !block->col)
        return WEFT_ENOMEM;
    int64_t low = 0, high = info->n; // the last column that starts at or before `first`
    while (high - low > 1) {
        int64_t j = low + (high - low) / 2;
        if (array_column(info, j) <= first)
            low = j;
        else
            high = j;
    }
    int64_t j = low, top = 0;
    for (int64_t k = 0, i = first - array_column(info, j); k < block->entries; k++, i++) {
        // i counts from the first stored row of column j, which is row `top`
        while (i >= array_column(info, j + 1) - array_column(info, j)) {
            i = 0;
            j++;
        }
        if (info->symmetry != WEFT_MTX_SYMMETRY_GENERAL)
            top = info->symmetry == WEFT_MTX_SYMMETRY_SKEW ? j + 1 : j;
        block->row[k] = (int32_t)(top + i);
        block->col[k] = (int32_t)j;
    }
    return WEFT_OK;
}

static void array_place_work(void *arg, int64_t b)
{
    struct reader *r = arg;
    if (array_place(r->blocks[b], &r->info, r->first[b]))
        atomic_store(&r->failed, 1);
}

static weft_status array_place_all(struct reader *r)
{
    int64_t *first = malloc((r->block_count + 1) * sizeof *first);
    if (!first)
        return WEFT_ENOMEM;
    first[0] = 0;
    for (size_t b = 0; b < r->block_count; b++)
        first[b + 1] = first[b] + r->blocks[b]->entries;
    r->first = first;
    weft__team_each(&r->team, r->info.stored, (int64_t)r->block_count, array_place_work, r);
    free(first);
    return atomic_load(&r->failed) ? WEFT_ENOMEM : WEFT_OK;
}

static enum weft__mirrored mirror(const struct reader *r)
{
    if (r->params.keep_symmetric || r->info.symmetry == WEFT_MTX_SYMMETRY_GENERAL)
        return WEFT__MIRROR_NONE;
    int conjugate = r->info.symmetry == WEFT_MTX_SYMMETRY_HERMITIAN && r->format.imaginary;
    return r->info.symmetry == WEFT_MTX_SYMMETRY_SKEW || conjugate ? WEFT__MIRROR_NEGATED : WEFT__MIRROR_SAME;
}

// Rows are left out from so many on, where there are so many for each entry.
#define COMPACT_LEAST (1 << 20)
#define COMPACT_ROWS  8

// Number the rows that have entries, in their order; where entries are mirrored, rows and columns alike. *m and *n become what
// is left.
static weft_status rows_compact(struct reader *r, int64_t *m, int64_t *n)
{
    const int both = mirror(r) != WEFT__MIRROR_NONE;
    int32_t *id = malloc(weft__mul((size_t)r->entries + 1, (both ? 2 : 1) * sizeof *id));
    size_t count = 0;
    if (!id)
        return WEFT_ENOMEM;
    for (size_t b = 0; b < r->block_count; b++)
        for (int64_t p = 0; p < r->blocks[b]->entries; p++) {
            id[count++] = r->blocks[b]->row[p];
            if (both)
                id[count++] = r->blocks[b]->col[p];
        }
    count = weft__indices_unique(id, count);
    for (size_t b = 0; b < r->block_count; b++)
        for (int64_t p = 0; p < r->blocks[b]->entries; p++) {
            r->blocks[b]->row[p] = weft__index_find(id, count, r->blocks[b]->row[p]);
            if (both)
                r->blocks[b]->col[p] = weft__index_find(id, count, r->blocks[b]->col[p]);
        }
    *m = (int64_t)count;
    *n = both ? *m : *n;
    *r->row = id;
    return WEFT_OK;
}

static weft_status matrix_build(struct reader *r, struct weft_csr *out, struct weft_error *err)
{
    size_t rows_bytes = weft__mul((size_t)r->info.m + 1, weft_ofs_bytes(r->params.ofs)), count = 0;
    int64_t m = r->info.m, n = r->info.n;
    weft_status status = r->info.array ? array_place_all(r) : WEFT_OK;
    if (!status && r->row && m > COMPACT_LEAST && m / COMPACT_ROWS > r->entries)
        status = rows_compact(r, &m, &n);
    else if (weft__add(rows_bytes, entries_bytes(r)) > (size_t)limit_of(r)) {
        struct weft_error why;
        weft__error(&why, WEFT_ERANGE,
                    "far more rows than a file of this length can use: %zu bytes of row pointers, the limit is "
                    "%lld " LIMIT_RAISE,
                    rows_bytes, (long long)limit_of(r));
        return fail_at(r, r->size_line, WEFT_ERANGE, why.text, err);
    }
    struct weft__coo_slice *slices = malloc((r->block_count + 1) * sizeof *slices);
    if (!slices)
        status = WEFT_ENOMEM;
    for (size_t b = 0; !status && b < r->block_count; b++) {
        const struct weft__mtx_block *block = r->blocks[b];
        if (block->entries)
            slices[count++] = (struct weft__coo_slice){block->entries, block->row, block->col, block->val};
    }
    if (!status)
        status = weft__csr_build(out, m, n, r->params.type, r->params.ofs, slices, count, mirror(r), &r->team);
    free(slices);
    if (!status && r->row && *r->row && mirror(r)) // columns were numbered as rows are
        for (int64_t p = 0; p < out->nnz; p++)
            out->col[p] = (*r->row)[out->col[p]];
    if (!status)
        out->n = r->info.n;
    if (status == WEFT_ERANGE)
        return fail_at(r, r->size_line, status, "32-bit offsets cannot count the entries of both triangles", err);
    return status ? fail(r, status, weft_status_text(status), err) : WEFT_OK;
}

static weft_status read_all(struct reader *r, struct weft_csr *out, struct weft_error *err)
{
    struct weft__mtx_block *block = NULL;
    weft_status status = header_read(r, &block, err);
    if (status)
        return status;
    if (r->locale == (locale_t)0) {
        weft__mtx_block_free(block);
        return fail(r, WEFT_ENOMEM, weft_status_text(WEFT_ENOMEM), err);
    }
    weft__powers_fill(&r->powers);
    r->format = (struct weft__mtx_format){.m = r->info.m,
                                          .n = r->info.n,
                                          .field = r->info.field,
                                          .symmetry = r->info.symmetry,
                                          .array = r->info.array,
                                          .imaginary = r->info.field == WEFT_MTX_FIELD_COMPLEX &&
                                                       r->params.complex == WEFT_MTX_COMPLEX_IMAG,
                                          .type = r->params.type,
                                          .powers = &r->powers,
                                          .locale = r->locale};
    blocks_read(r, block);
    status = blocks_check(r, err);
    return status ? status : matrix_build(r, out, err);
}

const char *weft__mtx_name_end(const char *name)
{
    size_t length = strlen(name);
    return length > 600 ? name + length - 600 : name;
}

weft_status weft__mtx_read_stream(struct weft_csr *out, struct weft_mtx_info *info, const char *name,
                                  struct weft__mtx_stream *stream, size_t block_bytes,
                                  const struct weft_mtx_params *params, int32_t **row, struct weft_error *err)
{
    struct reader *r = calloc(1, sizeof *r);
    weft_status status = WEFT_ENOMEM;
    if (r) {
        r->name = weft__mtx_name_end(name);
        r->stream = stream;
        r->params = *params;
        r->row = row;
        r->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        pthread_mutex_init(&r->lock, NULL);
        pthread_cond_init(&r->change, NULL);
        r->block_bytes = block_bytes ? block_bytes : WEFT__MTX_BLOCK;
        if (stream->text_bytes && stream->text_bytes < r->block_bytes)
            r->block_bytes = stream->text_bytes + 1; // all of it at once, and its end seen
        weft__team_begin(&r->team, r->params.threads);
        status = read_all(r, out, err);
        r->info.limit_bytes = limit_of(r);
        weft__team_end(&r->team);
        if (info)
            *info = r->info;
        if (status && row) {
            free(*row);
            *row = NULL;
        }
        for (size_t b = 0; b < r->block_count; b++)
            weft__mtx_block_free(r->blocks[b]);
        free(r->blocks);
        free(r->carry);
        if (r->locale != (locale_t)0)
            freelocale(r->locale);
        pthread_cond_destroy(&r->change);
        pthread_mutex_destroy(&r->lock);
        free(r);
    } else {
        weft__error(err, status, "%s: %s", weft__mtx_name_end(name), weft_status_text(status));
    }
    stream->close(stream);
    return status;
}
