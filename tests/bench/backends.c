// SPDX-License-Identifier: Apache-2.0
// Backends that misbehave, each in its own way, in the place of the real ones: how does the bench take it?
#include "backends/backend.h"
#include "host/internal/inside.h"

#include <stdlib.h>
#include <string.h>

struct state {
    const struct weft_csr *a;
    const char *algo;
    struct weft_backend_spmv_job job;
    void *y;
    int runs, poisoned; // poisoned: nothing has run since
};

// ---- transpositions: the serial one, and what can go wrong around it ----

static weft_status prepare(void **state, struct weft_context *ctx, const struct weft_csr *a, const char *algo,
                           const struct weft_backend_tune *tune, struct weft_backend_times *times,
                           struct weft_error *err)
{
    (void)ctx;
    if (!strncmp(algo, "unable", 6))
        return weft__error(err, WEFT_EUNSUPPORTED, "no %s here", weft_type_name(a->type));
    if (!strcmp(algo, "good") && tune->count && tune->values[0].value == 128)
        return weft__error(err, WEFT_EINVAL, "groups is 128, it must be in 1..64");
    struct state *s = *state = calloc(1, sizeof *s);
    if (!s)
        return weft__error(err, WEFT_ENOMEM, "out of memory");
    s->a = a;
    s->algo = algo;
    times->write_ms = 0.25;
    times->workspace_bytes = 0;
    memcpy(times->chosen, "simple", 7);
    // A failure after the state exists: finish must still be called.
    return strcmp(algo, "refusing") ? WEFT_OK : weft__error(err, WEFT_EDEVICE, "the device\nsays no");
}

static weft_status run(void *state, double *ms, struct weft_error *err)
{
    struct state *s = state;
    *ms = 0.5;
    s->poisoned = s->poisoned && !strcmp(s->algo, "idle"); // which does all of it in its first run
    s->runs++;
    return strcmp(s->algo, "failing") ? WEFT_OK : weft__error(err, WEFT_EDEVICE, "the launch was refused");
}

static weft_status result(void *state, struct weft_csr *out, struct weft_backend_times *times, struct weft_error *err)
{
    struct state *s = state;
    weft_status status = weft__ref_transpose(out, s->a);
    if (status)
        return weft__error(err, status, "no memory");
    times->read_ms = 0.125;
    if (s->poisoned && out->nnz)
        out->col[0] = -1;
    if (!strcmp(s->algo, "wrong_ptr") && out->m)
        ((int32_t *)out->row_ptr)[out->m / 2]++;
    if (!strcmp(s->algo, "wrong_row"))
        out->col[out->nnz - 1]++;
    if (!strcmp(s->algo, "wrong_val"))
        ((uint32_t *)out->val)[out->nnz / 2] ^= 1;
    if (!strcmp(s->algo, "wrong_shape"))
        out->m++;
    return WEFT_OK;
}

static weft_status poison(void *state, struct weft_error *err)
{
    (void)err;
    struct state *s = state;
    s->poisoned = 1;
    return WEFT_OK;
}

// All in one call; alg2 gives a wrong result here alone.
static weft_status call(void *state, struct weft_csr *out, struct weft_error *err)
{
    struct state *s = state;
    struct weft_backend_times times;
    const weft_status status = result(state, out, &times, err);
    if (!status && !strcmp(s->algo, "alg2") && out->nnz)
        out->col[0]++;
    return status;
}

static void finish(void **state)
{
    struct state *s = *state;
    if (s)
        free(s->y);
    free(s);
    *state = NULL;
}

// ---- products: the serial one, off by a last bit in different places ----

static weft_status spmv_prepare(void **state, struct weft_context *ctx, const struct weft_backend_spmv_job *job,
                                const char *algo, struct weft_backend_times *times, struct weft_error *err)
{
    (void)ctx;
    (void)times;
    struct state *s = *state = calloc(1, sizeof *s);
    if (s) {
        s->a = job->a;
        s->algo = algo;
        s->job = *job;
        s->y = calloc((size_t)job->a->m + 1, 8);
    }
    return s && s->y ? WEFT_OK : weft__error(err, WEFT_ENOMEM, "out of memory");
}

