// SPDX-License-Identifier: Apache-2.0
// weft-bench: matrices x types x operations x backends x devices x algorithms, each verified before it is printed.
#include "options.h"
#include "run.h"
#include "support/memory.h"
#include "support/progress.h"
#include "support/table.h"
#include "sweep.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft/generate.h>
#include <weft/mtx.h>

const struct bench_op *const bench_ops[] = {&bench_transpose, &bench_spmv, &bench_copy, NULL};

struct device_slot {
    struct bench_device device;
    double copy_gbps; // NaN: could not be measured
    int announced;
    double best_vendor_ms; // of the block that is running; NaN: no vendor line yet
};

struct bench {
    struct bench_options options;
    struct device_slot *slots; // devices in use
    size_t nslots;
    struct device_slot host; // its device has no context
    FILE *json, *csv, *table;
    struct bench_table columns;
    int wrong, failed, unreadable, lines;
    int tuned[BENCH_AXES_MAX]; // nonzero: something that ran has this axis of --tune
    char command[1024];        // the command line, cut when it is longer
    // The block that is running: one operation on one matrix.
    const char *matrix;
    int64_t seed;
    double ref_ms; // NaN: no line of backend ref yet
};

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("weft-bench: ", stderr);
    vfprintf(stderr, format, args);
    putc('\n', stderr);
    va_end(args);
}

static int host_only(const struct weft_backend *backend)
{
    return !strcmp(backend->needs, "host");
}

static int is_vendor(const struct weft_backend *backend)
{
    static const char *const own[] = {"ref", "omp", "opencl"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(backend->name, own[i]))
            return 0;
    return 1;
}

// ---- devices ---------------------------------------------------------------------------------------------------

// Open the device that --device names, or all; gives -1 to go on or the exit status.
static int devices_open(struct bench *b)
{
    struct weft_device_info *list = NULL;
    size_t count = 0;
    struct weft_error err = {0};
    if (weft_devices_list(&list, &count, &err)) {
        complain("%s", err.text);
        return BENCH_DEVICE;
    }
    int wanted = b->options.device, status = -1;
    if (wanted >= 0 && (size_t)wanted >= count) {
        complain("there is no device %d: the list goes from 0 to %zu (--list)", wanted, count - 1);
        status = BENCH_DEVICE;
    }
    b->slots = status < 0 ? calloc(count, sizeof *b->slots) : NULL;
    for (size_t i = 0; i < count && b->slots; i++) {
        if (wanted >= 0 && (size_t)wanted != i)
            continue;
        struct device_slot *slot = &b->slots[b->nslots];
        if (!bench_device_open(&slot->device, &list[i], 0, &err)) {
            slot->copy_gbps = NAN;
            b->nslots++;
        } else if (wanted >= 0) {
            complain("%s", err.text);
        } else {
            complain("left out: %s", err.text);
        }
    }
    weft_devices_free(&list);
    if (status < 0 && !b->nslots) {
        if (wanted < 0)
            complain("none of the %zu devices can be used", count);
        status = BENCH_DEVICE;
    }
    return status;
}

// Measure the copy bandwidth before the first line of a device, and say what it is.
static void announce(struct bench *b, struct device_slot *slot)
{
    if (slot->announced)
        return;
    slot->announced = 1;
    const struct bench_device *device = slot->device.ctx ? &slot->device : NULL;
    const char *name = device ? device->info.name : bench_host_name();
    slot->copy_gbps = NAN;
    if (!b->options.no_roof) {
        bench_progress_begin("copy bandwidth of %s", name);
        slot->copy_gbps = bench_copy_gbps(device, &b->options);
        bench_progress_end();
    }
    if (!b->table)
        return;
    if (device)
        fprintf(b->table, "device %d: %.50s, driver %.20s", device->info.index, name, device->info.driver);
    else
        fprintf(b->table, "host: %.70s", name);
    if (isfinite(slot->copy_gbps))
        fprintf(b->table, ", copies %.4g GB/s", slot->copy_gbps);
    putc('\n', b->table);
}

// ---- choice of backends and algorithms -------------------------------------------------------------------------

// Whether the backend runs on some device in use (or on the host); the reason why not goes to err.
static int backend_runs(const struct bench *b, const struct weft_backend *backend, struct weft_error *err)
{
    if (host_only(backend))
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
            complain("backend %s cannot run: %s", o->backends[i]->name, err.text);
            return BENCH_DEVICE;
        }
    }
    o->nbackends = kept;
    return -1;
}

