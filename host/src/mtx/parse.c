// SPDX-License-Identifier: Apache-2.0
// Parses the header and the lines of a Matrix Market text.
#include "host/src/mtx/mtx.h"

#include "host/src/core/error.h"
#include "host/src/core/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

WEFT__NAMES(mtx_complex, "refuse", "real", "imag");
WEFT__NAMES(mtx_field, "real", "integer", "pattern", "complex");
WEFT__NAMES(mtx_symmetry, "general", "symmetric", "skew-symmetric", "hermitian");

static inline int word_ends(const char *p)
{
    return weft__is_blank(*p) || *p == '\n';
}

struct weft__mtx_quote weft__mtx_quote(const char *p)
{
    struct weft__mtx_quote quote;
    size_t used = 0;
    int shown = 0;
    quote.text[used++] = '\'';
    for (; !word_ends(p) && shown < 32; p++, shown++)
        if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f)
            used += (size_t)snprintf(quote.text + used, sizeof quote.text - used, "\\x%02x", (unsigned char)*p);
        else
            quote.text[used++] = *p;
    snprintf(quote.text + used, sizeof quote.text - used, word_ends(p) ? "'" : "...'");
    return quote;
}

struct weft__mtx_quote weft__mtx_quote_string(const char *text)
{
    char line[40];
    snprintf(line, sizeof line, "%.36s\n", text);
    return weft__mtx_quote(line);
}

// ---- header ----------------------------------------------------------------------------------------------------

static int word_is(const char *p, const char *word)
{
    size_t length = strlen(word);
    return weft__same_letters(p, word, length) && word_ends(p + length);
}

// Index of the word at *p in `words` (ended by NULL), -1 when it is none of them; *p moves to the next word.
static int word_find(const char **p, const char *const *words, int count)
{
    int found = -1;
    for (int i = 0; i < count && found < 0; i++)
        if (word_is(*p, words[i]))
            found = i;
    if (found >= 0) {
        while (!word_ends(*p))
            ++*p;
        *p = weft__blanks_skip(*p);
    }
    return found;
}

weft_status weft__mtx_header_parse(struct weft_mtx_info *info, const char *p, struct weft_error *err)
{
    static const char *const banners[] = {"%%matrixmarket"}, *const objects[] = {"matrix"};
    static const char *const formats[] = {"coordinate", "array"}, *const unsigned_fields[] = {"unsigned-integer"};
    int index;
    if (!strncmp(p, "\xef\xbb\xbf", 3)) // the mark of UTF-8, which some editors write
        p += 3;
    p = weft__blanks_skip(p);
    if (word_find(&p, banners, 1) < 0)
        return weft__error(err, WEFT_EFORMAT, "not a Matrix Market file: it does not start with %%%%MatrixMarket");
    if (word_find(&p, objects, 1) < 0)
        return weft__error(err, WEFT_EFORMAT, "header: expected 'matrix', found %s", weft__mtx_quote(p).text);
    if ((index = word_find(&p, formats, 2)) < 0)
        return weft__error(err, WEFT_EFORMAT, "header: expected 'coordinate' or 'array', found %s",
                           weft__mtx_quote(p).text);
    info->array = index;
    // The integers of scipy's unsigned types. They are read as others are: a sign is no error, and what i32 does not hold is one.
    if (word_find(&p, unsigned_fields, 1) == 0)
        index = WEFT_MTX_FIELD_INTEGER;
    else if ((index = word_find(&p, mtx_field_names, 4)) < 0)
        return weft__error(err, WEFT_EFORMAT,
                           "header: expected 'real', 'integer', 'unsigned-integer', 'pattern' or 'complex', found %s",
                           weft__mtx_quote(p).text);
    info->field = (enum weft_mtx_field)index;
    if ((index = word_find(&p, mtx_symmetry_names, 4)) < 0)
        return weft__error(err, WEFT_EFORMAT,
                           "header: expected 'general', 'symmetric', 'skew-symmetric' or 'hermitian', found %s",
                           weft__mtx_quote(p).text);
    info->symmetry = (enum weft_mtx_symmetry)index;
    if (*p != '\n')
        return weft__error(err, WEFT_EFORMAT, "header: unexpected %s at its end", weft__mtx_quote(p).text);
    if (info->field == WEFT_MTX_FIELD_PATTERN && info->array)
        return weft__error(err, WEFT_EFORMAT, "header: a pattern cannot be in array format");
    if (info->field == WEFT_MTX_FIELD_PATTERN && info->symmetry >= WEFT_MTX_SYMMETRY_SKEW)
        return weft__error(err, WEFT_EFORMAT, "header: a pattern can be general or symmetric only");
    return WEFT_OK;
}

