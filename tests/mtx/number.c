// SPDX-License-Identifier: Apache-2.0
// Decimal to binary: every number must be the one that strtod and strtof of the C library give.
#include "host/internal/inside.h"
#include "tests/support/rng.h"
#include "tests/support/tap.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct weft__powers powers;
static locale_t plain;

static int same_f64(double a, double b)
{
    return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a);
}

static int same_f32(float a, float b)
{
    return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a);
}

// Scan `text`, which must be a whole number; notes and returns 0 on any difference.
static int agrees(const char *text)
{
    char line[1200 + WEFT__NUMBER_PAD] = {0};
    snprintf(line, sizeof line - WEFT__NUMBER_PAD, "%s\n", text);
    struct weft__number number;
    const char *end = weft__number_scan(line, &number);
    if (!end || *end != '\n') {
        tap_note("\"%s\" is not scanned as a number", text);
        return 0;
    }
    double d = weft__number_f64(&powers, &number, line, end, plain), want_d = strtod(text, NULL);
    float f = weft__number_f32(&powers, &number, line, end, plain), want_f = strtof(text, NULL);
    if (same_f64(d, want_d) && same_f32(f, want_f))
        return 1;
    tap_note("\"%s\": f64 %a, expected %a; f32 %a, expected %a", text, d, want_d, (double)f, (double)want_f);
    return 0;
}

