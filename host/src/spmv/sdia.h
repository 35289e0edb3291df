// SPDX-License-Identifier: Apache-2.0
// What spmv.c and choose.c know of sliced DIA.
#pragma once

#include "plan.h"

// Elements that sliced DIA would need for each entry, from a sample of the slices; INFINITY where columns of a row do
// not ascend there. Counts above 2 are less than the truth. Blocks.
weft_status weft__spmv_sdia_sample(struct weft_spmv_plan *plan, cl_command_queue queue, double *padding);
