// SPDX-License-Identifier: Apache-2.0
// Reads Rutherford-Boeing and Harwell-Boeing files: their fixed fields become Matrix Market text, which the reader takes.
//
// A file has four or five header lines, then column pointers, row indices and values, each as many to a line as a Fortran format
// says. Fields may touch, so they are cut by width. Pointers and rows are kept, values pass through.
#include "host/src/mtx/mtx.h"

#include "host/src/core/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MOST   1024
#define INPUT_BYTES ((size_t)64 << 10)
#define HELD_BYTES  2048 // a header, or an entry: two indices, two values

// A Fortran format such as (1P,4D20.12): `per` fields of `width` characters a line.
struct fields {
    char kind; // I or E
    int per, width;
    int decimals, scale; // of numbers without a point, without an exponent
};

struct rb_stream {
    struct weft__mtx_stream base;
    struct weft__mtx_stream *from;
    int64_t limit, text_done; // bytes of text that may be read (0: the default), that were
    char *input;              // (size INPUT_BYTES) input_at .. input_end-1 are not yet used
    size_t input_at, input_end;
    char line[LINE_MOST + 1];
    int64_t number;             // of the line
    int64_t row_line, val_line; // numbers of the first lines of rows and values
    int at;                     // field of the line that is next; -1: a new line is
    int by_words;               // the line's fields are its words
    size_t word;                // where the next one is looked for
    int started;
    char type[3];
    int64_t m, n, nnz;
    struct fields ptr_fields, row_fields, val_fields;
    int64_t *ptr;          // (size n+1)
    int32_t *row;          // (size nnz)
    int64_t p, col;        // the entry that is next, and its column
    char held[HELD_BYTES]; // text that was not taken yet: held_at .. held_end-1
    size_t held_at, held_end;
};

// The error to come is of the line that was read last.
static void at_line(struct rb_stream *s)
{
    s->base.error_line = s->number;
}

static weft_status wrong(struct rb_stream *s, struct weft_error *err, const char *why)
{
    at_line(s);
    return weft__error(err, WEFT_EFORMAT, "%s", why);
}

// By the type in the third line.
static int is_rb(const char *text, size_t bytes)
{
    const char *at = text, *end = bytes ? text + bytes : text;
    for (int i = 0; i < 2; i++, at++)
        if (!(at = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL))
            return 0;
    if (end - at < 3 || (bytes >= 2 && !memcmp(text, "%%", 2)))
        return 0;
    return strchr("rcpiqRCPIQ", at[0]) && strchr("suhzrSUHZR", at[1]) && strchr("aeAE", at[2]) && at[0] && at[1] &&
           at[2];
}

// ---- lines and fields --------------------------------------------------------------------------------------------

// The next line, without its end; WEFT_EFORMAT where there is none.
static weft_status line_next(struct rb_stream *s, struct weft_error *err)
{
    size_t length = 0;
    s->number++;
    for (;;) {
        if (s->input_at == s->input_end) {
            const int64_t got = s->from->read(s->from, s->input, INPUT_BYTES, err);
            if (got < 0)
                return err->status;
            s->input_at = 0;
            s->input_end = (size_t)got;
            s->base.done_bytes = s->from->done_bytes;
            if (!got) {
                s->line[length] = 0;
                return length ? WEFT_OK : wrong(s, err, "the file ends before its last entry");
            }
            s->text_done += got;
            if (s->text_done > weft__mtx_limit(s->limit, weft__mtx_file_bytes(s->from)))
                return weft__error(err, WEFT_ERANGE, "more text than the limit of %lld bytes for a file of this length",
                                   (long long)weft__mtx_limit(s->limit, weft__mtx_file_bytes(s->from)));
        }
        const char c = s->input[s->input_at++];
        if (c == '\n')
            break;
        if (!c)
            return wrong(s, err, "a byte of 0 is in it");
        if (length == LINE_MOST)
            return wrong(s, err, "longer than 1024 characters");
        s->line[length++] = c;
    }
    while (length && weft__is_blank(s->line[length - 1]))
        length--;
    s->line[length] = 0;
    return WEFT_OK;
}

// The characters first .. first+width-1 of the line without the blanks around them; 0: all are blank.
static size_t part(char out[LINE_MOST + 1], const struct rb_stream *s, size_t first, size_t width)
{
    const size_t length = strlen(s->line);
    size_t end = weft__min(first + width, length);
    while (first < end && weft__is_blank(s->line[first]))
        first++;
    while (end > first && weft__is_blank(s->line[end - 1]))
        end--;
    const size_t count = end > first ? end - first : 0;
    memcpy(out, s->line + weft__min(first, length), count);
    out[count] = 0;
    return count;
}

