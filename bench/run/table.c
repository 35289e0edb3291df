// SPDX-License-Identifier: Apache-2.0
// Rows of the tables for people: numbers in columns of fixed width.
#include "table.h"
#include "host/common/name.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *bench_ms_text(char text[24], double ms)
{
    int whole = ms >= 1 ? (int)log10(ms) + 1 : 0;
    int digits = ms <= 0 ? 1 : whole >= 4 ? 0 : whole > 0 ? 4 - whole : 4 - (int)ceil(log10(ms));
    snprintf(text, 24, "%.*f", digits > 7 ? 7 : digits, ms);
    return text;
}

void bench_table_head(const struct bench_table *table, const char *op, const char *matrix, const struct weft_csr *a,
                      int64_t seed)
{
    if (!table->out)
        return;
    fprintf(table->out, "\n%s", op);
    if (matrix)
        fprintf(table->out, " of %s", bench_text_line(matrix).text);
    if (a)
        fprintf(table->out, ": %" PRId64 " x %" PRId64 ", %" PRId64 " entries, %s, %zu-bit offsets", a->m, a->n, a->nnz,
                weft_type_name(a->type), weft_ofs_bytes(a->ofs) * 8);
    if (seed >= 0)
        fprintf(table->out, ", seed %" PRId64, seed);
    if (table->products > 0)
        fprintf(table->out, "; total: one conversion, %" PRId64 " runs", table->products);
    fprintf(table->out, "\n  %-9s %-11s %4s %10s %6s %7s", "backend", "algorithm", "dev", "median ms", "noise", "GB/s");
    if (table->gflops && table->products <= 0)
        fprintf(table->out, " %7s", "GFLOP/s");
    fprintf(table->out, " %6s %7s", "roof", "x ref");
    if (table->vendors)
        fprintf(table->out, " %8s", "x vendor");
    if (table->products > 0)
        fprintf(table->out, " %7s", "MB");
    fprintf(table->out, " %9s\n", "total ms");
}

// A number in a column, or "-". One that is too wide for its column (the noise of a sample that was interrupted) loses
// its decimals first, then its digits. `mark` stands between it and the column before.
static void marked_cell(FILE *out, char mark, int width, int digits, double value, const char *unit)
{
    char text[352]; // the widest double without an exponent has 309 digits
    putc(mark, out);
    width -= (int)strlen(unit);
    if (!isfinite(value)) {
        fprintf(out, "%*s", width + (int)strlen(unit), "-");
        return;
    }
    snprintf(text, sizeof text, "%.*f", digits, value);
    if ((int)strlen(text) > width)
        snprintf(text, sizeof text, "%.0f", value);
    if ((int)strlen(text) > width)
        snprintf(text, sizeof text, "%.0e", value);
    fprintf(out, "%*s%s", width, text, unit);
}

static void cell(FILE *out, int width, int digits, double value, const char *unit)
{
    marked_cell(out, ' ', width, digits, value, unit);
}

void bench_table_row(struct bench_table *table, const struct bench_result *result)
{
    const struct bench_record *r = &result->record;
    char device[24] = "host", ms[24];
    if (!table->out)
        return;
    if (r->device_index >= 0)
        snprintf(device, sizeof device, "%" PRId64, r->device_index);
    const int at = fprintf(table->out, "  %-9s ", r->backend); // a longer name takes from the next column
    fprintf(table->out, "%-*s %4s", 23 - at, r->algo, device);
    switch (result->outcome) {
    case BENCH_SKIPPED:
        fprintf(table->out, "  skipped: %s\n", result->why);
        break;
    case BENCH_DIFFERS:
        fprintf(table->out, "  WRONG: %s\n", result->why);
        break;
    case BENCH_REFUSED:
    case BENCH_FAILED:
        fprintf(table->out, "  failed: %s\n", result->why);
        break;
    case BENCH_DONE:
        fprintf(table->out, " %10s", bench_ms_text(ms, r->median_ms));
        cell(table->out, 6, 1, 100 * r->noise, "%");
        if (bench_noisy(r->noise) && !table->noisy)
            table->noisy = 1;
        marked_cell(table->out, bench_noisy(r->noise) ? '!' : ' ', 7, r->gbps < 100 ? 2 : 1, r->gbps, "");
        if (table->gflops && table->products <= 0)
            cell(table->out, 7, r->gflops < 100 ? 2 : 1, r->gflops, "");
        cell(table->out, 6, 1, 100 * r->roof, "%");
        cell(table->out, 7, r->speedup_ref < 100 ? 2 : 1, r->speedup_ref, "");
        if (table->vendors)
            cell(table->out, 8, 2, r->speedup_best_vendor, "");
        if (table->products > 0)
            cell(table->out, 7, 2, r->format_bytes < 0 ? NAN : (double)r->format_bytes * 1e-6, "");
        fprintf(table->out, " %9s", bench_ms_text(ms, table->products > 0 ? r->products_ms : r->end_to_end_ms));
        fputs("  ok", table->out);
        if (isfinite(r->regret))
            fprintf(table->out, ", %.2f of the best", r->regret);
        fputs("\n", table->out);
        if (r->hash)
            fprintf(table->out, "  %-9s %-11s %4s %s\n", "", "", "hash", r->hash);
        break;
    }
    fflush(table->out);
}

void bench_table_end(struct bench_table *table)
{
    if (!table->out || table->noisy != 1)
        return;
    fputs("  " BENCH_NOISE_TEXT "\n", table->out);
    fflush(table->out);
    table->noisy = 2;
}
