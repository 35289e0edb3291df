// SPDX-License-Identifier: Apache-2.0
// weft-bench: matrices x types x operations x backends x devices x algorithms, each verified before it is printed.
#include "bench/run/block.h"
#include "bench/mode/compare.h"
#include "bench/mode/study.h"
#include "bench/run/help.h"
#include "bench/run/memory.h"
#include "host/common/list.h"
#include "host/common/name.h"
#include "host/common/progress.h"
#include "host/common/spare.h"
#include "host/common/streams.h"
#include "host/common/word.h"
#include "host/internal/text.h"
#include "bench/mode/tune.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/generate.h>
#include <weft/mtx.h>

const struct bench_op *const bench_ops[] = {&bench_transpose, &bench_refill, &bench_spmv,      &bench_scan,
                                            &bench_segsort,   &bench_merge,  &bench_histogram, &bench_expand,
                                            &bench_copy,      NULL};

#define BENCH_LOAD_MAX 0.75 // of the processors: a load average above it is other work

// ---- devices ---------------------------------------------------------------------------------------------------

// Complains that no device is `text`.
static int device_absent(const struct bench_options *o, size_t count, const char *text)
{
    char why[BENCH_LIST_WHY];
    bench_list_absent(why, sizeof why, count, text, o->device_given ? "--device" : "WEFT_DEVICE");
    bench_complain("%s (--list)", why);
    return BENCH_USAGE;
}

// The index that the options ask for, or BENCH_ALL_DEVICES; -2 after a complaint, whose exit status goes to *status.
static int device_wanted(const struct bench_options *o, const struct weft_device_info *list, size_t count, int *status)
{
    int wanted = o->device;
    if (wanted == BENCH_NAMED_DEVICE) {
        wanted = bench_list_find(list, count, o->device_word);
        if (wanted < 0) {
            *status = device_absent(o, count, o->device_word);
            return -2;
        }
    }
    if (wanted == BENCH_DEFAULT_DEVICE)
        wanted = weft_device_default(list, count);
    if (wanted >= 0 && (size_t)wanted >= count) {
        char index[16];
        snprintf(index, sizeof index, "%d", wanted);
        *status = device_absent(o, count, index);
        return -2;
    }
    return wanted;
}

// Whether what runs on the host alone is enough: neither a device nor a backend that needs one was asked for.
static int host_suffices(const struct bench_options *o)
{
    int host = 0, others = 0;
    for (size_t i = 0; i < o->nbackends; i++)
        *(bench_host_only(o->backends[i]) ? &host : &others) = 1;
    return host && !o->tune_write && (o->device == BENCH_DEFAULT_DEVICE || o->device == BENCH_ALL_DEVICES) &&
           !(o->backends_given && others);
}

// Open the device that --device names, or all; gives -1 to go on or the exit status.
static int devices_open(struct bench *b)
{
    struct weft_device_info *list = NULL;
    size_t count = 0;
    struct weft_error err = {0};
    if (weft_devices_list(&list, &count, &err)) {
        const int go_on = host_suffices(&b->options);
        bench_complain("%s%s", err.text, go_on ? "; only backends of the host run" : "");
        return go_on ? -1 : BENCH_DEVICE;
    }
    int status = -1;
    const int wanted = device_wanted(&b->options, list, count, &status);
    b->slots = status < 0 ? calloc(count, sizeof *b->slots) : NULL;
    for (size_t i = 0; i < count && b->slots; i++) {
        if (wanted >= 0 && (size_t)wanted != i)
            continue;
        struct device_slot *slot = &b->slots[b->nslots];
        if (!bench_device_open(&slot->device, &list[i], 0, &err)) {
            slot->copy_gbps = NAN;
            b->nslots++;
        } else if (wanted >= 0) {
            bench_complain("%s", err.text);
        } else {
            bench_complain("left out: %s", err.text);
        }
    }
    weft_devices_free(&list);
    if (status < 0 && !b->nslots) {
        if (wanted < 0)
            bench_complain("none of the %zu devices can be used", count);
        status = BENCH_DEVICE;
    }
    return status;
}

