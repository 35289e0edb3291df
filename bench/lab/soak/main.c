// SPDX-License-Identifier: Apache-2.0
// weft-soak: random problems of the public operations against the serial reference, for a given time.
//
// --help lists the options. Case I of seed S is the same on every machine; the line of a wrong one says how to run it alone.
// Kinds are types, algorithms and tuning values: each takes kernels of its own, so that few of them give many cases a second.
// What was done is written to the standard output, as JSON. Exit status 1: something was wrong.
#include "soak.h"
#include "host/common/json.h"
#include "host/common/streams.h"
#include "host/common/word.h"
#include "host/internal/inside.h"

#include <cjson/cJSON.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PLACES = 16, OPS = 32 };

struct options {
    const char *device, *op;
    double seconds;
    int64_t cases, from, kinds, most;
    uint64_t seed;
    enum weft_schedule schedule;
    int hostile, optimise, verbose;
};

// A device in one schedule.
struct place {
    struct weft_context *ctx;
    int plain; // kernels for GPUs on a processor, which compile long and run shortly, are not optimised
    int64_t count[OPS][SOAK_FAILED + 1];
    const char *op[OPS];
};

static const char *const result_names[] = {"right", "refused", "wrong", "failed"};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char help[] =
    "usage: weft-soak [options]\n\n"
    "Random problems of the public operations, each compared with the serial reference. What was done is written to "
    "the\n"
    "standard output, as JSON. Case I of seed S is the same on every machine.\n\n"
    "  -d, --device DEVICE  an index, `gpu`, `cpu` or a word of its name (default: weft's choice)\n"
    "      --seconds N      begin no case after N seconds (default 60)\n"
    "      --cases N        so many cases at most\n"
    "      --from I         of the first case (default 0)\n"
    "      --seed S         (default 1)\n"
    "      --op NAME        this operation alone\n"
    "      --schedule NAME  gpu or cpu (default: each that the device can run)\n"
    "      --kinds N        types, algorithms and tuning values, each of which compiles (default 1000)\n"
    "      --most N         rows, columns or entries of a problem (default 20000)\n"
    "      --hostile        also wrong row pointers, offsets and columns\n"
    "      --optimise       kernels for GPUs on a processor, too\n"
    "      --verbose        a line for each case\n"
    "      --help           this text\n\n"
    "exit status: 0 all right; 1 something was wrong or failed; 2 bad usage, or no device\n";

static void stop(const char *why)
{
    fprintf(stderr, "weft-soak: %s\n", why);
    exit(2);
}

static cl_int CL_API_CALL build_plain(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                                      void(CL_CALLBACK *notify)(cl_program, void *), void *arg)
{
    char text[512];
    snprintf(text, sizeof text, "%s -cl-opt-disable", options ? options : "");
    return clBuildProgram(program, n, devices, text, notify, arg);
}

static int64_t number(const char *text, int64_t least)
{
    int64_t value = 0;
    if (!bench_word_number(&value, text, least, INT64_MAX))
        stop("a number is wrong");
    return value;
}

static int op_is(const char *name)
{
    const struct soak_op *const lists[] = {soak_primitives, soak_matrices};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const struct soak_op *op = lists[i]; op->name; op++)
            if (!strcmp(op->name, name))
                return 1;
    return 0;
}

