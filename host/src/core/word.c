// SPDX-License-Identifier: Apache-2.0
// Reads counts with units and exponents, and finds the name that was meant.
#include "host/src/core/word.h"

#include <ctype.h>
#include <string.h>

// *value times `factor` to the power `power`, which may be negative. 0: it is no whole number of 64 bits.
static int scale(int64_t *value, int64_t factor, int power)
{
    for (; power > 0 && *value; power--)
        if (__builtin_mul_overflow(*value, factor, value))
            return 0;
    for (; power < 0 && *value; power++) {
        if (*value % factor)
            return 0;
        *value /= factor;
    }
    return 1;
}

int weft__word_count(int64_t *out, const char *text, int64_t unit)
{
    static const char units[] = "kMGT";
    const char *at = text + (*text == '-');
    int64_t value = 0;
    int power = 0, digits = 0, point = 0, fits = 1;
    for (; isdigit((unsigned char)*at) || (*at == '.' && digits && !point); at++) {
        if (*at == '.') {
            point = 1;
            continue;
        }
        digits++;
        power -= point;
        fits &= !__builtin_mul_overflow(value, 10, &value) && !__builtin_add_overflow(value, *at - '0', &value);
    }
    if (!digits || at[-1] == '.')
        return 0;
    const char *exponent = at + 1 + (*at && at[1] == '+');
    if ((*at == 'e' || *at == 'E') && isdigit((unsigned char)*exponent)) {
        int ten = 0;
        for (at = exponent; isdigit((unsigned char)*at); at++)
            ten = ten < 1000 ? 10 * ten + (*at - '0') : ten;
        power += ten;
    }
    const char *letter = *at ? strchr(units, *at == 'K' ? 'k' : *at) : NULL;
    at += letter != NULL;
    if (!fits || (letter && !scale(&value, unit, (int)(letter - units) + 1)) ||
        (power > 0 && !scale(&value, 10, power)))
        return -1;
    if (!scale(&value, 10, power < 0 ? power : 0))
        return 0;
    *out = *text == '-' ? -value : value;
    return (int)(at - text);
}

enum { LETTERS = 32 };

static int same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

// Letters to add, drop, change or swap with their neighbour until `a` is `b`; both have LETTERS or fewer.
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][LETTERS + 1]; // of a[..i-2], a[..i-1], a[..i]
    for (size_t j = 0; j <= nb; j++)
        rows[1][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *last = rows[i % 3], *row = rows[(i + 1) % 3], *before = rows[(i + 2) % 3];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t best = last[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]) &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[(na + 1) % 3][nb];
}

const char *weft__word_nearest(const char *text, size_t length, const void *words, size_t count, size_t stride)
{
    const char *nearest = NULL;
    size_t least = 2 * LETTERS;
    for (size_t i = 0; i < count; i++) {
        const char *word = *(const char *const *)((const char *)words + i * stride);
        const size_t n = word ? strlen(word) : 0;
        if (n < 2 || n > LETTERS || length < 2 || length > LETTERS)
            continue;
        const size_t shorter = n < length ? n : length, limit = shorter / 3 < 3 ? (shorter + 2) / 3 : 3;
        const size_t d = distance(text, length, word, n);
        // The beginning of a word is as near as the limit, but behind words whose letters are.
        const size_t score = d <= limit ? 2 * d : shorter >= 3 && !memcmp(text, word, shorter) ? 2 * limit + 1 : least;
        if (score < least) {
            least = score;
            nearest = word;
        }
    }
    return nearest;
}