// Where only backends of the host run, no device is opened, but one that was asked for must be in the list. A machine without
// drivers has none.
static int device_named_check(const struct bench_options *o)
{
    struct weft_device_info *list = NULL;
    size_t count = 0;
    int status = -1;
    if ((o->device >= 0 || o->device == BENCH_NAMED_DEVICE) && !weft_devices_list(&list, &count, NULL))
        device_wanted(o, list, count, &status);
    weft_devices_free(&list);
    return status;
}

// ---- choice of backends and algorithms -------------------------------------------------------------------------

// Whether the backend runs on some device in use (or on the host); the reason why not goes to err.
static int backend_runs(const struct bench *b, const struct weft_backend *backend, struct weft_error *err)
{
    if (bench_host_only(backend))
        return !backend->probe(NULL, err);
    for (size_t i = 0; i < b->nslots; i++)
        if (!backend->probe(b->slots[i].device.ctx, err))
            return 1;
    return 0;
}

// Drop backends that cannot run; one that was asked for by name is an error.
static int backends_probe(struct bench *b)
{
    struct bench_options *o = &b->options;
    size_t kept = 0;
    for (size_t i = 0; i < o->nbackends; i++) {
        struct weft_error err = {0};
        if (backend_runs(b, o->backends[i], &err)) {
            o->backends[kept++] = o->backends[i];
        } else if (o->backends_given) {
            bench_complain("backend %s cannot run: %s", o->backends[i]->name, err.text);
            return err.status == WEFT_EUNSUPPORTED ? BENCH_USAGE : BENCH_DEVICE; // it is not here, or it fails
        }
    }
    o->nbackends = kept;
    return -1;
}

static struct bench_word_hint algo_hint(const struct bench_options *o, const char *word, size_t length)
{
    const char *names[256];
    size_t count = 0;
    for (size_t i = 0; i < o->nops; i++)
        for (size_t k = 0; k < o->nbackends; k++)
            for (const char *const *a = o->ops[i]->algos(o->backends[k]); a && *a; a++)
                if (count < sizeof names / sizeof *names)
                    names[count++] = *a;
    return bench_word_hint(word, length, names, count, sizeof *names);
}

// Every word of --algo must name an algorithm of some operation and backend that will run, and every operation that
// was asked for by name must have a backend.
static int algos_check(struct bench_options *o)
{
    const char *word = o->algos;
    while (word) {
        int length = (int)strcspn(word, ","), found = length == 3 && !strncmp(word, "all", 3);
        for (size_t i = 0; i < o->nops; i++)
            for (size_t k = 0; k < o->nbackends; k++)
                for (const char *const *a = o->ops[i]->algos(o->backends[k]); a && *a; a++)
                    found |= (int)strlen(*a) == length && !strncmp(*a, word, (size_t)length);
        if (!found) {
            const int one = o->nops == 1;
            bench_complain("%s %s algorithm \"%.*s\" here%s (--help lists them)",
                           one ? o->ops[0]->name : "no operation", one ? "has no" : "has an", length, word,
                           algo_hint(o, word, (size_t)length).text);
            return BENCH_USAGE;
        }
        word = word[length] ? word + length + 1 : NULL;
    }
    size_t kept = 0;
    for (size_t i = 0; i < o->nops; i++) {
        int some = 0;
        for (size_t k = 0; k < o->nbackends; k++)
            some |= o->ops[i]->algos(o->backends[k]) != NULL;
        if (some) {
            o->ops[kept++] = o->ops[i];
        } else if (!o->all_ops) {
            bench_complain("no backend here has operation %s", o->ops[i]->name);
            return BENCH_USAGE;
        }
    }
    o->nops = kept;
    return -1;
}

// ---- matrices --------------------------------------------------------------------------------------------------

static weft_status matrix_get(struct bench *b, const struct bench_source *source, enum weft_type type,
                              struct weft_csr *a, struct weft_error *err)
{
    const struct bench_options *o = &b->options;
    weft_status status;
    if (source->generated) {
        bench_progress_begin("generating %s", source->text);
        status =
            weft_generate(a, source->text, weft_generate_params(.type = type, .ofs = o->ofs, .seed = o->seed), err);
    } else {
        bench_progress_begin("reading %s", source->text);
        status = bench_matrix_read(
            a, source->text, o,
            weft_mtx_params(.type = type, .ofs = o->ofs, .complex = o->complex, .progress = bench_progress_bytes), err);
    }
    bench_progress_end();
    bench_word_limit(err->text);
    return status;
}

