// SPDX-License-Identifier: Apache-2.0
// weft-bench --compare: judges every pair of results, as a table and as JSON.
#include "compare.h"
#include "bench/run/block.h"
#include "bench/run/table.h"
#include "host/common/name.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGES_MAX = 48, SHOWN_MAX = 3 };

// ---- what there is to say --------------------------------------------------------------------------------------

// A part of the time, or a number of bytes, in both; ms NaN: not in this one.
struct change {
    char name[80];
    struct bench_time a, b;
};

struct pair {
    const struct compare_entry *a, *b;
    struct bench_time time_a, time_b;
    enum bench_verdict verdict;
    double copy_a, copy_b, share_a, share_b; // copy bandwidth, the share of it that was reached; NaN: not measured
    double drift;                            // on one device: factor between its copy bandwidths; else 1
    struct change phases[CHANGES_MAX], kernels[CHANGES_MAX], bytes[CHANGES_MAX];
    size_t nphases, nkernels, nbytes;
};

static double gap(const struct change *c)
{
    return (isnan(c->b.ms) ? 0 : c->b.ms) - (isnan(c->a.ms) ? 0 : c->a.ms);
}

static int by_gap(const void *x, const void *y)
{
    double a = fabs(gap(x)), b = fabs(gap(y));
    return (a < b) - (a > b);
}

// The change of this name, made when it is new; NULL: no room.
static struct change *change_of(struct change *list, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (!strcmp(list[i].name, name))
            return &list[i];
    if (*count == CHANGES_MAX)
        return NULL;
    struct change *c = &list[(*count)++];
    snprintf(c->name, sizeof c->name, "%s", name);
    c->a.ms = c->b.ms = NAN;
    return c;
}

// Add the times of the objects in an array, those with one name together, to side a or b.
static void array_add(struct change *list, size_t *count, const cJSON *array, int side_b)
{
    const cJSON *each;
    cJSON_ArrayForEach(each, array)
    {
        char name[80];
        struct bench_time time;
        const char *phase = compare_text(each, "phase");
        snprintf(name, sizeof name, "%.60s%s%.16s", compare_text(each, "name"),
                 *phase && strcmp(phase, "kernel") ? " in " : "", strcmp(phase, "kernel") ? phase : "");
        struct change *c = compare_time_of(&time, each, "ms") ? change_of(list, count, name) : NULL;
        struct bench_time *to = !c ? NULL : side_b ? &c->b : &c->a;
        if (to && isnan(to->ms))
            *to = time;
        else if (to)
            *to = (struct bench_time){to->ms + time.ms, to->low + time.low, to->high + time.high};
    }
}

static void key_add(struct change *list, size_t *count, const char *name, const cJSON *a, const cJSON *b,
                    const char *key)
{
    struct bench_time time_a, time_b;
    int has_a = compare_time_of(&time_a, a, key), has_b = compare_time_of(&time_b, b, key);
    struct change *c = has_a || has_b ? change_of(list, count, name) : NULL;
    if (c && has_a)
        c->a = time_a;
    if (c && has_b)
        c->b = time_b;
}

static void roof_of(const struct compare_entry *e, int profile, double *copy, double *share)
{
    if (profile) {
        *copy = compare_number(e->place ? cJSON_GetObjectItemCaseSensitive(e->place, "ceilings") : NULL, "copy_gbps");
        *share = compare_number(cJSON_GetObjectItemCaseSensitive(e->line, "roofline"), "copy_share");
    } else {
        *copy = compare_number(e->line, "copy_gbps");
        *share = compare_number(e->line, "roof");
    }
}

