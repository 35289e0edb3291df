// SPDX-License-Identifier: Apache-2.0
// Keeps a queue, buffers and plans of blocking calls for the next one, within a bound.
#include "host/src/core/keep.h"

#include <string.h>

weft_status weft__keep_queue(cl_command_queue *out, struct weft_context *ctx)
{
    pthread_mutex_lock(&ctx->mutex);
    *out = ctx->kept.queue;
    ctx->kept.queue = NULL;
    pthread_mutex_unlock(&ctx->mutex);
    return *out ? WEFT_OK : weft__queue_create(out, ctx);
}

void weft__keep_queue_end(struct weft_context *ctx, cl_command_queue *queue, bool idle)
{
    if (idle) {
        pthread_mutex_lock(&ctx->mutex);
        cl_command_queue other = ctx->kept.queue;
        ctx->kept.queue = *queue;
        *queue = other;
        pthread_mutex_unlock(&ctx->mutex);
    }
    weft__queue_release(queue);
}

static size_t bytes_most(const struct weft_context *ctx)
{
    const size_t share = (size_t)ctx->device.global_bytes / WEFT__KEEP_SHARE;
    return ctx->device.unified ? 0 : weft__min(share, WEFT__KEEP_BYTES);
}

// Take buffer i out of the list. Under the mutex.
static struct weft__kept_buffer take(struct weft__kept *kept, int i)
{
    const struct weft__kept_buffer out = kept->buffer[i];
    kept->bytes -= out.bytes;
    kept->buffers--;
    memmove(&kept->buffer[i], &kept->buffer[i + 1], (size_t)(kept->buffers - i) * sizeof out);
    return out;
}

cl_mem weft__keep_buffer(struct weft_context *ctx, size_t bytes)
{
    struct weft__kept *kept = &ctx->kept;
    cl_mem out = NULL;
    pthread_mutex_lock(&ctx->mutex);
    for (int i = 0; i < kept->buffers && !out; i++)
        if (kept->buffer[i].bytes == bytes)
            out = take(kept, i).mem;
    pthread_mutex_unlock(&ctx->mutex);
    return out;
}

// Take the plan that `drop` destroys out of the list, any for NULL. Under the mutex.
static struct weft__kept_plan plan_take(struct weft__kept *kept, void (*drop)(void *plan))
{
    for (int i = 0; i < WEFT__KEPT_PLANS; i++) {
        const struct weft__kept_plan out = kept->plan[i];
        if (!out.at || (drop && out.drop != drop))
            continue;
        kept->plan[i] = (struct weft__kept_plan){0};
        kept->bytes -= out.bytes;
        return out;
    }
    return (struct weft__kept_plan){0};
}

// Until `bytes` bytes more fit the bound, the oldest buffers go, and plans last.
static void room_make(struct weft_context *ctx, size_t bytes, int buffers)
{
    struct weft__kept *kept = &ctx->kept;
    for (;;) {
        cl_mem old = NULL;
        struct weft__kept_plan plan = {0};
        pthread_mutex_lock(&ctx->mutex);
        if (kept->buffers + buffers > WEFT__KEPT_BUFFERS || kept->bytes + bytes > bytes_most(ctx)) {
            if (kept->buffers)
                old = take(kept, 0).mem;
            else
                plan = plan_take(kept, NULL);
        }
        pthread_mutex_unlock(&ctx->mutex);
        if (old)
            weft__cl.clReleaseMemObject(old);
        else if (plan.at)
            plan.drop(plan.at);
        else
            return;
    }
}

void weft__keep_buffer_end(struct weft_context *ctx, cl_mem *buffer, bool idle)
{
    struct weft__kept *kept = &ctx->kept;
    size_t bytes = 0;
    cl_mem mem = *buffer;
    *buffer = NULL;
    if (!mem)
        return;
    if (!idle || !bytes_most(ctx) ||
        weft__cl.clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof bytes, &bytes, NULL) != CL_SUCCESS ||
        bytes > bytes_most(ctx)) {
        weft__cl.clReleaseMemObject(mem);
        return;
    }
    room_make(ctx, bytes, 1);
    pthread_mutex_lock(&ctx->mutex);
    if (kept->buffers < WEFT__KEPT_BUFFERS) { // else another thread was faster
        kept->buffer[kept->buffers++] = (struct weft__kept_buffer){mem, bytes};
        kept->bytes += bytes;
        mem = NULL;
    }
    pthread_mutex_unlock(&ctx->mutex);
    if (mem)
        weft__cl.clReleaseMemObject(mem);
}

void *weft__keep_plan(struct weft_context *ctx, void (*drop)(void *plan))
{
    pthread_mutex_lock(&ctx->mutex);
    const struct weft__kept_plan plan = plan_take(&ctx->kept, drop);
    pthread_mutex_unlock(&ctx->mutex);
    return plan.at;
}

void weft__keep_plan_end(struct weft_context *ctx, void *plan, size_t bytes, void (*drop)(void *plan))
{
    struct weft__kept *kept = &ctx->kept;
    struct weft__kept_plan old = {plan, bytes, drop};
    if (bytes_most(ctx) && bytes <= bytes_most(ctx)) {
        room_make(ctx, bytes, 0);
        pthread_mutex_lock(&ctx->mutex);
        old = plan_take(kept, drop);
        for (int i = 0; i < WEFT__KEPT_PLANS; i++)
            if (!kept->plan[i].at) {
                kept->plan[i] = (struct weft__kept_plan){plan, bytes, drop};
                kept->bytes += bytes;
                break;
            }
        pthread_mutex_unlock(&ctx->mutex);
    }
    if (old.at)
        old.drop(old.at);
}

bool weft__keep_drop(struct weft_context *ctx)
{
    pthread_mutex_lock(&ctx->mutex);
    struct weft__kept kept = ctx->kept;
    ctx->kept = (struct weft__kept){0};
    pthread_mutex_unlock(&ctx->mutex);
    bool any = kept.buffers > 0;
    for (int i = 0; i < WEFT__KEPT_PLANS; i++) {
        any = any || kept.plan[i].at;
        if (kept.plan[i].at)
            kept.plan[i].drop(kept.plan[i].at);
    }
    for (int i = 0; i < kept.buffers; i++)
        weft__cl.clReleaseMemObject(kept.buffer[i].mem);
    weft__queue_release(&kept.queue);
    return any;
}
