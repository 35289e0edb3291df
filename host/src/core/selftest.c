// SPDX-License-Identifier: Apache-2.0
// Runs the small problems that show whether a device computes right numbers, and remembers which were right.
#include "host/src/core/selftest.h"
#include "host/src/core/buffer.h"
#include "host/src/core/cache.h"
#include "host/src/core/launches.h"
#include "host/src/core/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char right_word[] = "right";

void weft__selftest_begin(struct weft_context *ctx, bool off)
{
    const char *asked = secure_getenv("WEFT_SELFTEST");
    ctx->trials.off = off || (asked && !strcmp(asked, "0"));
}

void weft__selftest_end(struct weft_context *ctx)
{
    free(ctx->trials.right);
}

void *weft__trial_memory(struct weft__trial *trial, size_t bytes)
{
    void *memory = trial->status ? NULL : calloc(1, bytes ? bytes : 1);
    if (!memory && !trial->status)
        trial->status = weft__fail(trial->ctx, WEFT_ENOMEM, "out of host memory for a self-test");
    return memory;
}

cl_mem weft__trial_buffer(struct weft__trial *trial, const void *data, size_t bytes)
{
    void *poison = data ? NULL : weft__trial_memory(trial, bytes);
    cl_mem *out = &trial->buffers[trial->nbuffers];
    if (poison)
        memset(poison, 0xa5, bytes);
    if (trial->nbuffers == sizeof trial->buffers / sizeof *trial->buffers)
        trial->status = WEFT_ENOMEM;
    if (!trial->status)
        trial->status =
            weft__buffer_create_from(out, trial->ctx, bytes, data ? data : poison, "an array of a self-test");
    free(poison);
    if (trial->status)
        return NULL;
    trial->nbuffers++;
    return *out;
}

void weft__trial_same(struct weft__trial *trial, cl_mem buffer, const void *expected, size_t bytes)
{
    void *got = weft__trial_memory(trial, bytes);
    if (got && bytes)
        trial->status = weft__fail_cl(
            trial->ctx, weft__cl.clEnqueueReadBuffer(trial->queue, buffer, CL_TRUE, 0, bytes, got, 0, NULL, NULL),
            "clEnqueueReadBuffer");
    if (!trial->status && memcmp(got, expected, bytes))
        trial->wrong = true;
    free(got);
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return hash;
}

static bool any_known(struct weft_context *ctx)
{
    pthread_mutex_lock(&ctx->mutex);
    const bool any = ctx->trials.count > 0;
    pthread_mutex_unlock(&ctx->mutex);
    return any;
}

static bool is_known(struct weft_context *ctx, uint64_t hash)
{
    bool known = false;
    pthread_mutex_lock(&ctx->mutex);
    for (size_t i = 0; i < ctx->trials.count && !known; i++)
        known = ctx->trials.right[i] == hash;
    pthread_mutex_unlock(&ctx->mutex);
    return known;
}

// Without memory for it the trial runs again the next time.
static void remember(struct weft_context *ctx, uint64_t hash)
{
    pthread_mutex_lock(&ctx->mutex);
    uint64_t *more = realloc(ctx->trials.right, (ctx->trials.count + 1) * sizeof *more);
    if (more) {
        more[ctx->trials.count++] = hash;
        ctx->trials.right = more;
    }
    pthread_mutex_unlock(&ctx->mutex);
}

static void forget(struct weft_context *ctx, uint64_t hash)
{
    pthread_mutex_lock(&ctx->mutex);
    for (size_t i = 0; i < ctx->trials.count; i++)
        if (ctx->trials.right[i] == hash)
            ctx->trials.right[i] = ctx->trials.right[--ctx->trials.count];
    pthread_mutex_unlock(&ctx->mutex);
}

static bool is_recorded(struct weft_context *ctx, const char *key)
{
    size_t size = 0;
    unsigned char *word = weft__cached(ctx, key, &size);
    const bool right = word && size == sizeof right_word && !memcmp(word, right_word, size);
    free(word);
    return right;
}

