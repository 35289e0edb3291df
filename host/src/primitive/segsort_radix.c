// SPDX-License-Identifier: Apache-2.0
// Sorts a whole array digit by digit, the lowest first. All passes are enqueued; those that the keys do not need do nothing.
//
// pass           | reads              | writes                | form of an element on its way   | buffers
// segsort_digits | keys               | counts of all digits  | stays                           | state; zeros in scratch
// segsort_passes | counts             | passes, bases of bins | stays                           | state
// then for each pass, source and target being in, out and tmp in turn:
// segsort_count  | keys of the source | counts by tile, bin   | stays                           | scratch: a table
// segsort_rows   | counts by tile     | positions             | stays                           | scratch: a table
// segsort_move   | source, positions  | target                | sorted by the digits so far     | scratch: table or words
//
// Chained tiles look back at the words of those before them, so that segsort_count and segsort_rows are not needed.
#include "host/src/core/check.h"
#include "host/src/core/limits.h"
#include "host/src/core/tune.h"
#include "host/src/primitive/key.h"
#include "host/src/primitive/segsort.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST (INT64_C(1) << 30) // elements of a chained sort stay below

enum { DIGITS, PASSES, MOVE, COUNT, ROWS }; // chained: up to MOVE
static const struct weft__kernel_spec specs[WEFT__RADIX_KERNELS] = {
    [DIGITS] = {"segsort_digits", {"segsort/digits.cl", "segsort/radix.clh"}},
    [PASSES] = {"segsort_passes", {"segsort/digits.cl", "segsort/radix.clh"}},
    [MOVE] = {"segsort_move", {"segsort/move.cl", "segsort/radix.clh"}},
    [COUNT] = {"segsort_count", {"segsort/count.cl", "segsort/radix.clh"}},
    [ROWS] = {"segsort_rows", {"segsort/count.cl", "segsort/radix.clh"}},
};

struct weft_tune_radix {
    struct weft__tune_key key;
    int wg, ipt, bits, look; // ipt: where key and payload have 4 bytes each, or less; else half of it
    int units;               // work-groups of segsort_digits per compute unit
    int chained;             // what auto takes
    size_t least;            // elements from which auto takes this form
};
static const struct weft_tune_radix tune_table[] = {
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "not measured"}, 256, 16, 8, 4, 4, 0, 1 << 17},
    // 2026-11-22, NVIDIA H200, 10 million u32 with 4 bytes: 0.377 ms, 0.405 with tiles of 256 x 16, 0.420 of 512 x 8, 0.519
    // of 256 x 8; 0.530 with a table instead of looking back, 1.23 merged. Elements of more bytes were not measured.
    {{WEFT_SCHEDULE_GPU, "NVIDIA", 0, NULL, "measured on an H200"}, 256, 24, 8, 8, 4, 1, 1 << 17},
    // docs/log/amd-occupancy.md, with a table: the largest tiles that leave two groups and a quarter of the waves.
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, 0, NULL, "from the ISA, not run: 12 of 32 waves"},
     256,
     8,
     8,
     4,
     4,
     0,
     1 << 17},
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, 32, NULL, "from the ISA, not run: 16 of 64 waves"},
     256,
     24,
     8,
     4,
     4,
     0,
     1 << 17},
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, ""}, 0, 0, 0, 0, 0, 0, 0},
};

