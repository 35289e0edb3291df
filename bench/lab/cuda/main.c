// SPDX-License-Identifier: Apache-2.0
// weft-cub: CUB's scan, sort and histogram on the data of `weft-bench -o scan,segsort,histogram`, verified with the same
// references, as the same lines of JSON.
//
//     weft-cub [-g SPEC]... [--seed S] [--reps N] [-o scan,segsort,histogram] [--like NAME] [--json FILE]
//
// The types are those that CUB and weft both have: scan sums int32 (weft-bench -t i32), segsort sorts one segment of
// 32-bit keys and payloads (-a whole), histogram counts columns. Exit status as weft-bench; 3 where there is no GPU.
#include "backends/backend.h"
#include "bench/run/options.h"
#include "bench/op/primitive.h"
#include "host/common/check_exact.h"
#include "bench/run/record.h"
#include "cub.h"
#include "host/internal/out.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <weft/generate.h>

#define DEFAULT_SPEC "uniform:500000,500000,10000000"
enum { SPECS_MAX = 32 };

struct options {
    const char *specs[SPECS_MAX], *ops, *like, *json;
    int nspecs, reps;
    uint64_t seed;
    char command[1024];
};

static const struct {
    const char *op, *algo, *case_algo; // case_algo: of the operation of weft-bench
    enum cub_op what;
    enum weft_type type;
    const struct bench_primitive *primitive;
} cases[] = {
    {"scan", "exclusive_sum", "auto", CUB_SCAN, WEFT_TYPE_I32, &bench_scan_primitive},
    {"segsort", "whole", "whole", CUB_SORT, WEFT_TYPE_F32, &bench_segsort_primitive},
    {"histogram", "even", "auto", CUB_COUNT, WEFT_TYPE_F32, &bench_histogram_primitive},
    {"histogram", "even_scan", "auto", CUB_POINTERS, WEFT_TYPE_F32, &bench_histogram_primitive},
    {"histogram", "atomic", "auto", CUB_COUNT_ATOMIC, WEFT_TYPE_F32, &bench_histogram_primitive},
    {"histogram", "atomic_scan", "auto", CUB_POINTERS_ATOMIC, WEFT_TYPE_F32, &bench_histogram_primitive},
};
enum { CASES = sizeof cases / sizeof *cases };

// Whether `name` is one of the words of a list with commas.
static int list_has(const char *list, const char *name)
{
    size_t length = strlen(name);
    const char *at = list;
    while ((at = strstr(at, name)) && ((at != list && at[-1] != ',') || (at[length] && at[length] != ',')))
        at += length;
    return at != NULL;
}

static int complain(const char *text, const char *what)
{
    fprintf(stderr, "weft-cub: %s%s\n", text, what);
    return BENCH_USAGE;
}

// Every word of -o is an operation.
static int ops_check(const char *ops)
{
    static const char *const names[] = {"scan", "segsort", "histogram"};
    for (const char *at = ops;; at++) {
        const size_t length = strcspn(at, ",");
        int found = 0;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            found |= strlen(names[i]) == length && !strncmp(at, names[i], length);
        if (!found)
            return complain("-o wants scan, segsort or histogram, not ", ops);
        if (!*(at += length))
            return -1;
    }
}

