// SPDX-License-Identifier: Apache-2.0
// Reads the two files of --compare and finds which results belong together.
#include "compare.h"
#include "host/common/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double compare_number(const cJSON *object, const char *name)
{
    const cJSON *value = object ? cJSON_GetObjectItemCaseSensitive(object, name) : NULL;
    return cJSON_IsNumber(value) ? value->valuedouble : NAN;
}

const char *compare_text(const cJSON *object, const char *name)
{
    const char *text = object ? cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name)) : NULL;
    return text ? text : "";
}

int compare_time_of(struct bench_time *out, const cJSON *object, const char *name)
{
    const cJSON *stat = object ? cJSON_GetObjectItemCaseSensitive(object, name) : NULL;
    if (cJSON_IsNumber(stat)) { // of a line of the bench, where the one noise goes with the one median
        double noise = strcmp(name, "median_ms") ? NAN : compare_number(object, "noise");
        out->ms = stat->valuedouble;
        out->low = out->ms * (1 - (noise > 0 ? noise : 0) / 2);
        out->high = out->ms * (1 + (noise > 0 ? noise : 0) / 2);
        return 1;
    }
    const cJSON *samples = cJSON_GetObjectItemCaseSensitive(stat, "samples");
    struct bench_samples ms = {0};
    int good = 1;
    for (const cJSON *each = samples ? samples->child : NULL; each && good; each = each->next)
        good = !cJSON_IsNumber(each) || bench_samples_add(&ms, each->valuedouble);
    good = good && ms.count > 0;
    if (good) {
        const struct bench_stats stats = bench_stats_of(&ms);
        *out = (struct bench_time){stats.median, stats.low, stats.high};
    }
    bench_samples_free(&ms);
    return good;
}

static double number_or(const cJSON *object, const char *name, double absent)
{
    double value = compare_number(object, name);
    return isnan(value) ? absent : value;
}

static int entry_add(struct compare_file *f, const cJSON *line, const cJSON *place)
{
    struct compare_entry *grown = realloc(f->entries, (f->count + 1) * sizeof *grown);
    if (!grown)
        return 0;
    f->entries = grown;
    struct compare_entry *e = &grown[f->count++];
    *e = (struct compare_entry){.line = line, .place = place};
    e->matrix = compare_text(line, "matrix");
    e->op = compare_text(line, "op");
    e->backend = compare_text(line, "backend");
    e->algo = compare_text(line, "algo");
    e->type = compare_text(line, "type");
    e->tune = compare_text(line, "tune");
    e->device = compare_text(place, f->profile ? "name" : "device");
    e->index = number_or(line, "index", -1);
    e->nnz = number_or(line, "nnz", -1);
    e->seed = number_or(line, "seed", -1);
    const cJSON *verified = cJSON_GetObjectItemCaseSensitive(line, "verified");
    e->verified = cJSON_IsTrue(verified) || (f->profile && !verified); // a program under the layer verifies itself
    struct bench_time time;
    e->verified &=
        compare_time_of(&time, line, f->profile ? "end_to_end_ms" : "median_ms") && time.ms > 0 && isfinite(time.ms);
    return 1;
}

static char *file_text(const char *path, size_t *size)
{
    FILE *file = fopen(path, "r");
    size_t room = 1 << 16, used = 0, got;
    char *text = file ? malloc(room) : NULL;
    int binary = 0; // the caller sees it; a device may have no end
    while (text && !binary && (got = fread(text + used, 1, room - used - 1, file)) > 0) {
        binary = memchr(text + used, 0, got) != NULL;
        if ((used += got) + 1 == room) {
            char *grown = realloc(text, room *= 2);
            if (!grown)
                free(text);
            text = grown;
        }
    }
    int error = !file ? errno : !text ? ENOMEM : ferror(file) ? errno : 0;
    if (file)
        fclose(file);
    if (error) {
        free(text);
        errno = error;
        return NULL;
    }
    text[used] = 0;
    *size = used;
    return text;
}

// A document of --profile: its runs.
static int profile_entries(struct compare_file *f)
{
    const cJSON *runs = cJSON_GetObjectItemCaseSensitive(f->root, "runs"), *run;
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(f->root, "devices");
    f->profile = 1;
    cJSON_ArrayForEach(run, runs)
    {
        double at = compare_number(run, "device");
        if (!entry_add(f, run, at >= 0 && at < 1e6 ? cJSON_GetArrayItem(devices, (int)at) : NULL))
            return 0;
    }
    return 1;
}

