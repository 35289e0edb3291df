// SPDX-License-Identifier: Apache-2.0
// The choice of an algorithm by the figures of a matrix.
#pragma once

#include "plan.h"

// The algorithm for plan->info.params.policy.algo AUTO or CSR, without those that were denied; writes info.why and
// plan->bound. May look at a sample of the matrix (blocks).
weft_status weft__spmv_choose(struct weft_spmv_plan *plan, cl_command_queue queue, enum weft_spmv_algo *out);
