// SPDX-License-Identifier: Apache-2.0
// The tables for people: whatever was measured, 100 columns at most, and cells under their heads.
#include "bench/run/table.h"
#include "tests/support/tap.h"

#include <math.h>
#include <string.h>

// The text of a head and a row, in buf.
static void print(char *buf, size_t size, struct bench_table table, const struct bench_record *record)
{
    struct bench_result result = {.record = *record, .outcome = BENCH_DONE};
    table.out = tmpfile();
    if (!table.out)
        tap_bail("no temporary file");
    bench_table_head(&table, "spmv", NULL, NULL, -1);
    bench_table_row(&table, &result);
    rewind(table.out);
    buf[fread(buf, 1, size - 1, table.out)] = 0;
    fclose(table.out);
}

// How often the table of three such rows says what its mark means.
static int said(const struct bench_record *record)
{
    char text[4096];
    struct bench_result result = {.record = *record, .outcome = BENCH_DONE};
    struct bench_table table = {.out = tmpfile()};
    int count = 0;
    if (!table.out)
        tap_bail("no temporary file");
    for (int i = 0; i < 3; i++) {
        bench_table_row(&table, &result);
        bench_table_end(&table);
    }
    rewind(table.out);
    text[fread(text, 1, sizeof text - 1, table.out)] = 0;
    fclose(table.out);
    for (const char *at = text; (at = strstr(at, "!: noisy")); at++)
        count++;
    return count;
}

// Length of the longest line.
static int width(const char *text)
{
    int most = 0;
    for (int n; *text; text += n + (text[n] != 0)) {
        n = (int)strcspn(text, "\n");
        most = n > most ? n : most;
    }
    return most;
}

static struct bench_record record(double times)
{
    struct bench_record r;
    bench_record_clear(&r);
    r.backend = "rocsparse";
    r.algo = "csr_adaptiv";
    r.device_index = 10;
    r.median_ms = 0.002819 * times;
    r.end_to_end_ms = 0.002819 * times;
    r.products_ms = 281.9 * fmin(times, 1e6); // no total takes longer than a few days
    r.noise = r.roof = 0.059 * times;
    r.gbps = r.gflops = 7.84 * times;
    r.speedup_ref = r.speedup_best_vendor = 1.5 * times;
    r.format_bytes = (int64_t)(1000000 * times);
    return r;
}

static void has(const char *text, const char *part, const char *what)
{
    if (!tap_ok(strstr(text, part) != NULL, "%s: %s", what, part))
        tap_note("in %s", text);
}

int main(void)
{
    char text[4096];
    struct bench_record r = record(1);
    struct bench_table all = {.gflops = 1, .vendors = 1}, products = {.gflops = 1, .vendors = 1, .products = 100000};
    print(text, sizeof text, all, &r);
    has(text, " 0.002819   5.9%    7.84    7.84   5.9%    1.50     1.50  0.002819  ok\n", "cells");
    print(text, sizeof text, products, &r);
    has(text, "    GB/s   roof   x ref x vendor      MB  total ms\n", "with products, the bytes for GFLOP/s");
    has(text, "    7.84   5.9%    1.50     1.50    1.00     281.9  ok\n", "and their time is the total");
    for (double times = 1e-3; times < 1e9; times *= 7) {
        r = record(times);
        print(text, sizeof text, all, &r);
        tap_ok(width(text) <= 100, "%g times the numbers, every column: %d wide", times, width(text));
        print(text, sizeof text, products, &r);
        tap_ok(width(text) <= 100, "%g times the numbers, with products: %d wide", times, width(text));
    }
    r = record(1);
    r.noise = 173.353;
    r.speedup_ref = 123456789;
    print(text, sizeof text, all, &r);
    has(text, " 17335%!   7.84    7.84   5.9%   1e+08     1.50", "decimals go first, then digits; noisy");
    tap_ok(said(&r) == 1 && (r.noise = 0.2, said(&r) == 0), "what the mark means is said once");
    r.noise = r.roof = r.speedup_ref = NAN;
    print(text, sizeof text, all, &r);
    has(text, " 0.002819      -    7.84    7.84      -       -     1.50", "what there is not");
    return tap_done();
}