// A count; -1: it is none.
static int64_t count_of(const char *text)
{
    char *end;
    if (*text == '+')
        text++;
    if (!isdigit((unsigned char)*text))
        return -1;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    return *end || errno ? -1 : value;
}

// Words of the line from character `at` on; the begin of the first one is put in *at.
static int words(const struct rb_stream *s, size_t *at)
{
    int count = 0;
    const char *p = weft__blanks_skip(s->line + *at);
    *at = (size_t)(p - s->line);
    for (; *p; count++, p = weft__blanks_skip(p))
        while (*p && !weft__is_blank(*p))
            p++;
    return count;
}

// The next one of `left` fields. They have a width and may touch; but where a line has as many words as fields, these are the
// fields, for some programs write others than their format says.
static weft_status field_next(char out[LINE_MOST + 1], struct rb_stream *s, const struct fields *f, int64_t left,
                              struct weft_error *err)
{
    if (s->at < 0 || s->at == f->per) {
        s->at = 0;
        s->word = 0;
        const weft_status status = line_next(s, err);
        if (status)
            return status;
        s->by_words = words(s, &s->word) == (left < f->per ? left : f->per);
    }
    size_t first = (size_t)s->at++ * (size_t)f->width, width = (size_t)f->width;
    if (s->by_words) {
        words(s, &s->word);
        first = s->word;
        width = strcspn(s->line + first, " \t\r\v\f");
        s->word += width;
    }
    return part(out, s, first, width) ? WEFT_OK : wrong(s, err, "a field is empty, or missing");
}

// ---- header ------------------------------------------------------------------------------------------------------

static int number_take(const char **p)
{
    int value = 0;
    if (!isdigit((unsigned char)**p))
        return -1;
    while (isdigit((unsigned char)**p) && value < 10000)
        value = 10 * value + (*(*p)++ - '0');
    return value;
}

// (rIw), (rEw.d), also D, F and G, with a scale kP before and an exponent's width Ee behind.
static int fields_parse(struct fields *out, const char *text)
{
    char plain[LINE_MOST + 1];
    size_t length = 0;
    for (; *text; text++)
        if (!weft__is_blank(*text))
            plain[length++] = (char)toupper((unsigned char)*text);
    plain[length] = 0;
    const char *p = plain;
    *out = (struct fields){.per = 1};
    if (*p++ != '(')
        return 0;
    int number = number_take(&p);
    if (*p == 'P') {
        out->scale = number;
        p += p[1] == ',' ? 2 : 1;
        if (number < 0 || number > 99)
            return 0;
        number = number_take(&p);
    }
    out->per = number < 0 ? 1 : number;
    if (!*p || !strchr("IEDFG", *p))
        return 0;
    out->kind = *p++ == 'I' ? 'I' : 'E';
    out->width = number_take(&p);
    if (*p == '.') {
        p++;
        out->decimals = number_take(&p);
        if (*p == 'E' && (p++, number_take(&p) < 0))
            return 0;
    }
    return *p == ')' && !p[1] && out->per > 0 && out->width > 0 && out->width * out->per <= LINE_MOST &&
           out->decimals >= 0 && out->decimals < 1000;
}

static weft_status header_read(struct rb_stream *s, struct weft_error *err)
{
    char text[LINE_MOST + 1];
    weft_status status = line_next(s, err); // the title
    if (!status)
        status = line_next(s, err);
    const int64_t right = status || !part(text, s, 56, 14) ? 0 : count_of(text);
    if (!status)
        status = line_next(s, err);
    if (status)
        return status;
    memcpy(s->type, s->line, 3);
    for (int i = 0; i < 3; i++)
        s->type[i] = (char)toupper((unsigned char)s->type[i]);
    int64_t *const sizes[] = {&s->m, &s->n, &s->nnz};
    for (size_t i = 0; i < 3; i++) {
        part(text, s, 14 + 14 * i, 14);
        *sizes[i] = count_of(text);
        if (*sizes[i] < 0 || (i < 2 && *sizes[i] > INT32_MAX))
            return wrong(s, err, "rows, columns or entries are no number that a matrix has");
    }
    if (s->type[2] == 'E' || s->type[0] == 'Q') {
        at_line(s);
        return weft__error(err, WEFT_EUNSUPPORTED, "type %.3s: only assembled matrices are read", s->type);
    }
    if (!(status = line_next(s, err))) {
        struct fields *const all[] = {&s->ptr_fields, &s->row_fields, &s->val_fields};
        for (size_t i = 0; i < (s->type[0] == 'P' ? 2u : 3u) && !status; i++) {
            part(text, s, 16 * i, i < 2 ? 16 : 20);
            if (!fields_parse(all[i], text) || (i < 2 && all[i]->kind != 'I'))
                status = wrong(s, err, "a format of numbers that is not known");
        }
    }
    if (!status && right > 0) // Harwell-Boeing: what right-hand sides look like
        status = line_next(s, err);
    return status;
}

