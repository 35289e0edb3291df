// SPDX-License-Identifier: Apache-2.0
// What backends make of the names that they are given: algorithms and tuning values.
#pragma once

#include "backends/backend.h"
#include "host/internal/inside.h"

#include <string.h>

// Put the values of `tune` (NULL: none) into `params`. WEFT_EINVAL: one of them is not among the tuning values of `set`
// (NULL: there are none).
static inline weft_status weft__tune_take(const struct weft_backend_tune *tune, const struct weft__tunables *set,
                                          void *params, struct weft_error *err)
{
    for (int i = 0; tune && i < tune->count; i++) {
        const struct weft__tunable *t = weft__tunable_find(set, tune->values[i].name);
        if (!t)
            return weft__error(err, WEFT_EINVAL, "\"%s\" is no tuning value of this algorithm", tune->values[i].name);
        *weft__tunable_value(t, params) = tune->values[i].value;
    }
    return WEFT_OK;
}

// Place of `algo` in `algos`, NULL: 0. -1 with the reason in err: it is not there, or `tune` has values, for backends
// without any. `lacks` is for that message: "backend ref has no transposition".
static inline int weft__algo_find(const char *const *algos, const char *algo, const struct weft_backend_tune *tune,
                                  const char *lacks, struct weft_error *err)
{
    int k = 0;
    while (algo && algos[k] && strcmp(algo, algos[k]))
        k++;
    if (!algos[k])
        weft__error(err, WEFT_EINVAL, "%s named \"%s\"", lacks, algo);
    return !algos[k] || weft__tune_take(tune, NULL, NULL, err) ? -1 : k;
}
