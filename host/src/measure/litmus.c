// SPDX-License-Identifier: Apache-2.0
// Runs the litmus kernels again and again, and counts what went wrong.
#include "host/src/measure/litmus.h"
#include "host/src/core/check.h"
#include "host/src/core/clock.h"
#include "host/src/core/copy.h"
#include "host/src/core/limits.h"
#include "host/src/core/make.h"
#include "host/src/core/variants.h"

#include <stdlib.h>

static const struct weft__kernel_spec litmus_spec = {"litmus", {"measure/litmus.cl", "scan/words.clh"}};
static const struct weft__kernel_spec plain_spec = {"litmus", {"measure/litmus.cl"}};

enum { CHAINED = 1, SORT, LAST, PAIR, FLAG, GROUP, PROTOCOLS = GROUP };
// Two runs at least, however slow: words of the run before must not pass for those of this one.
enum { CHANGES = 2, RUNS_LEAST = 2, RUNS = 1 << 20 };
enum { GROUP_WG = 256 }; // several waves

static const struct {
    const char *name, *used_by, *changes[CHANGES];
} protocols[PROTOCOLS + 1] = {
    [CHAINED] = {"chained", "scan", {"the tag of the second word is not looked at", "plain stores and loads"}},
    [SORT] = {"sort", "segsort", {"kind and count in two words", "in two words, plain stores and loads"}},
    [LAST] = {"last", "spmv, transpose", {"comes first, then leaves its part", "plain stores and loads, no fence"}},
    [PAIR] = {"pair", "spmv", {"looks, then leaves its part", "a plain load, then a plain store"}},
    [FLAG] = {"flag", "transpose", {"what was seen is written back", NULL}},
    [GROUP] = {"group", "transpose", {"one tells before the others leave their parts", "words are not settled"}},
};

// On a processor the second group waits for a thread that has to wake up, on a GPU both begin at once.
static void define(struct weft__defines *d, bool cpu, int wg, int protocol, int mutant, bool fence)
{
    weft__define(d, "WEFT_SPIN", "%d", cpu ? 1 << 21 : 1 << 18);
    weft__define(d, "WEFT_WG", "%d", wg);
    weft__define(d, "WEFT_LITMUS", "%d", protocol);
    weft__define(d, "WEFT_MUTANT", "%d", mutant);
    if (protocol == CHAINED) {
        weft__define(d, "sum_t", "ulong");
        weft__define(d, "WEFT_SUM_BITS", "64");
    }
    if (!fence) // else the prelude has it
        weft__define(d, "WEFT_DEVICE_FENCE", "1");
}

// As in the kernel.
static cl_uint message(cl_uint slot, cl_uint run, cl_uint side)
{
    return (((slot * 2 + side + 1) * UINT32_C(2654435761)) ^ (run * UINT32_C(40503))) >> 2 | 1;
}

enum { WORDS, OUT, MET, TOTALS, NBUFFERS };

// Work-groups 2*p and 2*p + 1 are a pair.
struct runs {
    struct weft_context *ctx;
    cl_command_queue queue;
    struct weft__kernel *k;
    cl_mem b[NBUFFERS];
    cl_uint *host; // `slots` results, or 4 words of each slot
    size_t pairs, slots;
    cl_uint wg, rounds, run;
    int protocol;
};

// What the slots hold behind a launch, of the protocols whose groups do not look themselves.
static weft_status slots_check(struct runs *r, uint64_t *wrong)
{
    const size_t each = r->protocol == FLAG ? 4 : 1;
    if (r->protocol < LAST)
        return WEFT_OK;
    const weft_status status =
        weft__copy_out(r->ctx, r->queue, r->host, r->b[r->protocol == FLAG ? WORDS : OUT], r->slots * each * 4);
    for (cl_uint i = 0; i < r->slots && !status; i++)
        *wrong += r->host[i * each] != (r->protocol == FLAG ? r->run : message(i, r->run, 0) + message(i, r->run, 1));
    return status;
}

static weft_status launch(struct runs *r, struct weft__litmus_result *result)
{
    static const cl_uint zeros[3];
    cl_uint totals[3] = {0};
    struct weft__stream stream;
    const cl_uint rounds = r->rounds, run = ++r->run;
    weft_status status = weft__copy_in(r->ctx, r->queue, r->b[TOTALS], zeros, sizeof zeros);
    if (!status)
        status = weft__stream_begin(&stream, r->ctx, r->queue, 0, NULL, NULL);
    if (status)
        return status;
    WEFT__LAUNCH(&stream, r->k, 2 * r->pairs, r->wg, WEFT__ARG(words, r->b[WORDS]), WEFT__ARG(out, r->b[OUT]),
                 WEFT__ARG(met, r->b[MET]), WEFT__ARG(totals, r->b[TOTALS]), WEFT__ARG(rounds), WEFT__ARG(run));
    status = weft__stream_end(&stream);
    if (!status)
        status = weft__copy_out(r->ctx, r->queue, totals, r->b[TOTALS], sizeof totals);
    uint64_t wrong = totals[2];
    if (!status)
        status = slots_check(r, &wrong);
    result->slots += r->slots;
    result->met += totals[1];
    result->wrong += wrong;
    return status;
}