static void pair_fill(struct pair *p, const struct compare_entry *a, int profile)
{
    // Beside the time that is compared. Costs of compiling are measured once, by some lines alone.
    static const char *const phase_keys[] = {"write",      "write_ms", "read",       "read_ms", "convert",
                                             "convert_ms", "analyse",  "analyse_ms", "tune",    "tune_ms"};
    static const char *const byte_keys[] = {"write", "read", "copy", "fill", "kernel_min"};
    static const char *const line_bytes[] = {"bytes_min", "format_bytes", "workspace_bytes", "peak_bytes"};
    *p = (struct pair){.a = a, .b = a->match};
    const cJSON *x = a->line, *y = a->match->line;
    const char *time = profile ? "end_to_end_ms" : "median_ms";
    compare_time_of(&p->time_a, x, time);
    compare_time_of(&p->time_b, y, time);
    roof_of(p->a, profile, &p->copy_a, &p->share_a);
    roof_of(p->b, profile, &p->copy_b, &p->share_b);
    p->drift = !strcmp(a->device, a->match->device) ? p->copy_a / p->copy_b : 1;
    p->drift = p->drift > 0 ? fmax(p->drift, 1 / p->drift) : 1;
    p->verdict = bench_judge(&p->time_a, &p->time_b, p->drift);
    if (profile) {
        for (int side = 0; side < 2; side++) {
            const cJSON *run = side ? y : x;
            array_add(p->phases, &p->nphases, cJSON_GetObjectItemCaseSensitive(run, "phases"), side);
            array_add(p->kernels, &p->nkernels, cJSON_GetObjectItemCaseSensitive(run, "kernels"), side);
        }
        for (size_t i = 0; i < sizeof byte_keys / sizeof *byte_keys; i++)
            key_add(p->bytes, &p->nbytes, byte_keys[i], cJSON_GetObjectItemCaseSensitive(x, "bytes"),
                    cJSON_GetObjectItemCaseSensitive(y, "bytes"), byte_keys[i]);
    } else {
        for (size_t i = 0; i < sizeof phase_keys / sizeof *phase_keys; i += 2)
            key_add(p->phases, &p->nphases, phase_keys[i], x, y, phase_keys[i + 1]);
        for (size_t i = 0; i < sizeof line_bytes / sizeof *line_bytes; i++)
            key_add(p->bytes, &p->nbytes, line_bytes[i], x, y, line_bytes[i]);
    }
    qsort(p->phases, p->nphases, sizeof *p->phases, by_gap);
    qsort(p->kernels, p->nkernels, sizeof *p->kernels, by_gap);
}

static int throttled(const struct compare_entry *e)
{
    const cJSON *counters = cJSON_GetObjectItemCaseSensitive(e->line, "counters");
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(counters, "throttled"));
}

// ---- for people ------------------------------------------------------------------------------------------------

// "12.5", in ms, or of bytes in 10^6.
static const char *value_text(char text[24], double value, int bytes)
{
    return bench_ms_text(text, bytes ? value * 1e-6 : value);
}

// "  phases   write 12.5 -> 9.1 ms; kernel 5.2 -> 4.1 ms": those that changed by more than `least`. A tilde: quartiles
// that overlap.
static void changes_print(FILE *out, const char *title, const struct change *list, size_t count, double least,
                          int bytes)
{
    const char *unit = bytes ? "MB" : "ms";
    int shown = 0;
    for (size_t i = 0; i < count && shown < SHOWN_MAX; i++) {
        const struct change *c = &list[i];
        char a[24], b[24];
        if (!(fabs(gap(c)) > (bytes ? 0.001 * fmax(c->a.ms, c->b.ms) : least)))
            continue;
        fprintf(out, "%s%s", shown++ ? "; " : title, c->name);
        if (isnan(c->a.ms))
            fprintf(out, " only in B, %s %s", value_text(b, c->b.ms, bytes), unit);
        else if (isnan(c->b.ms))
            fprintf(out, " only in A, %s %s", value_text(a, c->a.ms, bytes), unit);
        else
            fprintf(out, "%s %s -> %s %s", !bytes && bench_judge(&c->a, &c->b, 1) == BENCH_UNCLEAR ? " ~" : "",
                    value_text(a, c->a.ms, bytes), value_text(b, c->b.ms, bytes), unit);
    }
    if (shown)
        putc('\n', out);
}

