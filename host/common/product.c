// SPDX-License-Identifier: Apache-2.0
// SpMV with a permuted matrix: what it must give, and what permuting costs.
#include "host/common/product.h"
#include "host/internal/inside.h"
#include "host/common/clock.h"

#include <stdio.h>
#include <stdlib.h>

weft_status product_expect(struct product_expected *out, const struct weft_csr *a, enum weft_type type, const void *x)
{
    const struct check_spmv job = {.a = a, .type = type, .alpha = 1, .x = x};
    out->rows = calloc(a->m > 0 ? (size_t)a->m : 1, sizeof *out->rows);
    if (!out->rows)
        return WEFT_ENOMEM;
    for (int64_t i = 0; i < a->m; i++)
        out->rows[i] = check_row(&job, i);
    return WEFT_OK;
}

void product_expected_free(struct product_expected *e)
{
    free(e->rows);
    *e = (struct product_expected){0};
}

int product_right(const void *y, enum weft_type type, const struct weft_permutation *p,
                  const struct product_expected *e, char *why, size_t size)
{
    char text[CHECK_ROW_TEXT];
    for (int64_t i = 0; i < p->m; i++) {
        const double got = weft__ref_get(y, type, p->row ? p->row_inv[i] : i);
        if (!check_row_right(&e->rows[i], got)) {
            snprintf(why, size, "y[%lld] is %.9g, not %s", (long long)i, got, check_row_text(&e->rows[i], text));
            return 0;
        }
    }
    return 1;
}

double product_permute_ms(struct weft_context *ctx, cl_command_queue queue, const struct weft_csr *a,
                          const struct weft_permutation *p)
{
    struct weft_device_csr from = {0}, to = {0};
    double ms = -1;
    weft_status status = weft_device_csr_alloc(&from, ctx, weft_csr_shape(a));
    if (!status)
        status = weft_device_csr_alloc(&to, ctx, weft_csr_shape(a));
    if (!status)
        status = weft_device_csr_write_sync(&from, ctx, queue, a);
    for (int i = 0; i < 2 && !status; i++) {
        struct weft_permute_plan *plan = NULL;
        const double start = clock_ms();
        status = weft_permute_plan_create(&plan, ctx, weft_csr_shape(a), p, NULL);
        if (!status)
            status = weft_permute_run(plan, queue, &to, &from, 0, NULL, NULL);
        if (weft__cl.clFinish(queue) == CL_SUCCESS && !status)
            ms = clock_ms() - start;
        weft_permute_plan_destroy(&plan);
    }
    weft_device_csr_free(&from);
    weft_device_csr_free(&to);
    return status ? -1 : ms;
}