// The queue is the trial's own: the caller's may hold commands that wait for the caller.
static void trial_run(struct weft__trial *trial, weft__trial_fn *fn, void *arg)
{
    cl_int error;
    trial->queue = weft__cl.clCreateCommandQueue(trial->ctx->cl, trial->ctx->device.id, 0, &error);
    trial->status = weft__fail_cl(trial->ctx, error, "clCreateCommandQueue");
    if (trial->status)
        return;
    fn(trial, arg);
    weft__cl.clFinish(trial->queue);
    for (size_t i = 0; i < trial->nbuffers; i++)
        weft__buffer_release(&trial->buffers[i]);
    weft__cl.clReleaseCommandQueue(trial->queue);
}

weft_status weft__selftest(struct weft_context *ctx, const char *what, weft__trial_fn *fn, void *arg)
{
    const bool within = weft__launches_heard();
    if (ctx->trials.off || (within && (ctx->trials.seen || !any_known(ctx))))
        return WEFT_OK;
    if (ctx->trials.seen && ctx->trials.every > 1 && ctx->trials.asked++ % ctx->trials.every)
        return WEFT_OK;
    const struct weft__caps caps = weft__caps_of(ctx);
    char text[768];
    snprintf(text, sizeof text, "self-test, sources %016llx, schedule %d, lanes %d, wave %d: %s",
             (unsigned long long)weft__sources_hash(), (int)ctx->schedule, (int)caps.lanes, caps.wave, what);
    char *key = weft__cache_key(&ctx->device, weft__program_options(&caps), text);
    if (!key)
        return WEFT_OK;
    const uint64_t hash = hash_of(key), wrong = ~hash; // how what was wrong is remembered
    if (within) {                                      // a part of what is tried: as its own plan was made
        free(key);
        return is_known(ctx, wrong) ? weft__fail(ctx, WEFT_EDEVICE, "%s was wrong before", what) : WEFT_OK;
    }
    struct weft__trial trial = {.ctx = ctx};
    struct weft_error error = {0};
    if (!ctx->trials.seen && (is_known(ctx, hash) || (ctx->cache_dir && is_recorded(ctx, key)))) {
        free(key);
        return WEFT_OK;
    }
    char kernels[WEFT__LAUNCHES];
    weft__launches_begin();
    weft__quiet_begin(ctx);
    trial_run(&trial, fn, arg);
    weft__quiet_end(&error);
    weft__launches_end(kernels);
    if (!trial.status && !trial.wrong) {
        forget(ctx, wrong);
        remember(ctx, hash);
        if (ctx->cache_dir)
            weft__cache_write(ctx->cache_dir, key, (const unsigned char *)right_word, sizeof right_word);
    }
    free(key);
    if (ctx->trials.seen) // who sees it goes on to the next
        ctx->trials.seen(ctx->trials.arg, what, kernels, trial.status ? &error : NULL, !trial.wrong);
    if (ctx->trials.seen || trial.status || !trial.wrong)
        return WEFT_OK;
    if (!is_known(ctx, wrong))
        remember(ctx, wrong);
    return weft__fail(ctx, WEFT_EDEVICE,
                      "%s (driver %s) computes wrong numbers in %s, kernels %s: not used; \"weft selftest\" tells more",
                      ctx->device.name, ctx->device.driver, what, kernels);
}

void weft__fallback_begin(struct weft_context *ctx)
{
    weft__quiet_begin(ctx);
}

bool weft__fallback(struct weft_context *ctx, weft_status status, const char *other)
{
    struct weft_error error;
    weft__quiet_end(&error);
    if (status == WEFT_EDEVICE && other) {
        weft__tell(ctx, "%.800s; %s takes its place", error.text, other);
        return true;
    }
    if (status)
        weft__fail_again(ctx, &error);
    return false;
}
