// SPDX-License-Identifier: Apache-2.0
// One case: set up, sample until the stop rule is content, verify, and fill the record.
#include "run.h"
#include "host/common/binary.h"
#include "host/internal/inside.h"
#include "host/internal/text.h"
#include "backends/opencl/opencl_backend.h"
#include "memory.h"
#include "rest.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct bench_run bench_case_start(const struct bench_case *c, struct opencl_events *events)
{
    struct bench_run run = {.op = c->op, .input = c->input, .backend = c->backend, .algo = c->algo, .events = events};
    run.times = (struct weft_backend_times)WEFT_BACKEND_NO_TIMES;
    run.ctx = c->device ? c->device->ctx : NULL;
    run.queue = c->device ? c->device->queue : NULL;
    run.tune.count = c->ntune;
    for (int i = 0; i < c->ntune; i++) {
        run.tune.values[i].name = c->tune[i].name;
        run.tune.values[i].value = c->tune[i].value;
    }
    return run;
}

void bench_quiet(const struct weft_backend *backend)
{
    if (strcmp(backend->needs, "host") || !strcmp(backend->name, "ref"))
        bench_threads_rest();
}

const struct weft__tunables *bench_case_tunables(const struct bench_case *c)
{
    const struct bench_run run = bench_case_start(c, NULL);
    return bench_tunables(&run);
}

// Host time from nothing to the first result in a context of its own, less that of a second run and of writing: what
// compiling costs, the driver's work at the first launch included. NaN: could not be had.
static double compile_once(const struct bench_case *c, int cold)
{
    struct bench_device device;
    struct opencl_events events = {0};
    struct weft_error err;
    double once, middle, ms = NAN;
    if (bench_device_open(&device, &c->device->info, cold, &err))
        return ms;
    struct bench_case apart = *c;
    apart.device = &device;
    struct bench_run run = bench_case_start(&apart, &events);
    double start = bench_now_ms();
    if (!c->op->setup(&run, &err) && !c->op->launch(&run, &once, &err)) {
        middle = bench_now_ms();
        if (!c->op->launch(&run, &once, &err)) {
            const struct weft_backend_times *t = &run.times;
            ms = middle - start - (bench_now_ms() - middle);
            ms -= fmax(t->write_ms, 0) + fmax(t->convert_ms, 0) + fmax(t->analyse_ms, 0) + fmax(t->tune_ms, 0);
            ms = fmax(ms, 0);
        }
    }
    c->op->finish(&run);
    weft__opencl_events_free(&events);
    bench_device_close(&device);
    return ms;
}

// Both costs of compiling, with programs that no cache knows and with those of the line that has just run; measured
// once in a process for an algorithm, type and device.
static void compile_fill(struct bench_record *r, const struct bench_case *c)
{
    static struct {
        const struct bench_op *op;
        const struct weft_backend *backend;
        const char *algo, *type;
        int64_t index, device;
        double cold_ms, cached_ms;
    } seen[64];
    static size_t count;
    size_t i = 0;
    while (i < count && (seen[i].op != c->op || seen[i].backend != c->backend || seen[i].algo != c->algo ||
                         seen[i].type != r->type || seen[i].index != r->index || seen[i].device != r->device_index))
        i++;
    if (i == count) {
        i %= sizeof seen / sizeof *seen; // a 65th takes the place of the first
        count = i + 1 > count ? i + 1 : count;
        seen[i].op = c->op;
        seen[i].backend = c->backend;
        seen[i].algo = c->algo;
        seen[i].type = r->type;
        seen[i].index = r->index;
        seen[i].device = r->device_index;
        seen[i].cold_ms = compile_once(c, 1);
        seen[i].cached_ms = compile_once(c, 0);
    }
    r->compile_cold_ms = seen[i].cold_ms;
    r->compile_cached_ms = seen[i].cached_ms;
}

