// SPDX-License-Identifier: Apache-2.0
#include "variants.h"
#include "fill.h"

void weft__fill_variants(weft__variant_fn *fn, void *arg)
{
    struct weft__variant v = {.spec = &weft__fill_spec};
    weft__define(&v.defines, "WEFT_WG", "64");
    fn(arg, &v);
}

const struct weft__operation weft__operations[] = {
    {"fill", weft__fill_variants},
    {"copy", weft__copy_variants},
    {NULL, NULL},
};
