// SPDX-License-Identifier: Apache-2.0
// Compiles programs to AMD's machine code by translate.py, keeps them in a folder by a hash of their text, and reads them.
#include "code.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct amd_code *loaded;
static FILE *to_translator, *from_translator;

unsigned long amd_number(const char *name, unsigned long absent)
{
    char whole[64];
    snprintf(whole, sizeof whole, "WEFT_AMD_%s", name);
    const char *text = getenv(whole);
    return text && *text ? strtoul(text, NULL, 10) : absent;
}

static const char *folder(void)
{
    const char *path = getenv("WEFT_AMD_FOLDER");
    return path ? path : ".";
}

static uint64_t hash(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (h ^ 0xff) * UINT64_C(0x100000001b3);
}

static void path_of(char path[4096], const char *name, const char *end)
{
    snprintf(path, 4096, "%s/%s%s", folder(), name, end);
}

static char *text_read(const char *path, size_t *bytes)
{
    struct stat info;
    FILE *file = path ? fopen(path, "rb") : NULL;
    char *data = file && fstat(fileno(file), &info) == 0 ? calloc(1, (size_t)info.st_size + 1) : NULL;
    if (data)
        *bytes = fread(data, 1, (size_t)info.st_size, file);
    if (file)
        fclose(file);
    return data;
}

static char *file_read(const char *name, const char *end, size_t *bytes)
{
    char path[4096];
    path_of(path, name, end);
    return text_read(path, bytes);
}