static void pair_print(FILE *out, const struct pair *p)
{
    const struct bench_time *a = &p->time_a, *b = &p->time_b;
    char ms_a[24], ms_b[24];
    double least = 0.01 * fmax(a->ms, b->ms);
    double ratio =
        p->verdict == BENCH_SLOWER || (p->verdict == BENCH_UNCLEAR && b->ms > a->ms) ? b->ms / a->ms : a->ms / b->ms;
    const int at = fprintf(out, "  %-9s ", p->a->backend); // a longer name takes from the next column
    fprintf(out, "%-*s %9s %5.1f%% %9s %5.1f%%  ", 25 - at, p->a->algo, bench_ms_text(ms_a, a->ms),
            100 * (a->high - a->low) / a->ms, bench_ms_text(ms_b, b->ms), 100 * (b->high - b->low) / b->ms);
    if (p->verdict == BENCH_UNCLEAR)
        fprintf(out, "unclear (%.2f x%s)\n", ratio, ratio < 1.005 ? "" : b->ms > a->ms ? " slower" : " faster");
    else
        fprintf(out, "%.2f x %s\n", ratio, bench_verdict_names[p->verdict]);
    changes_print(out, "      phases   ", p->phases, p->nphases, least, 0);
    changes_print(out, "      kernels  ", p->kernels, p->nkernels, least, 0);
    changes_print(out, "      bytes    ", p->bytes, p->nbytes, 0, 1);
    if (fabs(p->share_a - p->share_b) > 0.01 * fmax(p->share_a, p->share_b))
        fprintf(out, "      of copy  %.1f %% of %.4g GB/s -> %.1f %% of %.4g GB/s\n", 100 * p->share_a, p->copy_a,
                100 * p->share_b, p->copy_b);
    if (throttled(p->a) || throttled(p->b))
        fprintf(out, "      clocks   lowered while %s ran\n",
                throttled(p->a) && throttled(p->b) ? "both"
                : throttled(p->a)                  ? "A"
                                                   : "B");
}

// "  A  old.json: weft-bench 0.1.0, 2026-01-01T00:00:00Z"
static void file_print(FILE *out, const char *side, const struct compare_file *f)
{
    const cJSON *from = f->profile ? f->root : f->entries[0].line;
    const char *command = compare_text(from, "command");
    fprintf(out, "%s  %s: version %s, %s\n", side, f->path, compare_text(from, "version"), compare_text(from, "date"));
    if (*command)
        fprintf(out, "   %.96s\n", bench_text_line(command).text);
}

static void head_print(FILE *out, const struct compare_entry *a, const struct compare_entry *b, int profile)
{
    fprintf(out, "\n%s", a->op);
    if (*a->matrix)
        fprintf(out, " of %s", bench_text_line(a->matrix).text);
    if (*a->type)
        fprintf(out, ", %s, %g-bit offsets", a->type, a->index);
    fprintf(out, "\n%s", a->device);
    if (strcmp(a->device, b->device))
        fprintf(out, " (A), %s (B)", b->device);
    fprintf(out, "\n  %-9s %-13s %9s %6s %9s %6s  B is\n", "backend", "algorithm", profile ? "A end ms" : "A ms",
            "noise", profile ? "B end ms" : "B ms", "noise");
}

static int one_block(const struct compare_entry *x, const struct compare_entry *y)
{
    return !strcmp(x->matrix, y->matrix) && !strcmp(x->op, y->op) && !strcmp(x->type, y->type) &&
           !strcmp(x->device, y->device) && !strcmp(x->match->device, y->match->device);
}

// Entries that have no match, or one that was not verified.
static void rest_print(FILE *out, const char *side, const struct compare_file *f)
{
    size_t alone = 0;
    for (size_t i = 0; i < f->count; i++)
        alone += !f->entries[i].match;
    if (alone)
        fprintf(out, "only in %s, or with a later one on the same device: %zu\n", side, alone);
    for (size_t i = 0, shown = 0; i < f->count && shown < 8; i++)
        if (!f->entries[i].match && ++shown)
            fprintf(out, "  %s %s %s %s %s, %s\n", f->entries[i].op, bench_text_line(f->entries[i].matrix).text,
                    f->entries[i].backend, f->entries[i].algo, f->entries[i].type, f->entries[i].device);
    for (size_t i = 0; i < f->count; i++)
        if (f->entries[i].match && !f->entries[i].verified)
            fprintf(out, "not verified in %s: %s %s %s %s %s\n", side, f->entries[i].op,
                    bench_text_line(f->entries[i].matrix).text, f->entries[i].backend, f->entries[i].algo,
                    f->entries[i].type);
}

