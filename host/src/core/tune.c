// SPDX-License-Identifier: Apache-2.0
// Reads the user's tune file, and gives its values to operations.
#include "host/src/core/tune.h"
#include "host/src/core/context.h"
#include "host/src/core/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GIVEN "tuning given by the caller" // what operations say of values that are not their own
#define OURS  "tuning from the tune file"

int weft__tune_path(char *out, size_t size, const char *wanted)
{
    const char *set = secure_getenv("WEFT_TUNE"), *xdg = weft__own_base("XDG_CONFIG_HOME");
    const char *home = weft__own_base("HOME");
    int length;
    out[0] = 0;
    if (wanted || set)
        length = snprintf(out, size, "%s", wanted ? wanted : set);
    else if (xdg)
        length = snprintf(out, size, "%s/weft/tune.tsv", xdg);
    else if (home)
        length = snprintf(out, size, "%s/.config/weft/tune.tsv", home);
    else
        return 0;
    return length > 0 && (size_t)length < size;
}

// A decimal number 1 .. 2^31-1 (or from 0) that ends where `end` is.
static int number_parse(const char *text, const char *end, int low, int *out)
{
    char *stop;
    errno = 0;
    long value = strtol(text, &stop, 10);
    *out = (int)value;
    return stop == end && end > text && *text >= '0' && *text <= '9' && !errno && value >= low && value <= INT32_MAX;
}

// "wg=256 ipt=16"
static int values_parse(struct weft__tune_row *row, const char *text)
{
    row->count = 0;
    while (*text) {
        size_t length = strcspn(text, " "), name = strcspn(text, "= ");
        if (row->count == WEFT__TUNE_VALUES || !name || text[name] != '=' || name >= WEFT__TUNE_NAME ||
            !number_parse(text + name + 1, text + length, 1, &row->values[row->count].value))
            return 0;
        memcpy(row->values[row->count].name, text, name);
        row->values[row->count++].name[name] = 0;
        text += length + (text[length] == ' ');
    }
    return row->count > 0;
}

// device, driver, schedule, operation, bytes, values; what follows is for people. 1: a row for this context; 0: one for
// another; -1: no row.
static int line_parse(struct weft__tune_row *row, const struct weft_context *ctx, char *line)
{
    char *fields[6], *save = line;
    for (int i = 0; i < 6; i++)
        if (!(fields[i] = strsep(&save, "\t")) || !*fields[i])
            return -1;
    int gpu = !strcmp(fields[2], "gpu");
    *row = (struct weft__tune_row){.count = 0};
    if ((!gpu && strcmp(fields[2], "cpu")) || strlen(fields[3]) >= sizeof row->op ||
        !number_parse(fields[4], fields[4] + strlen(fields[4]), 0, &row->bytes) || !values_parse(row, fields[5]))
        return -1;
    memcpy(row->op, fields[3], strlen(fields[3]) + 1);
    return !strcmp(fields[0], ctx->device.name) && !strcmp(fields[1], ctx->device.driver) &&
           gpu == (ctx->schedule == WEFT_SCHEDULE_GPU);
}

static struct weft__tune_row *row_find(const struct weft_context *ctx, const char *op, size_t bytes)
{
    for (size_t i = 0; i < ctx->ntune; i++)
        if (!strcmp(ctx->tune[i].op, op) && (size_t)ctx->tune[i].bytes == bytes)
            return &ctx->tune[i];
    return NULL;
}

// Take a row in, in the place of an earlier one. 0: no memory.
static int row_add(struct weft_context *ctx, const struct weft__tune_row *row)
{
    struct weft__tune_row *old = row_find(ctx, row->op, (size_t)row->bytes);
    if (!old) {
        struct weft__tune_row *grown = realloc(ctx->tune, (ctx->ntune + 1) * sizeof *grown);
        if (!grown)
            return 0;
        ctx->tune = grown;
        old = &grown[ctx->ntune++];
    }
    *old = *row;
    return 1;
}

// A file that the caller named may be anybody's, but a pipe or a device may have no end.
static int file_open(const char *path, const char **why)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        *why = errno == ENOENT ? NULL : errno == EACCES ? "permission denied" : "cannot be opened";
    else if (fstat(fd, &about) || !S_ISREG(about.st_mode)) {
        *why = "no regular file";
        close(fd);
        return -1;
    }
    return fd;
}