// Samples by device events, and the host's clock around each launch.
static weft_status sample(const struct bench_case *c, struct bench_run *run, struct bench_samples *device_ms,
                          struct bench_samples *host_ms, const char **stop, struct weft_error *err)
{
    double begin = bench_now_ms();
    while (!(*stop = bench_stop_reason(&c->stop, device_ms, bench_now_ms() - begin))) {
        double ms = 0, start = bench_now_ms();
        weft_status status = c->op->launch(run, &ms, err);
        double wall = bench_now_ms() - start;
        if (status)
            return status;
        if (!bench_samples_add(device_ms, ms) || !bench_samples_add(host_ms, wall))
            return weft__error(err, WEFT_ENOMEM, "out of host memory for samples");
    }
    return WEFT_OK;
}

// Milliseconds of one of `runs` runs that are enqueued one behind the other, with one wait behind the last; on the host every
// run is one behind the other, and its backends have the clock. WEFT_EUNSUPPORTED: the backend has no such time.
static weft_status runs_ms(const struct bench_case *c, struct bench_run *run, int runs, double *ms,
                           struct weft_error *err)
{
    weft_status status = WEFT_OK;
    if (strcmp(c->backend->needs, "host") != 0) {
        const double start = bench_now_ms();
        status = c->op->plain ? c->op->plain(run, runs, err) : WEFT_EUNSUPPORTED;
        *ms = (bench_now_ms() - start) / runs;
        return status;
    }
    double sum = 0;
    for (int i = 0; i < runs && !status; i++, sum += *ms)
        status = c->op->launch(run, ms, err);
    *ms = sum / runs;
    return status;
}

// A time back to back: the median of its rounds, and their quartiles.
struct plain_time {
    double ms, low, high;
};

// Rounds of `runs` runs, at most `most` of them and of 0.2 s, three at least, behind those that `samples` holds.
static weft_status rounds_take(const struct bench_case *c, struct bench_run *run, int runs, size_t most,
                               struct bench_samples *samples, struct weft_error *err)
{
    weft_status status = WEFT_OK;
    const double begin = bench_now_ms();
    for (size_t i = 0; i < most && !status && (i < 3 || bench_now_ms() - begin < 200); i++) {
        double ms = 0;
        status = runs_ms(c, run, runs, &ms, err);
        if (!status && !bench_samples_add(samples, ms))
            status = weft__error(err, WEFT_ENOMEM, "out of host memory for samples");
    }
    return status;
}

static double median_of(struct bench_samples *samples)
{
    return samples->count ? bench_stats_of(samples).median : INFINITY;
}

// Keep of three looks the two that are shortest: *look takes the place of the longer one, or ends.
static void look_keep(struct bench_samples best[2], struct bench_samples *look)
{
    const int at = median_of(look) < median_of(&best[0]) ? 0 : median_of(look) < median_of(&best[1]) ? 1 : 2;
    if (at < 2) {
        bench_samples_free(&best[1]);
        best[1] = at ? *look : best[0];
        best[at] = *look;
        *look = (struct bench_samples){0};
    }
    bench_samples_free(look);
}

#define LOOK_ROUNDS 5
// A run of this many milliseconds is longer than the slow moments of a host, and its median has them in it already.
#define LOOK_MOST_MS 100

// The median of the best of several looks, with the quartiles of the rounds of the two that are shortest; *best[0] may hold
// a look that was taken before, and both end here.
static weft_status looks_take(const struct bench_case *c, struct bench_run *run, int runs, struct bench_samples best[2],
                              struct plain_time *out, struct weft_error *err)
{
    struct bench_looks looks = {0};
    weft_status status = WEFT_OK;
    const double begin = bench_now_ms();
    const int more = !best[0].count || median_of(&best[0]) < LOOK_MOST_MS;
    int pause_ms;
    if (best[0].count)
        bench_looks_add(&looks, median_of(&best[0]));
    while (more && !status && (pause_ms = bench_looks_pause(&looks, bench_now_ms() - begin)) >= 0) {
        struct bench_samples look = {0};
        nanosleep(&(struct timespec){.tv_nsec = pause_ms * 1000000L}, NULL);
        status = rounds_take(c, run, runs, LOOK_ROUNDS, &look, err);
        if (!status)
            bench_looks_add(&looks, median_of(&look));
        look_keep(best, &look);
    }
    if (!status) {
        out->ms = median_of(&best[0]);
        for (size_t i = 0; i < best[1].count && !status; i++)
            if (!bench_samples_add(&best[0], best[1].ms[i]))
                status = weft__error(err, WEFT_ENOMEM, "out of host memory for samples");
        const struct bench_stats stats = bench_stats_of(&best[0]);
        out->low = fmin(stats.low, out->ms); // with the second look above the first its quartiles may all be above ms
        out->high = fmax(stats.high, out->ms);
    }
    bench_samples_free(&best[0]);
    bench_samples_free(&best[1]);
    return status;
}

