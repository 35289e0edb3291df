// SPDX-License-Identifier: Apache-2.0
// The lists of operations: the variants of their kernels, for lint and tests, and their tuning values.
#include "host/src/core/variants.h"
#include "host/src/core/fill.h"

#include <string.h>

void weft__fill_variants(weft__variant_fn *fn, void *arg)
{
    struct weft__variant v = {.spec = &weft__fill_spec};
    weft__define(&v.defines, "WEFT_WG", "64");
    fn(arg, &v);
}

#define OPERATION(name) {#name, weft__##name##_variants},
const struct weft__operation weft__operations[] = {WEFT__OPERATIONS(OPERATION){NULL, NULL}};

#define TUNED(name) weft__##name##_tunables,
const struct weft__tunables *const weft__tunables[] = {WEFT__TUNED(TUNED) NULL};

const struct weft__tunables *weft__tunables_of(const char *op, const char *algo, enum weft_schedule schedule)
{
    const struct weft__tunables *any = NULL;
    for (const struct weft__tunables *const *sets = weft__tunables; *sets; sets++)
        for (const struct weft__tunables *set = *sets; set->op; set++)
            if (!strcmp(set->op, op) && set->schedule == schedule) {
                if (set->algo && algo && !strcmp(set->algo, algo))
                    return set;
                any = set->algo ? any : set;
            }
    return any;
}
