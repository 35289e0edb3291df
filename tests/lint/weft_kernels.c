// SPDX-License-Identifier: Apache-2.0
// weft-kernels FOLDER SET...: write every program text that the library would compile on devices with the capabilities
// of these sets, and print one line for each: path, file in cl/, defines, set, build options; separated by tabs.
// kernels.py compiles them.
#include "host/internal/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct set {
    const char *name;
    enum weft_schedule schedule;
    struct weft__caps caps;
} sets[] = {
    {"plain", WEFT_SCHEDULE_GPU, {WEFT_LANES_LOCAL, 32, 0, 0, 0, 0, 0, 0}},
    {"plain32", WEFT_SCHEDULE_GPU, {WEFT_LANES_LOCAL, 32, 0, 0, 0, 0, 0, 0}}, // of addresses
    {"generic", WEFT_SCHEDULE_GPU, {WEFT_LANES_LOCAL, 32, 1, 1, 1, 0, 0, 0}},
    {"cpu", WEFT_SCHEDULE_CPU, {WEFT_LANES_LOCAL, 1, 1, 1, 0, 0, 0, 0}},
    {"nvidia", WEFT_SCHEDULE_GPU, {WEFT_LANES_PTX, 32, 1, 1, 1, 0, 0, 0}},
    {"amd32", WEFT_SCHEDULE_GPU, {WEFT_LANES_AMDGCN, 32, 1, 1, 1, 0, 0, 0}},
    {"amd64", WEFT_SCHEDULE_GPU, {WEFT_LANES_AMDGCN, 64, 1, 1, 1, 0, 0, 0}},
    {"subgroups32", WEFT_SCHEDULE_GPU, {WEFT_LANES_SUBGROUPS, 32, 1, 1, 0, 0, 0, 0}},
    {"intel", WEFT_SCHEDULE_GPU, {WEFT_LANES_SUBGROUPS, 32, 1, 1, 0, 0, 0, 1}},
    {"subgroups64", WEFT_SCHEDULE_GPU, {WEFT_LANES_SUBGROUPS, 64, 1, 1, 0, 0, 0, 0}},
    {"bare32", WEFT_SCHEDULE_GPU, {WEFT_LANES_SUBGROUPS, 32, 1, 1, 0, 1, 1, 0}},
    {"bare64", WEFT_SCHEDULE_GPU, {WEFT_LANES_SUBGROUPS, 64, 1, 1, 0, 1, 1, 0}},
};

// The programs of one set so far: kernels of one file with the same defines share a text.
struct job {
    const char *folder;
    const struct set *set;
    struct program {
        struct program *next;
        const char *source;
        char defines[sizeof(((struct weft__defines *)0)->text)];
    } * programs;
    int count, failed;
};

static void fail(struct job *job, const char *where, const char *what)
{
    fprintf(stderr, "weft-kernels: %s: %s\n", where, what);
    job->failed = 1;
}

// "#define WEFT_WG 64\n#define WEFT_IPT 8\n" as "WG=64 IPT=8"
static void defines_print(const char *text)
{
    char name[128], value[512];
    int length = 0;
    for (const char *at = text; sscanf(at, "#define %127s %511[^\n] %n", name, value, &length) == 2; at += length)
        printf("%s%s=%s", at == text ? "" : " ", strncmp(name, "WEFT_", 5) ? name : name + 5, value);
}

static void text_write(struct job *job, const struct weft__kernel_spec *spec, const char *defines)
{
    const char *source = spec->files[0];
    char path[4096];
    char *text = weft__program_text(&job->set->caps, spec, defines);
    size_t folder = strlen(job->folder);
    snprintf(path, sizeof path, "%s/%s.%s.%d.cl", job->folder, source, job->set->name, job->count++);
    for (char *at = path + folder + 1; (at = strchr(at, '/')) != NULL;) // "scan/gpu.cl" is scan_gpu.cl there
        *at = '_';
    FILE *file = text ? fopen(path, "w") : NULL;
    int bad = !file || fputs(text, file) < 0;
    if (file)
        bad |= fclose(file) != 0;
    free(text);
    if (bad)
        fail(job, path, "cannot be written");
    printf("%s\t%s\t", path, source);
    defines_print(defines);
    printf("\t%s\t%s\n", job->set->name, weft__program_options(&job->set->caps));
}

static void variant_do(void *arg, const struct weft__variant *variant)
{
    struct job *job = arg;
    if ((variant->schedule != WEFT_SCHEDULE_AUTO && variant->schedule != job->set->schedule) ||
        (variant->fp64 && !job->set->caps.fp64) || (variant->int64_atomics && !job->set->caps.int64_atomics) ||
        (variant->ptx && job->set->caps.lanes != WEFT_LANES_PTX))
        return;
    for (const struct program *p = job->programs; p; p = p->next)
        if (!strcmp(p->source, variant->spec->files[0]) && !strcmp(p->defines, variant->defines.text))
            return;
    struct program *p = calloc(1, sizeof *p);
    if (!p) {
        fail(job, variant->spec->files[0], "out of memory");
        return;
    }
    p->source = variant->spec->files[0];
    memcpy(p->defines, variant->defines.text, sizeof p->defines);
    p->next = job->programs;
    job->programs = p;
    text_write(job, variant->spec, p->defines);
}

static void source_seen(void *arg, const struct weft__variant *variant)
{
    const char **want = arg;
    if (*want && !strcmp(*want, variant->spec->files[0]))
        *want = NULL;
}

static void variants_all(weft__variant_fn *fn, void *arg)
{
    for (const struct weft__operation *o = weft__operations; o->name; o++)
        o->variants(fn, arg);
}

int main(int argc, char **argv)
{
    struct job job = {0};
    if (argc < 3)
        fail(&job, "usage", "weft-kernels FOLDER SET...");
    for (const struct weft__source *s = weft__sources; s->name; s++) {
        const char *want = s->name;
        variants_all(source_seen, &want);
        if (want && !strstr(want, ".clh"))
            fail(&job, want, "no operation in host/src/core/variants.h compiles it");
    }
    for (int i = 2; i < argc; i++) {
        job = (struct job){.folder = argv[1], .failed = job.failed};
        for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
            if (!strcmp(sets[k].name, argv[i]))
                job.set = &sets[k];
        if (job.set)
            variants_all(variant_do, &job);
        else
            fail(&job, argv[i], "no such set");
        while (job.programs) {
            struct program *p = job.programs;
            job.programs = p->next;
            free(p);
        }
    }
    return job.failed;
}
