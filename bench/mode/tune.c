// SPDX-License-Identifier: Apache-2.0
// weft-bench --tune: searches tuning values for a device and writes them to the file that the library reads.
#include "tune.h"
#include "bench/run/point.h"
#include "host/internal/inside.h"
#include "host/common/progress.h"
#include "host/common/spare.h"
#include "host/common/word.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <weft/generate.h>
#include <weft/mtx.h>

#define GAIN 1.03 // less than that is noise
enum { MATRICES_MAX = 8, CASES_MAX = 4, TRIED_MAX = 160 };

static char path[4096];

// What one row of the file is for, and what is run to find its values.
static const struct job {
    const char *row; // as the library asks for it
    int bytes;       // of an element
    const struct bench_op *op;
    enum weft_type type;
    const char *algos[CASES_MAX + 1]; // all of them are run with the same values
    const char *schedule;             // "gpu" or "cpu": a row for devices of this one; NULL: for all
} jobs[] = {
    {"transpose.scan", 4, &bench_transpose, WEFT_TYPE_F32, {"scan"}, NULL},
    {"transpose.merge", 4, &bench_transpose, WEFT_TYPE_F32, {"merge"}, NULL},
    {"spmv.csr_lanes", 4, &bench_spmv, WEFT_TYPE_F32, {"csr_lanes"}, NULL},
    {"spmv.csr_merge", 4, &bench_spmv, WEFT_TYPE_F32, {"csr_merge"}, NULL},
    {"spmv.csr_flags", 4, &bench_spmv, WEFT_TYPE_F32, {"csr_flags"}, "gpu"},
    {"spmv.csr_hubs", 4, &bench_spmv, WEFT_TYPE_F32, {"csr_hubs"}, "gpu"},
    {"spmv.sell", 4, &bench_spmv, WEFT_TYPE_F32, {"sell"}, NULL},
    {"spmv.coo", 4, &bench_spmv, WEFT_TYPE_F32, {"coo"}, NULL},
    {"scan", 4, &bench_scan, WEFT_TYPE_I32, {"auto"}, NULL},
    {"segsort", 8, &bench_segsort, WEFT_TYPE_F32, {"blocks", "rows", "mixed", "whole"}, "cpu"},
    {"segsort", 8, &bench_segsort, WEFT_TYPE_F32, {"blocks", "rows", "mixed"}, "gpu"},
    {"segsort.whole", 8, &bench_segsort, WEFT_TYPE_F32, {"whole"}, "gpu"},
    {"merge", 8, &bench_merge, WEFT_TYPE_F32, {"small", "large", "two"}, NULL},
    {"histogram.rows", 4, &bench_histogram, WEFT_TYPE_F32, {"rows"}, NULL},
    {"histogram.atomic", 4, &bench_histogram, WEFT_TYPE_F32, {"atomic"}, NULL},
    {"expand", 4, &bench_expand, WEFT_TYPE_F32, {"auto"}, NULL},
    {"transpose.scan", 8, &bench_transpose, WEFT_TYPE_F64, {"scan"}, NULL},
    {"transpose.merge", 8, &bench_transpose, WEFT_TYPE_F64, {"merge"}, NULL},
    {"spmv.csr_merge", 8, &bench_spmv, WEFT_TYPE_F64, {"csr_merge"}, NULL},
};
enum { JOBS = sizeof jobs / sizeof *jobs };

// Values of one point, in the order of the axes; 0: the default.
struct point {
    int value[BENCH_AXES_MAX];
    double ms[MATRICES_MAX * CASES_MAX]; // NaN: refused, or wrong
};

struct search {
    struct bench *bench;
    struct device_slot *slot;
    const struct job *job;
    struct bench_axes axes;
    int nmatrices;
    struct weft_csr a[MATRICES_MAX];
    struct bench_input input[MATRICES_MAX];
    const char *names[MATRICES_MAX];
    double until_ms; // by the host's clock
    char why[256];   // the last point that did not run
    struct point tried[TRIED_MAX];
    int ntried;
};