// All or nothing: other processes write the same.
static int file_write(const char *name, const char *end, const char *text)
{
    char path[4096], own[4200];
    path_of(path, name, end);
    snprintf(own, sizeof own, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(own, "w");
    if (!file)
        return 0;
    fputs(text, file);
    return fclose(file) == 0 && rename(own, path) == 0;
}

// The translator, started by the first program that is not in the folder; it ends with this process.
static int translator_start(const char *chip)
{
    int to[2], from[2];
    if (to_translator)
        return 1;
    if (pipe(to) || pipe(from))
        return 0;
    const pid_t child = fork();
    if (child == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        for (int i = 3; i < 256; i++)
            close(i);
        unsetenv("OPENCL_LAYERS");
        execlp("python3", "python3", getenv("WEFT_AMD_TRANSLATE"), folder(), chip, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    to_translator = child > 0 ? fdopen(to[1], "w") : NULL;
    from_translator = child > 0 ? fdopen(from[0], "r") : NULL;
    return to_translator && from_translator;
}

static int translate(const char *chip, const char *name)
{
    char line[256], expected[256];
    if (!translator_start(chip))
        return 0;
    snprintf(expected, sizeof expected, "%s ok\n", name);
    fprintf(to_translator, "%s\n", name);
    return fflush(to_translator) == 0 && fgets(line, sizeof line, from_translator) && !strcmp(line, expected);
}

static enum amd_arg_kind kind_of(const char *word)
{
    static const struct {
        const char *word;
        enum amd_arg_kind kind;
    } kinds[] = {{"value", AMD_VALUE},
                 {"buffer", AMD_BUFFER},
                 {"local", AMD_LOCAL_ARG},
                 {"hidden_block_count_x", AMD_BLOCKS},
                 {"hidden_group_size_x", AMD_GROUP_SIZE},
                 {"hidden_block_count_y", AMD_ONE},
                 {"hidden_block_count_z", AMD_ONE},
                 {"hidden_group_size_y", AMD_ONE},
                 {"hidden_group_size_z", AMD_ONE},
                 {"hidden_grid_dims", AMD_ONE}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(word, kinds[i].word))
            return kinds[i].kind;
    return AMD_ZERO;
}

// A form of instructions, of the line after its number: KIND SIZE FUNCTION LIBRARY COUNT MEMORIES...
static int form_read(struct amd_step *step, FILE *file)
{
    static const char *const kinds[] = {"none",    "run",     "barrier",  "skip",      "fault",  "getpc",
                                        "movreld", "movrels", "bpermute", "cmpswap64", "indexon"};
    char kind[32], function[512], library[256], path[4096];
    int size, count;
    if (fscanf(file, "%31s %d %511s %255s %d", kind, &size, function, library, &count) != 5 || count > AMD_MEMORIES)
        return 0;
    *step = (struct amd_step){.size = (uint8_t)size, .kind = AMD_FAULT};
    for (int i = 0; i < count; i++)
        if (fscanf(file, "%d", &step->of[i]) != 1 || (*library != '-' && (unsigned)step->of[i] >= AMD_MEMORIES))
            return 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kind, kinds[i]))
            step->kind = (uint8_t)i;
    if (*library == '-')
        return 1;
    snprintf(path, sizeof path, "%s/forms/%s", folder(), library);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = handle ? dlsym(handle, function) : NULL;
    if (!found)
        fprintf(stderr, "amd: %s\n", dlerror());
    memcpy(&step->run, &found, sizeof found);
    return found != NULL;
}

static int table_read(struct amd_code *code, FILE *file)
{
    struct amd_step *forms = calloc(4096, sizeof *forms);
    struct amd_kernel *k = NULL;
    char word[64];
    int good = forms != NULL, ended = 0;
    while (good && !ended && fscanf(file, "%63s", word) == 1) {
        if (!strcmp(word, "chip")) {
            good = fscanf(file, "%d %d %d %d %d %d %d %d %d", &code->wave, &code->sgprs, &code->vgprs, &code->pc,
                          &code->exec, &code->m0, &code->stride, &code->ttmp7, &code->ttmp9) == 9 &&
                   code->sgprs <= (int)(sizeof code->start / sizeof *code->start);
        } else if (!strcmp(word, "sgpr")) {
            unsigned at, value;
            good = fscanf(file, "%u %u", &at, &value) == 2 && at < (unsigned)code->sgprs;
            if (good)
                code->start[at] = value;
        } else if (!strcmp(word, "kernel")) {
            k = realloc(code->kernel, (code->kernels + 1) * sizeof *k);
            good = k != NULL;
            if (good) {
                code->kernel = k;
                k += code->kernels++;
                *k = (struct amd_kernel){.args = 0};
                good = fscanf(file, "%127s %zu %zu %zu %zu %zu %zu", k->name, &k->descriptor, &k->local, &k->private,
                              &k->required, &k->largest, &k->args_size) == 7;
            }
        } else if (!strcmp(word, "arg")) {
            struct amd_arg *a = k && k->args < sizeof k->arg / sizeof *k->arg ? &k->arg[k->args++] : NULL;
            good = a && fscanf(file, "%63s %zu %zu", word, &a->offset, &a->size) == 3;
            if (good)
                a->kind = kind_of(word);
        } else if (!strcmp(word, "form")) {
            int number;
            good = fscanf(file, "%d", &number) == 1 && number >= 0 && number < 4096 && form_read(&forms[number], file);
        } else if (!strcmp(word, "at")) {
            size_t at, count;
            good = fscanf(file, "%zu %zu", &at, &count) == 2;
            for (size_t i = 0; i < count && good; i++) {
                int number;
                good = fscanf(file, "%d", &number) == 1 && number >= 0 && number < 4096 && at < code->bytes;
                if (good) {
                    code->steps[at / 4] = forms[number];
                    at += forms[number].size;
                }
            }
        } else {
            ended = !strcmp(word, "end");
            good = ended;
        }
    }
    free(forms);
    return good && ended;
}

static struct amd_code *code_load(const char *name)
{
    char path[4096];
    size_t bytes = 0;
    path_of(path, name, ".table");
    FILE *file = fopen(path, "r");
    char *image = file ? file_read(name, ".image", &bytes) : NULL;
    struct amd_code *code = image ? calloc(1, sizeof *code) : NULL;
    if (code) {
        snprintf(code->name, sizeof code->name, "%s", name);
        code->image = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(code->image, image, bytes);
        code->bytes = bytes;
        code->steps = calloc(bytes / 4 + 1, sizeof *code->steps);
        if (!code->steps || !table_read(code, file)) {
            fprintf(stderr, "amd: %s cannot be read\n", path);
            free(code->kernel);
            free(code->steps);
            munmap(code->image, bytes + 4096);
            free(code);
            code = NULL;
        }
    }
    free(image);
    if (file)
        fclose(file);
    if (code) {
        code->next = loaded;
        loaded = code;
    }
    return code;
}

static const struct amd_code *find(const char *name)
{
    for (struct amd_code *c = loaded; c; c = c->next)
        if (!strcmp(c->name, name))
            return c;
    return code_load(name);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const struct amd_code *amd_code_named(const char *name)
{
    pthread_mutex_lock(&lock);
    const struct amd_code *code = find(name);
    pthread_mutex_unlock(&lock);
    return code;
}

const struct amd_code *amd_code_of(const char *chip, const char *text, const char *options, char **log)
{
    char name[64];
    size_t bytes = 0;
    char *translator = text_read(getenv("WEFT_AMD_TRANSLATE"), &bytes); // another one may write other tables
    uint64_t h = hash(hash(hash(UINT64_C(0xcbf29ce484222325), chip), text), options);
    h = hash(h, translator ? translator : "");
    free(translator);
    snprintf(name, sizeof name, "%s-%016llx", chip, (unsigned long long)h);
    pthread_mutex_lock(&lock);
    const struct amd_code *code = find(name);
    if (!code && file_write(name, ".cl", text) && file_write(name, ".options", options) && translate(chip, name))
        code = find(name);
    *log = file_read(name, ".log", &bytes);
    pthread_mutex_unlock(&lock);
    return code;
}

const struct amd_kernel *amd_kernel_of(const struct amd_code *code, const char *name)
{
    for (size_t i = 0; i < code->kernels; i++)
        if (!strcmp(code->kernel[i].name, name))
            return &code->kernel[i];
    return NULL;
}
