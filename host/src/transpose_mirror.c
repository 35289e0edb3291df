// SPDX-License-Identifier: Apache-2.0
// The short way for square matrices with a symmetric pattern (cl/transpose_mirror.cl), in front of ScanTrans on GPUs.
#include "op.h"
#include "transpose.h"
#include "variants.h"

#include <stdlib.h>

#define WG     256
#define IPT    16
#define GROUPS 4  // work-groups for each compute unit, at most
#define QUIET  64 // runs after which a pattern that was not symmetric is tried again

static const struct weft__kernel_spec mirror_spec = {"mirror", "transpose_mirror.cl",
                                                     "row_ptr col val row_ptr_out col_out val_out failed run m nnz"};

static void define(struct weft__defines *d, const struct weft__transpose_shape *shape)
{
    weft__define_types(d, shape->type, shape->ofs);
    weft__define(d, "WEFT_WG", "%d", WG);
    weft__define(d, "WEFT_IPT", "%d", IPT);
    if (shape->val_positions)
        weft__define(d, "WEFT_VAL_POSITIONS", "1");
}

weft_status weft__mirror_create(struct weft__mirror *out, struct weft_context *ctx,
                                const struct weft__transpose_shape *shape)
{
    struct weft__defines d = {0};
    define(&d, shape);
    weft_status status = weft__kernel_create(&out->mirror, ctx, &mirror_spec, &d);
    if (!status) // no run yet, so none that failed
        status = weft__buffer_create_from(&out->failed, ctx, sizeof out->run, &out->run, "mark of the last run");
    return status;
}

// *failed after a run, on its way to the host. It belongs to the mirror and to the command that reads it: the last of them frees
// it, so that nobody waits.
struct weft__answer {
    int owners, state; // state: 0 on its way, 1 there, -1 the command failed
    cl_uint run, failed;
};

static void answer_release(struct weft__answer **answer)
{
    if (*answer && !__atomic_sub_fetch(&(*answer)->owners, 1, __ATOMIC_ACQ_REL))
        free(*answer);
    *answer = NULL;
}

static void CL_CALLBACK answer_there(cl_event event, cl_int status, void *arg)
{
    (void)event;
    struct weft__answer *answer = arg;
    __atomic_store_n(&answer->state, status == CL_COMPLETE ? 1 : -1, __ATOMIC_RELEASE);
    answer_release(&answer);
}

static int answer_no(const struct weft__answer *answer)
{
    return answer && __atomic_load_n(&answer->state, __ATOMIC_ACQUIRE) == 1 && answer->failed == answer->run;
}

// Ask how the run just enqueued ended.
static void ask(struct weft__mirror *x, struct weft__stream *stream)
{
    if (stream->status)
        return;
    struct weft__answer *answer = malloc(sizeof *answer);
    if (!answer) // then the next run asks
        return;
    *answer = (struct weft__answer){.owners = 2, .run = x->run};
    cl_event there = NULL;
    cl_int error = CL_SUCCESS;
    if (stream->out_of_order)
        error = weft__cl.clEnqueueBarrierWithWaitList(stream->queue, 0, NULL, NULL);
    if (error == CL_SUCCESS)
        error = weft__cl.clEnqueueReadBuffer(stream->queue, x->failed, CL_FALSE, 0, sizeof answer->failed,
                                             &answer->failed, 0, NULL, &there);
    stream->status = weft__fail_cl(stream->ctx, error, "reading the mark of a mirror");
    if (!stream->status) {
        error = weft__cl.clSetEventCallback(there, CL_COMPLETE, answer_there, answer);
        stream->status = weft__fail_cl(stream->ctx, error, "clSetEventCallback");
        if (stream->status)
            weft__cl.clWaitForEvents(1, &there);
        weft__cl.clReleaseEvent(there);
    }
    if (stream->status)
        free(answer);
    else
        x->answer = answer;
}

void weft__mirror_release(struct weft__mirror *m)
{
    answer_release(&m->answer);
    weft__kernel_release(&m->mirror);
    weft__buffer_release(&m->failed);
}

void weft__mirror_run(struct weft__mirror *x, struct weft__stream *stream, const struct weft__transpose_shape *shape,
                      const struct weft_device_csr *a, const struct weft_device_csr *at)
{
    const size_t tiles = weft__ceil_div((size_t)shape->nnz, WG * IPT);
    const size_t rounds = weft__ceil_div(tiles, (size_t)stream->ctx->device.compute_units * GROUPS);
    const size_t groups = weft__ceil_div(tiles, rounds);
    cl_int m = (cl_int)shape->m;
    const int again = a->row_ptr == x->row_ptr && a->col == x->col;
    if (again && answer_no(x->answer) && x->answer->run == x->run && x->skipped < QUIET) {
        x->skipped++;
        x->mark = 0;
        return;
    }
    if (!again || x->skipped)
        answer_release(&x->answer);
    x->row_ptr = a->row_ptr;
    x->col = a->col;
    x->skipped = 0;
    x->mark = x->run = x->run + 1 ? x->run + 1 : 1;
    union {
        cl_int i32;
        cl_long i64;
    } nnz;
    if (shape->ofs == WEFT_OFS64)
        nnz.i64 = (cl_long)shape->nnz;
    else
        nnz.i32 = (cl_int)shape->nnz;
    const struct weft__arg nnz_arg = {weft_ofs_bytes(shape->ofs), &nnz};
    WEFT__LAUNCH(stream, x->mirror, &mirror_spec, groups, WG, WEFT__ARG(a->row_ptr), WEFT__ARG(a->col),
                 WEFT__ARG(a->val), WEFT__ARG(at->row_ptr), WEFT__ARG(at->col), WEFT__ARG(at->val),
                 WEFT__ARG(x->failed), WEFT__ARG(x->run), WEFT__ARG(m), nnz_arg);
    if (again && !x->answer) // buffers that come once are not worth the question
        ask(x, stream);
}

void weft__mirror_variants(weft__variant_fn *fn, void *arg)
{
    static const enum weft_type types[] = {WEFT_F32, WEFT_F64, WEFT_PATTERN, WEFT_I32};
    for (int ofs = WEFT_OFS32; ofs <= WEFT_OFS64; ofs++)
        for (int t = 0; t < 4; t++) {
            struct weft__transpose_shape shape = {.type = types[t], .ofs = (enum weft_ofs)ofs};
            struct weft__variant v = {.spec = &mirror_spec, .schedule = WEFT_SCHEDULE_GPU};
            if (types[t] == WEFT_I32) { // positions, as wide as offsets
                shape.val_positions = 1;
                shape.type = ofs ? WEFT_F64 : WEFT_I32;
            }
            define(&v.defines, &shape);
            fn(arg, &v);
        }
}