// One protocol, or a mutant of it, for so many seconds; a mutant until it is found.
static weft_status form_run(struct weft_context *ctx, cl_command_queue queue, int protocol, int mutant, double seconds,
                            struct weft__litmus_result *result)
{
    const bool cpu = ctx->schedule == WEFT_SCHEDULE_CPU;
    const size_t units = (size_t)ctx->device.compute_units;
    struct runs r = {.ctx = ctx, .queue = queue, .protocol = protocol, .pairs = cpu ? (units + 1) / 2 : units};
    struct weft__make make = {.ctx = ctx};
    struct weft__defines d = {0};
    r.wg = cpu                 ? 1
           : protocol == GROUP ? (cl_uint)weft__min(weft__wg_most(ctx), GROUP_WG)
                               : (cl_uint)weft__wg_small(ctx);
    r.rounds = cpu ? 1024 : protocol == GROUP ? 32 : 128;
    r.slots = r.pairs * r.rounds * r.wg;
    define(&d, cpu, (int)r.wg, protocol, mutant, weft__caps_of(ctx).fence);
    weft__make_kernel(&make, &r.k, protocol == CHAINED ? &litmus_spec : &plain_spec, &d);
    weft__make_buffers(&make, r.b,
                       (const struct weft__scratch[NBUFFERS]){[WORDS] = {r.slots * 16, "litmus: words", true},
                                                              [OUT] = {r.slots * 4, "litmus: results", true},
                                                              [MET] = {r.slots * 4, "litmus: slots", true},
                                                              [TOTALS] = {12, "litmus: totals", true}},
                       NBUFFERS);
    r.host = weft__make_memory(&make, r.slots * 16, "a litmus");
    const double began = weft__now_ms();
    do {
        if (!make.status)
            make.status = launch(&r, result);
        result->seconds = (weft__now_ms() - began) * 1e-3;
    } while (!make.status && (r.run < RUNS_LEAST || (result->seconds < seconds && r.run < RUNS)) &&
             !(mutant && result->wrong));
    free(r.host);
    weft__parts_release(&r.k, 1, r.b, NBUFFERS);
    return make.status;
}

weft_status weft__litmus(uint64_t *out_wrong, struct weft_context *ctx, double seconds, weft__litmus_fn *fn, void *arg)
{
    if (!ctx || !out_wrong)
        return WEFT_EINVAL;
    const struct weft__caps caps = weft__caps_of(ctx);
    cl_command_queue queue = NULL;
    weft_status status = weft__queue_create(&queue, ctx);
    *out_wrong = 0;
    for (int protocol = 1; protocol <= PROTOCOLS && !status; protocol++) {
        if ((protocol == CHAINED || protocol == PAIR) && !caps.int64_atomics)
            continue;
        for (int mutant = 0; mutant <= CHANGES && !status; mutant++) {
            const struct weft__litmus_result begin = {
                .protocol = protocols[protocol].name,
                .used_by = protocols[protocol].used_by,
                .change = mutant ? protocols[protocol].changes[mutant - 1] : NULL,
                .used = (protocol != LAST && protocol != PAIR && protocol != GROUP) || caps.fence,
            };
            if (mutant && !begin.change)
                continue;
            struct weft__litmus_result result;
            const double share = seconds / (double)PROTOCOLS * (mutant ? 0.125 : 0.75);
            WEFT__LIMITED(status, ctx, (result = begin, form_run(ctx, queue, protocol, mutant, share, &result)));
            if (!mutant && result.used)
                *out_wrong += result.wrong;
            if (!status && fn)
                fn(arg, &result);
        }
    }
    weft__queue_release(&queue);
    return status;
}

void weft__litmus_variants(weft__variant_fn *fn, void *arg)
{
    static const enum weft_schedule schedules[] = {WEFT_SCHEDULE_GPU, WEFT_SCHEDULE_CPU};
    for (int s = 0; s < 2; s++)
        for (int protocol = 1; protocol <= PROTOCOLS; protocol++)
            for (int mutant = 0; mutant <= CHANGES; mutant++) {
                struct weft__variant v = {.spec = protocol == CHAINED ? &litmus_spec : &plain_spec,
                                          .schedule = schedules[s],
                                          .int64_atomics = protocol == CHAINED || protocol == PAIR};
                if (mutant && !protocols[protocol].changes[mutant - 1])
                    continue;
                const bool cpu = schedules[s] == WEFT_SCHEDULE_CPU;
                define(&v.defines, cpu, cpu ? 1 : protocol == GROUP ? GROUP_WG : 64, protocol, mutant, false);
                fn(arg, &v);
            }
}
