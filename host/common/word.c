// SPDX-License-Identifier: Apache-2.0
// Parses numbers, sizes and other words of command lines.
#include "host/common/word.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

int bench_word_number(int64_t *out, const char *text, int64_t low, int64_t high)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value < low || value > high || *text == ' ' || *text == '+')
        return 0;
    *out = value;
    return 1;
}

int bench_word_size(int64_t *out, const char *text)
{
    static const char units[] = "KMGT";
    char digits[24];
    const size_t length = strlen(text);
    const char *unit = length ? strchr(units, text[length - 1]) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    int64_t value;
    if (length >= sizeof digits)
        return 0;
    memcpy(digits, text, length + 1);
    if (unit)
        digits[length - 1] = 0;
    if (!bench_word_number(&value, digits, 1, INT64_MAX >> shift))
        return 0;
    *out = value << shift;
    return 1;
}

int bench_word_ofs(enum weft_ofs *out, const char *text)
{
    if (strcmp(text, "32") && strcmp(text, "64"))
        return 0;
    *out = *text == '6' ? WEFT_OFS_64 : WEFT_OFS_32;
    return 1;
}

int bench_word_complex(enum weft_mtx_complex *out, const char *text)
{
    if (strcmp(text, "real") && strcmp(text, "imag"))
        return 0;
    *out = *text == 'r' ? WEFT_MTX_COMPLEX_REAL : WEFT_MTX_COMPLEX_IMAG;
    return 1;
}

int bench_word_is_stream(const char *text)
{
    return text && !strcmp(text, "-");
}

const char *bench_word_refused(char brief[3], char **argv)
{
    const char *last = argv[optind - 1];
    if (optopt <= 0 || optopt > 255 || !strncmp(last, "--", 2))
        return last;
    brief[0] = '-';
    brief[1] = (char)optopt;
    brief[2] = 0;
    return brief;
}
