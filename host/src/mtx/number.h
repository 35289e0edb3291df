// SPDX-License-Identifier: Apache-2.0
// Decimal numbers of text files to binary, correctly rounded whatever the locale.
//
// Scanning and the common conversion are inline, for they are where reading a file spends its time.
// The text must be followed by WEFT__NUMBER_PAD readable bytes, and a character that is no part of a number
// (a line end) must stand before its end.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WEFT__NUMBER_PAD 16

enum weft__number_kind { WEFT__NUMBER_FINITE = 0, WEFT__NUMBER_INF, WEFT__NUMBER_NAN };

// (-1)^negative * digits * 10^exponent; when `more`, digits that are not all zero followed and were dropped.
struct weft__number {
    uint64_t digits; // the first 19 significant digits at most
    int32_t exponent;
    unsigned char negative, more, kind;
};

#define WEFT__POWER_LEAST (-345)
#define WEFT__POWER_MOST  310

// Powers of ten: 10^(i + WEFT__POWER_LEAST) lies between p * 2^exponent and (p + error) * 2^exponent with
// p = high * 2^64 + low, whose top bit is set.
struct weft__powers {
    struct {
        uint64_t high, low;
        int32_t exponent;
        uint32_t error;
    } power[WEFT__POWER_MOST - WEFT__POWER_LEAST + 1];
};

void weft__powers_fill(struct weft__powers *powers);

// Whether the `length` characters at p are those of `word`, which is in lower case, whatever their case and the locale.
static inline int weft__same_letters(const char *p, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((p[i] >= 'A' && p[i] <= 'Z' ? p[i] + ('a' - 'A') : p[i]) != word[i])
            return 0;
    return 1;
}

// The rarer parts of scanning: more than 19 digits; inf and nan (NULL when it is neither).
void weft__number_scan_long(const char *first, const char *end, int32_t exponent, struct weft__number *out);
const char *weft__number_scan_word(const char *p, struct weft__number *out);
// The rarer parts of conversion: `text` .. `end` is what was scanned; `locale` is a locale_t of "C".
double weft__number_f64_slow(const char *text, const char *end, void *locale);
float weft__number_f32_slow(const char *text, const char *end, void *locale);

// The value as a 32-bit integer; 0 when it is fractional or too large (*out is then not set).
int weft__number_i32(const struct weft__number *number, int32_t *out);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
// The value of eight digits, or -1 when one of the eight bytes is something else.
static inline int64_t weft__digits8(const char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    // A digit is 0x30..0x39: high nibble 3, and still 3 after adding 6.
    if (((v & (v + UINT64_C(0x0606060606060606))) & UINT64_C(0xf0f0f0f0f0f0f0f0)) != UINT64_C(0x3030303030303030) ||
        ((v | (v + UINT64_C(0x0606060606060606))) & UINT64_C(0xf0f0f0f0f0f0f0f0)) != UINT64_C(0x3030303030303030))
        return -1;
    v &= UINT64_C(0x0f0f0f0f0f0f0f0f);
    v = (v * (10 * 256 + 1)) >> 8 & UINT64_C(0x00ff00ff00ff00ff);
    v = (v * (100 * 65536 + 1)) >> 16 & UINT64_C(0x0000ffff0000ffff);
    return (int64_t)((v * (UINT64_C(10000) * 4294967296 + 1)) >> 32);
}
#else
static inline int64_t weft__digits8(const char *p)
{
    (void)p;
    return -1;
}
#endif

// [+-] digits [. digits] [(e|E|d|D) [+-] digits], or [+-] inf | infinity | nan in any case. Returns where the number
// ends, NULL when there is none.
static inline const char *weft__number_scan(const char *p, struct weft__number *out)
{
    uint64_t w = 0;
    unsigned d;
    int32_t exponent = 0;
    *out = (struct weft__number){.negative = *p == '-'};
    if (*p == '-' || *p == '+')
        p++;
    const char *first = p;
    for (; (d = (unsigned)*p - '0') <= 9; p++)
        w = w * 10 + d;
    ptrdiff_t digits = p - first;
    if (*p == '.') {
        const char *point = p++;
        for (int64_t eight; (eight = weft__digits8(p)) >= 0; p += 8)
            w = w * 100000000 + (uint64_t)eight;
        for (; (d = (unsigned)*p - '0') <= 9; p++)
            w = w * 10 + d;
        ptrdiff_t decimals = p - point - 1;
        exponent = -(int32_t)decimals;
        digits += decimals;
    }
    if (digits == 0)
        return p == first ? weft__number_scan_word(p, out) : NULL;
    const char *end = p;
    if ((*p | 0x20) == 'e' || (*p | 0x20) == 'd') {
        int minus = *++p == '-';
        int32_t e = 0;
        if (*p == '-' || *p == '+')
            p++;
        if ((unsigned)*p - '0' > 9)
            return NULL;
        for (; (d = (unsigned)*p - '0') <= 9; p++)
            e = e < 100000000 ? e * 10 + (int32_t)d : e;
        exponent += minus ? -e : e;
    }
    out->digits = w;
    out->exponent = exponent;
    if (digits > 19)
        weft__number_scan_long(first, end, exponent, out);
    return p;
}