void weft__tune_load(struct weft_context *ctx, const char *wanted)
{
    char path[4096], line[1024];
    struct weft__tune_row row;
    const char *why = NULL;
    if (!weft__tune_path(path, sizeof path, wanted)) {
        if (*path)
            weft__tell(ctx, "tune file %.64s... cannot be read: the path is too long", path);
        return;
    }
    const int fd = wanted ? file_open(path, &why) : weft__own_path(path, &why);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    if (!file) {
        if (fd >= 0)
            close(fd);
        if (why || wanted) // nobody has to have one
            weft__tell(ctx, "tune file %.512s cannot be read: %s", path, why ? why : "there is none");
        return;
    }
    for (int number = 1; fgets(line, sizeof line, file); number++) {
        size_t length = strlen(line);
        int whole = length && line[length - 1] == '\n', rest = whole ? '\n' : getc(file);
        if (!whole && rest != EOF) { // too long a line
            while (rest != EOF && rest != '\n')
                rest = getc(file);
            weft__tell(ctx, "tune file %.512s:%d: too long, left out", path, number);
            continue;
        }
        line[strcspn(line, "\r\n")] = 0;
        if (!*line || *line == '#')
            continue;
        int what = line_parse(&row, ctx, line);
        if (what < 0)
            weft__tell(ctx, "tune file %.512s:%d: no row of tuning, left out", path, number);
        else if (what && !row_add(ctx, &row))
            weft__tell(ctx, "tune file %.512s:%d: out of host memory, left out", path, number);
    }
    if (ferror(file))
        weft__tell(ctx, "tune file %.512s cannot be read: %s", path, strerror(errno));
    fclose(file);
}

void weft__tune_free(struct weft_context *ctx)
{
    free(ctx->tune);
    ctx->tune = NULL;
    ctx->ntune = 0;
}

// The place of a value that the file may have; NULL: there is none of that name.
static int *value_find(const struct weft__tuned *t, const char *name)
{
    const struct weft__tunable *found = weft__tunable_find(t->set, name);
    return found && found->kept ? weft__tunable_value(found, t->params) : NULL;
}

struct weft__tuned weft__tuned_begin(struct weft_context *ctx, const struct weft__tunables *set, size_t bytes,
                                     void *params)
{
    struct weft__tuned t = {.ctx = ctx, .set = set, .params = params};
    struct weft__tune_row row = {.count = 0};
    const char *unknown = NULL;
    pthread_mutex_lock(&ctx->mutex); // a row is emptied where a name of it is unknown
    struct weft__tune_row *kept =
        set->row && !weft__tunables_given(set, params) ? row_find(ctx, set->row, bytes) : NULL;
    if (kept)
        row = *kept;
    for (int i = 0; i < row.count; i++)
        if (!value_find(&t, row.values[i].name))
            unknown = row.values[i].name;
    if (unknown)
        kept->count = 0;
    pthread_mutex_unlock(&ctx->mutex);
    if (unknown)
        weft__tell(ctx, "tune file: %s has no value %s: row left out", set->row, unknown);
    else
        t.taken = row.count > 0;
    for (int i = 0; t.taken && i < row.count; i++)
        *value_find(&t, row.values[i].name) = row.values[i].value;
    if (t.taken)
        weft__quiet_begin(ctx); // the row's failure is not the caller's
    return t;
}

int weft__tuned_again(struct weft__tuned *t, weft_status status, char *why, size_t why_size)
{
    struct weft_context *ctx = t->ctx;
    struct weft_error error;
    if (!t->taken) {
        if (t->refused && !status) // it was the row, not what the caller asked for
            weft__tell(ctx, "tune file: row of %s left out: %s", t->set->row, t->said);
        return 0;
    }
    t->taken = 0;
    weft__quiet_end(&error);
    if (status != WEFT_EINVAL && status != WEFT_ERANGE) {
        char *given = strstr(why, GIVEN);
        size_t used = given ? (size_t)(given - why) : strlen(why);
        if (!status)
            snprintf(why + used, why_size - used, "%s%s", given ? "" : "; ", OURS);
        else
            weft__fail_again(ctx, &error);
        return 0;
    }
    for (size_t i = 0; i < t->set->count; i++)
        if (t->set->list[i].kept)
            *weft__tunable_value(&t->set->list[i], t->params) = 0;
    snprintf(t->said, sizeof t->said, "%.255s", error.text);
    t->refused = 1;
    return 1;
}