// Whether algorithm `algo` of the backend is to run. Asked for by --algo: those named, or the first one of a backend
// that has none of those named. By default: of weft on a device those that the operation names (or all), of a vendor
// all, of the host the first.
static int algo_wanted(const struct bench_options *o, const struct bench_op *op, const struct weft_backend *backend,
                       const char *algo)
{
    const char *const *algos = op->algos(backend);
    const char *list = o->algos ? o->algos : is_vendor(backend) ? NULL : host_only(backend) ? algos[0] : op->defaults;
    if (!list || !strcmp(list, "all"))
        return 1;
    for (const char *const *a = algos; *a; a++)
        if (bench_list_has(list, *a))
            return bench_list_has(list, algo);
    return algo == algos[0];
}

// Every word of --algo must name an algorithm of some operation and backend that will run, and every operation that
// was asked for by name must have a backend.
static int algos_check(struct bench_options *o)
{
    const char *word = o->algos;
    while (word && strcmp(o->algos, "all")) {
        int length = (int)strcspn(word, ","), found = 0;
        for (size_t i = 0; i < o->nops; i++)
            for (size_t k = 0; k < o->nbackends; k++)
                for (const char *const *a = o->ops[i]->algos(o->backends[k]); a && *a; a++)
                    found |= (int)strlen(*a) == length && !strncmp(*a, word, (size_t)length);
        if (!found) {
            complain("no algorithm is named \"%.*s\" (--help lists them)", length, word);
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
            complain("no backend here has operation %s", o->ops[i]->name);
            return BENCH_USAGE;
        }
    }
    o->nops = kept;
    return -1;
}

// ---- results ---------------------------------------------------------------------------------------------------

// Complete the record, count its outcome, write it to the files.
static void result_emit(struct bench *b, struct device_slot *slot, struct bench_result *result)
{
    struct bench_record *r = &result->record;
    time_t now = time(NULL);
    struct tm utc;
    char date[32];
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    r->date = date;
    r->command = b->command;
    r->matrix = b->matrix;
    r->seed = b->seed;
    if (result->outcome == BENCH_DONE) {
        r->copy_gbps = slot->copy_gbps;
        r->roof = r->gbps / r->copy_gbps;
        r->speedup_ref = b->ref_ms / r->median_ms;
        r->speedup_best_vendor = slot->best_vendor_ms / r->median_ms;
    }
    b->wrong |= result->outcome == BENCH_DIFFERS;
    b->failed |= result->outcome == BENCH_FAILED;
    b->lines++;
    if (result->outcome == BENCH_REFUSED)
        return;
    if ((b->json && !bench_record_json(b->json, r)) || (b->csv && !bench_record_csv(b->csv, r))) {
        complain("%s cannot be written: %s", b->json ? b->options.json : b->options.csv, strerror(errno));
        b->unreadable = 1;
    }
}

struct emit_arg {
    struct bench *bench;
    struct device_slot *slot;
};

static void sweep_emit(void *arg, struct bench_result *result)
{
    struct emit_arg *to = arg;
    result_emit(to->bench, to->slot, result);
    if (result->outcome == BENCH_DIFFERS || result->outcome == BENCH_FAILED)
        complain("%s %s %s: %s", result->record.op, result->record.algo, result->record.tune, result->why);
}

// A vendor's time counts for its device; that of a host library for the host and for CPU devices.
static void vendor_note(struct bench *b, struct device_slot *slot, double ms)
{
    slot->best_vendor_ms = fmin(slot->best_vendor_ms, ms); // the number of a number and NaN
    for (size_t i = 0; i < b->nslots && slot == &b->host; i++)
        if (b->slots[i].device.info.type & CL_DEVICE_TYPE_CPU)
            b->slots[i].best_vendor_ms = fmin(b->slots[i].best_vendor_ms, ms);
}