static int options_parse(struct options *o, int argc, char **argv)
{
    static const struct option longs[] = {
        {"generate", required_argument, NULL, 'g'}, {"op", required_argument, NULL, 'o'},
        {"seed", required_argument, NULL, 's'},     {"reps", required_argument, NULL, 'r'},
        {"like", required_argument, NULL, 'l'},     {"json", required_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
    int option;
    char *end = "";
    opterr = 0;
    for (int i = 1; i < argc; i++) {
        size_t used = strlen(o->command);
        snprintf(o->command + used, sizeof o->command - used, strpbrk(argv[i], " \t\"'$*?") ? " '%s'" : " %s", argv[i]);
    }
    while ((option = getopt_long(argc, argv, "g:o:h", longs, NULL)) != -1) {
        if (option == 'h') {
            puts("usage: weft-cub [-g SPEC]... [--seed S] [--reps N] [-o scan,segsort,histogram] [--like NAME] [--json "
                 "FILE]\n"
                 "CUB's primitives on the data of weft-bench, verified, as the same lines of JSON (docs/bench.md).");
            return BENCH_OK;
        }
        if (option == 'g' && o->nspecs == SPECS_MAX)
            return complain("too many matrices", "");
        if (option == 'g')
            o->specs[o->nspecs++] = optarg;
        else if (option == 'o')
            o->ops = optarg;
        else if (option == 's')
            o->seed = strtoull(optarg, &end, 10);
        else if (option == 'r')
            o->reps = (int)strtol(optarg, &end, 10);
        else if (option == 'l')
            o->like = optarg;
        else if (option == 'j')
            o->json = optarg;
        else
            return complain("unknown option, or one without its value: ", argv[optind - 1]);
        if (*end || end == optarg || (option == 's' && *optarg == '-') || o->reps < 1 || o->reps > 100000)
            return complain("not a number that is taken: ", optarg);
    }
    return optind < argc ? complain("what is this: ", argv[optind]) : ops_check(o->ops);
}

// What CUB gave as weft-bench would have it: 1 when it is the reference's, or the first difference in `why`.
static int compare(int c, const struct bench_run *run, const struct cub_job *job, void *const *want, char why[256])
{
    int32_t *const pointers = want[0];
    const int counts = cub_counts(cases[c].what);
    for (int64_t b = 0; counts && b < job->bins; b++)
        pointers[b] = pointers[b + 1] - pointers[b];
    if (counts)
        return check_histogram(job->out[0], pointers, job->bins, WEFT_OFS_32, 0, why, 256);
    return cases[c].primitive->right(run, job->out, want, why, 256);
}

static void numbers_fill(struct bench_record *r, const struct cub_job *job, int64_t bytes_min)
{
    struct bench_samples samples = {0};
    for (int i = 0; i < job->reps; i++)
        bench_samples_add(&samples, job->ms[i]);
    struct bench_stats stats = bench_stats_of(&samples);
    r->samples = job->reps;
    r->stop = "reps";
    r->median_ms = stats.median;
    r->min_ms = stats.min;
    r->max_ms = stats.max;
    r->noise = stats.noise;
    r->bytes_min = bytes_min;
    r->gbps = stats.median > 0 ? (double)bytes_min / stats.median * 1e-6 : NAN;
    r->workspace_bytes = (int64_t)job->workspace_bytes;
    bench_samples_free(&samples);
}

struct memory {
    void *in[BENCH_PRIMITIVE_IN], *want[BENCH_PRIMITIVE_OUT], *got[BENCH_PRIMITIVE_OUT];
    double *ms;
};

static int memory_take(struct memory *m, const size_t *in_bytes, const size_t *out_bytes, int reps)
{
    int good = (m->ms = calloc((size_t)reps, sizeof *m->ms)) != NULL;
    for (int i = 0; i < BENCH_PRIMITIVE_IN; i++)
        good &= (m->in[i] = malloc(in_bytes[i] + 1)) != NULL;
    for (int i = 0; i < BENCH_PRIMITIVE_OUT; i++)
        good &= (m->want[i] = malloc(out_bytes[i] + 1)) != NULL && (m->got[i] = calloc(out_bytes[i] + 1, 1)) != NULL;
    return good;
}

static void memory_free(struct memory *m)
{
    free(m->ms);
    for (int i = 0; i < BENCH_PRIMITIVE_IN; i++)
        free(m->in[i]);
    for (int i = 0; i < BENCH_PRIMITIVE_OUT; i++) {
        free(m->want[i]);
        free(m->got[i]);
    }
}

// One line; gives an exit status.
static int case_run(int c, const struct weft_csr *a, const struct options *o, struct bench_record *r,
                    struct weft__out *out)
{
    static const struct weft_backend ref = {.name = "ref", .needs = "host"};
    const struct bench_input input = {.a = a, .seed = o->seed};
    const struct bench_run run = {.input = &input, .backend = &ref, .algo = cases[c].case_algo};
    const struct bench_primitive *primitive = cases[c].primitive;
    size_t in_bytes[BENCH_PRIMITIVE_IN] = {0}, out_bytes[BENCH_PRIMITIVE_OUT] = {0};
    struct memory m = {0};
    char why[256] = "";
    primitive->sizes(&run, in_bytes, out_bytes);
    if (!memory_take(&m, in_bytes, out_bytes, o->reps)) {
        memory_free(&m);
        complain("out of host memory", "");
        return BENCH_DEVICE;
    }
    primitive->draw(&run, m.in);
    int status = primitive->reference(&run, m.in, m.want) ? BENCH_DEVICE : BENCH_OK;
    struct cub_job job = {.op = cases[c].what,
                          .n = a->nnz,
                          .bins = a->n,
                          .in = {m.in[0], cases[c].what == CUB_SORT ? m.in[1] : NULL},
                          .out = {m.got[0], m.got[1]},
                          .reps = o->reps,
                          .ms = m.ms};
    r->algo = cases[c].algo;
    int ran = status ? 0 : cub_run(&job, why);
    if (ran > 0 && compare(c, &run, &job, m.want, why)) {
        r->verified = 1;
        int64_t bytes = 0;
        for (int i = 0; i < primitive->inputs; i++)
            bytes += (int64_t)in_bytes[i];
        for (int i = 0; i < BENCH_PRIMITIVE_OUT; i++)
            bytes += (int64_t)out_bytes[i];
        numbers_fill(r, &job, bytes);
    } else if (ran < 0) {
        r->skipped = why;
    } else {
        r->error = why;
        r->fault = ran > 0 ? "wrong" : "failed";
        status = ran > 0 ? BENCH_WRONG : BENCH_DEVICE;
    }
    if (!bench_record_json(weft__out_file(out), r) || weft__out_commit(out))
        status = complain(o->json, " cannot be written");
    memory_free(&m);
    return status;
}

static int spec_run(const char *spec, const struct options *o, const char *device, const char *driver,
                    struct weft__out *out)
{
    struct weft_error err = {0};
    int worst = BENCH_OK;
    for (int c = 0; c < CASES; c++) {
        struct weft_csr a = {0};
        struct bench_record r;
        char date[32];
        time_t now = time(NULL);
        struct tm utc;
        if (!list_has(o->ops, cases[c].op))
            continue;
        if (weft_generate(&a, spec, weft_generate_params(.type = cases[c].type, .seed = o->seed), &err))
            return complain(err.text, "");
        if (a.nnz < 1 || a.nnz > INT32_MAX || a.n >= INT32_MAX) {
            weft_csr_free(&a);
            return complain("too large or empty for CUB with 32-bit counts: ", spec);
        }
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
        bench_record_clear(&r);
        r.matrix = spec;
        r.m = a.m;
        r.n = a.n;
        r.nnz = a.nnz;
        r.op = cases[c].op;
        r.backend = "cub";
        r.type = weft_type_name(a.type);
        r.index = 32;
        r.device = device;
        r.driver = driver;
        r.version = cub_version();
        r.seed = (int64_t)o->seed;
        r.date = date;
        r.command = o->command;
        int status = case_run(c, &a, o, &r, out);
        weft_csr_free(&a);
        worst = status == BENCH_WRONG || worst == BENCH_OK ? status : worst;
        if (status == BENCH_USAGE || status == BENCH_DEVICE)
            return status;
    }
    return worst;
}

int main(int argc, char **argv)
{
    struct options o = {.specs = {DEFAULT_SPEC},
                        .ops = "scan,segsort,histogram",
                        .like = "",
                        .json = "-",
                        .reps = 25,
                        .command = "weft-cub"};
    char device[256], driver[32], why[256];
    int status = options_parse(&o, argc, argv);
    if (status >= 0)
        return status;
    if (!cub_open(o.like, device, driver, why)) {
        complain(why, "");
        return BENCH_DEVICE;
    }
    struct weft__out out;
    if (strcmp(o.json, "-") ? weft__out_open(&out, o.json, 0) : weft__out_stream(&out, STDOUT_FILENO))
        return complain(o.json, " cannot be written");
    if (!weft__out_file(&out))
        return complain("out of host memory", "");
    status = BENCH_OK;
    for (int i = 0; i < (o.nspecs ? o.nspecs : 1) && status < BENCH_USAGE; i++) {
        int one = spec_run(o.specs[i], &o, device, driver, &out);
        status = one > status ? one : status;
    }
    weft__out_close(&out);
    return status;
}
