// SPDX-License-Identifier: Apache-2.0
// The defines of SpMV kernels: types, semiring, hint of reads, and the check of a caller's own semiring.
#include "plan.h"

#include <string.h>

// A caller's expression becomes the body of a #define: one line, balanced, nothing that ends it early.
static weft_status expression_check(struct weft_context *ctx, const char *text, const char *name)
{
    int depth = 0;
    if (!text || !*text)
        return weft__fail(ctx, WEFT_EINVAL, "a custom semiring needs the expression `%s`", name);
    if (strlen(text) > 400)
        return weft__fail(ctx, WEFT_EINVAL, "the expression `%s` is longer than 400 characters", name);
    for (const char *c = text; *c; c++) {
        depth += (*c == '(') - (*c == ')');
        if (depth < 0 || strchr(";{}#\\\"'", *c) || *c < ' ' || (c[0] == '/' && (c[1] == '/' || c[1] == '*')))
            return weft__fail(ctx, WEFT_EINVAL,
                              "the expression `%s` has '%c' at position %d, which no expression needs", name,
                              *c < ' ' ? '?' : *c, (int)(c - text));
    }
    return depth ? weft__fail(ctx, WEFT_EINVAL, "the expression `%s` lacks %d ')'", name, depth) : WEFT_OK;
}

weft_status weft__spmv_semiring(struct weft__defines *out, struct weft_context *ctx,
                                const struct weft_spmv_params *params)
{
    *out = (struct weft__defines){0};
    if ((unsigned)params->problem.semiring > WEFT_SPMV_SEMIRING_CUSTOM)
        return weft__fail(ctx, WEFT_EINVAL, "semiring %d is not known", (int)params->problem.semiring);
    weft__define(out, "WEFT_SEMIRING", "%d", (int)params->problem.semiring);
    if (params->problem.semiring != WEFT_SPMV_SEMIRING_CUSTOM)
        return WEFT_OK;
    const char *const texts[] = {params->problem.plus, params->problem.times, params->problem.zero};
    static const char *const names[] = {"plus", "times", "zero"};
    static const char *const macros[] = {"WEFT_PLUS", "WEFT_TIMES", "WEFT_ZERO"};
    for (int i = 0; i < 3; i++) {
        weft_status status = expression_check(ctx, texts[i], names[i]);
        if (status)
            return status;
        weft__define(out, macros[i], "%s", texts[i]);
    }
    return WEFT_OK;
}

// Kernels step behind the last entry, and rows_tiles counts rows plus entries and a tile: by less than this.
#define FAR_STEP 65536

static int is_far(const struct weft_device_csr *a)
{
    return a->ofs == WEFT_OFS_32 && (a->nnz > INT32_MAX - FAR_STEP || a->m + a->nnz > (int64_t)UINT32_MAX - FAR_STEP);
}

void weft__spmv_define(const struct weft_spmv_plan *plan, struct weft__defines *d)
{
    weft__define_types(d, plan->type, plan->a.ofs);
    if (plan->a.type == WEFT_TYPE_PATTERN)
        weft__define(d, "WEFT_ONES", "1");
    if (plan->acc != plan->type)
        weft__define(d, "WEFT_ACC_F64", "1");
    if (is_far(&plan->a))
        weft__define(d, "WEFT_FAR", "1");
    weft__define(d, "WEFT_READ", "%d", weft__spmv_sizes(&plan->info.params, plan->info.schedule).read - 1);
    size_t room = sizeof d->text - d->used, length = strlen(plan->semiring.text);
    if (length < room) {
        memcpy(d->text + d->used, plan->semiring.text, length + 1);
        d->used += length;
    } else {
        d->used = sizeof d->text; // weft__kernel_create refuses it
    }
}

size_t weft__spmv_acc_bytes(const struct weft_spmv_plan *plan)
{
    return weft_type_bytes(plan->acc);
}