// A size; text past the number is the caller's business.
static weft_status size_scan(int64_t *out, const char **p, const char *what, struct weft_error *err)
{
    const char *start = *p = weft__blanks_skip(*p);
    *out = 0;
    if (*start == '\n')
        return weft__error(err, WEFT_EFORMAT, "size line: the number of %s is missing", what);
    for (; **p >= '0' && **p <= '9'; ++*p)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, **p - '0', out))
            return weft__error(err, WEFT_ERANGE, "size line: the number of %s exceeds 64 bits", what);
    if (*p == start || !word_ends(*p))
        return weft__error(err, WEFT_EFORMAT, "size line: %s is not a number of %s", weft__mtx_quote(start).text, what);
    return WEFT_OK;
}

weft_status weft__mtx_sizes_parse(struct weft_mtx_info *info, const char *p, struct weft_error *err)
{
    weft_status status = size_scan(&info->m, &p, "rows", err);
    if (!status)
        status = size_scan(&info->n, &p, "columns", err);
    if (!status && !info->array)
        status = size_scan(&info->stored, &p, "entries", err);
    if (status)
        return status;
    p = weft__blanks_skip(p);
    if (*p != '\n')
        return weft__error(err, WEFT_EFORMAT, "size line: unexpected %s at its end", weft__mtx_quote(p).text);
    if (info->m > INT32_MAX || info->n > INT32_MAX)
        return weft__error(err, WEFT_ERANGE, "%lld x %lld: rows and columns are limited to 2147483647",
                           (long long)info->m, (long long)info->n);
    if (info->symmetry != WEFT_MTX_SYMMETRY_GENERAL && info->m != info->n)
        return weft__error(err, WEFT_EFORMAT, "a matrix of %lld x %lld has no symmetry", (long long)info->m,
                           (long long)info->n);
    if (info->array && info->symmetry == WEFT_MTX_SYMMETRY_GENERAL)
        info->stored = info->m * info->n;
    else if (info->array)
        info->stored = info->n * (info->n + (info->symmetry == WEFT_MTX_SYMMETRY_SKEW ? -1 : 1)) / 2;
    return WEFT_OK;
}

// ---- entries ---------------------------------------------------------------------------------------------------

// Note an error in the block; returns NULL, for the functions that return where the line ends.
__attribute__((cold, noinline, format(__printf__, 3, 4))) static const char *
fail(struct weft__mtx_block *block, weft_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    block->status = status;
    vsnprintf(block->text, sizeof block->text, format, args);
    va_end(args);
    return NULL;
}

__attribute__((cold, noinline)) static const char *fail_index(struct weft__mtx_block *block, const char *word,
                                                              const char *what, int64_t limit)
{
    const char *p = word;
    while (*p >= '0' && *p <= '9')
        p++;
    struct weft__mtx_quote quote = weft__mtx_quote(word);
    block->error_index = 1;
    if (*word == '\n')
        return fail(block, WEFT_EFORMAT, "the line ends where a %s index should stand", what);
    if (p == word || !word_ends(p))
        return fail(block, WEFT_EFORMAT, "%s is not a %s index", quote.text, what);
    if (limit == 0)
        return fail(block, WEFT_EFORMAT, "%s index %s: the matrix has none", what, quote.text);
    return fail(block, WEFT_EFORMAT, "%s index %s is outside 1 .. %lld", what, quote.text, (long long)limit);
}