// How many runs go back to back: enough to fill 2 ms, at least 5 and at most 200; where one takes 5 ms the wait is nothing
// beside it.
static int plain_runs(double ms)
{
    return ms < 5 ? (int)fmin(fmax(2 / ms, 5), 200) : 1;
}

// One run with the wait for it, and one of many back to back, of both sides of a comparison by the same rule: looks, of which
// the first is the sampling itself where runs go one by one. They come behind the samples. On the host the samples are runs
// with the wait for them, and *run_ms stays. *runs: how many went together, 0: none.
static weft_status sample_plain(const struct bench_case *c, struct bench_run *run, struct bench_samples *samples,
                                double *run_ms, struct plain_time *b2b, int *runs, struct weft_error *err)
{
    const int host = !strcmp(c->backend->needs, "host");
    struct bench_samples best[2] = {{0}};
    weft_status status = WEFT_OK;
    double ms = 0;
    if (!host)
        status = runs_ms(c, run, 1, &ms, err); // warms up
    if (!host && !status)
        status = rounds_take(c, run, 1, samples->count < 200 ? samples->count : 200, &best[0], err);
    for (size_t i = 0; host && i < samples->count && !status; i++)
        if (!bench_samples_add(&best[0], samples->ms[i]))
            status = weft__error(err, WEFT_ENOMEM, "out of host memory for samples");
    if (!status) {
        ms = median_of(&best[0]);
        *run_ms = host ? NAN : ms;
        *runs = plain_runs(ms);
        if (*runs > 1)
            bench_samples_free(&best[0]);
    }
    if (!status)
        return looks_take(c, run, *runs, best, b2b, err);
    bench_samples_free(&best[0]);
    return status == WEFT_EUNSUPPORTED ? WEFT_OK : status;
}

// Nothing of what the runs before have left is there, and then a run as those that were timed last.
static weft_status run_again(const struct bench_case *c, struct bench_run *run, int runs, struct weft_error *err)
{
    double ms;
    weft_status status = c->op->poison(run, err);
    return status ? status : runs ? runs_ms(c, run, runs, &ms, err) : c->op->launch(run, &ms, err);
}

// The median of `calls` calls from host to host, behind one that warms up; NaN: there are none.
static weft_status sample_calls(const struct bench_case *c, struct bench_run *run, double *median_ms, int *right,
                                struct weft_error *err)
{
    struct bench_samples samples = {0};
    weft_status status = c->op->call ? WEFT_OK : WEFT_EUNSUPPORTED;
    for (int i = 0; i <= c->options->calls && !status && *right; i++) {
        double ms = 0;
        status = c->op->call(run, &ms, right, err);
        if (!status && i && !bench_samples_add(&samples, ms))
            status = weft__error(err, WEFT_ENOMEM, "out of host memory for samples");
    }
    *median_ms = status || !*right ? NAN : bench_stats_of(&samples).median;
    bench_samples_free(&samples);
    return status == WEFT_EUNSUPPORTED ? WEFT_OK : status;
}

static double or_absent(double ms)
{
    return ms >= 0 ? ms : NAN;
}

void bench_case_identify(struct bench_result *out, const struct bench_case *c)
{
    struct bench_record *r = &out->record;
    const struct weft_csr *a = c->input->a;
    bench_record_clear(r);
    if (a) {
        r->m = a->m;
        r->n = a->n;
        r->nnz = a->nnz;
        r->type = weft_type_name(a->type);
        r->index = (int64_t)weft_ofs_bytes(a->ofs) * 8;
    }
    r->seed = c->seed;
    r->op = c->op->name;
    r->backend = c->backend->name;
    r->algo = c->algo;
    r->device = c->device ? c->device->info.name : bench_host_name();
    if (c->device) {
        r->device_index = c->device->info.index;
        r->platform = c->device->info.platform;
        r->driver = c->device->info.driver;
    }
    r->version = c->backend->version ? c->backend->version() : WEFT_VERSION;
    size_t used = 0;
    for (int i = 0; i < c->ntune && used < sizeof out->tune; i++)
        used += (size_t)snprintf(out->tune + used, sizeof out->tune - used, "%s%s=%d", i ? "," : "", c->tune[i].name,
                                 c->tune[i].value);
    r->tune = c->ntune ? out->tune : NULL;
}

