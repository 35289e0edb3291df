// SPDX-License-Identifier: Apache-2.0
// What a study found: the table for people, a record for each order and kernel.
#include "study.h"
#include "host/common/json.h"
#include "host/common/name.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct span {
    double min, max, mean;
};

static struct span span_of(const double *values, int count)
{
    struct span out = {values[0], values[0], 0};
    for (int i = 0; i < count; i++) {
        out.min = fmin(out.min, values[i]);
        out.max = fmax(out.max, values[i]);
        out.mean += values[i] / count;
    }
    return out;
}

// ---- table -----------------------------------------------------------------------------------------------------

void study_table(FILE *out, const struct study *s)
{
    const struct bench_options *o = &s->bench->options;
    fprintf(out, "\n%s: %lld x %lld, %lld entries, %s; %d trials of %g s, seeds %llu to %llu\n",
            bench_text_line(s->bench->matrix).text, (long long)s->a->m, (long long)s->a->n, (long long)s->a->nnz,
            weft_type_name(s->a->type), s->trials, o->trial_s, (unsigned long long)o->seed,
            (unsigned long long)o->seed + (unsigned long long)s->trials - 1);
    for (size_t i = 0; i < s->norders; i++) {
        const struct study_order *order = &s->orders[i];
        const struct span h = span_of(order->entropy, s->trials);
        fprintf(out, "%-12s  %-10s %-12s %4s %8s %8s %8s  %s\n", bench_order_name(order->order), "backend", "algorithm",
                "dev", "min", "max", "mean", "GFLOP/s; mean over that of regular");
        for (size_t l = 0; l < s->nlines; l++) {
            const struct study_line *line = &s->lines[l];
            const struct study_cell *cell = &order->cells[l];
            char device[12] = "host";
            if (line->slot->device.ctx)
                snprintf(device, sizeof device, "%d", line->slot->device.info.index);
            fprintf(out, "%-12s  %-10s %-12s %4s ", "", line->backend->name, line->algo, device);
            if (cell->why[0]) {
                fprintf(out, "%s: %.60s\n", cell->wrong ? "WRONG" : cell->skipped ? "skipped" : "failed", cell->why);
                continue;
            }
            const struct span g = span_of(cell->gflops, s->trials);
            fprintf(out, "%8.3f %8.3f %8.3f", g.min, g.max, g.mean);
            if (i && !s->orders[0].cells[l].why[0]) {
                const double regular = span_of(s->orders[0].cells[l].gflops, s->trials).mean;
                if (regular > 0)
                    fprintf(out, "  %5.3f", g.mean / regular);
                else // of a matrix without entries
                    fprintf(out, "  %5s", "-");
            }
            putc('\n', out);
        }
        fprintf(out, "%-12s  %-28s %8.3f %8.3f %8.3f\n", "", "H", h.min, h.max, h.mean);
    }
}

// ---- records ---------------------------------------------------------------------------------------------------

// One record: what both forms hold but the arrays of trials.
static cJSON *record_make(const struct study *s, size_t i, size_t l, const char *date)
{
    const struct bench *b = s->bench;
    const struct study_order *order = &s->orders[i];
    const struct study_line *line = &s->lines[l];
    const struct study_cell *cell = &order->cells[l];
    const struct bench_device *device = line->slot->device.ctx ? &line->slot->device : NULL;
    const struct span h = span_of(order->entropy, s->trials);
    cJSON *r = cJSON_CreateObject();
    cJSON_AddStringToObject(r, "study", b->options.study);
    cJSON_AddStringToObject(r, "matrix", b->matrix);
    cJSON_AddNumberToObject(r, "m", (double)s->a->m);
    cJSON_AddNumberToObject(r, "n", (double)s->a->n);
    cJSON_AddNumberToObject(r, "nnz", (double)s->a->nnz);
    cJSON_AddStringToObject(r, "type", weft_type_name(s->a->type));
    cJSON_AddNumberToObject(r, "index", (double)weft_ofs_bytes(s->a->ofs) * 8);
    cJSON_AddStringToObject(r, "order", bench_order_name(order->order));
    cJSON_AddStringToObject(r, "backend", line->backend->name);
    cJSON_AddStringToObject(r, "algo", line->algo);
    if (line->chosen[0])
        cJSON_AddStringToObject(r, "chosen", line->chosen);
    cJSON_AddStringToObject(r, "device", device ? device->info.name : bench_host_name());
    if (device) {
        cJSON_AddNumberToObject(r, "device_index", device->info.index);
        cJSON_AddStringToObject(r, "device_type", device->info.type & CL_DEVICE_TYPE_GPU ? "GPU" : "CPU");
        cJSON_AddStringToObject(r, "platform", device->info.platform);
        cJSON_AddStringToObject(r, "driver", device->info.driver);
    }
    cJSON_AddStringToObject(r, "version", line->backend->version ? line->backend->version() : WEFT_VERSION);
    bench_json_count(r, "seed", b->options.seed);
    cJSON_AddNumberToObject(r, "trials", s->trials);
    cJSON_AddNumberToObject(r, "trial_s", b->options.trial_s);
    cJSON_AddBoolToObject(r, "verified", !cell->why[0]);
    if (cell->why[0]) {
        cJSON_AddStringToObject(r, cell->skipped ? "skipped" : "error", cell->why);
    } else {
        const struct span g = span_of(cell->gflops, s->trials);
        cJSON_AddNumberToObject(r, "gflops_min", g.min);
        cJSON_AddNumberToObject(r, "gflops_max", g.max);
        cJSON_AddNumberToObject(r, "gflops_mean", g.mean);
        cJSON_AddNumberToObject(r, "runs_min", (double)cell->runs);
    }
    cJSON_AddNumberToObject(r, "entropy_min", h.min);
    cJSON_AddNumberToObject(r, "entropy_max", h.max);
    cJSON_AddNumberToObject(r, "entropy_mean", h.mean);
    cJSON_AddNumberToObject(r, "order_ms", order->order_ms);
    if (cell->permute_ms >= 0)
        cJSON_AddNumberToObject(r, "permute_ms", cell->permute_ms);
    cJSON_AddNumberToObject(r, "surprises", order->measures.surprises);
    cJSON_AddNumberToObject(r, "x_lines", order->measures.x_lines);
    cJSON_AddNumberToObject(r, "waste", order->measures.waste);
    cJSON_AddNumberToObject(r, "imbalance", order->measures.imbalance);
    cJSON_AddStringToObject(r, "date", date);
    cJSON_AddStringToObject(r, "command", b->command);
    return r;
}

