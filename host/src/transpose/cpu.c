// SPDX-License-Identifier: Apache-2.0
// What the two CPU methods of transposition share.
#include "host/src/transpose/method.h"

// Entries below which one chunk is enough: a launch costs as much as moving some ten thousand of them.
#define ONE_CHUNK 32768

// Chunks: two per compute unit, so that a disturbed core does not hold up the rest, where counters of all columns for
// each would not outnumber the entries; else one.
static int chunks_default(const struct weft_context *ctx, const struct weft__transpose_shape *shape)
{
    int64_t units = ctx->device.compute_units > 0 ? ctx->device.compute_units : 1;
    if (shape->nnz < ONE_CHUNK)
        return 1;
    if (2 * units <= shape->nnz / shape->n)
        return (int)(2 * units);
    return (int)units;
}

weft_status weft__transpose_cpu_params(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                                       struct weft_transpose_params *params, const struct weft__tunables *set)
{
    const weft_status status = weft__tunables_resolve(set, ctx, params, NULL, NULL, NULL);
    if (!status && !params->cpu.chunks)
        params->cpu.chunks = chunks_default(ctx, shape);
    return status;
}

void weft__transpose_cpu_defines(struct weft__defines *d, const struct weft__transpose_shape *shape, enum weft_ofs pos)
{
    // Values are only moved, so types of one width share their programs.
    weft__define(d, "WEFT_OFS_BITS", "%d", 8 * (int)weft_ofs_bytes(shape->ofs));
    weft__define(d, "WEFT_POS_BITS", "%d", 8 * (int)weft_ofs_bytes(pos));
    weft__define(d, "WEFT_VAL_BITS", "%d", 8 * (int)weft_type_bytes(shape->type));
    weft__define(d, "WEFT_WG", "1");
    if (shape->rows_given)
        weft__define(d, "WEFT_ROWS_GIVEN", "1");
    if (shape->val_positions)
        weft__define(d, "WEFT_VAL_POSITIONS", "1");
}

void weft__transpose_cpu_variants(weft__variant_fn *fn, void *arg, const struct weft__kernel_spec *spec,
                                  const char *also, int narrow)
{
    for (int wide = 0; wide < 2 + narrow; wide++) // 32 bits, 64, 64 for offsets alone
        for (int type = WEFT_TYPE_F32; type <= WEFT_TYPE_PATTERN; type++)
            for (int special = 0; special < 3; special++) { // plain, rows given, positions
                const enum weft_ofs ofs = wide ? WEFT_OFS_64 : WEFT_OFS_32, pos = wide == 1 ? WEFT_OFS_64 : WEFT_OFS_32;
                if (type == WEFT_TYPE_I32 ||
                    (special == 2 && type != (ofs == WEFT_OFS_64 ? WEFT_TYPE_F64 : WEFT_TYPE_F32)))
                    continue;
                struct weft__transpose_shape shape = {.type = (enum weft_type)type,
                                                      .ofs = ofs,
                                                      .rows_given = special == 1,
                                                      .val_positions = special == 2};
                struct weft__variant v = {.spec = spec, .schedule = WEFT_SCHEDULE_CPU};
                weft__transpose_cpu_defines(&v.defines, &shape, pos);
                if (also)
                    weft__define(&v.defines, also, "1");
                fn(arg, &v);
            }
}
