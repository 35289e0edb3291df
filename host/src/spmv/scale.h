// SPDX-License-Identifier: Apache-2.0
// What formats share that add to y: y = beta*y first, and whether y takes atomics.
#pragma once

#include "plan.h"

// y = beta*y over plan->y_size elements (cl/spmv/scale.cl).
void weft__spmv_make_scale(struct weft__make *make, struct weft__kernel **out, struct weft_spmv_plan *plan);
weft_status weft__spmv_scale(struct weft__kernel *kernel, struct weft_spmv_plan *plan, struct weft__stream *stream,
                             const struct weft__spmv_call *call);
// WEFT_OK when y can be added to by atomics.
weft_status weft__spmv_atomic_check(const struct weft_spmv_plan *plan);
