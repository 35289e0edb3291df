// SPDX-License-Identifier: Apache-2.0
// Options of weft-bench that exclude each other, or that would change nothing of the run.
#include "block.h"
#include "help.h"
#include "host/common/word.h"

#include <string.h>

static int backend_chosen(const struct bench_options *o, const char *name)
{
    int found = 0;
    for (size_t i = 0; i < o->nbackends; i++)
        found |= !strcmp(o->backends[i]->name, name);
    return found;
}

static int is_given(const struct bench_options *o, const char *name)
{
    for (size_t i = 0; i < bench_option_count; i++)
        if (o->given >> i & 1 && !strcmp(bench_option_rows[i].name, name))
            return 1;
    return 0;
}

// Nothing is given beside `name` but the options of the list.
static int alone_check(const struct bench_options *o, const char *name, const char *with)
{
    for (size_t i = 0; i < bench_option_count; i++)
        if (o->given >> i & 1 && !bench_list_has(with, bench_option_rows[i].name))
            return bench_usage_fail("%s goes with --json and --quiet, not with --%s", name, bench_option_rows[i].name);
    return -1;
}

static int tune_check(const struct bench_options *o)
{
    if (o->tune_s > 0 && !o->tune_write)
        return bench_usage_fail("--tune-time goes with --tune");
    if (!o->tune_write)
        return -1;
    if (o->sweep)
        return bench_usage_fail("--sweep and --tune exclude each other");
    if (o->ntune)
        return bench_usage_fail("--tune runs a point or finds the best, not both");
    if (o->profile)
        return bench_usage_fail("--tune goes without --profile");
    if (bench_word_is_stream(o->tune_file))
        return bench_usage_fail("--tune writes a file, not the standard output");
    if (o->products || o->hyb_width || o->hash || o->calls)
        return bench_usage_fail("--tune without a point goes without --products, --hyb-width, --hash and --calls");
    // Each row of the file has its algorithms and its type, and takes offsets of 32 bits.
    if (o->types_given || o->algos || is_given(o, "index"))
        return bench_usage_fail("--tune without a point goes without --type, --index and --algo: rows have their own");
    if (o->backends_given && (o->nbackends != 1 || !backend_chosen(o, "opencl")))
        return bench_usage_fail("--tune without a point is of backend opencl: no other --backend");
    return -1;
}

static int regret_check(const struct bench_options *o)
{
    if (o->sweep || o->ntune || o->tune_write || o->profile || o->study || o->compare)
        return bench_usage_fail("--regret goes without --sweep, --tune, --profile, --study and --compare");
    if (!backend_chosen(o, "opencl"))
        return bench_usage_fail("--regret is of backend opencl, which --backend leaves out");
    return -1;
}

static int study_check(const struct bench_options *o)
{
    if (o->sweep || o->ntune || o->tune_write || o->stop.reps || o->stop.min_s > 0 || o->products || o->hyb_width ||
        o->hash || o->calls)
        return bench_usage_fail("--study has its own measuring: no --sweep, --tune, --reps, --min-time, --products, "
                                "--hyb-width, --hash, --calls");
    if (o->ops_given && (o->nops != 1 || o->ops[0] != &bench_spmv))
        return bench_usage_fail("--study is of spmv: no other --op");
    for (size_t t = 0; t < o->ntypes; t++)
        if (o->types[t] == WEFT_TYPE_I32)
            return bench_usage_fail("--study has no i32");
    return -1;
}

// What no chosen operation takes, or what has no place to be printed.
static int ops_check(const struct bench_options *o)
{
    int products = 0, hashes = 0, calls = 0;
    for (size_t i = 0; i < o->nops; i++) {
        products |= o->ops[i]->products;
        hashes |= o->ops[i]->hashes;
        calls |= o->ops[i]->call != NULL;
    }
    if (!products && (o->products || o->hyb_width))
        return bench_usage_fail("%s is of spmv, which --op leaves out", o->products ? "--products" : "--hyb-width");
    if (o->hash && !hashes)
        return bench_usage_fail("--hash is of transpose and spmv, which --op leaves out");
    if (o->calls && !calls)
        return bench_usage_fail("--calls is of transpose and spmv, which --op leaves out");
    if (o->calls && o->sweep && !o->json && !o->csv)
        return bench_usage_fail("--calls has no place: --sweep prints none, and there is no --json or --csv");
    if (o->hash && !o->json && !o->csv && (o->quiet || o->sweep))
        return bench_usage_fail("--hash has no place: %s prints none, and there is no --json or --csv",
                                o->quiet ? "--quiet" : "--sweep");
    return -1;
}

int bench_options_check(const struct bench_options *o, int words)
{
    if (o->compare)
        return words == 2 && o->nsources == 2 ? alone_check(o, "--compare", "compare,json,quiet")
                                              : bench_usage_fail("--compare wants two files");
    if (o->list && o->sources_given)
        return bench_usage_fail("--list takes no matrix");
    if (o->list) // -d list is --list
        return alone_check(o, "--list",
                           o->device == BENCH_DEFAULT_DEVICE ? "list,device,json,quiet" : "list,json,quiet");
    if (o->stop.reps && o->stop.min_s > 0)
        return bench_usage_fail("--reps and --min-time exclude each other");
    if (o->profile && (o->sweep || o->study || o->stop.min_s > 0 || o->hash || o->calls))
        return bench_usage_fail("--profile goes without --sweep, --study, --min-time, --hash and --calls");
    if (!o->profile && (o->trace || o->html || o->overhead))
        return bench_usage_fail("%s needs --profile", o->trace ? "--trace" : o->html ? "--html" : "--overhead");
    if (bench_word_is_stream(o->json) + bench_word_is_stream(o->csv) + bench_word_is_stream(o->trace) +
            bench_word_is_stream(o->html) >
        1)
        return bench_usage_fail("one of --json, --csv, --trace and --html can go to the standard output, not several");
    if (!o->study && (o->orders || o->trials || o->trial_s > 0))
        return bench_usage_fail("--orders, --trials and --trial-time want --study");
    int status = o->regret ? regret_check(o) : -1;
    if (status < 0 && o->study)
        return study_check(o);
    if (status < 0)
        status = tune_check(o);
    return status < 0 && !o->tune_write ? ops_check(o) : status;
}