// A 1-based index as a 0-based one below `limit`; returns NULL when it is not that.
static inline const char *index_scan(const char *p, int64_t limit, int32_t *out)
{
    const char *start = p;
    uint64_t v = 0;
    unsigned d;
    for (; (d = (unsigned)*p - '0') <= 9; p++)
        v = v * 10 + d;
    // Longer than 18 characters: v may have wrapped, unless the rest is zeros in front.
    if (__builtin_expect(p - start > 18, 0)) {
        const char *first = start;
        while (*first == '0')
            first++;
        if (p - first > 18)
            return NULL;
    }
    if (v - 1 >= (uint64_t)limit || p == start || !word_ends(p))
        return NULL;
    *out = (int32_t)(v - 1);
    return p;
}

static inline const char *number_scan(struct weft__mtx_block *block, const char *p, int integer,
                                      struct weft__number *number)
{
    const char *end;
    if (integer) {
        const char *first = p + (*p == '-' || *p == '+');
        uint64_t w = 0;
        unsigned d;
        *number = (struct weft__number){.negative = *p == '-'};
        for (end = first; (d = (unsigned)*end - '0') <= 9; end++)
            w = w * 10 + d;
        number->digits = w;
        if (end - first > 19)
            weft__number_scan_long(first, end, 0, number);
        if (end == first)
            end = NULL;
    } else {
        end = weft__number_scan(p, number);
    }
    if (__builtin_expect(!end || !word_ends(end), 0)) {
        if (*p == '\n')
            return fail(block, WEFT_EFORMAT, "the line ends where a value should stand");
        return fail(block, WEFT_EFORMAT, "%s is not %s", weft__mtx_quote(p).text, integer ? "an integer" : "a number");
    }
    return end;
}

// Value number k of the block.
static inline const char *value_store(struct weft__mtx_block *block, const struct weft__mtx_format *format, int64_t k,
                                      const struct weft__number *number, const char *p, const char *end)
{
    if (format->type == WEFT_TYPE_F32) {
        float v = weft__number_f32(format->powers, number, p, end, format->locale);
        if (__builtin_expect(__builtin_isinf(v) && number->kind == WEFT__NUMBER_FINITE, 0))
            return fail(block, WEFT_ERANGE, "%s exceeds the range of f32", weft__mtx_quote(p).text);
        ((float *)block->val)[k] = v;
    } else if (format->type == WEFT_TYPE_F64) {
        double v = weft__number_f64(format->powers, number, p, end, format->locale);
        if (__builtin_expect(__builtin_isinf(v) && number->kind == WEFT__NUMBER_FINITE, 0))
            return fail(block, WEFT_ERANGE, "%s exceeds the range of f64", weft__mtx_quote(p).text);
        ((double *)block->val)[k] = v;
    } else if (format->type == WEFT_TYPE_I32) {
        int32_t v;
        // The least i32 has no negative, which these symmetries need.
        if (!weft__number_i32(number, &v) || (format->symmetry >= WEFT_MTX_SYMMETRY_SKEW && v == INT32_MIN))
            return fail(block, WEFT_ERANGE, "%s is not an integer of 32 bits", weft__mtx_quote(p).text);
        ((int32_t *)block->val)[k] = v;
    }
    return end;
}

// Entry k of the block, which starts at p, a character that is neither blank nor a line end. Returns the '\n' of
// its line, NULL after an error.
static inline const char *entry_parse(struct weft__mtx_block *block, const struct weft__mtx_format *format, int64_t k,
                                      const char *p)
{
    int32_t i = 0, j = 0;
    if (!format->array) {
        const char *word = p;
        if (!(p = index_scan(word, format->m, &i)))
            return fail_index(block, word, "row", format->m);
        word = weft__blanks_skip(p);
        if (!(p = index_scan(word, format->n, &j)))
            return fail_index(block, word, "column", format->n);
        if (__builtin_expect(format->symmetry != WEFT_MTX_SYMMETRY_GENERAL && i < j, 0)) {
            block->error_index = 1;
            return fail(block, WEFT_EFORMAT,
                        "entry (%d, %d) above the diagonal; the header promises the lower triangle", i + 1, j + 1);
        }
        block->row[k] = i;
        block->col[k] = j;
    }
    if (format->field != WEFT_MTX_FIELD_PATTERN) {
        struct weft__number number, second;
        const char *word = weft__blanks_skip(p), *end;
        if (!(end = p = number_scan(block, word, format->field == WEFT_MTX_FIELD_INTEGER, &number)))
            return NULL;
        if (format->field == WEFT_MTX_FIELD_COMPLEX) {
            const char *word2 = weft__blanks_skip(p);
            if (!(p = number_scan(block, word2, 0, &second)))
                return NULL;
            if (format->symmetry == WEFT_MTX_SYMMETRY_SKEW && i == j && !format->array &&
                (second.digits || second.more || second.kind))
                return fail(block, WEFT_EFORMAT, "entry (%d, %d): the diagonal of a skew-symmetric matrix is zero",
                            i + 1, j + 1);
        }
        if (format->symmetry == WEFT_MTX_SYMMETRY_SKEW && i == j && !format->array &&
            (number.digits || number.more || number.kind))
            return fail(block, WEFT_EFORMAT, "entry (%d, %d): the diagonal of a skew-symmetric matrix is zero", i + 1,
                        j + 1);
        if (format->field == WEFT_MTX_FIELD_COMPLEX && format->imaginary) {
            word = weft__blanks_skip(end);
            number = second;
            end = p;
        }
        if (!value_store(block, format, k, &number, word, end))
            return NULL;
    }
    p = weft__blanks_skip(p);
    if (__builtin_expect(*p != '\n', 0))
        return fail(block, WEFT_EFORMAT, "unexpected %s after the entry", weft__mtx_quote(p).text);
    return p;
}

