// SPDX-License-Identifier: Apache-2.0
// Makes and releases the parts of plans.
#include "host/src/core/make.h"
#include "host/src/core/context.h"
#include "host/src/core/clock.h"

#include <stdlib.h>

void *weft__make_memory(struct weft__make *make, size_t bytes, const char *what)
{
    void *out = make->status ? NULL : calloc(1, bytes);
    if (!out && !make->status)
        make->status = weft__fail(make->ctx, WEFT_ENOMEM, "out of host memory for %s", what);
    return out;
}

static double build_ms(struct weft_context *ctx)
{
    struct weft_build_stats stats;
    weft_context_build_stats(&stats, ctx);
    return stats.compile_ms + stats.load_ms;
}

static _Thread_local double built_ms;

double weft__make_built_ms(void)
{
    return built_ms;
}

static uint64_t hash_more(uint64_t hash, const char *text)
{
    do // with the end, so that names and defines do not run into each other
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++);
    return hash;
}

void weft__make_kernel(struct weft__make *make, struct weft__kernel **out, const struct weft__kernel_spec *spec,
                       const struct weft__defines *defines)
{
    make->programs = hash_more(hash_more(make->programs + 1, spec->entry), defines->text);
    if (make->status)
        return;
    const double start = weft__now_ms(), before = build_ms(make->ctx);
    make->status = weft__kernel_create(out, make->ctx, spec, defines);
    // The context's sum has what other threads build, too: no more than this call has taken is this thread's.
    const double built = build_ms(make->ctx) - before, spent = weft__now_ms() - start;
    built_ms += built < spent ? built : spent;
}

void weft__make_buffers(struct weft__make *make, cl_mem *out, const struct weft__scratch *needs, size_t count)
{
    for (size_t i = 0; i < count && !make->status; i++) {
        if (!needs[i].bytes)
            continue;
        make->status = needs[i].zeros ? weft__buffer_create_zeros(&out[i], make->ctx, needs[i].bytes, needs[i].what)
                                      : weft__buffer_create(&out[i], make->ctx, needs[i].bytes, needs[i].what);
        make->bytes = weft__add(make->bytes, needs[i].bytes);
    }
}

size_t weft__scratch_bytes(const struct weft__scratch *needs, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum = weft__add(sum, needs[i].bytes);
    return sum;
}

weft_status weft__parts_bind(struct weft_context *ctx, struct weft__kernel *const *kernels, size_t count,
                             const struct weft__arg *args, size_t nargs)
{
    weft_status status = WEFT_OK;
    for (size_t i = 0; i < count && !status; i++)
        if (kernels[i])
            status = weft__bind(ctx, kernels[i], args, nargs);
    return status;
}

void weft__parts_release(struct weft__kernel **kernels, size_t nkernels, cl_mem *buffers, size_t nbuffers)
{
    for (size_t i = 0; i < nkernels; i++)
        weft__kernel_release(&kernels[i]);
    for (size_t i = 0; i < nbuffers; i++)
        weft__buffer_release(&buffers[i]);
}