static void numbers_fill(struct bench_result *out, const struct bench_case *c, const struct bench_run *run,
                         struct bench_samples *device_ms, struct bench_samples *host_ms)
{
    struct bench_record *r = &out->record;
    struct bench_stats stats = bench_stats_of(device_ms), host = bench_stats_of(host_ms);
    const struct weft_backend_times *t = &run->times;
    r->samples = (int64_t)device_ms->count;
    r->median_ms = stats.median;
    r->min_ms = stats.min;
    r->max_ms = stats.max;
    r->noise = stats.noise;
    r->write_ms = or_absent(t->write_ms);
    r->read_ms = or_absent(t->read_ms);
    r->convert_ms = or_absent(t->convert_ms);
    r->analyse_ms = or_absent(t->analyse_ms);
    r->tune_ms = or_absent(t->tune_ms);
    r->clock = !run->ctx || t->host_clock ? "host" : "events";
    r->compile_cold_ms = or_absent(t->compile_cold_ms);
    r->compile_cached_ms = or_absent(t->compile_cached_ms);
    r->end_to_end_ms = fmax(t->write_ms, 0) + host.median + fmax(t->read_ms, 0);
    r->workspace_bytes = t->workspace_bytes;
    r->format_bytes = t->format_bytes;
    r->bytes_min = c->op->bytes_min(run);
    if (stats.median > 0) {
        r->gbps = (double)r->bytes_min / stats.median * 1e-6;
        if (c->op->flops)
            r->gflops = (double)c->op->flops(run) / stats.median * 1e-6;
    }
    if (c->op->products && run->input->products > 0) {
        r->products = run->input->products;
        r->products_ms =
            fmax(t->analyse_ms, 0) + fmax(t->tune_ms, 0) + fmax(t->convert_ms, 0) + (double)r->products * stats.median;
    }
    if (run->ctx && bench_memory_peak() > 0)
        r->peak_bytes = bench_memory_peak();
    if (t->chosen[0]) {
        memcpy(out->chosen, t->chosen, sizeof out->chosen);
        r->chosen = out->chosen;
    }
    if (run->has_hash) {
        snprintf(out->hash, sizeof out->hash, "%016" PRIx64, run->hash);
        r->hash = out->hash;
    }
}

// The standard input, where it is a file, is read from where it stood at first: a matrix is read for each type.
static void input_rewind(const char *path)
{
    static off_t begin = -2; // -1: it cannot be
    if (strcmp(path, "/dev/stdin") != 0)
        return;
    if (begin == -2)
        begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
    else if (begin >= 0)
        lseek(STDIN_FILENO, begin, SEEK_SET);
}

#define LINE_BYTES 16 // of a row or a column: a pointer into the entries, an element of a vector

weft_status bench_matrix_read(struct weft_csr *out, const char *path, const struct bench_options *o,
                              struct weft_mtx_params *params, struct weft_error *err)
{
    struct weft_mtx_info info;
    params->limit_bytes = o->limit;
    input_rewind(path);
    const int binary = bench_binary_is(path);
    weft_status status = binary ? bench_binary_read(out, &info, path, params->type, 0, params->ofs, o->limit, err)
                                : weft_mtx_read(out, &info, path, params, err);
    const int64_t bytes = LINE_BYTES * (info.m + info.n);
    if (status || bytes <= info.limit_bytes)
        return status;
    weft_csr_free(out);
    return weft__error(
        err, WEFT_ERANGE,
        "%.600s: operations on %lld rows and %lld columns take %lld bytes, the limit is %lld (raise it with "
        "--limit)",
        path, (long long)info.m, (long long)info.n, (long long)bytes, (long long)info.limit_bytes);
}

