// SPDX-License-Identifier: Apache-2.0
// Runs the tests of bad arguments, and looks in the headers for functions that had none.
#include "nonsense.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static char names[256][64];
static int tests[256], queues[256], count; // queues: was given a queue of another context
static const char *now;

void nonsense_case(const char *name, void (*function)(void))
{
    int i = 0;
    while (i < count && strcmp(names[i], name))
        i++;
    if (i == count) {
        if (count == 256)
            tap_bail("more than 256 functions");
        snprintf(names[count++], sizeof names[0], "%s", name);
    }
    tests[i] = function != NULL;
    now = names[i];
}

void nonsense_queued(const char *name, void (*function)(void))
{
    nonsense_case(name, function);
    for (int i = 0; i < count; i++)
        queues[i] |= names[i] == now;
}

void nonsense_refused(weft_status status, const char *word, const struct weft_error *err)
{
    tap_ok(status == WEFT_EINVAL && err->status == WEFT_EINVAL && strstr(err->text, word) && !strchr(err->text, '\n'),
           "%s: %s: %s (%d)", now, word, err->text, (int)status);
}

void nonsense_refused_in(struct test_device *dev, weft_status status, const char *word)
{
    struct weft_error err;
    weft_context_error(&err, dev->ctx);
    nonsense_refused(status, word, &err);
}

void nonsense_silent(weft_status status, const char *what)
{
    tap_ok(status == WEFT_EINVAL, "%s is %d", what, (int)status);
}

void nonsense_zero(const void *data, size_t bytes, const char *what)
{
    const unsigned char *p = data;
    size_t i = 0;
    while (i < bytes && !p[i])
        i++;
    tap_ok(i == bytes, "%s: %s is all zero", now, what);
}

// Names behind WEFT_API in one header: each has had its tests.
static int header_check(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    int found = 0;
    if (!file || !text || !fread(text, 1, (1 << 20) - 1, file))
        tap_bail("cannot read %s", path);
    fclose(file);
    for (char *at = text; (at = strstr(at, "\nWEFT_API ")); at++) {
        char *open = strchr(at, '('), *name = open, kept = *open;
        while (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z') || (name[-1] >= '0' && name[-1] <= '9'))
            name--;
        *open = 0;
        int i = 0;
        while (i < count && strcmp(names[i], name))
            i++;
        tap_ok(i < count && tests[i], "%s has a test in tests/nonsense", name);
        found++;
        *open = kept;
        char *end = strchr(open, ';'), *queue = strstr(open, "cl_command_queue queue");
        if (queue && end && queue < end)
            tap_ok(i < count && queues[i], "%s was given a queue of another context", names[i]);
    }
    free(text);
    return found;
}

int main(void)
{
    nonsense_host();
    nonsense_files();
    test_device_each(nonsense_device);
    test_device_each(nonsense_matrices);
    test_device_each(nonsense_queues);
    DIR *folder = opendir(WEFT_INCLUDE);
    int found = 0;
    if (!folder)
        tap_bail("no headers in %s", WEFT_INCLUDE);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[1024];
        const size_t length = strlen(entry->d_name);
        snprintf(path, sizeof path, "%s/%s", WEFT_INCLUDE, entry->d_name);
        if (length > 2 && !strcmp(entry->d_name + length - 2, ".h"))
            found += header_check(path);
    }
    closedir(folder);
    tap_is_int(found, count, "as many functions in the headers as were tested");
    return tap_done();
}
