// SPDX-License-Identifier: Apache-2.0
// One operation on one matrix by every backend, device and algorithm: runs the cases and writes what comes out.
#include "block.h"
#include "point.h"
#include "host/common/progress.h"
#include "host/common/streams.h"
#include "host/common/word.h"
#include "sweep.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void bench_complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bench_streams_complain("weft-bench", format, args);
    va_end(args);
}

int bench_host_only(const struct weft_backend *backend)
{
    return !strcmp(backend->needs, "host");
}

// Other people's libraries: those of the vendors of GPUs, and their peers on the host.
static int is_vendor(const struct weft_backend *backend)
{
    static const char *const own[] = {"ref", "omp", "opencl"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(backend->name, own[i]))
            return 0;
    return 1;
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
        fprintf(b->table, "device %d: %.50s, driver %.12s", device->info.index, name, device->info.driver);
    else
        fprintf(b->table, "host: %.70s", name);
    if (isfinite(slot->copy_gbps))
        fprintf(b->table, ", copies %.4g GB/s", slot->copy_gbps);
    putc('\n', b->table);
}

// Whether algorithm `algo` of the backend is to run. Asked for by --algo: those named, or the first one of a backend
// that has none of those named. By default: of weft on a device those that the operation names (or all), of a vendor
// all, of the host the first.
static int algo_wanted(const struct bench_options *o, const struct bench_op *op, const struct weft_backend *backend,
                       const char *algo)
{
    const char *const *algos = op->algos(backend);
    const char *list = o->algos                                 ? o->algos
                       : is_vendor(backend)                     ? NULL
                       : bench_host_only(backend) && !op->cases ? algos[0]
                                                                : op->defaults;
    if (!list || bench_list_has(list, "all") || (o->regret && !o->algos && !strcmp(backend->name, "opencl")))
        return 1;
    for (const char *const *a = algos; *a; a++)
        if (bench_list_has(list, *a))
            return bench_list_has(list, algo);
    return algo == algos[0];
}

// The time of `ref` that a line is compared with: that of the same case where the algorithms are cases.
static double *ref_ms_of(struct bench *b, const struct bench_case *c)
{
    int i = 0;
    const char *const *algos = c->op->cases ? c->op->algos(c->backend) : NULL;
    while (algos && i < BENCH_CASES_MAX - 1 && algos[i] != c->algo)
        i++;
    return &b->ref_ms[i];
}

void bench_output_failed(struct bench *b, const struct weft__out *out, int error)
{
    const struct bench_options *o = &b->options;
    const char *const paths[BENCH_OUTS] = {o->json, o->csv, o->trace, o->html};
    const char *path = paths[out - b->outs];
    bench_complain("%s cannot be written: %s", bench_word_is_stream(path) ? "standard output" : path, strerror(error));
    b->refused = 1;
}

// Half a record at the end would cost the whole file: what reads it refuses it. A stream may have words of others, and stays.
static void output_cut(const struct weft__out *out, off_t whole)
{
    struct stat about;
    if (out->path && out->done && !fstat(out->fd, &about) && S_ISREG(about.st_mode) && about.st_size > whole &&
        ftruncate(out->fd, whole))
        bench_complain("the last record in %s is cut off: remove it", out->path);
}

void bench_outputs_commit(struct bench *b, int good)
{
    for (int i = BENCH_OUT_JSON; i <= BENCH_OUT_CSV; i++) {
        struct weft__out *out = &b->outs[i];
        int error = out->file ? weft__out_flush(out) : 0;
        if (out->file && !error)
            error = good ? weft__out_commit(out) : ENOMEM;
        if (!error) {
            b->whole[i] = out->path ? lseek(out->fd, 0, SEEK_CUR) : 0;
            continue;
        }
        bench_output_failed(b, out, error);
        output_cut(out, b->whole[i]);
        weft__out_close(out); // what it took before stays; it is complained of once
        *(i == BENCH_OUT_JSON ? &b->json : &b->csv) = NULL;
    }
}

void bench_record_emit(struct bench *b, const struct bench_record *r)
{
    int good = !b->json || bench_record_json(b->json, r);
    good = (!b->csv || bench_record_csv(b->csv, r)) && good;
    bench_outputs_commit(b, good);
}

// Whether a line is what weft chose itself.
static int is_choice(const char *backend, const char *algo)
{
    return !strcmp(backend, "opencl") && !strcmp(algo, "auto");
}

// Complete the record, count its outcome, write it to the files.
static void result_emit(struct bench *b, struct device_slot *slot, double ref_ms, struct bench_result *result)
{
    struct bench_record *r = &result->record;
    time_t now = time(NULL);
    struct tm utc;
    char date[32];
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    r->date = date;
    r->command = b->command;
    r->matrix = b->matrix;
    if (result->outcome == BENCH_DONE) {
        r->copy_gbps = slot->copy_gbps;
        r->roof = r->gbps / r->copy_gbps;
        r->speedup_ref = ref_ms / r->median_ms;
        r->speedup_best_vendor = slot->best_vendor_ms / r->median_ms;
        if (b->options.regret && is_choice(r->backend, r->algo))
            r->regret = r->median_ms / fmin(slot->best_own_ms, r->median_ms);
    }
    b->wrong |= result->outcome == BENCH_DIFFERS;
    b->failed |= result->outcome == BENCH_FAILED;
    b->lines++;
    if (result->outcome == BENCH_REFUSED && b->options.sweep) // one that was asked for has a record
        return;
    b->refused |= result->outcome == BENCH_REFUSED;
    bench_record_emit(b, r);
}