enum bench_outcome bench_outcome_of(const struct bench_case *c, weft_status status)
{
    return !status                                                        ? BENCH_DIFFERS
           : status == WEFT_EUNSUPPORTED                                  ? BENCH_SKIPPED
           : c->ntune && (status == WEFT_EINVAL || status == WEFT_ERANGE) ? BENCH_REFUSED
                                                                          : BENCH_FAILED;
}

void bench_case_run(struct bench_result *out, const struct bench_case *c)
{
    struct opencl_events events = {0};
    struct bench_samples device_ms = {0}, host_ms = {0};
    struct weft_error err = {0};
    struct bench_run run = bench_case_start(c, &events);
    double first = 0, ms, start, run_ms = NAN, call_ms = NAN;
    struct plain_time b2b = {NAN, NAN, NAN};
    int right = 1, runs = 0;
    const char *stop = NULL;
    bench_case_identify(out, c);
    bench_memory_reset();
    weft_status status = c->op->setup(&run, &err);
    if (!status) {
        start = bench_now_ms();
        status = c->op->launch(&run, &ms, &err);
        first = bench_now_ms() - start;
    }
    bench_quiet(c->backend); // also of what setting up has left
    if (!status)
        status = sample(c, &run, &device_ms, &host_ms, &stop, &err);
    if (!status && !c->options->sweep && !c->options->tune_write)
        status = sample_plain(c, &run, &device_ms, &run_ms, &b2b, &runs, &err);
    if (!status && c->options->calls)
        status = sample_calls(c, &run, &call_ms, &right, &err);
    if (!status && right)
        status = run_again(c, &run, runs, &err);
    if (!status && right)
        status = c->op->verify(&run, &right, &err);
    if (!status && right) {
        numbers_fill(out, c, &run, &device_ms, &host_ms);
        if (isfinite(call_ms)) {
            out->record.end_to_end_ms = call_ms;
            out->record.calls = c->options->calls;
        }
        out->record.verified = 1;
        out->record.first_ms = first;
        out->record.run_ms = run_ms;
        out->record.b2b_ms = b2b.ms;
        out->record.b2b_low_ms = b2b.low;
        out->record.b2b_high_ms = b2b.high;
        out->record.stop = stop;
        out->outcome = BENCH_DONE;
    } else {
        out->outcome = bench_outcome_of(c, status);
        snprintf(out->why, sizeof out->why, "%s", err.text[0] ? err.text : weft_status_text(status));
        out->why[strcspn(out->why, "\n")] = 0;
        weft__text_mend(out->why);
        if (out->outcome == BENCH_SKIPPED)
            out->record.skipped = out->why;
        else
            out->record.error = out->why;
        if (out->outcome != BENCH_SKIPPED)
            out->record.fault = out->outcome == BENCH_DIFFERS ? "wrong" : "failed";
    }
    c->op->finish(&run);
    weft__opencl_events_free(&events);
    bench_samples_free(&device_ms);
    bench_samples_free(&host_ms);
    bench_threads_rest();
    if (out->outcome == BENCH_DONE && c->options->compile && !strcmp(c->backend->needs, "opencl") &&
        !c->op->no_matrix && !c->ntune)
        compile_fill(&out->record, c);
}

double bench_copy_gbps(const struct bench_device *device, const struct bench_options *options)
{
    struct bench_options plain = *options;
    plain.compile = 0;
    struct bench_input input = {0};
    struct weft_error err;
    double best = NAN;
    weft_status status = bench_copy.input(&input, &err);
    for (const struct weft_backend *const *b = weft__backends; *b && !status; b++) {
        const char *const *algo = bench_copy.algos(*b);
        if (!algo || !strcmp((*b)->needs, "host") != !device)
            continue;
        for (; *algo; algo++) {
            struct bench_case c = {.op = &bench_copy, .input = &input, .backend = *b, .algo = *algo};
            struct bench_result result;
            c.device = device;
            c.options = &plain;
            c.stop = (struct bench_stop){.reps = 5};
            bench_case_run(&result, &c);
            if (result.outcome == BENCH_DONE)
                best = fmax(best, result.record.gbps); // fmax takes the number of a number and NaN
        }
    }
    bench_copy.input_free(&input);
    return best;
}
