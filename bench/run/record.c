// SPDX-License-Identifier: Apache-2.0
// Writes the keys of a record as JSON and CSV.
#include "record.h"
#include "host/common/json.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static void clear_text(const char **value)
{
    *value = NULL;
}
static void clear_count(int64_t *value)
{
    *value = -1;
}
static void clear_number(double *value)
{
    *value = NAN;
}
static void clear_flag(int *value)
{
    *value = 0;
}

void bench_record_clear(struct bench_record *record)
{
#define CLEAR(kind, name) clear_##kind(&record->name);
    BENCH_FIELDS(CLEAR)
#undef CLEAR
}

// Each gives whether the line is still whole.
static int json_text(cJSON *line, const char *name, const char *value)
{
    return !value || cJSON_AddStringToObject(line, name, value);
}
static int json_count(cJSON *line, const char *name, int64_t value)
{
    return value < 0 || bench_json_count(line, name, (uint64_t)value);
}
static int json_number(cJSON *line, const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    return !isfinite(value) || cJSON_AddRawToObject(line, name, text);
}
static int json_flag(cJSON *line, const char *name, int value)
{
    return cJSON_AddBoolToObject(line, name, value) != NULL;
}

int bench_record_json(FILE *out, const struct bench_record *record)
{
    cJSON *line = cJSON_CreateObject();
    int good = line != NULL;
#define JSON(kind, name) good = good && json_##kind(line, #name, record->name);
    BENCH_FIELDS(JSON)
#undef JSON
    char *text = good ? cJSON_PrintUnformatted(line) : NULL;
    good = text && fprintf(out, "%s\n", text) > 0;
    cJSON_free(text);
    cJSON_Delete(line);
    return good;
}

static void csv_text(FILE *out, const char *value)
{
    if (!value)
        return;
    if (!strpbrk(value, ",\"\r\n")) {
        fputs(value, out);
        return;
    }
    putc('"', out);
    for (; *value; value++) {
        if (*value == '"')
            putc('"', out);
        putc(*value, out);
    }
    putc('"', out);
}
static void csv_count(FILE *out, int64_t value)
{
    if (value >= 0)
        fprintf(out, "%" PRId64, value);
}
static void csv_number(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, "%.6g", value);
}
static void csv_flag(FILE *out, int value)
{
    fputs(value ? "true" : "false", out);
}

int bench_record_csv_head(FILE *out)
{
    const char *separator = "";
#define NAME(kind, name)                                                                                               \
    fprintf(out, "%s%s", separator, #name);                                                                            \
    separator = ",";
    BENCH_FIELDS(NAME)
#undef NAME
    return putc('\n', out) != EOF;
}

int bench_record_csv(FILE *out, const struct bench_record *record)
{
    const char *separator = "";
#define CELL(kind, name)                                                                                               \
    fputs(separator, out);                                                                                             \
    csv_##kind(out, record->name);                                                                                     \
    separator = ",";
    BENCH_FIELDS(CELL)
#undef CELL
    return putc('\n', out) != EOF;
}