// Folders of the default path are made; a path that was given has its own.
static void folders_make(void)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
}

// Whether the file can be written at the end, before time is spent.
static int place_ready(const struct bench_options *o)
{
    struct weft__out out;
    if (!o->tune_file && !getenv("WEFT_TUNE"))
        folders_make();
    const int error = weft__out_open(&out, path, 0);
    weft__out_close(&out);
    if (error)
        bench_complain("%s cannot be written: %s", path, strerror(error));
    return !error;
}

// Whether the file is empty, or one of tuning: its head in the first line, or a row before anything that is no comment.
static int is_replaceable(const char *file)
{
    FILE *from = fopen(file, "re");
    char *line = NULL, word[4];
    size_t room = 0;
    int empty = 1, known = 0, other = 0;
    while (from && !known && !other && getline(&line, &room, from) > 0) {
        known = empty && !strncmp(line, WEFT__TUNE_KIND, strlen(WEFT__TUNE_KIND));
        empty = 0;
        if (known || *line == '#' || *line == '\n')
            continue;
        known = sscanf(line, "%*[^\t\n]\t%*[^\t\n]\t%3[cgpu]\t", word) == 1 &&
                (!strcmp(word, "gpu") || !strcmp(word, "cpu"));
        other = !known;
    }
    const int replaceable = known || (from && empty && !ferror(from));
    if (from)
        fclose(from);
    free(line);
    return replaceable;
}

static char file_told[1024]; // the first line that a context said of the file as a whole, or of a line of it