static struct options options_read(int argc, char **argv)
{
    static const struct option names[] = {
        {"device", 1, NULL, 'd'}, {"seconds", 1, NULL, 's'}, {"cases", 1, NULL, 'c'},    {"from", 1, NULL, 'f'},
        {"seed", 1, NULL, 'S'},   {"op", 1, NULL, 'o'},      {"schedule", 1, NULL, 'g'}, {"kinds", 1, NULL, 'k'},
        {"most", 1, NULL, 'm'},   {"hostile", 0, NULL, 'h'}, {"optimise", 0, NULL, 'O'}, {"verbose", 0, NULL, 'v'},
        {"help", 0, NULL, 'H'},   {NULL, 0, NULL, 0}};
    struct options o = {.cases = INT64_MAX, .seconds = 60, .kinds = 1000, .most = 20000, .seed = 1};
    for (int c; (c = getopt_long(argc, argv, ":d:", names, NULL)) != -1;)
        switch (c) {
        case 'd':
            o.device = optarg;
            break;
        case 's':
            o.seconds = (double)number(optarg, 0);
            break;
        case 'c':
            o.cases = number(optarg, 0);
            break;
        case 'f':
            o.from = number(optarg, 0);
            break;
        case 'S':
            o.seed = (uint64_t)number(optarg, 0);
            break;
        case 'o':
            o.op = optarg;
            if (!op_is(optarg))
                stop("--op names no operation: names of bench/lab/soak/matrix.c and primitive.c");
            break;
        case 'g':
            if (weft_schedule_parse(&o.schedule, optarg))
                stop("--schedule is gpu or cpu");
            break;
        case 'k':
            o.kinds = number(optarg, 1);
            break;
        case 'm':
            o.most = number(optarg, 1);
            break;
        case 'h':
            o.hostile = 1;
            break;
        case 'O':
            o.optimise = 1;
            break;
        case 'v':
            o.verbose = 1;
            break;
        case 'H':
            fputs(help, stdout);
            exit(bench_streams_end("weft-soak", 0, 2));
        default:
            stop(c == ':' ? "the last option wants a value (--help lists them)"
                          : "an option is none, or takes no value (--help lists them)");
        }
    if (optind != argc)
        stop("it takes options alone (--help lists them)");
    return o;
}

// The device in each schedule that it can run: a GPU its own alone.
static int places_make(struct place *places, const struct options *o)
{
    int count = 0;
    struct weft_error last = {0};
    for (int schedule = WEFT_SCHEDULE_GPU; schedule <= WEFT_SCHEDULE_CPU; schedule++) {
        struct place *p = &places[count];
        struct weft_error err = {0};
        if (o->schedule && o->schedule != (enum weft_schedule)schedule)
            continue;
        if (weft_context_create(&p->ctx,
                                weft_context_params(.select = o->device, .schedule = (enum weft_schedule)schedule,
                                                    .tune_file = "", .no_selftest = true),
                                &err)) {
            last = err;
            continue;
        }
        const int cpu = (weft_context_device(p->ctx)->type & CL_DEVICE_TYPE_CPU) != 0;
        if (!o->schedule && !cpu && schedule == WEFT_SCHEDULE_CPU) {
            weft_context_destroy(&p->ctx);
            continue;
        }
        p->plain = cpu && schedule == WEFT_SCHEDULE_GPU && !o->optimise;
        if (p->plain) // processors keep the order of what is written
            p->ctx->device.fence = 1;
        count++;
    }
    if (!count)
        stop(*last.text ? last.text : "no device");
    if (*last.text)
        fprintf(stderr, "weft-soak: %s\n", last.text);
    return count;
}

static int64_t *counts_of(struct place *p, const char *op)
{
    int i = 0;
    while (i < OPS - 1 && p->op[i] && strcmp(p->op[i], op) != 0)
        i++;
    p->op[i] = op;
    return p->count[i];
}

// Draws of case `index`, the same whatever ran before it.
static struct soak case_make(struct place *p, const struct options *o, int64_t index)
{
    struct draw of_case = {.state = o->seed * UINT64_C(0x2545f4914f6cdd1d) + (uint64_t)index};
    const uint64_t kind = draw_u64(&of_case) % (uint64_t)o->kinds;
    return (struct soak){.ctx = p->ctx,
                         .kind = {.state = o->seed + kind * UINT64_C(0x9fb21c651e98df25)},
                         .shape = {.state = draw_u64(&of_case)},
                         .most = o->most,
                         .hostile = o->hostile};
}