// ---- for programs ----------------------------------------------------------------------------------------------

static int number_json(cJSON *object, const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    return !isfinite(value) || cJSON_AddNumberToObject(object, name, strtod(text, NULL));
}

static int text_json(cJSON *object, const char *name, const char *text)
{
    return !*text || cJSON_AddStringToObject(object, name, text);
}

static int changes_json(cJSON *to, const char *name, const struct change *list, size_t count, int bytes)
{
    cJSON *array = count ? cJSON_AddArrayToObject(to, name) : NULL;
    int good = array || !count;
    for (size_t i = 0; i < count && good; i++) {
        const struct change *c = &list[i];
        cJSON *item = cJSON_CreateObject();
        good = item && cJSON_AddItemToArray(array, item) && text_json(item, "name", c->name) &&
               number_json(item, bytes ? "a_bytes" : "a_ms", c->a.ms) &&
               number_json(item, bytes ? "b_bytes" : "b_ms", c->b.ms) &&
               (bytes || isnan(c->a.ms) || isnan(c->b.ms) ||
                text_json(item, "verdict", bench_verdict_names[bench_judge(&c->a, &c->b, 1)]));
    }
    return good;
}

static int entry_json(cJSON *item, const struct compare_entry *e)
{
    return text_json(item, "matrix", e->matrix) && text_json(item, "op", e->op) &&
           text_json(item, "backend", e->backend) && text_json(item, "algo", e->algo) &&
           text_json(item, "type", e->type) && number_json(item, "index", e->index < 0 ? NAN : e->index) &&
           text_json(item, "tune", e->tune);
}

static int pair_json(cJSON *array, const struct pair *p)
{
    cJSON *item = cJSON_CreateObject();
    return item && cJSON_AddItemToArray(array, item) && entry_json(item, p->a) &&
           text_json(item, "device_a", p->a->device) && text_json(item, "device_b", p->b->device) &&
           number_json(item, "a_ms", p->time_a.ms) && number_json(item, "b_ms", p->time_b.ms) &&
           number_json(item, "a_noise", (p->time_a.high - p->time_a.low) / p->time_a.ms) &&
           number_json(item, "b_noise", (p->time_b.high - p->time_b.low) / p->time_b.ms) &&
           number_json(item, "speedup", p->time_a.ms / p->time_b.ms) &&
           text_json(item, "verdict", bench_verdict_names[p->verdict]) && number_json(item, "copy_drift", p->drift) &&
           number_json(item, "a_copy_share", p->share_a) && number_json(item, "b_copy_share", p->share_b) &&
           number_json(item, "a_copy_gbps", p->copy_a) && number_json(item, "b_copy_gbps", p->copy_b) &&
           changes_json(item, "phases", p->phases, p->nphases, 0) &&
           changes_json(item, "kernels", p->kernels, p->nkernels, 0) &&
           changes_json(item, "bytes", p->bytes, p->nbytes, 1);
}

static int rest_json(cJSON *document, const char *name, const struct compare_file *f)
{
    cJSON *array = cJSON_AddArrayToObject(document, name);
    int good = array != NULL;
    for (size_t i = 0; i < f->count && good; i++) {
        const struct compare_entry *e = &f->entries[i];
        if (e->match && e->verified)
            continue;
        cJSON *item = cJSON_CreateObject();
        good = item && cJSON_AddItemToArray(array, item) && entry_json(item, e) &&
               text_json(item, "device", e->device) && cJSON_AddBoolToObject(item, "verified", e->verified);
    }
    return good;
}