static void test_known(void)
{
    static const char *const texts[] = {
        "0", "-0", "0.0", "-0.0e99999", "1", "+1", "-1", ".5", "5.", "-.5e-3", "1e0", "1E+05", "1e-05",
        // halfway between neighbours: of f64, of f32, just above, just below
        "9007199254740993", "9007199254740992.5", "4503599627370496.5", "4503599627370497.5",
        "9007199254740993.00000000000000000000000000000000000000000000001", "16777217", "8388608.5", "8388609.5",
        "16777217.0000000000000000000000000000000000000001", "16777216.9999999999999999999999999999999999999",
        "1.00000005960464477539062500", "1.000000059604644775390625000000000000000000000001", "1.00000005960464477539",
        // powers that need more than 64 bits, and the longest exact ones
        "1e22", "1e23", "1e27", "1e28", "1e55", "1e56", "9e-27", "8.41e21", "9.5367431640625e-07",
        "179769313486231570000e289", "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308",
        "1e308", "1e309", "1e400", "-1e999999999999", "1e-999999999999", "3.4028234e38", "3.40282346e38",
        "3.40282356779733661637539395458142568447e38", "3.40282356779733661637539395458142568448e38", "3.5e38",
        // subnormal numbers and their edges
        "2.2250738585072014e-308", "2.2250738585072011e-308", "2.2250738585072012e-308", "4.9e-324",
        "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-323", "1e-330", "1.17549435e-38", "1.17549429e-38",
        "1.4e-45", "7.0e-46", "7.1e-46", "1e-46",
        // digits past the nineteenth
        "0.30000000000000000000000000000000000000000001", "12345678901234567890", "18446744073709551615",
        "18446744073709551616", "99999999999999999999", "0.000000000000000000000000000000000000000000000001",
        "100000000000000000000000000000000000000", "0000000000000000000000000000001.5",
        "1234567890123456789012345678901234567890e-20", "6.0221407600000000000000000000e23",
        // words
        "inf", "-inf", "Infinity", "+INFINITY", "nan", "NaN", "-nan"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        tap_ok(agrees(texts[i]), "%s", texts[i]);
}

static void test_rejected(void)
{
    static const char *const texts[] = {"",     "-",     "+", ".",  "-.", "e5",  ".e5", "1e", "1e+",
                                        "1e-x", "1.5e ", "x", "in", "na", "--1", "+-1", "$1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char line[32 + WEFT__NUMBER_PAD] = {0};
        struct weft__number number;
        snprintf(line, 32, "%s\n", texts[i]);
        tap_ok(!weft__number_scan(line, &number), "'%s' is no number", texts[i]);
    }
}

static void test_fortran(void)
{
    char line[64] = "-1.25D+02\n";
    struct weft__number number;
    const char *end = weft__number_scan(line, &number);
    tap_ok(end && *end == '\n' && same_f64(weft__number_f64(&powers, &number, line, end, plain), -125),
           "D is an exponent, as in Fortran");
    strcpy(line, "1.2345678901234567890123456789d-310\n");
    end = weft__number_scan(line, &number);
    tap_ok(end && same_f64(weft__number_f64(&powers, &number, line, end, plain), 1.2345678901234567890123456789e-310),
           "also where the C library decides");
}

static void test_i32(void)
{
    static const struct {
        const char *text;
        int fits;
        int32_t value;
    } cases[] = {{"0", 1, 0},
                 {"-0.0", 1, 0},
                 {"7.000", 1, 7},
                 {"1.5e1", 1, 15},
                 {"1.5", 0, 0},
                 {"2147483647", 1, INT32_MAX},
                 {"2147483648", 0, 0},
                 {"-2147483648", 1, INT32_MIN},
                 {"-2147483649", 0, 0},
                 {"1e9", 1, 1000000000},
                 {"1e10", 0, 0},
                 {"120000e-4", 1, 12},
                 {"123e-1", 0, 0},
                 {"0e99", 1, 0},
                 {"1e-30", 0, 0},
                 {"inf", 0, 0},
                 {"nan", 0, 0},
                 {"1.0000000000000000000000000000", 1, 1},
                 {"0.99999999999999999999999999", 0, 0},
                 {"1.00000000000000000000000001", 0, 0},
                 {"100000000000000000000e-20", 1, 1},
                 {"18446744073709551617", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[64 + WEFT__NUMBER_PAD] = {0};
        struct weft__number number;
        int32_t value = 0;
        snprintf(line, 64, "%s\n", cases[i].text);
        const char *end = weft__number_scan(line, &number);
        int fits = end && weft__number_i32(&number, &value);
        tap_ok(fits == cases[i].fits && value == cases[i].value, "%s as i32", cases[i].text);
    }
}

// A random number in one of several forms that files use, and some that they should not.
static void random_text(struct rng *rng, char *text, size_t room)
{
    uint64_t bits = rng_u64(rng);
    uint32_t bits32 = (uint32_t)bits;
    double d;
    float f;
    memcpy(&d, &bits, sizeof d);
    memcpy(&f, &bits32, sizeof f);
    int digits = (int)rng_between(rng, 0, 25), exponent = (int)rng_between(rng, -345, 310);
    switch (rng_below(rng, 8)) {
    case 0: // any double, as many digits as it needs or not
        snprintf(text, room, "%.*e", digits, isfinite(d) ? d : 1.0);
        break;
    case 1: // any float
        snprintf(text, room, "%.*e", digits, (double)(isfinite(f) ? f : 1.0f));
        break;
    case 2: // ordinary values
        snprintf(text, room, "%.*f", digits, (rng_unit(rng) - 0.5) * 2000);
        break;
    case 3: // close to halfway between two floats
        f = (float)(rng_unit(rng) * pow(2, (double)rng_between(rng, -30, 30)));
        snprintf(text, room, "%.*g", (int)rng_between(rng, 8, 40), ((double)f + (double)nextafterf(f, INFINITY)) / 2);
        break;
    case 4: // halfway between two doubles, exactly when enough digits are shown
        d = rng_unit(rng) * 1024;
        snprintf(text, room, "%.*Lg", (int)rng_between(rng, 15, 60),
                 ((long double)d + (long double)nextafter(d, INFINITY)) / 2);
        break;
    case 5: // digits and exponent drawn apart
        snprintf(text, room, "%llue%d", (unsigned long long)(bits >> rng_below(rng, 64)), exponent);
        break;
    case 6: // around the subnormal numbers
        snprintf(text, room, "%llu.%llue-%d", (unsigned long long)rng_below(rng, 100), (unsigned long long)bits,
                 (int)rng_between(rng, 300, 326));
        break;
    default: // integers
        snprintf(text, room, "%lld", (long long)bits >> rng_below(rng, 64));
        break;
    }
}

static void test_random(struct rng *rng)
{
    char text[512];
    int wrong = 0, count = 1000000;
    for (int i = 0; i < count && wrong < 10; i++) {
        random_text(rng, text, sizeof text);
        wrong += !agrees(text);
    }
    tap_is_int(wrong, 0, "%d random numbers agree with the C library", count);
}

static void test_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "it_IT.UTF-8"};
    size_t i = 0;
    while (i < sizeof names / sizeof *names && !setlocale(LC_ALL, names[i]))
        i++;
    if (i == sizeof names / sizeof *names) {
        tap_skip("no locale with a decimal comma is installed");
        return;
    }
    char line[64] = "1.2345678901234567890123456789e-310\n";
    struct weft__number number;
    const char *end = weft__number_scan(line, &number);
    double value = end ? weft__number_f64(&powers, &number, line, end, plain) : 0;
    setlocale(LC_ALL, "C");
    tap_ok(same_f64(value, 1.2345678901234567890123456789e-310), "the locale %s changes nothing", names[i]);
}

int main(void)
{
    struct rng rng = rng_start();
    weft__powers_fill(&powers);
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        tap_bail("newlocale failed");
    test_known();
    test_rejected();
    test_fortran();
    test_i32();
    test_random(&rng);
    test_locale();
    freelocale(plain);
    return tap_done();
}
