// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the record of a measured choice of SpMV. What is taken must be an algorithm that the parameters allow, with
// values in range. The first byte is the schedule and the algorithm that was asked for.
#include "fuzz.h"
#include "host/internal/tests.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct weft_spmv_plan plan = {.a = {.m = 100, .n = 90, .nnz = 1000}, .info.max_row = 200}; // columns come twice
    struct weft_spmv_params p = {0};
    if (!bytes)
        return 0;
    plan.info.schedule = data[0] & 1 ? WEFT_SCHEDULE_GPU : WEFT_SCHEDULE_CPU;
    plan.info.params.policy.algo = (enum weft_spmv_algo)((data[0] >> 1) % (WEFT_SPMV_ALGO_CSR_NODES + 1));
    plan.info.params.policy.products = data[0] >> 5;
    if (!weft__spmv_record_parse(&plan, data + 1, bytes - 1, &p))
        return 0;
    const enum weft_spmv_algo asked = plan.info.params.policy.algo;
    if (p.policy.algo <= WEFT_SPMV_ALGO_CSR || p.policy.algo > WEFT_SPMV_ALGO_CSR_NODES || p.format.sigma < 0 ||
        p.format.sigma > 1024 || (p.format.sigma & (p.format.sigma - 1)) || p.format.width < 0 ||
        p.format.width > plan.info.max_row || p.gpu.wg < 0 || p.gpu.ipt < 0 || p.gpu.lanes < 0 || p.gpu.read < 0 ||
        p.gpu.read > 3 || p.cpu.wg < 0 || p.cpu.lanes < 0 || (asked > WEFT_SPMV_ALGO_CSR && asked != p.policy.algo))
        abort();
    return 0;
}