static const char *const columns[] = {
    "study",      "matrix",      "m",        "n",           "nnz",          "type",         "index",    "order",
    "backend",    "algo",        "chosen",   "device",      "device_index", "device_type",  "platform", "driver",
    "version",    "seed",        "trials",   "trial_s",     "verified",     "error",        "skipped",  "gflops_min",
    "gflops_max", "gflops_mean", "runs_min", "entropy_min", "entropy_max",  "entropy_mean", "order_ms", "permute_ms",
    "surprises",  "x_lines",     "waste",    "imbalance",   "date",         "command"};
enum { COLUMNS = sizeof columns / sizeof *columns };

int study_csv_head(FILE *out)
{
    for (int i = 0; i < COLUMNS; i++)
        fprintf(out, "%s%s", i ? "," : "", columns[i]);
    return putc('\n', out) != EOF;
}

static int csv_row(FILE *out, const cJSON *r)
{
    for (int i = 0; i < COLUMNS; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(r, columns[i]);
        if (i)
            putc(',', out);
        if (cJSON_IsBool(value)) {
            fputs(cJSON_IsTrue(value) ? "true" : "false", out);
        } else if (cJSON_IsRaw(value)) {
            fputs(value->valuestring, out);
        } else if (cJSON_IsNumber(value)) {
            fprintf(out, "%.17g", value->valuedouble);
        } else if (value) {
            putc('"', out);
            for (const char *at = value->valuestring; *at; at++)
                fputs(*at == '"' ? "\"\"" : (char[2]){*at, 0}, out);
            putc('"', out);
        }
    }
    return putc('\n', out) != EOF;
}

static int json_line(FILE *out, const cJSON *r)
{
    char *text = cJSON_PrintUnformatted(r);
    const int good = text && fprintf(out, "%s\n", text) > 0;
    cJSON_free(text);
    return good;
}

int study_records(const struct study *s)
{
    const struct bench *b = s->bench;
    const time_t now = time(NULL);
    struct tm utc;
    char date[32];
    int good = 1;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    for (size_t i = 0; i < s->norders && good; i++)
        for (size_t l = 0; l < s->nlines && good; l++) {
            const struct study_cell *cell = &s->orders[i].cells[l];
            cJSON *r = record_make(s, i, l, date);
            if (b->csv)
                good = csv_row(b->csv, r);
            cJSON *seeds = cJSON_AddArrayToObject(r, "seeds");
            for (int t = 0; t < s->trials; t++)
                cJSON_AddItemToArray(seeds, bench_json_whole(b->options.seed + (uint64_t)t));
            cJSON_AddItemToObject(r, "entropy", cJSON_CreateDoubleArray(s->orders[i].entropy, s->trials));
            if (!cell->why[0])
                cJSON_AddItemToObject(r, "gflops", cJSON_CreateDoubleArray(cell->gflops, s->trials));
            if (b->json && good)
                good = json_line(b->json, r);
            cJSON_Delete(r);
        }
    return good;
}
