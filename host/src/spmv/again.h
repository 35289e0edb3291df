// SPDX-License-Identifier: Apache-2.0
// What auto asks a matrix before it converts it for reads of x that lie far apart.
#pragma once

#include "plan.h"

// Share of the entries that read 32 bytes of x which one of some thousand entries before them has read, beyond the share that entries
// at random columns would have; 0 to 1. From a sample; blocks.
weft_status weft__spmv_again(struct weft_spmv_plan *plan, cl_command_queue queue, double *share);
