// SPDX-License-Identifier: Apache-2.0
// Checks the tuning values that callers give, and fits defaults to the device, as the tables of operations say.
#include "host/src/core/tunable.h"
#include "host/src/core/limits.h"

#include "host/src/core/context.h"

#include <stdio.h>
#include <string.h>

size_t weft__tune_find(const struct weft_context *ctx, const void *rows, size_t bytes, size_t count)
{
    size_t best = 0;
    int best_rank = -1;
    for (size_t i = 0; i < count; i++) {
        const struct weft__tune_key *key = (const void *)((const char *)rows + i * bytes);
        if (key->schedule != ctx->schedule || (key->vendor && !strstr(ctx->device.vendor, key->vendor)) ||
            (key->device && !strstr(ctx->device.name, key->device)) || (key->wave && key->wave != ctx->device.wave))
            continue;
        int rank = (key->device ? 4 : 0) + (key->vendor ? 2 : 0) + (key->wave ? 1 : 0);
        if (rank > best_rank) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

const struct weft__tunable *weft__tunable_find(const struct weft__tunables *set, const char *name)
{
    for (size_t i = 0; set && i < set->count; i++)
        if (!strcmp(set->list[i].name, name))
            return &set->list[i];
    return NULL;
}

static int value_of(const struct weft__tunable *t, const void *params)
{
    return *(const int *)((const char *)params + t->at);
}

int weft__tunable_get(const struct weft__tunables *set, const void *params, const char *name)
{
    const struct weft__tunable *t = weft__tunable_find(set, name);
    return t ? value_of(t, params) : 0;
}

int weft__tunables_given(const struct weft__tunables *set, const void *params)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->list[i].kept && value_of(&set->list[i], params))
            return 1;
    return 0;
}

int64_t weft__tunable_wg(const struct weft_context *ctx, const void *params)
{
    (void)params;
    return (int64_t)weft__wg_most(ctx);
}

static int64_t high_of(const struct weft__tunable *t, const struct weft_context *ctx, const void *params)
{
    const int64_t most = t->most ? t->most(ctx, params) : INT64_MAX, high = t->high && t->high < most ? t->high : most;
    return t->step > 0 ? high / t->step * t->step : high;
}

static int is_allowed(const struct weft__tunable *t, int64_t value, int64_t high)
{
    return value >= t->low && value <= high &&
           (t->step == WEFT__POWER_OF_TWO ? (value & (value - 1)) == 0 : value % t->step == 0);
}

static weft_status refuse(const struct weft__tunables *set, struct weft_context *ctx, const struct weft__tunable *t,
                          int value, int64_t high)
{
    char step[48] = "";
    if (t->step > 1)
        snprintf(step, sizeof step, "a multiple of %d ", t->step);
    return weft__fail(ctx, WEFT_EINVAL, "%s: %s is %d, it must be %sin %d..%lld", set->op, t->member, value,
                      t->step == WEFT__POWER_OF_TWO ? "a power of two " : step, t->low, (long long)high);
}

// One step down; 0: there is none.
static int lower(const struct weft__tunable *t, int *value)
{
    const int next = t->lower == WEFT__LOWER_HALVE
                         ? *value / 2 / (t->step > 0 ? t->step : 1) * (t->step > 0 ? t->step : 1)
                     : t->lower == WEFT__LOWER_STEP ? *value - t->step
                                                    : 0;
    if (!t->lower || next < t->low)
        return 0;
    *value = next;
    return 1;
}

static weft_status local_refuse(const struct weft__tunables *set, struct weft_context *ctx, const void *params,
                                size_t need, size_t most)
{
    char values[160] = "";
    size_t used = 0;
    for (size_t i = 0; i < set->count && used < sizeof values; i++)
        if (set->list[i].lower)
            used += (size_t)snprintf(values + used, sizeof values - used, "%s%s %d", used ? " with " : "",
                                     set->list[i].member, value_of(&set->list[i], params));
    return weft__fail(ctx, WEFT_EINVAL, "%s: %s needs %zu bytes of local memory, %s has %zu", set->op, values, need,
                      ctx->device.name, most);
}

weft_status weft__tunables_resolve(const struct weft__tunables *set, struct weft_context *ctx, void *params,
                                   const void *row, weft__local_fn *local, const void *of)
{
    const size_t most = weft__local_most(ctx);
    int given[WEFT__TUNABLES_MOST];
    for (size_t i = 0; i < set->count; i++) {
        const struct weft__tunable *t = &set->list[i];
        const int64_t high = high_of(t, ctx, params);
        int *value = weft__tunable_value(t, params);
        given[i] = *value != 0;
        if (!given[i] && t->from && row) {
            *value = *(const int *)((const char *)row + t->from);
            if (WEFT__HOSTILE(0, t->lower && *value > t->low))
                *value = t->low;
            while (*value > high && lower(t, value))
                ;
            *value = *value > high ? (int)high : *value;
        }
        if (*value && !is_allowed(t, *value, high))
            return refuse(set, ctx, t, *value, high);
    }
    while (local && local(of, params) > most) {
        size_t i = set->count;
        while (i > 0 && (given[i - 1] || !lower(&set->list[i - 1], weft__tunable_value(&set->list[i - 1], params))))
            i--;
        if (!i)
            return local_refuse(set, ctx, params, local(of, params), most);
    }
    return WEFT_OK;
}