#define RADIX(column)                                                                                                  \
    WEFT__TUNABLE(#column, struct weft_segsort_params, gpu.radix.column, struct weft_tune_radix, column)
static const struct weft__tunable values[] = {
    {RADIX(wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT_FOUND,
     .sweep = {256, 384, 512}, .help = "work-items per work-group"},
    {RADIX(ipt), .low = 2, .high = 32, .step = 1, .lower = WEFT__LOWER_STEP, .kept = WEFT__KEPT_FOUND,
     .sweep = {16, 20, 24}, .help = "elements per work-item; half of the default where key or payload have 8 bytes"},
    {WEFT__TUNABLE_BY_SHAPE("words", struct weft_segsort_params, gpu.radix.words), .low = 1, .high = 2, .step = 1,
     .kept = WEFT__KEPT_FOUND, .sweep = {1, 2}, .help = "words that 32-bit keys and payloads are ordered as"},
    {RADIX(look), .low = 1, .high = 32, .step = 1, .kept = WEFT__KEPT_FOUND, .sweep = {4, 8},
     .help = "chained: tiles that a work-item looks at at once"},
    {RADIX(bits), .low = 4, .high = 11, .step = 1, .kept = WEFT__KEPT, .sweep = {8}, .help = "bits of a digit"},
    {WEFT__TUNABLE_BY_SHAPE("form", struct weft_segsort_params, whole), .low = WEFT_SEGSORT_WHOLE_MERGE,
     .high = WEFT_SEGSORT_WHOLE_CHAINED, .step = 1, .sweep = {WEFT_SEGSORT_WHOLE_CHAINED},
     .help = "1: merged, 2: digit by digit, 3: chained tiles"},
};
const struct weft__tunables weft__radix_tunables[] = {
    {"segsort", "whole", WEFT_SCHEDULE_GPU, "segsort.whole", WEFT__TUNABLES(values), WEFT__TUNE_ROWS(tune_table)},
    {0},
};

static size_t tile_of(const struct weft__radix *r)
{
    return (size_t)r->params.wg * (size_t)r->params.ipt;
}

static size_t digits_of(const struct weft__radix *r)
{
    return weft__ceil_div(weft_key_bytes(r->key) * 8, (size_t)r->params.bits);
}

// Key and payload are ordered as one word.
static int joined(const struct weft__radix *r)
{
    return weft_key_bytes(r->key) == 4 && r->payload_bytes == 4 && r->params.words == 1;
}

// Of segsort_move: struct keep, and lanes' exchange where they have no other.
static size_t local_bytes(const struct weft__radix *r)
{
    size_t wg = (size_t)r->params.wg, bins = (size_t)1 << r->params.bits, counts = 2 * (wg / 32) * bins;
    size_t wide = joined(r) || weft_key_bytes(r->key) == 8 || r->payload_bytes == 8 ? 8 : 4;
    return weft__max(counts, wide * tile_of(r)) + bins * (weft_ofs_bytes(r->ofs) + (r->chained ? 4 : 0)) + wg / 8 + 16 +
           4 * wg;
}

// The same for segsort_digits and segsort_passes.
static size_t digits_local_bytes(const struct weft__radix *r)
{
    size_t digits = digits_of(r);
    return weft__max(digits * 4 << r->params.bits, digits * ((size_t)r->params.wg * weft_ofs_bytes(r->ofs) + 4));
}

// Of all kernels, with the values in `params`.
static size_t most_local(const void *of, const void *params)
{
    struct weft__radix r = *(const struct weft__radix *)of;
    r.params = ((const struct weft_segsort_params *)params)->gpu.radix;
    return weft__max(local_bytes(&r), digits_local_bytes(&r));
}

// One word for key and payload takes fewer instructions, two take less local memory.
static int words_default(const struct weft__radix *r, struct weft_context *ctx, struct weft_segsort_params p,
                         const struct weft_tune_radix *row, weft_status *status)
{
    p.gpu.radix.words = 1;
    *status = weft__tunables_resolve(weft__radix_tunables, ctx, &p, row, NULL, NULL);
    struct weft__radix one = *r;
    one.params = p.gpu.radix;
    return !*status && joined(&one) && most_local(r, &p) <= weft__local_most(ctx) ? 1 : 2;
}

// The tuning values, in params and in r.
static weft_status values_resolve(struct weft__radix *r, struct weft_context *ctx, struct weft_segsort_params *params,
                                  const struct weft_tune_radix *tune)
{
    weft_status status = WEFT_OK;
    struct weft_tune_radix row = *tune;
    if (weft_key_bytes(r->key) > 4 || r->payload_bytes > 4)
        row.ipt /= 2;
    if (!params->gpu.radix.words)
        params->gpu.radix.words = words_default(r, ctx, *params, &row, &status);
    if (!status)
        status = weft__tunables_resolve(weft__radix_tunables, ctx, params, &row, most_local, r);
    r->params = params->gpu.radix;
    return status;
}

static weft_status resolve(struct weft__radix *r, struct weft_context *ctx, const struct weft_tune_radix *tune,
                           struct weft_segsort_params *params, enum weft_ofs ofs, int64_t n_max, const char **why)
{
    const enum weft_segsort_whole asked = params->whole;
    const int given = weft__tunables_given(weft__radix_tunables, params);
    const struct weft_segsort_radix before = params->gpu.radix;
    struct weft_error error;
    r->least = asked ? 1 : tune->least;
    r->chained = asked == WEFT_SEGSORT_WHOLE_CHAINED || (!asked && tune->chained && n_max < MOST);
    r->ofs = r->chained ? WEFT_OFS_32 : ofs;
    r->groups = (size_t)tune->units * (size_t)ctx->device.compute_units;
    params->whole = WEFT_SEGSORT_WHOLE_MERGE;
    *why = "one segment: merged too";
    weft__quiet_begin(ctx);
    const weft_status status = values_resolve(r, ctx, params, tune);
    weft__quiet_end(&error);
    if (status) {
        params->gpu.radix = before;
        return asked || given ? weft__fail_again(ctx, &error) : WEFT_OK; // too little local memory
    }
    const size_t tiles = weft__ceil_div((size_t)n_max, tile_of(r));
    if ((r->chained && (n_max >= MOST || tiles > UINT32_MAX >> r->params.bits)) ||
        tiles > weft__groups_most((size_t)r->params.wg)) {
        params->gpu.radix = before;
        return asked ? weft__fail(ctx, WEFT_ERANGE, "segsort: %lld elements are too many: %s", (long long)n_max,
                                  r->chained ? "a chained sort takes less than 2^30, and 2^32 tiles times bins"
                                             : "a sort by digits takes less than 2^31 work-items")
                     : WEFT_OK;
    }
    params->whole = r->chained ? WEFT_SEGSORT_WHOLE_CHAINED : WEFT_SEGSORT_WHOLE_RADIX;
    *why = given ? "tuning given by the caller" : tune->key.source;
    return WEFT_OK;
}

weft_status weft__radix_resolve(struct weft__radix *out, struct weft_context *ctx, struct weft_segsort_params *params,
                                enum weft_key key, int payload_bytes, enum weft_ofs ofs, int64_t n_max, char *why,
                                size_t why_size)
{
    const struct weft_tune_radix *tune = WEFT__TUNE_FIND(ctx, tune_table);
    const struct weft_segsort_params asked = *params;
    const char *said;
    if ((unsigned)params->whole > WEFT_SEGSORT_WHOLE_CHAINED)
        return weft__fail(ctx, WEFT_EINVAL, "segsort: there is no form %d of a whole sort", (int)params->whole);
    *out = (struct weft__radix){.key = key, .payload_bytes = payload_bytes};
    *why = 0;
    if (ctx->schedule == WEFT_SCHEDULE_CPU) {
        params->whole = WEFT_SEGSORT_WHOLE_MERGE;
        return asked.whole > WEFT_SEGSORT_WHOLE_MERGE
                   ? weft__fail(ctx, WEFT_EUNSUPPORTED, "segsort: a CPU takes a chunk per work-item, no digits")
                   : WEFT_OK;
    }
    if (asked.whole == WEFT_SEGSORT_WHOLE_MERGE || (size_t)n_max < (asked.whole ? 1 : tune->least)) {
        params->whole = WEFT_SEGSORT_WHOLE_MERGE;
        snprintf(why, why_size, "one segment: merged too%s",
                 asked.whole == WEFT_SEGSORT_WHOLE_MERGE ? ", as asked" : "");
        return WEFT_OK;
    }
    struct weft__tuned tuned =
        weft__tuned_begin(ctx, weft__radix_tunables, weft_key_bytes(key) + (size_t)payload_bytes, params);
    weft_status status;
    do {
        params->whole = asked.whole;
        status = resolve(out, ctx, tune, params, ofs, n_max, &said);
        if (!status && params->whole == WEFT_SEGSORT_WHOLE_MERGE)
            snprintf(why, why_size, "%s", said);
        else if (!status)
            snprintf(why, why_size, "one segment%s: digit by digit%s; %s", out->least > 1 ? " of many" : "",
                     out->chained ? ", tiles look back" : "", said);
    } while (weft__tuned_again(&tuned, status, why, why_size));
    return status;
}

size_t weft__radix_state_bytes(const struct weft__radix *r)
{
    size_t digits = digits_of(r), bins = (size_t)1 << r->params.bits, wide = weft_ofs_bytes(r->ofs) / 4;
    return 4 * (32 + (2 * digits + 1) * bins * wide);
}

size_t weft__radix_scratch_bytes(const struct weft__radix *r, size_t n)
{
    size_t bins = (size_t)1 << r->params.bits, tiles = weft__ceil_div(n, tile_of(r));
    return weft__mul(weft__mul(tiles, bins), r->chained ? 8 : weft_ofs_bytes(r->ofs));
}

static void radix_define(struct weft__defines *d, const struct weft__radix *r, int kernel)
{
    const int move = kernel == MOVE;
    weft__define(d, "WEFT_WG", "%d", r->params.wg);
    weft__define(d, "WEFT_OFS_BITS", "%d", r->ofs == WEFT_OFS_64 ? 64 : 32);
    weft__key_define(d, r->key, move ? r->payload_bytes : 0);
    weft__define(d, "WEFT_RADIX_BITS", "%d", r->params.bits);
    if (move) {
        weft__define(d, "WEFT_IPT", "%d", r->params.ipt);
        weft__define(d, "WEFT_JOINED", "%d", joined(r));
        weft__define(d, "WEFT_CHAINED", "%d", r->chained);
        if (r->chained)
            weft__define(d, "WEFT_LOOK", "%d", r->params.look);
    } else if (kernel == COUNT || kernel == ROWS) {
        weft__define(d, "WEFT_TILE", "%zu", tile_of(r));
    }
}

static void state_make(struct weft__radix *r, struct weft__make *make)
{
    const struct weft__scratch need = {weft__radix_state_bytes(r), "segsort: counts of digits", true};
    weft__make_buffers(make, &r->state, &need, 1);
}

void weft__radix_make(struct weft__radix *r, struct weft__make *make)
{
    for (int i = 0; i <= (r->chained ? MOVE : ROWS); i++) {
        struct weft__defines d = {0};
        radix_define(&d, r, i);
        weft__make_kernel(make, &r->k[i], &specs[i], &d);
    }
    state_make(r, make);
}

void weft__radix_release(struct weft__radix *r)
{
    weft__parts_release(r->k, WEFT__RADIX_KERNELS, &r->state, 1);
}

void weft__radix_run(struct weft__radix *r, struct weft__stream *stream, struct weft__radix_place in,
                     struct weft__radix_place out, struct weft__radix_place tmp, cl_mem scratch, size_t n)
{
    if (r->dirty) { // what is enqueued keeps its own
        struct weft__make make = {.ctx = stream->ctx, .status = stream->status};
        weft__buffer_release(&r->state);
        state_make(r, &make);
        stream->status = make.status;
    }
    if (stream->status)
        return;
    const size_t wg = (size_t)r->params.wg, tiles = weft__ceil_div(n, tile_of(r)), bins = (size_t)1 << r->params.bits,
                 step = wg * 64 / weft_key_bytes(r->key);
    const cl_long count = (cl_long)n, nwords = r->chained ? (cl_long)(tiles * bins) : 0;
    const int key_stays = in.key == out.key, val_stays = r->payload_bytes && in.val == out.val;
    const cl_uint in_place = key_stays && (val_stays || !r->payload_bytes) ? 1 : key_stays || val_stays ? 2 : 0;
    const cl_uint ntiles = (cl_uint)tiles;
    // In place the number of passes is even.
    const cl_uint passes = (cl_uint)weft__round_up(digits_of(r), in_place ? 2 : 1);
    stream->status =
        WEFT__PARTS_BIND(stream->ctx, r->k, WEFT__RADIX_KERNELS, WEFT__ARG(key, in.key), WEFT__ARG(val, in.val),
                         WEFT__ARG(key_out, out.key), WEFT__ARG(val_out, out.val), WEFT__ARG(key_tmp, tmp.key),
                         WEFT__ARG(val_tmp, tmp.val), WEFT__ARG(state, r->state), WEFT__ARG(words, scratch),
                         WEFT__ARG(table, scratch), WEFT__ARG(n, count), WEFT__ARG(tiles, ntiles));
    WEFT__LAUNCH(stream, r->k[DIGITS], weft__min(r->groups, weft__ceil_div(n, step)), wg, WEFT__ARG(nwords));
    WEFT__LAUNCH(stream, r->k[PASSES], 1, wg, WEFT__ARG(in_place));
    for (cl_uint k = 0; k < passes; k++) {
        if (!r->chained) {
            WEFT__LAUNCH(stream, r->k[COUNT], tiles, wg, WEFT__ARG(k));
            WEFT__LAUNCH(stream, r->k[ROWS], bins, wg, WEFT__ARG(k));
        }
        WEFT__LAUNCH(stream, r->k[MOVE], tiles, wg, WEFT__ARG(k));
    }
    r->dirty = stream->status != WEFT_OK;
}

void weft__radix_variants(weft__variant_fn *fn, void *arg)
{
    for (enum weft_key key = WEFT_KEY_U32; key <= WEFT_KEY_I64; key++)
        for (int payload = 0; payload <= 8; payload += 4)
            for (int form = 0; form < 3; form++) { // chained, with a table, that of 64 bits
                if ((form && key != WEFT_KEY_U32 && key != WEFT_KEY_I64) || (form == 2 && payload < 8))
                    continue; // too much alike
                struct weft__radix r = {.key = key, .payload_bytes = payload, .chained = form == 0};
                r.ofs = form == 2 ? WEFT_OFS_64 : WEFT_OFS_32;
                r.params = (struct weft_segsort_radix){.wg = 256, .bits = 8, .look = 8, .words = r.chained ? 2 : 1};
                r.params.ipt = (weft_key_bytes(key) == 8 || payload == 8 ? 8 : 16) * (r.chained ? 3 : 2) / 2;
                const int kernels[] = {MOVE, form ? COUNT : DIGITS, form ? ROWS : PASSES};
                for (size_t i = 0; i < (payload < 8 ? 1 : 3); i++) {
                    struct weft__variant v = {.spec = &specs[kernels[i]], .schedule = WEFT_SCHEDULE_GPU};
                    radix_define(&v.defines, &r, kernels[i]);
                    fn(arg, &v);
                }
            }
}
