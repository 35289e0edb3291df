// SPDX-License-Identifier: Apache-2.0
// The record as CSV: a row for each phase and each kernel of each run.
#include "json.h"
#include "write.h"

#include <string.h>

int profile_json_write(FILE *out, const cJSON *document)
{
    char *text = cJSON_Print(document);
    int good = text && fprintf(out, "%s\n", text) > 0 && !fflush(out);
    cJSON_free(text);
    return good;
}

static void text_put(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

// A cell with the member `name` of the object, empty where it has none.
static void cell(FILE *out, const cJSON *object, const char *name)
{
    const cJSON *value = object ? cJSON_GetObjectItemCaseSensitive(object, name) : NULL;
    if (value && cJSON_IsString(value))
        text_put(out, value->valuestring);
    else if (value && cJSON_IsNumber(value))
        fprintf(out, "%.10g", value->valuedouble);
    else if (value && cJSON_IsArray(value))
        for (const cJSON *n = value->child; n; n = n->next)
            fprintf(out, "%.10g%s", n->valuedouble, n->next ? "x" : "");
    else if (value && cJSON_IsBool(value))
        fputs(cJSON_IsTrue(value) ? "true" : "false", out);
}

static const char *const run_keys[] = {"matrix",  "m",    "n",      "nnz",     "type",     "index", "op",
                                       "backend", "algo", "chosen", "library", "verified", "reps"};
static const char *const row_keys[] = {"name",      "phase",       "launches",  "commands",   "share",  "bytes",
                                       "min_bytes", "bound_bytes", "gbps",      "copy_share", "global", "wg",
                                       "groups",    "local_bytes", "registers", "spill_bytes"};
static const char *const stat_keys[] = {"min", "median", "max", "noise"};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static void row_put(FILE *out, const cJSON *document, const cJSON *run, const char *kind, const cJSON *row)
{
    const cJSON *at = cJSON_GetObjectItemCaseSensitive(run, "device");
    const cJSON *device =
        cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(document, "devices"), at ? at->valueint : 0);
    cell(out, device, "name");
    putc(',', out);
    cell(out, device, "driver");
    for (size_t i = 0; i < COUNT(run_keys); i++) {
        putc(',', out);
        cell(out, run, run_keys[i]);
    }
    fprintf(out, ",%s", kind);
    for (size_t i = 0; i < COUNT(row_keys); i++) {
        putc(',', out);
        cell(out, row, row_keys[i]);
    }
    const cJSON *ms = cJSON_GetObjectItemCaseSensitive(row, "ms"),
                *device_ms = cJSON_GetObjectItemCaseSensitive(row, "device_ms");
    for (size_t i = 0; i < COUNT(stat_keys); i++) {
        putc(',', out);
        cell(out, ms, stat_keys[i]);
    }
    putc(',', out);
    cell(out, device_ms, "median");
    putc('\n', out);
}

int profile_csv_write(FILE *out, const cJSON *document)
{
    const cJSON *run, *row;
    fputs("device,driver", out);
    for (size_t i = 0; i < COUNT(run_keys); i++)
        fprintf(out, ",%s", run_keys[i]);
    fputs(",kind", out);
    for (size_t i = 0; i < COUNT(row_keys); i++)
        fprintf(out, ",%s", row_keys[i]);
    fputs(",min_ms,median_ms,max_ms,noise,device_ms\n", out);
    cJSON_ArrayForEach(run, cJSON_GetObjectItemCaseSensitive(document, "runs"))
    {
        cJSON total = {.type = cJSON_Object};
        const cJSON *end = cJSON_GetObjectItemCaseSensitive(run, "end_to_end_ms");
        if (!end)
            continue;
        // A row of its own for the whole: its stat in the columns of the phases.
        cJSON name = {.type = cJSON_String, .string = (char *)"name", .valuestring = (char *)"end_to_end"}, ms = *end;
        ms.string = (char *)"ms";
        ms.next = NULL;
        ms.prev = &name;
        name.next = &ms;
        total.child = &name;
        row_put(out, document, run, "total", &total);
        cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(run, "phases"))
            row_put(out, document, run, "phase", row);
        cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(run, "kernels"))
            row_put(out, document, run, "kernel", row);
    }
    return !ferror(out) && !fflush(out);
}