static weft_status spmv_run(void *state, double *ms, struct weft_error *err)
{
    (void)err;
    struct state *s = state;
    enum weft_type type = s->a->type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : s->a->type;
    *ms = 0.5;
    if (s->runs++ && !strcmp(s->algo, "idle"))
        return WEFT_OK;
    weft__ref_spmv(s->a, type, s->job.alpha, s->job.x, s->job.beta, s->y);
    if (!strcmp(s->algo, "far")) // beyond any rounding error
        ((float *)s->y)[0] += 100;
    if (!strcmp(s->algo, "near")) // within the bound, and so only the run on integers can see it
        for (int64_t i = 0; i < s->a->m; i++)
            ((float *)s->y)[i] *= 1 + 0x1p-23f;
    return WEFT_OK;
}

static weft_status spmv_poison(void *state, struct weft_error *err)
{
    (void)err;
    struct state *s = state;
    memset(s->y, 0xff, (size_t)s->a->m * 8);
    return WEFT_OK;
}

static weft_status spmv_result(void *state, void *y, struct weft_backend_times *times, struct weft_error *err)
{
    (void)times;
    (void)err;
    struct state *s = state;
    memcpy(y, s->y, (size_t)s->a->m * (s->a->type == WEFT_TYPE_F64 ? 8 : 4));
    return WEFT_OK;
}

static weft_status works(struct weft_context *ctx, struct weft_error *err)
{
    (void)ctx;
    (void)err;
    return WEFT_OK;
}

static weft_status needs_device(struct weft_context *ctx, struct weft_error *err)
{
    return ctx ? WEFT_OK : weft__error(err, WEFT_ENODEV, "no OpenCL device");
}

static weft_status is_absent(struct weft_context *ctx, struct weft_error *err)
{
    (void)ctx;
    return weft__error(err, WEFT_EUNSUPPORTED, "not compiled in");
}

static const char *vendor_version(void)
{
    return "12.5";
}

static const char *const vendor_algos[] = {"alg1", "alg2", NULL}, *const device_algos[] = {"good", NULL},
                         *const bad_algos[] = {"wrong_ptr", "wrong_row", "wrong_val", "wrong_shape", "refusing",
                                               "failing",   "unable",    "idle",      NULL},
                         *const spmv_algos[] = {"csr", NULL}, *const bad_spmv_algos[] = {"far", "near", "idle", NULL};

#define TRANSPOSE(names)                                                                                               \
    {                                                                                                                  \
        .algos = (names), .prepare = prepare, .run = run, .call = call, .poison = poison, .result = result,            \
        .finish = finish                                                                                               \
    }
#define SPMV(names)                                                                                                    \
    {                                                                                                                  \
        .algos = (names), .prepare = spmv_prepare, .run = spmv_run, .poison = spmv_poison, .result = spmv_result,      \
        .finish = finish                                                                                               \
    }

static const struct weft_backend vendor = {.name = "vendor",
                                           .needs = "host",
                                           .probe = works,
                                           .version = vendor_version,
                                           .transpose = TRANSPOSE(vendor_algos),
                                           .spmv = SPMV(spmv_algos)};
static const struct weft_backend bad = {
    .name = "bad", .needs = "host", .probe = works, .transpose = TRANSPOSE(bad_algos), .spmv = SPMV(bad_spmv_algos)};
static const struct weft_backend absent = {
    .name = "absent", .needs = "opencl", .probe = is_absent, .transpose = TRANSPOSE(device_algos)};
static const struct weft_backend opencl = {
    .name = "opencl", .needs = "opencl", .probe = needs_device, .transpose = TRANSPOSE(device_algos)};

const struct weft_backend *const weft__backends[] = {&weft__backend_ref, &vendor, &bad, &absent, &opencl, NULL};