static void line_run(struct bench *b, struct bench_case *c, struct device_slot *slot)
{
    struct bench_options *o = &b->options;
    c->device = slot == &b->host ? NULL : &slot->device;
    c->options = o;
    c->stop = o->stop;
    const struct bench_axis *axes = bench_case_axes(c);
    if (o->sweep) {
        struct emit_arg arg = {b, slot};
        if (!o->stop.reps && o->stop.min_s <= 0)
            c->stop.min_s = 0.1;
        announce(b, slot);
        bench_sweep(b->table, c, sweep_emit, &arg);
        return;
    }
    for (int i = 0; i < o->ntune; i++)
        for (const struct bench_axis *x = axes; x && x->name; x++)
            if (!strcmp(x->name, o->tune[i].name)) {
                c->tune[c->ntune].name = x->name;
                c->tune[c->ntune++].value = o->tune[i].value;
                b->tuned[i] = 1;
            }
    struct bench_result result;
    bench_progress_begin("%s %s on %s", c->backend->name, c->algo, c->device ? c->device->info.name : "the host");
    bench_case_run(&result, c);
    bench_progress_end();
    if (result.outcome == BENCH_DONE && !strcmp(c->backend->name, "ref") && isnan(b->ref_ms))
        b->ref_ms = result.record.median_ms;
    result_emit(b, slot, &result);
    if (result.outcome == BENCH_DONE && is_vendor(c->backend))
        vendor_note(b, slot, result.record.median_ms);
    bench_table_row(&b->columns, &result);
}

// One operation on one matrix (NULL: none), by every backend.
static void block_run(struct bench *b, const struct bench_op *op, const struct weft_csr *a, int seeded)
{
    struct bench_options *o = &b->options;
    struct bench_input input = {.a = a, .seed = o->seed, .products = o->products, .hash = o->hash};
    struct weft_error err = {0};
    b->ref_ms = b->host.best_vendor_ms = NAN;
    b->seed = seeded || op->draws ? (int64_t)o->seed : -1;
    for (size_t i = 0; i < b->nslots; i++)
        b->slots[i].best_vendor_ms = NAN;
    bench_progress_begin("reference of %s for %s", op->name, b->matrix ? b->matrix : "all");
    weft_status status = op->input ? op->input(&input, &err) : WEFT_OK;
    bench_progress_end();
    if (status) {
        complain("%s: %s", op->name, err.text);
        b->failed = 1;
    }
    if (!status && !o->sweep) {
        for (size_t k = 0; k < o->nbackends; k++) // all of them, so that nothing comes between the rows
            if (op->algos(o->backends[k])) {
                for (size_t i = 0; i < b->nslots && !host_only(o->backends[k]); i++)
                    announce(b, &b->slots[i]);
                if (host_only(o->backends[k]))
                    announce(b, &b->host);
            }
        b->columns.out = b->table;
        b->columns.gflops = op->flops != NULL;
        b->columns.vendors = 0;
        for (size_t k = 0; k < o->nbackends; k++)
            b->columns.vendors |= is_vendor(o->backends[k]) && op->algos(o->backends[k]);
        bench_table_head(&b->columns, op->name, b->matrix, a, b->seed);
    }
    for (size_t k = 0; k < o->nbackends && !status; k++) {
        const struct weft_backend *backend = o->backends[k];
        for (size_t i = 0; i < (host_only(backend) ? 1 : b->nslots); i++) {
            struct device_slot *slot = host_only(backend) ? &b->host : &b->slots[i];
            if (!host_only(backend) && backend->probe(slot->device.ctx, &err))
                continue;
            for (const char *const *algo = op->algos(backend); algo && *algo; algo++)
                if (algo_wanted(o, op, backend, *algo)) {
                    struct bench_case c = {.op = op, .input = &input, .backend = backend, .algo = *algo};
                    line_run(b, &c, slot);
                }
        }
    }
    if (op->input_free)
        op->input_free(&input);
}

// ---- matrices --------------------------------------------------------------------------------------------------

// "thermal2" of "/data/thermal2.tar.gz"
static void name_of_file(char *out, size_t size, const char *path)
{
    const char *base = strrchr(path, '/');
    snprintf(out, size, "%s", base ? base + 1 : path);
    static const char *const ends[] = {".gz", ".tgz", ".tar", ".mtx"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t length = strlen(out), end = strlen(ends[i]);
        if (length > end && !strcmp(out + length - end, ends[i]))
            out[length - end] = 0;
    }
}

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
        status = weft_mtx_read(
            a, NULL, source->text,
            weft_mtx_params(.type = type, .ofs = o->ofs, .complex = o->complex, .progress = bench_progress_bytes), err);
    }
    bench_progress_end();
    return status;
}