static void report(struct place *places, int nplaces, const struct options *o, int64_t cases, double seconds)
{
    cJSON *all = cJSON_CreateObject(), *rows = cJSON_AddArrayToObject(all, "devices");
    int64_t sums[SOAK_FAILED + 1] = {0};
    for (int i = 0; i < nplaces; i++) {
        struct place *p = &places[i];
        const struct weft_device_info *d = weft_context_device(p->ctx);
        struct weft_build_stats built;
        weft_context_build_stats(&built, p->ctx);
        cJSON *row = cJSON_CreateObject(), *ops = NULL;
        cJSON_AddStringToObject(row, "device", d->name);
        cJSON_AddStringToObject(row, "platform", d->platform);
        cJSON_AddStringToObject(row, "driver", d->driver);
        cJSON_AddStringToObject(row, "schedule", weft_schedule_name(weft_context_schedule(p->ctx)));
        cJSON_AddBoolToObject(row, "optimised", !p->plain);
        cJSON_AddNumberToObject(row, "compiled", built.compiled);
        cJSON_AddNumberToObject(row, "loaded", built.loaded);
        ops = cJSON_AddObjectToObject(row, "operations");
        for (int k = 0; k < OPS && p->op[k]; k++) {
            cJSON *op = cJSON_AddObjectToObject(ops, p->op[k]);
            for (int r = 0; r <= SOAK_FAILED; r++) {
                cJSON_AddNumberToObject(op, result_names[r], (double)p->count[k][r]);
                sums[r] += p->count[k][r];
            }
        }
        cJSON_AddItemToArray(rows, row);
    }
    cJSON_AddStringToObject(all, "weft", WEFT_VERSION);
    bench_json_count(all, "seed", o->seed);
    cJSON_AddNumberToObject(all, "from", (double)o->from);
    cJSON_AddNumberToObject(all, "kinds", (double)o->kinds);
    cJSON_AddNumberToObject(all, "most", (double)o->most);
    cJSON_AddBoolToObject(all, "hostile", o->hostile);
    cJSON_AddNumberToObject(all, "seconds", seconds);
    cJSON_AddNumberToObject(all, "cases", (double)cases);
    for (int r = 0; r <= SOAK_FAILED; r++)
        cJSON_AddNumberToObject(all, result_names[r], (double)sums[r]);
    char *text = cJSON_Print(all);
    printf("%s\n", text ? text : "{}");
    cJSON_free(text);
    cJSON_Delete(all);
}

int main(int argc, char **argv)
{
    bench_streams_begin();
    const struct options o = options_read(argc, argv);
    static struct place places[PLACES];
    const int nplaces = places_make(places, &o);
    const double begin = now();
    int bad = 0;
    int64_t index = o.from;
    for (; index - o.from < o.cases && now() - begin < o.seconds && bad < 20; index++) {
        struct place *p = &places[index % nplaces];
        struct soak s = case_make(p, &o, index);
        const char *op = NULL;
        weft__cl.clBuildProgram = p->plain ? build_plain : clBuildProgram;
        const enum soak_result result = soak_run(&s, o.op, &op);
        counts_of(p, op)[result]++;
        if (result < SOAK_WRONG && !o.verbose)
            continue;
        bad += result >= SOAK_WRONG;
        fprintf(stderr, "%s: --seed %llu --from %lld --cases 1 --kinds %lld --most %lld%s: %s, %s%s%s\n",
                result_names[result], (unsigned long long)o.seed, (long long)index, (long long)o.kinds,
                (long long)o.most, o.hostile ? " --hostile" : "", weft_schedule_name(weft_context_schedule(p->ctx)),
                s.text, result ? ": " : "", result ? s.why : "");
    }
    report(places, nplaces, &o, index - o.from, now() - begin);
    for (int i = 0; i < nplaces; i++)
        weft_context_destroy(&places[i].ctx);
    return bench_streams_end("weft-soak", bad != 0, 2);
}