// Of a file that cannot be read: the option that its name may have been meant for.
static const char *source_hint(char hint[64], const struct bench_source *source)
{
    hint[0] = 0;
    for (const struct bench_op *const *op = bench_ops; *op; op++)
        if (!source->generated && !strcmp((*op)->name, source->text) && access(source->text, F_OK))
            snprintf(hint, 64, " (the operation %s is -o %s)", source->text, source->text);
    return hint;
}

static void source_run(struct bench *b, const struct bench_source *source)
{
    struct bench_options *o = &b->options;
    char name[256];
    if (source->generated)
        snprintf(name, sizeof name, "%s", source->text);
    else
        bench_name_of_file(name, sizeof name, source->text);
    for (size_t t = 0; t < o->ntypes; t++) {
        struct weft_csr a = {0};
        struct weft_error err = {0};
        weft_status status = matrix_get(b, source, o->types[t], &a, &err);
        if (status) {
            char hint[64];
            bench_complain("%s%s%s", err.text[0] ? err.text : weft_status_text(status),
                           status == WEFT_EUNSUPPORTED && strstr(err.text, "complex")
                               ? " (--complex real|imag, or -t pattern)"
                               : "",
                           source_hint(hint, source));
            b->refused = 1;
            continue;
        }
        b->matrix = name;
        for (size_t i = 0; i < o->nops && !o->study; i++)
            if (!o->ops[i]->no_matrix)
                bench_block_run(b, o->ops[i], &a, source->generated);
        if (o->study)
            bench_study_run(b, &a);
        b->matrix = NULL;
        weft_csr_free(&a);
    }
}

// A file that no operation reads must still be there: its name may be a slip.
static void source_look(struct bench *b, const struct bench_source *source)
{
    char hint[64];
    if (source->generated || !strcmp(source->text, "/dev/stdin") || !access(source->text, R_OK))
        return;
    const int error = errno;
    bench_complain("%.600s: cannot open: %s%s", source->text, strerror(error), source_hint(hint, source));
    b->refused = 1;
}

// Whether the source is there once: a pipe, or a standard input that is no file.
static int is_pipe(const struct bench_source *source)
{
    struct stat about;
    const int input = !source->generated && !strcmp(source->text, "/dev/stdin");
    if (source->generated || (input ? fstat(STDIN_FILENO, &about) : stat(source->text, &about)))
        return 0;
    return S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) || (input && !S_ISREG(about.st_mode));
}

// Whether what can be read once is read once. A matrix is read for each type, since no type holds the values of all others as
// each would read them.
static int pipes_check(const struct bench_options *o)
{
    int matrices = o->tune_write;
    for (size_t i = 0; i < o->nops; i++)
        matrices |= !o->ops[i]->no_matrix;
    for (size_t i = 0; i < o->nsources && matrices && !o->compare && !o->list; i++) {
        const struct bench_source *source = &o->sources[i];
        const char *name = strcmp(source->text, "/dev/stdin") ? source->text : "the standard input";
        if (!is_pipe(source))
            continue;
        for (size_t k = 0; k < i; k++)
            if (!o->sources[k].generated && !strcmp(o->sources[k].text, source->text))
                return bench_complain("%s can be read once, and is named twice", name), 0;
        if (o->tune_write)
            return bench_complain("%s can be read once, and --tune reads a matrix for each row: give a file", name), 0;
        if (o->ntypes > 1)
            return bench_complain("%s can be read once, and %zu types read it each: give a file, or one type (-t %s)",
                                  name, o->ntypes, weft_type_name(o->types[0])),
                   0;
    }
    return 1;
}

// ---- the whole -------------------------------------------------------------------------------------------------

static int same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

// Whether the file is read in this run or takes the table; a folder, a pipe or /dev/null may be both.
static int file_taken(const struct bench *b, const struct stat *file)
{
    struct stat other;
    int taken = b->table && !fstat(STDOUT_FILENO, &other) && same_file(file, &other);
    for (size_t i = 0; i < b->options.nsources; i++) {
        const struct bench_source *source = &b->options.sources[i];
        const int there =
            !strcmp(source->text, "/dev/stdin") ? !fstat(STDIN_FILENO, &other) : !stat(source->text, &other);
        taken |= !source->generated && there && same_file(file, &other);
    }
    return taken && S_ISREG(file->st_mode);
}