// A file without effect is said in a line: what contexts tell of it when they are made is kept for bench_tune_tell, and of a row
// whose values are refused it is said once, since each plan tells it again.
static void log_take(void *arg, const char *text)
{
    static const char about[] = "tune file", of_row[] = "tune file: ";
    static char told[8][256];
    static size_t count;
    (void)arg;
    if (strncmp(text, about, sizeof about - 1) != 0)
        return;
    if (strncmp(text, of_row, sizeof of_row - 1) != 0) {
        if (!*file_told)
            snprintf(file_told, sizeof file_told, "%s", text);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (!strncmp(told[i], text, sizeof told[i] - 1))
            return;
    if (count == sizeof told / sizeof *told)
        return;
    snprintf(told[count++], sizeof *told, "%s", text);
    bench_complain("%s: it runs with the defaults", text);
}

int bench_tune_open(struct bench *b)
{
    const struct bench_options *o = &b->options;
    if (o->tune_write && (!weft__tune_path(path, sizeof path, o->tune_file))) {
        bench_complain("--tune has no place to write to: give --tune-file FILE");
        return BENCH_USAGE;
    }
    if (o->tune_write && bench_spare_matrix(path)) {
        bench_complain("%s looks like a matrix, and --tune does not replace it (--tune-file names another file)", path);
        return BENCH_USAGE;
    }
    const char *read = o->tune_write ? "" : o->tune_file; // values are found from the defaults
    struct stat about;
    const char *file = o->tune_write ? path : read && *read ? read : NULL;
    const int there = file && !stat(file, &about), whole = there && S_ISREG(about.st_mode);
    if (file && (there ? !whole || access(file, R_OK) : !o->tune_write)) {
        bench_complain("%s cannot be %s: %s", file, o->tune_write ? "written" : "read",
                       there && !whole ? "no regular file" : strerror(errno));
        return BENCH_USAGE;
    }
    if (o->tune_write && there && !is_replaceable(file)) {
        bench_complain("%s is no tune file, whose first line is \"" WEFT__TUNE_HEAD
                       "\", and --tune does not replace it (--tune-file names another file)",
                       file);
        return BENCH_USAGE;
    }
    if (o->tune_write && !place_ready(o))
        return BENCH_USAGE;
    bench_device_log = log_take;
    if (read && setenv("WEFT_TUNE", read, 1)) {
        bench_complain("the environment cannot be changed: %s", strerror(errno));
        return BENCH_USAGE;
    }
    return -1;
}

void bench_tune_tell(const struct bench *b)
{
    const struct bench_options *o = &b->options;
    const char *const named = getenv("WEFT_TUNE");
    const int unread = strstr(file_told, "cannot be read") != NULL;
    int said = 0;
    for (size_t i = 0; i < b->nslots && !unread && !o->tune_write && o->tune_file && *o->tune_file; i++)
        if (!b->slots[i].device.ctx->ntune && (said = 1))
            bench_complain("%s has no row of tuning for device %d, %s, driver %s: it runs with the defaults",
                           o->tune_file, b->slots[i].device.info.index, b->slots[i].device.info.name,
                           b->slots[i].device.info.driver);
    if (*file_told && !said)
        bench_complain("%s", file_told);
    else if (b->nslots && !said && named && *named && access(named, F_OK))
        bench_complain("WEFT_TUNE is %s, which is not there: it runs with the defaults", named);
}

// ---- one point -------------------------------------------------------------------------------------------------

static void record_emit(struct bench *b, struct bench_result *result, const char *matrix)
{
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    result->record.matrix = matrix;
    result->record.date = date;
    result->record.command = b->command;
    bench_record_emit(b, &result->record);
}

// Run a point on every matrix and case. 0: it was refused, or its result was wrong, or the device failed.
static int point_run(struct search *s, struct point *p)
{
    struct bench *b = s->bench;
    int good = 1;
    for (int k = 0; k < MATRICES_MAX * CASES_MAX; k++)
        p->ms[k] = NAN;
    for (int m = 0; m < s->nmatrices && good; m++)
        for (int i = 0; s->job->algos[i] && good; i++) {
            struct bench_case c = {.op = s->job->op,
                                   .matrix = s->names[m],
                                   .seed = -1,
                                   .input = &s->input[m],
                                   .backend = &weft__backend_opencl,
                                   .algo = s->job->algos[i],
                                   .device = &s->slot->device,
                                   .options = &b->options,
                                   .stop = b->options.stop};
            struct bench_result result;
            if (!c.stop.reps && c.stop.min_s <= 0)
                c.stop.reps = 5;
            const double ms = bench_point_run(&result, &c, &s->axes, p->value);
            good = ms > 0;
            if (!good)
                snprintf(s->why, sizeof s->why, "%.250s", result.outcome == BENCH_DONE ? "no time" : result.why);
            b->wrong |= result.outcome == BENCH_DIFFERS;
            if (result.outcome == BENCH_DIFFERS || (result.outcome == BENCH_FAILED && !result.record.tune)) {
                bench_complain("%s %s %s: %s", s->job->op->name, c.algo, result.record.tune ? result.record.tune : "",
                               result.why);
                b->failed |= result.outcome == BENCH_FAILED;
            }
            if (good)
                p->ms[m * CASES_MAX + i] = ms;
            if (result.outcome != BENCH_REFUSED)
                record_emit(b, &result, s->names[m]);
        }
    return good;
}

// How many times faster than `base`, in the geometric mean; 0: one of the two has a time that the other lacks.
static double gain(const struct point *p, const struct point *base)
{
    double log_sum = 0;
    int count = 0;
    for (int k = 0; k < MATRICES_MAX * CASES_MAX; k++) {
        if (isnan(p->ms[k]) != isnan(base->ms[k]))
            return 0;
        if (!isnan(p->ms[k])) {
            log_sum += log(base->ms[k] / p->ms[k]);
            count++;
        }
    }
    return count ? exp(log_sum / count) : 0;
}

// ---- the search ------------------------------------------------------------------------------------------------

static struct point *tried_find(struct search *s, const int *value)
{
    for (int i = 0; i < s->ntried; i++)
        if (!memcmp(s->tried[i].value, value, sizeof s->tried[i].value))
            return &s->tried[i];
    return NULL;
}

// Along one axis after the other, from the best so far, until a round over all axes finds nothing better or time is out.
// `best` is tried[0], the defaults, where nothing is faster.
static struct point *search_run(struct search *s)
{
    struct point *best = &s->tried[0];
    s->ntried = 1;
    memset(best->value, 0, sizeof best->value);
    if (!point_run(s, best))
        return NULL;
    for (int better = 1; better;) {
        better = 0;
        for (int x = 0; x < s->axes.count; x++)
            for (int v = 0; v < bench_axis_length(s->axes.axis[x]); v++) {
                struct point *p = &s->tried[s->ntried];
                if (s->ntried == TRIED_MAX || bench_now_ms() >= s->until_ms)
                    return best;
                memcpy(p->value, best->value, sizeof p->value);
                p->value[x] = s->axes.axis[x]->sweep[v];
                if (tried_find(s, p->value))
                    continue;
                s->ntried++;
                if (point_run(s, p) && gain(p, best) > 1) {
                    best = p;
                    better = 1;
                }
            }
    }
    return best;
}

// Both again, twice: what was fast by chance is not. The least times count.
static double gain_settled(struct search *s, struct point *best)
{
    struct point again, *both[] = {&s->tried[0], best};
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 2; i++) {
            memcpy(again.value, both[i]->value, sizeof again.value);
            if (!point_run(s, &again))
                return 0;
            for (int k = 0; k < MATRICES_MAX * CASES_MAX; k++)
                both[i]->ms[k] = fmin(both[i]->ms[k], again.ms[k]);
        }
    return gain(best, &s->tried[0]);
}

