// SPDX-License-Identifier: Apache-2.0
// Parses numbers, sizes and other words of command lines.
#include "host/common/word.h"
#include "host/common/order.h"
#include "host/internal/inside.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int count_parse(int64_t *out, const char *text, int64_t unit, int64_t low, int64_t high)
{
    int64_t value;
    const int length = weft__word_count(&value, text, unit);
    if (length <= 0 || text[length] || value < low || value > high)
        return 0;
    *out = value;
    return 1;
}

int bench_word_number(int64_t *out, const char *text, int64_t low, int64_t high)
{
    return count_parse(out, text, 1000, low, high);
}

int bench_word_size(int64_t *out, const char *text)
{
    return count_parse(out, text, 1024, 1, INT64_MAX);
}

int bench_word_ofs(enum weft_ofs *out, const char *text)
{
    return !weft_ofs_parse(out, text);
}

int bench_word_complex(enum weft_mtx_complex *out, const char *text)
{
    enum weft_mtx_complex part;
    if (weft_mtx_complex_parse(&part, text) || part == WEFT_MTX_COMPLEX_REFUSE)
        return 0;
    *out = part;
    return 1;
}

int bench_word_is_stream(const char *text)
{
    return text && !strcmp(text, "-");
}

const char *bench_word_file(int option, char **argv)
{
    if (option == ':')
        return "-";
    if (optarg != argv[optind - 1] || *optarg != '-' || !optarg[1])
        return optarg;
    optind--;
    return "-";
}

int bench_word_is_file(const char *text)
{
    return !text || *text != '-' || !text[1];
}

void bench_word_limit(char *text)
{
    static const char member[] = "limit_bytes of weft_mtx_params", option[] = "--limit";
    char *at = strstr(text, member);
    if (!at)
        return;
    memcpy(at, option, sizeof option - 1);
    memmove(at + sizeof option - 1, at + sizeof member - 1, strlen(at + sizeof member - 1) + 1);
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

struct bench_word_hint bench_word_hint(const char *text, size_t length, const void *words, size_t count, size_t stride)
{
    struct bench_word_hint hint = {""};
    const char *word = weft__word_nearest(text, length, words, count, stride);
    if (word)
        snprintf(hint.text, sizeof hint.text, ": did you mean %s?", word);
    return hint;
}

void bench_word_fields(int count, ...)
{
    va_list fields;
    va_start(fields, count);
    for (int i = 0; i < count; i++) {
        const char *at = va_arg(fields, const char *);
        if (i)
            putchar('\t');
        for (; at && *at; at++)
            if (*at == '\n')
                fputs("\\n", stdout);
            else
                putchar(*at);
    }
    putchar('\n');
    va_end(fields);
}

void bench_word_values(const char *name)
{
    static const char *const values[][8] = {
        {"index", "32", "64"},
        {"complex", "real", "imag"},
        {"device", "gpu", "cpu"},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int k = 1; !strcmp(values[i][0], name) && values[i][k]; k++)
            bench_word_fields(3, "word", values[i][k], "");
    for (enum weft_type t = WEFT_TYPE_F32; !strcmp(name, "type") && t <= WEFT_TYPE_PATTERN; t++)
        bench_word_fields(3, "word", weft_type_name(t), "");
    for (int i = 0; !strncmp(name, "order", 5) && i < BENCH_ORDERS; i++)
        bench_word_fields(3, "word", bench_order_name(i), "");
}

const char *bench_word_environment(void)
{
    const char *stage = getenv("WEFT_STAGE"), *selftest = getenv("WEFT_SELFTEST");
    int64_t values[4], high[] = {WEFT__STAGE_SLOTS_MOST, 65536, INT32_MAX, 65536};
    size_t count = 0;
    int good = stage && *stage;
    for (const char *at = stage; good && at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char word[16];
        const size_t length = strcspn(at, ",");
        good = count < 4 && length < sizeof word;
        if (good) {
            snprintf(word, sizeof word, "%.*s", (int)length, at);
            good = bench_word_number(&values[count], word, 0, high[count]) && !word[strspn(word, "0123456789")];
            count++;
        }
    }
    if (stage && *stage && !good)
        return "WEFT_STAGE wants up to four numbers with commas: slots (64 at most), KiB of a slot, threads, KiB of a "
               "piece";
    if (selftest && *selftest && strcmp(selftest, "0") != 0 && strcmp(selftest, "1") != 0)
        return "WEFT_SELFTEST is 0, which turns self-tests off, or 1";
    return NULL;
}