// Whether no output would replace a matrix, which an option that goes without FILE takes for its own.
static int outputs_spare(const struct bench *b)
{
    const struct bench_options *o = &b->options;
    struct stat about;
    const char *const outputs[][2] = {
        {"--json", o->json}, {"--csv", o->csv}, {"--trace", o->trace}, {"--html", o->html}};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const char *const *out = outputs[i];
        if (!out[1] || bench_word_is_stream(out[1]) || !bench_spare_matrix(out[1]) ||
            (!stat(out[1], &about) && file_taken(b, &about))) // out_open says so
            continue;
        bench_complain("%s looks like a matrix, and %s does not replace it (use %s - for the standard output)", out[1],
                       out[0], out[0]);
        return 0;
    }
    return 1;
}

// One of the files of a run; *file is what is printed to, NULL: none is wanted. 0: it cannot be had.
static int out_open(struct bench *b, int which, const char *path, FILE **file)
{
    struct weft__out *out = &b->outs[which];
    struct stat about;
    if (!path)
        return 1;
    int taken = !bench_word_is_stream(path) && !stat(path, &about) && file_taken(b, &about);
    int error = taken                        ? 0
                : bench_word_is_stream(path) ? weft__out_stream(out, STDOUT_FILENO)
                                             : weft__out_open(out, path, 0);
    for (int i = 0; i < which && out->path; i++)
        taken |= b->outs[i].path && !strcmp(out->path, b->outs[i].path);
    if (taken) {
        bench_complain("%s cannot be written: it is an input or another output of this run", path);
        return 0;
    }
    *file = error ? NULL : weft__out_file(out);
    if (!*file)
        bench_output_failed(b, out, error ? error : ENOMEM);
    return *file != NULL;
}

static int outputs_open(struct bench *b)
{
    const struct bench_options *o = &b->options;
    int to_stdout = bench_word_is_stream(o->json) || bench_word_is_stream(o->csv) || bench_word_is_stream(o->trace) ||
                    bench_word_is_stream(o->html);
    b->table = o->quiet || to_stdout ? NULL : stdout;
    if (!out_open(b, BENCH_OUT_JSON, o->json, &b->json) || !out_open(b, BENCH_OUT_CSV, o->csv, &b->csv) ||
        !out_open(b, BENCH_OUT_TRACE, o->trace, &b->trace) || !out_open(b, BENCH_OUT_HTML, o->html, &b->html))
        return BENCH_USAGE;
    if (o->profile && !bench_profile_open(&b->profile, b->command, b->trace)) {
        bench_complain("out of host memory");
        return BENCH_DEVICE;
    }
    if (b->csv && !o->profile) // goes out with the first row
        (o->study ? study_csv_head : bench_record_csv_head)(b->csv);
    return -1;
}

static int list_print(struct bench *b)
{
    struct weft_device_info *list = NULL;
    size_t count = 0;
    struct weft_error err = {0};
    int code = outputs_open(b);
    if (code >= 0)
        return code;
    weft_status status = weft_devices_list(&list, &count, &err);
    if (b->table)
        bench_devices_print(b->table, list, count);
    code = status ? BENCH_DEVICE : BENCH_OK;
    if (b->json)
        bench_outputs_commit(b, bench_devices_json(b->json, list, count));
    if (status)
        bench_complain("%s", err.text);
    weft_devices_free(&list);
    return code;
}

// The record of --profile is one document, written at the end.
static void profile_write(struct bench *b)
{
    int errors[BENCH_OUTS];
    bench_profile_write(&b->profile, b->outs, errors);
    for (int i = 0; i < BENCH_OUTS; i++)
        if (errors[i])
            bench_output_failed(b, &b->outs[i], errors[i]);
}

static void close_all(struct bench *b)
{
    bench_profile_close(&b->profile);
    for (int i = 0; i < BENCH_OUTS; i++)
        weft__out_close(&b->outs[i]);
    for (size_t i = 0; i < b->nslots; i++)
        bench_device_close(&b->slots[i].device);
    free(b->slots);
    bench_options_free(&b->options);
}

static int compare_run(struct bench *b)
{
    int status = outputs_open(b);
    if (status < 0)
        status = bench_compare(b);
    close_all(b);
    return status;
}

