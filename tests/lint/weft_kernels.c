// SPDX-License-Identifier: Apache-2.0
// weft-kernels --list: the library's kernel files, one a line.
// weft-kernels < LINES: each line reads PATH FILE SET NAME=VALUE...; writes to PATH the program text that a device with
// the capabilities of SET would get for the kernel FILE and these defines (the prefix WEFT_ is left out; TYPES=f32/64
// stands for the defines of f32 values and 64-bit offsets), and prints the build options. kernels.py drives it.
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct set {
    const char *name;
    struct weft__caps caps;
} sets[] = {
    {"generic", {WEFT_LANES_LOCAL, 32, 1, 1}},
    {"cpu", {WEFT_LANES_LOCAL, 1, 1, 1}},
    {"nvidia", {WEFT_LANES_PTX, 32, 1, 1}},
    {"amd32", {WEFT_LANES_AMDGCN, 32, 1, 1}},
    {"amd64", {WEFT_LANES_AMDGCN, 64, 1, 1}},
    {"subgroups32", {WEFT_LANES_SUBGROUPS, 32, 1, 1}},
    {"subgroups64", {WEFT_LANES_SUBGROUPS, 64, 1, 1}},
};

static const struct type {
    const char *name;
    enum weft_type type;
} types[] = {{"f32", WEFT_F32}, {"f64", WEFT_F64}, {"i32", WEFT_I32}, {"pattern", WEFT_PATTERN}};

static int fail(const char *what, const char *where)
{
    fprintf(stderr, "weft-kernels: %s: %s\n", where, what);
    return 1;
}

// f32/64 and the like
static int define_types(struct weft__defines *d, const char *value)
{
    size_t length = strcspn(value, "/");
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        if (length == strlen(types[t].name) && !strncmp(value, types[t].name, length)) {
            weft__define_types(d, types[t].type, strcmp(value + length, "/64") ? WEFT_OFS32 : WEFT_OFS64);
            return 0;
        }
    return fail("no such type", value);
}

static int text_write(const char *path, const char *source, const struct weft__caps *caps, const char *defines)
{
    char *text = weft__program_text(caps, source, defines);
    if (!text)
        return fail("no such file in cl/", source);
    FILE *file = fopen(path, "w");
    int bad = !file || fputs(text, file) < 0;
    if (file)
        bad |= fclose(file) != 0;
    free(text);
    if (bad)
        return fail("cannot be written", path);
    puts(weft__program_options(caps));
    return 0;
}

static int line_do(char *line)
{
    char *save = NULL, name[64] = "WEFT_";
    const char *path = strtok_r(line, " \n", &save), *source = path ? strtok_r(NULL, " \n", &save) : NULL;
    const char *want = source ? strtok_r(NULL, " \n", &save) : NULL;
    if (!want)
        return fail("PATH FILE SET NAME=VALUE... is wanted", "standard input");
    size_t s = 0, nsets = sizeof sets / sizeof *sets;
    while (s < nsets && strcmp(sets[s].name, want))
        s++;
    if (s == nsets)
        return fail("no such set", want);
    struct weft__defines d = {0};
    for (char *word = strtok_r(NULL, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
        char *value = strchr(word, '=');
        if (!value || value - word > 48)
            return fail("NAME=VALUE is wanted", word);
        *value++ = 0;
        memcpy(name + 5, word, strlen(word) + 1);
        if (strcmp(word, "TYPES"))
            weft__define(&d, name, "%s", value);
        else if (define_types(&d, value))
            return 1;
    }
    return text_write(path, source, &sets[s].caps, d.text);
}

int main(int argc, char **argv)
{
    char line[4096];
    if (argc == 2 && !strcmp(argv[1], "--list")) {
        for (const struct weft__source *s = weft__sources; s->name; s++)
            puts(s->name);
        return 0;
    }
    while (fgets(line, sizeof line, stdin))
        if (line_do(line))
            return 1;
    return 0;
}