static int64_t lines_count(const char *p, const char *end)
{
    int64_t lines = 0;
    while (p < end) {
        // In short runs with a narrow counter, which compilers turn into vector code.
        const char *stop = end - p > 128 ? p + 128 : end;
        unsigned char count = 0;
        for (; p < stop; p++)
            count = (unsigned char)(count + (*p == '\n'));
        lines += count;
    }
    return lines;
}

static int arrays_alloc(struct weft__mtx_block *block, const struct weft__mtx_format *format)
{
    size_t count = (size_t)block->lines + 1;
    if (!format->array) {
        block->row = malloc(count * sizeof *block->row);
        block->col = malloc(count * sizeof *block->col);
    }
    size_t bytes = format->field == WEFT_MTX_FIELD_PATTERN ? 0 : weft_type_bytes(format->type);
    if (bytes)
        block->val = malloc(count * bytes);
    return (format->array || (block->row && block->col)) && (!bytes || block->val);
}

static void lines_parse(struct weft__mtx_block *block, const struct weft__mtx_format *format)
{
    const char *p = block->begin, *end = block->end;
    for (int64_t line = 0; p < end; line++, p++) {
        const char *start = p;
        p = weft__blanks_skip(p);
        if (*p == '%')
            p = memchr(p, '\n', (size_t)(end - p));
        if (*p == '\n')
            continue;
        p = entry_parse(block, format, block->entries, p);
        if (__builtin_expect(!p || weft__mtx_line_long(start, p), 0)) {
            block->error_line = line;
            if (weft__mtx_line_long(start, memchr(start, '\n', (size_t)(end - start))))
                fail(block, WEFT_EFORMAT, WEFT__MTX_LINE_LONG);
            return;
        }
        block->entries++;
    }
}

// Return what lines without entries did not use; failing to is harmless.
static void arrays_trim(struct weft__mtx_block *block, const struct weft__mtx_format *format)
{
    if (block->entries > block->lines / 2)
        return;
    size_t count = (size_t)block->entries + 1, bytes = weft_type_bytes(format->type);
    void *row = block->row ? realloc(block->row, count * sizeof *block->row) : NULL;
    void *col = block->col ? realloc(block->col, count * sizeof *block->col) : NULL;
    void *val = block->val ? realloc(block->val, count * bytes) : NULL;
    block->row = row ? row : block->row;
    block->col = col ? col : block->col;
    block->val = val ? val : block->val;
}

void weft__mtx_block_parse(struct weft__mtx_block *block, const struct weft__mtx_format *format)
{
    block->lines = lines_count(block->begin, block->end);
    if (arrays_alloc(block, format))
        lines_parse(block, format);
    else
        fail(block, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
    arrays_trim(block, format);
    free(block->buffer);
    block->buffer = NULL;
}

void weft__mtx_block_free(struct weft__mtx_block *block)
{
    if (!block)
        return;
    free(block->buffer);
    free(block->row);
    free(block->col);
    free(block->val);
    free(block);
}