// ---- the matrices ----------------------------------------------------------------------------------------------

static void inputs_free(struct search *s)
{
    for (int m = 0; m < s->nmatrices; m++) {
        if (s->job->op->input_free)
            s->job->op->input_free(&s->input[m]);
        weft_csr_free(&s->a[m]);
    }
    s->nmatrices = 0;
}

// The matrices of the command line, or two of a usual kind. 0: one of them cannot be had.
static int inputs_make(struct search *s)
{
    static const struct bench_source usual[] = {{"uniform:300000,300000,3000000", 1},
                                                {"power:200000,200000,2000000", 1}};
    const struct bench_options *o = &s->bench->options;
    const int cpu = weft_context_schedule(s->slot->device.ctx) == WEFT_SCHEDULE_CPU;
    const struct bench_source *sources = o->sources_given ? o->sources : usual;
    size_t count = o->sources_given ? o->nsources : cpu ? 1 : 2; // which takes longer
    for (size_t i = 0; i < count && i < MATRICES_MAX; i++) {
        struct weft_error err = {0};
        int m = s->nmatrices;
        enum weft_type type = s->job->type;
        weft_status status =
            sources[i].generated
                ? weft_generate(&s->a[m], sources[i].text, weft_generate_params(.type = type, .seed = o->seed), &err)
                : bench_matrix_read(&s->a[m], sources[i].text, o, weft_mtx_params(.type = type, .complex = o->complex),
                                    &err);
        if (status) {
            bench_word_limit(err.text);
            bench_complain("%s", err.text[0] ? err.text : weft_status_text(status));
            s->bench->refused = 1;
            return 0;
        }
        s->nmatrices++;
        s->names[m] = sources[i].text;
        s->input[m] = (struct bench_input){.a = &s->a[m], .seed = o->seed};
        if (s->job->op->input && s->job->op->input(&s->input[m], &err)) {
            bench_complain("%s: %s", s->job->op->name, err.text);
            s->bench->failed = 1;
            return 0;
        }
    }
    return 1;
}

// ---- the file --------------------------------------------------------------------------------------------------

static const char *schedule_name(const struct device_slot *slot)
{
    return weft_context_schedule(slot->device.ctx) == WEFT_SCHEDULE_GPU ? "gpu" : "cpu";
}