static void source_run(struct bench *b, const struct bench_source *source)
{
    struct bench_options *o = &b->options;
    char name[256];
    if (source->generated)
        snprintf(name, sizeof name, "%s", source->text);
    else
        name_of_file(name, sizeof name, source->text);
    for (size_t t = 0; t < o->ntypes; t++) {
        struct weft_csr a = {0};
        struct weft_error err = {0};
        weft_status status = matrix_get(b, source, o->types[t], &a, &err);
        if (status) {
            complain("%s%s", err.text[0] ? err.text : weft_status_text(status),
                     status == WEFT_EUNSUPPORTED && strstr(err.text, "complex") ? " (--complex real|imag)" : "");
            b->unreadable = 1;
            continue;
        }
        b->matrix = name;
        for (size_t i = 0; i < o->nops; i++)
            if (!o->ops[i]->no_matrix)
                block_run(b, o->ops[i], &a, source->generated);
        b->matrix = NULL;
        weft_csr_free(&a);
    }
}

// ---- the whole -------------------------------------------------------------------------------------------------

static FILE *file_open(const char *path)
{
    if (!strcmp(path, "-"))
        return stdout;
    FILE *file = fopen(path, "w");
    if (!file)
        complain("%s cannot be written: %s", path, strerror(errno));
    return file;
}

static int outputs_open(struct bench *b)
{
    const struct bench_options *o = &b->options;
    int to_stdout = (o->json && !strcmp(o->json, "-")) || (o->csv && !strcmp(o->csv, "-"));
    b->table = o->quiet || to_stdout ? NULL : stdout;
    if (o->json && !(b->json = file_open(o->json)))
        return BENCH_USAGE;
    if (o->csv && !(b->csv = file_open(o->csv)))
        return BENCH_USAGE;
    if (b->csv && !bench_record_csv_head(b->csv)) {
        complain("%s cannot be written: %s", o->csv, strerror(errno));
        return BENCH_USAGE;
    }
    return -1;
}

static int list_print(void)
{
    struct weft_device_info *list = NULL;
    size_t count = 0;
    struct weft_error err = {0};
    weft_status status = weft_devices_list(&list, &count, &err);
    bench_devices_print(stdout, list, count);
    if (status)
        complain("%s", err.text);
    weft_devices_free(&list);
    return status ? BENCH_DEVICE : BENCH_OK;
}

static void close_all(struct bench *b)
{
    if (b->json && b->json != stdout)
        fclose(b->json);
    if (b->csv && b->csv != stdout)
        fclose(b->csv);
    for (size_t i = 0; i < b->nslots; i++)
        bench_device_close(&b->slots[i].device);
    free(b->slots);
    bench_options_free(&b->options);
}

int main(int argc, char **argv)
{
    struct bench b = {.seed = -1, .command = "weft-bench"};
    for (int i = 1; i < argc; i++) {
        size_t used = strlen(b.command);
        snprintf(b.command + used, sizeof b.command - used, strpbrk(argv[i], " \t\"'$*?") ? " '%s'" : " %s", argv[i]);
    }
    struct bench_options *o = &b.options;
    int status = bench_options_parse(o, argc, argv), devices = 0, matrices = 0;
    if (status >= 0)
        return status;
    if (o->list) {
        bench_options_free(o);
        return list_print();
    }
    bench_memory_watch();
    bench_progress_enable(o->quiet);
    for (size_t i = 0; i < o->nbackends; i++)
        devices |= !host_only(o->backends[i]);
    if (devices)
        status = devices_open(&b);
    if (status < 0)
        status = backends_probe(&b);
    if (status < 0)
        status = algos_check(o);
    if (status < 0)
        status = outputs_open(&b);
    if (status < 0) {
        for (size_t i = 0; i < o->nops; i++) {
            matrices |= !o->ops[i]->no_matrix;
            if (o->ops[i]->no_matrix)
                block_run(&b, o->ops[i], NULL, 0);
        }
        for (size_t i = 0; i < o->nsources && matrices; i++)
            source_run(&b, &o->sources[i]);
        if (!b.lines && !b.unreadable && !b.failed)
            complain("nothing ran: no backend here has what was asked for (--list, --help)");
        for (int i = 0; i < o->ntune && b.lines; i++)
            if (!b.tuned[i]) {
                complain("nothing that ran has a tuning axis \"%s\"", o->tune[i].name);
                b.unreadable = 1;
            }
        status = b.wrong ? BENCH_WRONG : b.failed ? BENCH_DEVICE : b.unreadable || !b.lines ? BENCH_USAGE : BENCH_OK;
    }
    close_all(&b);
    return status;
}