// Says that others work on this machine too. What this run does itself comes later.
static void load_announce(FILE *out)
{
    double load;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (out && getloadavg(&load, 1) == 1 && load > BENCH_LOAD_MAX * (double)processors)
        fprintf(out, "load average %.1f on %ld processors: other work runs here, and times may be longer for it\n",
                load, processors);
}

static void text_add(char *text, size_t size, const char *more, size_t length)
{
    const size_t used = strlen(text), room = size - 1 - used;
    length = length < room ? length : room;
    memcpy(text + used, more, length);
    text[used + length] = 0;
}

// A word of a command line as a shell reads it.
static void word_add(char *command, size_t size, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,-./:=@_%";
    int quoted = !*word;
    for (const char *at = word; *at; at++)
        quoted |= (unsigned char)*at < 0x80 && !strchr(plain, *at);
    text_add(command, size, quoted ? " '" : " ", quoted ? 2 : 1);
    for (const char *at = word; *at; at++)
        if (*at == '\'')
            text_add(command, size, "'\\''", 4);
        else
            text_add(command, size, at, 1);
    if (quoted)
        text_add(command, size, "'", 1);
}

static int run(int argc, char **argv)
{
    struct bench b = {.seed = -1, .command = "weft-bench"};
    for (int i = 1; i < argc; i++)
        word_add(b.command, sizeof b.command, argv[i]);
    weft__text_mend(b.command);
    struct bench_options *o = &b.options;
    int status = bench_options_parse(o, argc, argv), devices = 0, matrices = 0;
    if (status >= 0)
        return status;
    const char *const wrong = bench_word_environment();
    if (wrong) {
        close_all(&b);
        return bench_usage_fail("%s", wrong);
    }
    if (!outputs_spare(&b) || !pipes_check(o)) {
        close_all(&b);
        return BENCH_USAGE;
    }
    if (o->list) {
        status = list_print(&b);
        close_all(&b);
        return b.refused && !status ? BENCH_USAGE : status;
    }
    if (o->compare)
        return compare_run(&b);
    bench_memory_watch();
    bench_progress_enable(o->quiet);
    for (size_t i = 0; i < o->nbackends; i++)
        devices |= !bench_host_only(o->backends[i]);
    status = bench_tune_open(&b);
    if (status < 0 && (devices || o->tune_write))
        status = devices_open(&b);
    else if (status < 0)
        status = device_named_check(o);
    if (status < 0)
        bench_tune_tell(&b);
    if (status < 0)
        status = backends_probe(&b);
    if (status < 0)
        status = algos_check(o);
    if (status < 0)
        status = outputs_open(&b);
    if (status < 0)
        load_announce(b.table);
    if (status < 0 && o->tune_write) {
        bench_tune_run(&b);
        status = b.wrong ? BENCH_WRONG : b.failed ? BENCH_DEVICE : b.refused || !b.lines ? BENCH_USAGE : BENCH_OK;
    }
    if (status < 0) {
        if (o->study)
            bench_study_announce(&b);
        for (size_t i = 0; i < o->nops; i++) {
            matrices |= !o->ops[i]->no_matrix;
            if (o->ops[i]->no_matrix)
                bench_block_run(&b, o->ops[i], NULL, 0);
        }
        for (size_t i = 0; i < o->nsources; i++)
            (matrices ? source_run : source_look)(&b, &o->sources[i]);
        if (!b.lines && !b.refused && !b.failed && o->sweep)
            bench_complain("nothing ran: no algorithm that was chosen has tuning axes here (-a all tries every one)");
        else if (!b.lines && !b.refused && !b.failed)
            bench_complain("nothing ran: no backend here has what was asked for (--list, --help)");
        for (int i = 0; i < o->ntune && b.lines; i++)
            if (!b.tuned[i]) {
                bench_complain("nothing that ran has a tuning axis \"%s\"", o->tune[i].name);
                b.refused = 1;
            }
        if (o->profile && b.lines)
            profile_write(&b);
        status = b.wrong ? BENCH_WRONG : b.failed ? BENCH_DEVICE : b.refused || !b.lines ? BENCH_USAGE : BENCH_OK;
    }
    close_all(&b);
    return status;
}

int main(int argc, char **argv)
{
    bench_streams_begin();
    return bench_streams_end("weft-bench", run(argc, argv), BENCH_USAGE);
}