// The first fields of a row, up to the values.
static void row_name(char *out, size_t size, const struct device_slot *slot, const struct job *job)
{
    snprintf(out, size, "%s\t%s\t%s\t%s\t%d\t", slot->device.info.name, slot->device.info.driver, schedule_name(slot),
             job->row, job->bytes);
}

// The file with `row` (NULL: none) in the place of the rows that begin with `name`. 0: that failed, and the file is what
// it was.
static int file_replace(const char *name, const char *row)
{
    struct weft__out out;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    const mode_t mask = umask(077); // the library takes no file of the environment's that others may write to
    umask(mask | 022);
    int error = weft__out_open(&out, path, 0);
    umask(mask);
    FILE *from = fopen(path, "re"), *to = error ? NULL : weft__out_file(&out);
    int begin = 1, first = 1;
    while (to && from && (length = getline(&line, &room, from)) > 0) {
        if (first && strncmp(line, WEFT__TUNE_HEAD, strlen(WEFT__TUNE_HEAD)) != 0)
            fputs(WEFT__TUNE_HEAD "\n", to);
        if (strncmp(line, name, strlen(name)) != 0)
            fwrite(line, 1, (size_t)length, to);
        begin = line[length - 1] == '\n';
        first = 0;
    }
    free(line);
    if (!error && (!to || (from && ferror(from))))
        error = to ? EIO : ENOMEM;
    if (from)
        fclose(from);
    if (to) {
        if (first)
            fputs(WEFT__TUNE_HEAD
                  "\n# device, driver, schedule, operation, bytes of an element, values; default ms, ms, date\n",
                  to);
        if (!begin)
            putc('\n', to);
        if (row)
            fputs(row, to);
        error = error ? error : weft__out_commit(&out);
    }
    weft__out_close(&out);
    if (error)
        bench_complain("%s cannot be written: %s", path, strerror(error));
    return !error;
}

// ---- the whole -------------------------------------------------------------------------------------------------

static void axes_find(struct search *s)
{
    struct bench_case c = {
        .op = s->job->op, .input = &s->input[0], .backend = &weft__backend_opencl, .algo = s->job->algos[0]};
    c.device = &s->slot->device;
    bench_axes_find(&s->axes, &c, 1);
}

static void values_text(char *out, size_t size, const struct search *s, const struct point *p)
{
    size_t used = 0;
    out[0] = 0;
    for (int x = 0; x < s->axes.count && used < size; x++)
        if (p->value[x])
            used += (size_t)snprintf(out + used, size - used, "%s%s=%d", used ? " " : "", s->axes.axis[x]->name,
                                     p->value[x]);
}

// Find the values of one row and write it; 0: the file cannot be written.
static int job_run(struct search *s)
{
    FILE *table = s->bench->table;
    char values[128], name[512], row[1024], date[16];
    bench_progress_begin("tuning %s, %d bytes", s->job->row, s->job->bytes);
    struct point *best = inputs_make(s) ? search_run(s) : NULL;
    double faster = best && gain(best, &s->tried[0]) >= GAIN ? gain_settled(s, best) : 0;
    bench_progress_end();
    if (!best) {
        if (table && !s->bench->refused)
            fprintf(table, "  %-17s %5d  not run: %s\n", s->job->row, s->job->bytes, s->why);
        return 1;
    }
    const int write = faster >= GAIN;
    const struct point *base = &s->tried[0];
    if (!write)
        best = &s->tried[0];
    values_text(values, sizeof values, s, best);
    if (table) {
        fprintf(table, "  %-17s %5d  %4d of %-5d ", s->job->row, s->job->bytes, s->ntried - 1,
                bench_axes_points(&s->axes));
        if (write)
            fprintf(table, "%6.2f  %s\n", faster, values);
        else
            fprintf(table, "%6s  the defaults\n", "");
        fflush(table);
    }
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
    row_name(name, sizeof name, s->slot, s->job);
    snprintf(row, sizeof row, "%s%s\t%.4g\t%.4g\t%s\n", name, values, base->ms[0], best->ms[0], date);
    return file_replace(name, write ? row : NULL);
}

