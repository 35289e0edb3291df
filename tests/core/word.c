// SPDX-License-Identifier: Apache-2.0
// Counts as people write them, and names that were meant.
#include "host/internal/inside.h"
#include "tests/support/tap.h"

#include <string.h>

static void counts(void)
{
    static const struct {
        const char *text;
        int64_t unit;
        int length;
        int64_t value;
    } cases[] = {
        {"0", 1000, 1, 0},
        {"12,", 1000, 2, 12},
        {"-7", 1000, 2, -7},
        {"10M", 1000, 3, 10000000},
        {"10M", 1024, 3, 10 << 20},
        {"1e6", 1000, 3, 1000000},
        {"1E+3", 1000, 4, 1000},
        {"1.5k", 1000, 4, 1500},
        {"1.5K", 1024, 4, 1536},
        {"2.50e1", 1000, 6, 25},
        {"2e3M", 1000, 4, 2000000000},
        {"1.5G", 1024, 4, 3 << 29},
        {"8T", 1024, 2, (int64_t)8 << 40},
        {"9223372036854775807", 1000, 19, INT64_MAX},
        {"000000000000000000000001", 1000, 24, 1},
        {"0e999999999", 1000, 11, 0},
        {"9223372036854775808", 1000, -1, 0},
        {"1e19", 1000, -1, 0},
        {"1e99999999999", 1000, -1, 0},
        {"9999999T", 1024, -1, 0},
        {"1.5", 1000, 0, 0},
        {"1.0005k", 1000, 0, 0},
        {"", 1000, 0, 0},
        {"-", 1000, 0, 0},
        {"k", 1000, 0, 0},
        {"1.", 1000, 0, 0},
        {".5k", 1000, 0, 0},
        {"x1", 1000, 0, 0},
        {" 1", 1000, 0, 0},
        {"+1", 1000, 0, 0},
        {"1e", 1000, 1, 1}, // the rest is the caller's to refuse
        {"1MM", 1000, 2, 1000000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = 0;
        const int length = weft__word_count(&value, cases[i].text, cases[i].unit);
        tap_ok(length == cases[i].length && value == cases[i].value, "\"%s\" by %d is %lld", cases[i].text,
               (int)cases[i].unit, (long long)value);
    }
}

static void names(void)
{
    static const struct {
        int number;
        const char *name;
    } pairs[] = {{0, "transpose"}, {1, "spmv"}, {2, "scan"}, {3, "merge"},    {4, NULL},
                 {5, "f32"},       {6, "x"},    {7, "csr"},  {8, "csr_lanes"}};
    static const char *const cases[][2] = {{"spvm", "spmv"},
                                           {"SPMV", "spmv"},
                                           {"trans", "transpose"},
                                           {"transopse", "transpose"},
                                           {"f23", "f32"},
                                           {"scn", "scan"},
                                           {"mergetrans", "merge"},
                                           {"csr_lane", "csr_lanes"},
                                           {"csr_scalars", "csr"},
                                           {"histogram", NULL},
                                           {"", NULL},
                                           {"y", NULL},
                                           {"zz", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = weft__word_nearest(cases[i][0], strlen(cases[i][0]), &pairs[0].name,
                                               sizeof pairs / sizeof *pairs, sizeof *pairs);
        tap_ok(found && cases[i][1] ? !strcmp(found, cases[i][1]) : found == cases[i][1], "\"%s\" may be %s",
               cases[i][0], found ? found : "nothing");
    }
    char longest[200];
    memset(longest, 'a', sizeof longest);
    tap_ok(!weft__word_nearest(longest, sizeof longest, &pairs[0].name, sizeof pairs / sizeof *pairs, sizeof *pairs),
           "a word of 200 letters");
}

int main(void)
{
    counts();
    names();
    return tap_done();
}