// A result that is verified has a time, which may be 0 where the clock sees none.
static int has_time(const cJSON *line)
{
    const double ms = compare_number(line, "median_ms");
    return !cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(line, "verified")) || (isfinite(ms) && ms >= 0);
}

// Lines of the bench. Gives -1, or the number of the line that is none, and why; 0: no memory.
static long lines_read(struct compare_file *f, char *text, const char **fault)
{
    long number = 0;
    *fault = "no result of weft-bench (--json writes them)";
    f->root = cJSON_CreateArray();
    for (char *line = text, *end; f->root && *line; line = end) {
        end = line + strcspn(line, "\n");
        end += *end ? (*end = 0, 1) : 0;
        number++;
        if (!line[strspn(line, " \t\r")])
            continue;
        cJSON *object = cJSON_ParseWithOpts(line, NULL, 1);
        if (!cJSON_IsObject(object) || !*compare_text(object, "op")) {
            cJSON_Delete(object);
            return number;
        }
        if (!cJSON_AddItemToArray(f->root, object))
            return 0;
        if (!has_time(object)) {
            *fault = "it is verified, and its median_ms is no time: leave the line out, or run it again";
            return number;
        }
        if (!entry_add(f, object, object))
            return 0;
    }
    return f->root ? -1 : 0;
}

int compare_read(struct compare_file *out, const char *path, char *why, size_t size)
{
    size_t used;
    *out = (struct compare_file){.path = path};
    char *text = file_text(path, &used);
    if (!text) {
        snprintf(why, size, "%s: %s", path, strerror(errno));
        return 0;
    }
    long bad = -1;
    const char *fault = "";
    if (memchr(text, 0, used)) {
        free(text);
        snprintf(why, size, "%s is no text", path);
        return 0;
    }
    out->root = cJSON_ParseWithOpts(text, NULL, 1);
    const char *schema = compare_text(out->root, "schema");
    why[0] = 0;
    if (!strcmp(schema, "weft-profile-1")) {
        bad = profile_entries(out) ? -1 : 0;
    } else if (*schema) {
        snprintf(why, size, "%s is a \"%.40s\", not results of weft-bench", path, schema);
    } else {
        cJSON_Delete(out->root);
        bad = lines_read(out, text, &fault);
    }
    free(text);
    if (!bad)
        snprintf(why, size, "out of host memory");
    else if (bad > 0)
        snprintf(why, size, "%s:%ld: %s", path, bad, fault);
    else if (!why[0] && !out->count)
        snprintf(why, size, "%s holds no results", path);
    return !why[0];
}

void compare_free(struct compare_file *file)
{
    cJSON_Delete(file->root);
    free(file->entries);
    *file = (struct compare_file){0};
}

static int same_task(const struct compare_entry *x, const struct compare_entry *y)
{
    return !strcmp(x->matrix, y->matrix) && !strcmp(x->op, y->op) && !strcmp(x->backend, y->backend) &&
           !strcmp(x->algo, y->algo) && !strcmp(x->type, y->type) && !strcmp(x->tune, y->tune) &&
           !(x->index < y->index) && !(x->index > y->index) && !(x->nnz < y->nnz) && !(x->nnz > y->nnz) &&
           !(x->seed < y->seed) && !(x->seed > y->seed);
}

// The last entry of the task on the device (NULL: on any), none that is matched already; *others: devices there are.
static struct compare_entry *entry_find(struct compare_file *f, const struct compare_entry *like, const char *device,
                                        int *others)
{
    struct compare_entry *found = NULL;
    *others = 0;
    for (size_t i = 0; i < f->count; i++) {
        struct compare_entry *e = &f->entries[i];
        if (!same_task(e, like) || (device && strcmp(e->device, device)))
            continue;
        *others += found && strcmp(found->device, e->device) != 0;
        found = e;
    }
    return found;
}

int compare_verified(const struct compare_entry *entry)
{
    return entry->match && entry->verified && entry->match->verified;
}

size_t compare_match(struct compare_file *a, struct compare_file *b, size_t *verified)
{
    size_t count = 0;
    *verified = 0;
    for (int pass = 0; pass < 2; pass++) // equal devices first
        for (size_t i = 0; i < a->count; i++) {
            struct compare_entry *x = &a->entries[i], *y;
            int others_a, others_b;
            if (x->match || entry_find(a, x, x->device, &others_a) != x)
                continue; // a later one counts
            entry_find(a, x, NULL, &others_a);
            y = entry_find(b, x, pass ? NULL : x->device, &others_b);
            if (!y || y->match || (pass && (others_a || others_b)))
                continue;
            x->match = y;
            y->match = x;
            count++;
            *verified += (size_t)compare_verified(x);
        }
    return count;
}