struct emit_arg {
    struct bench *bench;
    struct device_slot *slot;
};

static void sweep_emit(void *arg, struct bench_result *result)
{
    struct emit_arg *to = arg;
    result_emit(to->bench, to->slot, NAN, result);
    if (result->outcome == BENCH_DIFFERS || result->outcome == BENCH_FAILED)
        bench_complain("%s %s %s: %s", result->record.op, result->record.algo, result->record.tune, result->why);
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
    struct bench_axes axes;
    bench_axes_find(&axes, c, 0);
    for (int i = 0; i < o->ntune; i++)
        for (int x = 0; x < axes.count; x++)
            if (!strcmp(axes.axis[x]->name, o->tune[i].name)) {
                c->tune[c->ntune].name = axes.axis[x]->name;
                c->tune[c->ntune++].value = o->tune[i].value;
                b->tuned[i] = 1;
            }
    if (o->sweep) {
        struct emit_arg arg = {b, slot};
        if (!o->stop.reps && o->stop.min_s <= 0)
            c->stop.min_s = 0.1;
        announce(b, slot);
        bench_sweep(b->table, c, sweep_emit, &arg);
        return;
    }
    struct bench_result result;
    if (o->profile) {
        bench_progress_begin("profile of %s %s", c->backend->name, c->algo);
        bench_profile_case(&b->profile, c, slot->copy_gbps, b->table, &result);
        bench_progress_end();
        int error = bench_profile_save(&b->profile, &b->outs[BENCH_OUT_JSON]);
        if (error)
            bench_output_failed(b, &b->outs[BENCH_OUT_JSON], error);
        b->wrong |= result.outcome == BENCH_DIFFERS;
        b->failed |= result.outcome == BENCH_FAILED;
        b->refused |= result.outcome == BENCH_REFUSED;
        b->lines++;
        return;
    }
    bench_progress_begin("%s %s on %s", c->backend->name, c->algo, c->device ? c->device->info.name : "the host");
    bench_case_run(&result, c);
    bench_progress_end();
    double *ref_ms = ref_ms_of(b, c);
    if (result.outcome == BENCH_DONE && !strcmp(c->backend->name, "ref") && isnan(*ref_ms))
        *ref_ms = result.record.median_ms;
    result_emit(b, slot, *ref_ms, &result);
    if (result.outcome == BENCH_DONE && is_vendor(c->backend))
        vendor_note(b, slot, result.record.median_ms);
    if (result.outcome == BENCH_DONE && !strcmp(c->backend->name, "opencl") && strcmp(c->algo, "auto"))
        slot->best_own_ms = fmin(slot->best_own_ms, result.record.median_ms);
    bench_table_row(&b->columns, &result);
}

void bench_block_run(struct bench *b, const struct bench_op *op, const struct weft_csr *a, int seeded)
{
    struct bench_options *o = &b->options;
    struct bench_input input = {
        .a = a, .seed = o->seed, .products = o->products, .hyb_width = o->hyb_width, .hash = o->hash};
    struct weft_error err = {0};
    b->host.best_vendor_ms = NAN;
    for (int i = 0; i < BENCH_CASES_MAX; i++)
        b->ref_ms[i] = NAN;
    b->seed = seeded || op->draws ? (int64_t)o->seed : -1;
    for (size_t i = 0; i < b->nslots; i++)
        b->slots[i].best_vendor_ms = b->slots[i].best_own_ms = NAN;
    bench_progress_begin("reference of %s for %s", op->name, b->matrix ? b->matrix : "all");
    weft_status status = op->input ? op->input(&input, &err) : WEFT_OK;
    bench_progress_end();
    if (status) {
        bench_complain("%s: %s", op->name, err.text);
        b->failed = 1;
    }
    if (!status && !o->sweep) {
        for (size_t k = 0; k < o->nbackends; k++) // all of them, so that nothing comes between the rows
            if (op->algos(o->backends[k])) {
                for (size_t i = 0; i < b->nslots && !bench_host_only(o->backends[k]); i++)
                    announce(b, &b->slots[i]);
                if (bench_host_only(o->backends[k]))
                    announce(b, &b->host);
            }
        b->columns.out = b->table;
        b->columns.gflops = op->flops != NULL;
        b->columns.products = op->products ? o->products : 0;
        b->columns.vendors = 0;
        for (size_t k = 0; k < o->nbackends; k++)
            b->columns.vendors |= is_vendor(o->backends[k]) && op->algos(o->backends[k]);
        if (!o->profile)
            bench_table_head(&b->columns, op->name, b->matrix, a, b->seed);
    }
    for (size_t k = 0; k < o->nbackends && !status; k++) {
        const struct weft_backend *backend = o->backends[k];
        for (size_t i = 0; i < (bench_host_only(backend) ? 1 : b->nslots); i++) {
            struct device_slot *slot = bench_host_only(backend) ? &b->host : &b->slots[i];
            if (!bench_host_only(backend) && backend->probe(slot->device.ctx, &err))
                continue;
            for (int turn = 0; turn <= o->regret; turn++) // for regret the choice comes last, when the best is known
                for (const char *const *algo = op->algos(backend); algo && *algo; algo++)
                    if (algo_wanted(o, op, backend, *algo) && (!o->regret || is_choice(backend->name, *algo) == turn)) {
                        struct bench_case c = {.op = op,
                                               .matrix = b->matrix,
                                               .seed = b->seed,
                                               .input = &input,
                                               .backend = backend,
                                               .algo = *algo};
                        line_run(b, &c, slot);
                    }
        }
    }
    bench_table_end(&b->columns);
    if (op->input_free)
        op->input_free(&input);
}