static int wanted(const struct bench *b, const struct device_slot *slot, const struct job *job)
{
    int named = !b->options.ops_given;
    for (size_t i = 0; i < b->options.nops; i++)
        named |= b->options.ops[i] == job->op;
    return named && (job->type != WEFT_TYPE_F64 || slot->device.info.fp64) &&
           (!job->schedule || !strcmp(job->schedule, schedule_name(slot)));
}

// Operations that were asked for by name and have no row on this device: none to find.
static void untunable_tell(struct search *s)
{
    const struct bench *b = s->bench;
    char rows[512] = "";
    size_t used = 0;
    for (int j = 0; j < JOBS; j++) {
        s->job = &jobs[j];
        axes_find(s);
        int there = !s->axes.count || (jobs[j].schedule && strcmp(jobs[j].schedule, schedule_name(s->slot)) != 0);
        for (int k = 0; k < j; k++) // of elements of another size
            there |= !jobs[k].schedule && !strcmp(jobs[k].row, jobs[j].row);
        if (!there)
            used += (size_t)snprintf(rows + used, sizeof rows - used, "%s%s", used ? ", " : "", jobs[j].row);
    }
    for (size_t i = 0; i < b->options.nops && b->options.ops_given && !b->options.all_ops; i++) {
        int some = 0;
        for (int j = 0; j < JOBS; j++) {
            s->job = &jobs[j];
            axes_find(s);
            some |= jobs[j].op == b->options.ops[i] && s->axes.count && wanted(b, s->slot, s->job);
        }
        if (!some)
            bench_complain(
                "%s has nothing that --tune could find on device %d (%s schedule); what can be tuned there: %s; "
                "values that depend on the matrix are compared by --sweep -a all",
                b->options.ops[i]->name, s->slot->device.info.index, schedule_name(s->slot), rows);
    }
}

void bench_tune_run(struct bench *b)
{
    struct search *s = calloc(1, sizeof *s);
    double begin = bench_now_ms(), all = (b->options.tune_s > 0 ? b->options.tune_s : 60) * 1e3;
    if (!s) {
        bench_complain("out of host memory");
        b->failed = 1;
        return;
    }
    for (size_t d = 0; d < b->nslots; d++) {
        struct device_slot *slot = &b->slots[d];
        double end = begin + all * (double)(d + 1) / (double)b->nslots;
        int left = 0;
        s->bench = b;
        s->slot = slot;
        for (int j = 0; j < JOBS; j++) {
            s->job = &jobs[j];
            axes_find(s);
            left += wanted(b, slot, s->job) && s->axes.count;
        }
        untunable_tell(s);
        if (b->table && left)
            fprintf(b->table,
                    "device %d: %.50s, driver %.20s: tuning for %.0f s, %d rows\n  %-17s %5s  %-13s %6s  values\n",
                    slot->device.info.index, slot->device.info.name, slot->device.info.driver, (end - begin) * 1e-3,
                    left, "operation", "bytes", "points tried", "gain");
        for (int j = 0; j < JOBS && !b->refused; j++) {
            s->job = &jobs[j];
            axes_find(s);
            if (!wanted(b, slot, s->job) || !s->axes.count)
                continue;
            double now = bench_now_ms();
            if (now >= end) {
                if (b->table)
                    fprintf(b->table, "  %-17s %5d  out of time (--tune-time)\n", s->job->row, s->job->bytes);
                continue;
            }
            s->until_ms = now + (end - now) * 0.8 / left--; // the rest settles the best
            b->refused |= !job_run(s);
            inputs_free(s);
            b->lines++;
        }
    }
    if (b->table && !b->refused && b->lines)
        fprintf(b->table, "in %s\n", path);
    free(s);
}