static int file_json(cJSON *document, const char *name, const struct compare_file *f)
{
    cJSON *item = cJSON_AddObjectToObject(document, name);
    const cJSON *from = f->profile ? f->root : f->entries[0].line;
    return item && text_json(item, "file", f->path) && text_json(item, "version", compare_text(from, "version")) &&
           text_json(item, "date", compare_text(from, "date")) &&
           text_json(item, "command", compare_text(from, "command"));
}

// ---- the whole -------------------------------------------------------------------------------------------------

static int complain(const char *text)
{
    bench_complain("%s", text);
    return BENCH_USAGE;
}

// Judge and show every pair; totals at the end. 0: no memory.
static int pairs_run(const struct compare_file *a, const struct compare_file *b, FILE *table, cJSON *document)
{
    size_t counts[BENCH_VERDICTS] = {0}, count = 0;
    double logs = 0;
    const struct compare_entry *before = NULL;
    cJSON *pairs = cJSON_AddArrayToObject(document, "pairs");
    struct pair *p = malloc(sizeof *p);
    int good = pairs && p;
    for (size_t i = 0; i < a->count && good; i++) {
        const struct compare_entry *e = &a->entries[i];
        if (!compare_verified(e))
            continue;
        pair_fill(p, e, a->profile);
        if (table && (!before || !one_block(before, e)))
            head_print(table, e, e->match, a->profile);
        if (table)
            pair_print(table, p);
        good = pair_json(pairs, p);
        counts[p->verdict]++;
        logs += log(p->time_a.ms / p->time_b.ms);
        count++;
        before = e;
    }
    free(p);
    double mean = count ? exp(logs / (double)count) : NAN;
    if (table) {
        fprintf(table, "\nB of %zu: %zu faster, %zu slower, %zu unclear; speed of B over A, geometric mean: %.3f\n",
                count, counts[BENCH_FASTER], counts[BENCH_SLOWER], counts[BENCH_UNCLEAR], mean);
        rest_print(table, "A", a);
        rest_print(table, "B", b);
    }
    for (int v = 0; v < BENCH_VERDICTS && good; v++)
        good = number_json(document, bench_verdict_names[v], (double)counts[v]);
    return good && number_json(document, "geomean_speedup", mean) && rest_json(document, "rest_a", a) &&
           rest_json(document, "rest_b", b);
}

int bench_compare(struct bench *bench)
{
    const char *path_a = bench->options.sources[0].text, *path_b = bench->options.sources[1].text;
    FILE *table = bench->table, *json = bench->json;
    struct compare_file a = {0}, b = {0};
    char why[512];
    size_t verified = 0;
    int status = 0;
    if (!compare_read(&a, path_a, why, sizeof why) || !compare_read(&b, path_b, why, sizeof why)) {
        status = complain(why);
    } else if (a.profile != b.profile) {
        snprintf(why, sizeof why, "%s is of --profile and %s is not", a.profile ? path_a : path_b,
                 a.profile ? path_b : path_a);
        status = complain(why);
    } else if (!compare_match(&a, &b, &verified)) {
        snprintf(why, sizeof why, "no result of %s is like one of %s: matrix, operation, backend, algorithm and type",
                 path_a, path_b);
        status = complain(why);
    } else if (!verified) {
        status = complain("none of the results that match is verified in both files");
    } else {
        cJSON *document = cJSON_CreateObject();
        int good = document && text_json(document, "schema", "weft-compare-1") &&
                   text_json(document, "of", a.profile ? "end_to_end_ms" : "median_ms") &&
                   file_json(document, "a", &a) && file_json(document, "b", &b);
        if (good && table) {
            file_print(table, "A", &a);
            file_print(table, "B", &b);
        }
        good = good && pairs_run(&a, &b, table, document);
        char *text = good && json ? cJSON_PrintUnformatted(document) : NULL;
        good = good && (!json || text);
        if (good && json)
            fprintf(json, "%s\n", text);
        if (!good)
            status = complain("out of host memory");
        else
            bench_outputs_commit(bench, 1);
        if (bench->refused)
            status = BENCH_USAGE;
        cJSON_free(text);
        cJSON_Delete(document);
    }
    compare_free(&a);
    compare_free(&b);
    return status;
}
