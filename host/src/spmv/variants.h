// SPDX-License-Identifier: Apache-2.0
// The shapes of a product that each of its kernels is made for: types, offsets, semirings, hints.
#pragma once

#include "host/src/core/variants.h"

struct weft__spmv_size {
    const char *name;
    int value;
};
// One kernel in every shape, with these defines too, which end with NULL. atomic: it adds values, not sums.
void weft__spmv_each_shape(weft__variant_fn *fn, void *arg, const struct weft__kernel_spec *spec,
                           enum weft_schedule schedule, int atomic, const struct weft__spmv_size *sizes);
// Every kernel but those that a method lists itself.
weft__variants_fn weft__spmv_variants_shared;
// The first in a function of type weft__variants_fn, with NAME, value pairs.
#define WEFT__SPMV_EACH(spec, schedule, ...)                                                                           \
    weft__spmv_each_shape(fn, arg, spec, schedule, 0, (const struct weft__spmv_size[]){__VA_ARGS__, {NULL, 0}})