// ---- pointers and rows -------------------------------------------------------------------------------------------

// Numbers from 1 on, `count` of them, into an array that grows as they are read: the header is not believed.
static weft_status numbers_read(void **out, size_t bytes, const char *what, struct rb_stream *s, const struct fields *f,
                                int64_t count, int64_t most, struct weft_error *err)
{
    char text[LINE_MOST + 1];
    int64_t room = 0;
    s->at = -1;
    for (int64_t i = 0; i < count; i++) {
        if (i == room) {
            room = room ? (room <= count / 2 ? 2 * room : count) : (count < 4096 ? count : 4096);
            void *more = realloc(*out, weft__mul((size_t)room, bytes));
            if (!more)
                return weft__error(err, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
            *out = more;
        }
        weft_status status = field_next(text, s, f, count - i, err);
        if (status)
            return status;
        const int64_t value = count_of(text);
        if (value < 1 || value > most) {
            at_line(s);
            return weft__error(err, WEFT_EFORMAT, "%s %s is outside 1 .. %lld", what, weft__mtx_quote_string(text).text,
                               (long long)most);
        }
        if (bytes == 8)
            ((int64_t *)*out)[i] = value - 1;
        else
            ((int32_t *)*out)[i] = (int32_t)(value - 1);
    }
    return WEFT_OK;
}

static weft_status pattern_read(struct rb_stream *s, struct weft_error *err)
{
    void *ptr = NULL, *row = NULL;
    weft_status status =
        numbers_read(&ptr, 8, "column pointer", s, &s->ptr_fields, s->n + 1, s->nnz < INT64_MAX ? s->nnz + 1 : 0, err);
    s->ptr = ptr;
    if (!status) {
        int right = !s->ptr[0] && s->ptr[s->n] == s->nnz;
        for (int64_t j = 0; j < s->n && right; j++)
            right = s->ptr[j] <= s->ptr[j + 1];
        if (!right)
            status = wrong(s, err, "column pointers do not ascend from 1 to the entries and 1");
    }
    s->row_line = s->number + 1;
    if (!status)
        status = numbers_read(&row, 4, "row index", s, &s->row_fields, s->nnz, s->m, err);
    s->row = row;
    s->val_line = s->number + 1;
    s->at = -1;
    return status;
}

// ---- text --------------------------------------------------------------------------------------------------------

// A number of Fortran as one of Matrix Market: with the exponent's letter, and with the exponent that a missing point or a
// scale stands for.
static weft_status value_write(char *out, size_t *length, struct rb_stream *s, int64_t left, struct weft_error *err)
{
    char text[LINE_MOST + 1 + WEFT__NUMBER_PAD], *at = out + *length;
    const struct fields *f = &s->val_fields;
    weft_status status = field_next(text, s, f, left, err);
    if (status)
        return status;
    const size_t count = strlen(text);
    if (count > 128)
        return wrong(s, err, "a value of more than 128 characters");
    int point = 0, exponent = 0;
    *at++ = ' ';
    for (size_t i = 0; i < count; i++) {
        const char c = text[i];
        if (i && (c == '+' || c == '-') && (isdigit((unsigned char)text[i - 1]) || text[i - 1] == '.'))
            *at++ = 'E', exponent = 1;
        exponent |= i && strchr("EeDd", c) != NULL;
        point |= c == '.';
        *at++ = c;
    }
    const int shift = f->kind == 'I' || isalpha((unsigned char)text[count - 1])
                          ? 0
                          : (point ? 0 : -f->decimals) - (exponent ? 0 : f->scale);
    if (shift && exponent)
        return wrong(s, err, "a number with an exponent and without a point");
    if (shift)
        at += sprintf(at, "E%d", shift);
    memset(at, 0, WEFT__NUMBER_PAD);
    struct weft__number number;
    if (weft__number_scan(out + *length + 1, &number) != at) {
        at_line(s);
        return weft__error(err, WEFT_EFORMAT, "%s is no number", weft__mtx_quote_string(text).text);
    }
    *length = (size_t)(at - out);
    return WEFT_OK;
}

static int parts_of(const struct rb_stream *s)
{
    return s->type[0] == 'P' ? 0 : s->type[0] == 'C' ? 2 : 1;
}

static weft_status entry_write(char *out, size_t *length, struct rb_stream *s, struct weft_error *err)
{
    weft_status status = WEFT_OK;
    while (s->ptr[s->col + 1] <= s->p)
        s->col++;
    *length += (size_t)sprintf(out + *length, "%d %lld", s->row[s->p] + 1, (long long)s->col + 1);
    const int parts = parts_of(s);
    for (int i = 0; i < parts && !status; i++)
        status = value_write(out, length, s, (s->nnz - s->p) * parts - i, err);
    out[(*length)++] = '\n';
    s->p++;
    return status;
}

static weft_status start(char *out, size_t *length, struct rb_stream *s, struct weft_error *err)
{
    weft_status status = header_read(s, err);
    if (!status)
        status = pattern_read(s, err);
    if (status)
        return status;
    const char *field = s->type[0] == 'P'   ? "pattern"
                        : s->type[0] == 'C' ? "complex"
                        : s->type[0] == 'I' ? "integer"
                                            : "real";
    const char *symmetry = s->type[1] == 'S'   ? "symmetric"
                           : s->type[1] == 'Z' ? "skew-symmetric"
                           : s->type[1] == 'H' ? "hermitian"
                                               : "general";
    *length = (size_t)sprintf(out, "%%%%MatrixMarket matrix coordinate %s %s\n%lld %lld %lld\n", field, symmetry,
                              (long long)s->m, (long long)s->n, (long long)s->nnz);
    s->started = 1;
    return WEFT_OK;
}

// The next piece of text: the header line and sizes, then an entry a line.
static weft_status text_more(struct rb_stream *s, struct weft_error *err)
{
    s->held_at = s->held_end = 0;
    if (!s->started)
        return start(s->held, &s->held_end, s, err);
    return s->p < s->nnz ? entry_write(s->held, &s->held_end, s, err) : WEFT_OK;
}

static int64_t rb_read(struct weft__mtx_stream *stream, char *to, size_t bytes, struct weft_error *err)
{
    struct rb_stream *s = (struct rb_stream *)stream;
    size_t done = 0;
    while (done < bytes) {
        if (s->held_at == s->held_end && text_more(s, err))
            return -1;
        const size_t take = weft__min(bytes - done, s->held_end - s->held_at);
        if (!take)
            break;
        memcpy(to + done, s->held + s->held_at, take);
        s->held_at += take;
        done += take;
    }
    return (int64_t)done;
}

enum { TYPE_LINE = 3 }; // which has the sizes too

// Every line but the last has as many fields as its format says.
static int64_t rb_line_of(const struct weft__mtx_stream *stream, int64_t line, int index)
{
    const struct rb_stream *s = (const struct rb_stream *)stream;
    const int64_t p = line - 3; // of the header line, the sizes, then an entry a line
    if (p < 0)
        return TYPE_LINE;
    return index || !parts_of(s) ? s->row_line + p / s->row_fields.per
                                 : s->val_line + p * parts_of(s) / s->val_fields.per;
}

static void rb_close(struct weft__mtx_stream *stream)
{
    struct rb_stream *s = (struct rb_stream *)stream;
    s->from->close(s->from);
    free(s->input);
    free(s->ptr);
    free(s->row);
    free(s);
}

weft_status weft__rb_open(struct weft__mtx_stream **stream, int64_t limit, struct weft_error *err)
{
    if (!is_rb((*stream)->peek, (*stream)->peek_bytes))
        return WEFT_OK;
    struct rb_stream *s = calloc(1, sizeof *s);
    if (s)
        s->input = malloc(INPUT_BYTES);
    if (!s || !s->input) {
        free(s);
        (*stream)->close(*stream);
        return weft__error(err, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
    }
    s->base = (struct weft__mtx_stream){
        .read = rb_read, .close = rb_close, .line_of = rb_line_of, .total_bytes = (*stream)->total_bytes};
    s->from = *stream;
    s->limit = limit;
    *stream = &s->base;
    return WEFT_OK;
}
