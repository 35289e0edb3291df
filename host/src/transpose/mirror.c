// SPDX-License-Identifier: Apache-2.0
// The short way for square matrices with a symmetric pattern (cl/transpose/mirror.cl), in front of ScanTrans on GPUs.
#include "host/src/core/tunable.h"
#include "host/src/matrix/device_csr.h"
#include "host/src/transpose/method.h"

#define WG     256
#define IPT    16
#define UNROLL 8  // entries of a work-item that cl/transpose/mirror.cl takes together
#define GROUPS 4  // work-groups for each compute unit, at most
#define QUIET  64 // runs after which what is known of a pattern is forgotten

static const struct weft__kernel_spec mirror_spec = {"mirror", {"transpose/mirror.cl"}};

#define LONG 32 // entries of a mean row from which images are guessed

int weft__mirror_guesses(const struct weft__transpose_shape *shape)
{
    return shape->m > 0 && shape->nnz / shape->m >= LONG;
}

static void define(struct weft__defines *d, int wg, int ipt, const struct weft__transpose_shape *shape, int guess)
{
    weft__define_types(d, shape->type, shape->ofs);
    weft__define(d, "WEFT_GUESS", "%d", guess);
    weft__define(d, "WEFT_WG", "%d", wg);
    weft__define(d, "WEFT_IPT", "%d", ipt);
    if (shape->val_positions)
        weft__define(d, "WEFT_VAL_POSITIONS", "1");
}

struct mirror_row {
    struct weft__tune_key key;
    int wg, ipt;
};
static const struct mirror_row row = {.wg = WG, .ipt = IPT};
static const struct weft__tunable values[] = {
    {WEFT__TUNABLE("wg", struct weft__mirror, wg, struct mirror_row, wg), .low = 32, .step = 32,
     .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE},
    {WEFT__TUNABLE("ipt", struct weft__mirror, ipt, struct mirror_row, ipt), .low = UNROLL, .high = IPT, .step = UNROLL,
     .lower = WEFT__LOWER_STEP},
};
static const struct weft__tunables tunables = {.op = "mirror", .list = values, .count = sizeof values / sizeof *values};

// Local memory of cl/transpose/mirror.cl: a word for each entry of a tile, two for each 32.
static size_t tile_local(const void *of, const void *params)
{
    const struct weft__mirror *x = params;
    const size_t tile = (size_t)x->wg * (size_t)x->ipt;
    (void)of;
    return 4 * tile + tile / 4 + 8;
}

void weft__mirror_create(struct weft__mirror *out, struct weft__make *make, const struct weft__transpose_shape *shape,
                         int guess)
{
    struct weft__defines d = {0};
    out->wg = out->ipt = 0;
    const weft_status status = weft__tunables_resolve(&tunables, make->ctx, out, &row, tile_local, NULL);
    make->status = make->status ? make->status : status;
    define(&d, out->wg, out->ipt, shape, guess);
    weft__make_kernel(make, &out->mirror, &mirror_spec, &d);
    // No run yet, so none that failed.
    weft__make_buffers(
        make, &out->failed,
        (const struct weft__scratch[]){{WEFT__MIRROR_BYTES, .what = "mark of the last run", .zeros = true}}, 1);
    if (!make->status)
        make->status = weft__queue_create(&out->reader, make->ctx);
}

static void tried_forget(struct weft__mirror *x)
{
    if (x->tried)
        weft__cl.clReleaseEvent(x->tried);
    x->tried = NULL;
}

// How a try ended, if it has: then its mark can be read at once, in a queue where nothing is ahead. No answer is no
// failure. One whose event failed was none.
static void look_back(struct weft__mirror *x)
{
    cl_int state = CL_QUEUED;
    cl_uint failed = 0;
    if (!x->tried || weft__cl.clGetEventInfo(x->tried, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) ||
        state > CL_COMPLETE)
        return;
    if (state == CL_COMPLETE) {
        x->known =
            !weft__cl.clEnqueueReadBuffer(x->reader, x->failed, CL_TRUE, 0, sizeof failed, &failed, 0, NULL, NULL);
        x->no = failed >= x->tried_run; // or a later one has failed
    }
    tried_forget(x);
}

void weft__mirror_release(struct weft__mirror *m)
{
    tried_forget(m);
    weft__queue_release(&m->reader);
    weft__parts_release(&m->mirror, 1, &m->failed, 1);
}

void weft__mirror_run(struct weft__mirror *x, struct weft__stream *stream, const struct weft__transpose_shape *shape,
                      const struct weft_device_csr *a, const struct weft_device_csr *at)
{
    const size_t wg = (size_t)x->wg;
    const size_t tiles = weft__ceil_div((size_t)shape->nnz, wg * (size_t)x->ipt);
    const size_t rounds = weft__ceil_div(tiles, (size_t)stream->ctx->device.compute_units * GROUPS);
    const size_t groups = weft__ceil_div(tiles, rounds);
    cl_int m = (cl_int)shape->m;
    if (a->row_ptr != x->row_ptr || a->col != x->col || x->age == QUIET) {
        tried_forget(x);
        x->known = x->age = 0;
    }
    x->row_ptr = a->row_ptr;
    x->col = a->col;
    x->age++;
    look_back(x);
    if (x->known && x->no) {
        x->mark = 0;
        return;
    }
    x->mark = x->run = x->run + 1 ? x->run + 1 : 1;
    const union weft__ofs nnz = weft__ofs_value(shape->ofs, (size_t)shape->nnz);
    WEFT__LAUNCH(stream, x->mirror, groups, wg, WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(col, a->col),
                 WEFT__ARG(val, a->val), WEFT__ARG(row_ptr_out, at->row_ptr), WEFT__ARG(col_out, at->col),
                 WEFT__ARG(val_out, at->val), WEFT__ARG(failed, x->failed), WEFT__ARG(run, x->run), WEFT__ARG(m),
                 WEFT__OFS(nnz, shape->ofs, nnz));
    if (!x->known && !x->tried && !stream->status && !weft__stream_mark(stream, &x->tried))
        x->tried_run = x->run;
}

void weft__mirror_variants(weft__variant_fn *fn, void *arg)
{
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_PATTERN, WEFT_TYPE_I32};
    for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++)
        for (int t = 0; t < 8; t++) {
            const enum weft_type type = types[t % 4];
            struct weft__transpose_shape shape = {
                .m = 1, .nnz = t < 4 ? 1 : LONG, .type = type, .ofs = (enum weft_ofs)ofs};
            struct weft__variant v = {.spec = &mirror_spec, .schedule = WEFT_SCHEDULE_GPU};
            if (type == WEFT_TYPE_I32) { // positions, as wide as offsets
                shape.val_positions = 1;
                shape.type = ofs ? WEFT_TYPE_F64 : WEFT_TYPE_I32;
            }
            define(&v.defines, WG, IPT, &shape, weft__mirror_guesses(&shape));
            fn(arg, &v);
        }
}