// digits * 10^exponent rounded to `bits` bits: the mantissa, with its binary exponent in *e2. 0: not decided here.
static inline uint64_t weft__number_round(const struct weft__powers *powers, const struct weft__number *number,
                                          int bits, int *e2)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    if (number->more || number->exponent < WEFT__POWER_LEAST || number->exponent > WEFT__POWER_MOST)
        return 0;
    int i = number->exponent - WEFT__POWER_LEAST, lead = __builtin_clzll(number->digits);
    uint64_t w = number->digits << lead;
    wide low = (wide)w * powers->power[i].low;
    wide product = (wide)w * powers->power[i].high + (uint64_t)(low >> 64);
    // The true product lies between `product` and `product` + error, in units of 2^-64 of the full one.
    uint64_t error = powers->power[i].error || (uint64_t)low ? (uint64_t)powers->power[i].error + 1 : 0;
    int drop = 128 - bits - (product >> 127 ? 0 : 1);
    uint64_t mantissa = (uint64_t)(product >> drop);
    wide half = (wide)1 << (drop - 1), rest = product & (((wide)1 << drop) - 1);
    if (error && rest <= half && rest + error >= half)
        return 0;
    mantissa += rest > half || (rest == half && (mantissa & 1));
    *e2 = powers->power[i].exponent + 64 - lead + drop;
    if (mantissa >> bits) {
        mantissa >>= 1;
        ++*e2;
    }
    return mantissa;
#else
    (void)powers, (void)number, (void)bits, (void)e2;
    return 0;
#endif
}

// The nearest double (ties to even); infinite when it overflows.
static inline double weft__number_f64(const struct weft__powers *powers, const struct weft__number *number,
                                      const char *text, const char *end, void *locale)
{
    int e2 = 0;
    uint64_t bits = 0;
    if (number->kind == WEFT__NUMBER_FINITE && (number->digits || number->more)) {
        uint64_t mantissa = weft__number_round(powers, number, 53, &e2);
        int biased = e2 + 52 + 1023;
        if (!mantissa || biased < 1 || biased > 2046)
            return weft__number_f64_slow(text, end, locale);
        bits = (uint64_t)biased << 52 | (mantissa & ((UINT64_C(1) << 52) - 1));
    } else if (number->kind != WEFT__NUMBER_FINITE) {
        bits = number->kind == WEFT__NUMBER_INF ? UINT64_C(0x7ff0000000000000) : UINT64_C(0x7ff8000000000000);
    }
    bits |= (uint64_t)number->negative << 63;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The nearest float (ties to even), not by way of a double; infinite when it overflows.
static inline float weft__number_f32(const struct weft__powers *powers, const struct weft__number *number,
                                     const char *text, const char *end, void *locale)
{
    int e2 = 0;
    uint32_t bits = 0;
    if (number->kind == WEFT__NUMBER_FINITE && (number->digits || number->more)) {
        uint64_t mantissa = weft__number_round(powers, number, 24, &e2);
        int biased = e2 + 23 + 127;
        if (!mantissa || biased < 1 || biased > 254)
            return weft__number_f32_slow(text, end, locale);
        bits = (uint32_t)biased << 23 | (uint32_t)(mantissa & ((1u << 23) - 1));
    } else if (number->kind != WEFT__NUMBER_FINITE) {
        bits = number->kind == WEFT__NUMBER_INF ? UINT32_C(0x7f800000) : UINT32_C(0x7fc00000);
    }
    bits |= (uint32_t)number->negative << 31;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
