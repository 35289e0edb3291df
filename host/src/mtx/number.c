// SPDX-License-Identifier: Apache-2.0
// Method: a decimal number is the product of a 64-bit integer and a power of ten; the power is known to 128 bits with
// a bound on its error, so the product is an interval. When all of it rounds to one binary number, that is the
// answer; otherwise (about one in 2^50, and exact ties of fractions) the C library decides.
#include "host/src/mtx/number.h"

#include <locale.h>
#include <stdlib.h>

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

void weft__powers_fill(struct weft__powers *powers)
{
    // Upwards: p * 10 = (p/2 + p/8) * 16. Shifting out ones costs up to 2 units, normalizing doubles the error.
    // 10^0 .. 10^27 have no ones to shift out.
    wide p = (wide)1 << 127;
    int32_t exponent = -127;
    uint32_t error = 0;
    for (int q = 0; q <= WEFT__POWER_MOST; q++) {
        int i = q - WEFT__POWER_LEAST;
        powers->power[i].high = (uint64_t)(p >> 64);
        powers->power[i].low = (uint64_t)p;
        powers->power[i].exponent = exponent;
        powers->power[i].error = error;
        int inexact = error || (p & 7);
        wide next = (p >> 1) + (p >> 3);
        error = inexact ? error / 8 * 5 + 5 + 2 : 0;
        exponent += 4;
        if (!(next >> 127)) {
            next <<= 1;
            error *= 2;
            exponent--;
        }
        p = next;
    }
    // Downwards: p / 10 = p/5 / 2, with the remainder carried into the bits that normalizing frees.
    p = (wide)1 << 127;
    exponent = -127;
    error = 0;
    for (int q = -1; q >= WEFT__POWER_LEAST; q--) {
        int i = q - WEFT__POWER_LEAST, shift = 2;
        wide quotient = p / 5;
        uint64_t remainder = (uint64_t)(p % 5);
        if (!(quotient >> 125))
            shift = 3;
        p = (quotient << shift) + ((remainder << shift) / 5);
        error = ((error << shift) + 4) / 5 + 1;
        exponent -= 1 + shift;
        powers->power[i].high = (uint64_t)(p >> 64);
        powers->power[i].low = (uint64_t)p;
        powers->power[i].exponent = exponent;
        powers->power[i].error = error;
    }
}
#else
void weft__powers_fill(struct weft__powers *powers)
{
    (void)powers;
}
#endif

void weft__number_scan_long(const char *first, const char *end, int32_t exponent, struct weft__number *out)
{
    int kept = 0;
    int32_t dropped = 0;
    out->digits = 0;
    for (const char *p = first; p < end; p++) {
        if (*p == '.' || (kept == 0 && *p == '0'))
            continue;
        if (kept < 19) {
            out->digits = out->digits * 10 + (uint64_t)(*p - '0');
            kept++;
        } else {
            out->more |= *p != '0';
            dropped++;
        }
    }
    out->exponent = exponent + dropped;
}

const char *weft__number_scan_word(const char *p, struct weft__number *out)
{
    static const struct {
        const char *word;
        enum weft__number_kind kind;
    } words[] = {{"infinity", WEFT__NUMBER_INF}, {"inf", WEFT__NUMBER_INF}, {"nan", WEFT__NUMBER_NAN}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);
        if (weft__same_letters(p, words[i].word, length)) {
            out->kind = (unsigned char)words[i].kind;
            return p + length;
        }
    }
    return NULL;
}

// A copy that strtod understands: ended, with 'e' for Fortran's 'd'. Lines that hold numbers are short (the reader
// refuses longer ones), and digits past the first thousand cannot change a rounding that 19 digits left open, save
// for being zero or not.
#define COPY_BYTES 1100

static int copy_number(char *copy, const char *text, const char *end)
{
    size_t length = (size_t)(end - text);
    if (length >= COPY_BYTES)
        return 0;
    for (size_t i = 0; i < length; i++)
        copy[i] = text[i] == 'd' || text[i] == 'D' ? 'e' : text[i];
    copy[length] = '\0';
    return 1;
}

double weft__number_f64_slow(const char *text, const char *end, void *locale)
{
    char copy[COPY_BYTES];
    return copy_number(copy, text, end) ? strtod_l(copy, NULL, locale) : 0.0;
}

float weft__number_f32_slow(const char *text, const char *end, void *locale)
{
    char copy[COPY_BYTES];
    return copy_number(copy, text, end) ? strtof_l(copy, NULL, locale) : 0.0f;
}

int weft__number_i32(const struct weft__number *number, int32_t *out)
{
    uint64_t w = number->digits;
    int32_t exponent = number->exponent;
    if (number->kind != WEFT__NUMBER_FINITE || number->more)
        return 0;
    for (; w && exponent < 0 && w % 10 == 0; exponent++)
        w /= 10;
    for (; w && exponent > 0 && w <= UINT32_MAX; exponent--)
        w *= 10;
    if ((w && exponent) || w > (uint64_t)INT32_MAX + number->negative)
        return 0;
    *out = (int32_t)(number->negative ? -(int64_t)w : (int64_t)w);
    return 1;
}
