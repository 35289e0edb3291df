// SPDX-License-Identifier: Apache-2.0
// The rest of a hybrid on the host: a thread of the plan sums it up while the device does the ELL part.
#include "host.h"
#include "host/src/core/launches.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define REST  "the rest of a hybrid"
#define PIECE 8192 // entries of a row that one thread adds up at a time

// A run: x is on its way to the host, or there.
struct job {
    struct job *next;
    cl_event x_there; // that the copy of x has ended
    cl_event sums;    // a user event, which ends with the sums
};

enum { ROW, ROW_SUM, NBUFFERS };
struct weft__spmv_host {
    enum weft_type type, acc;
    enum weft_spmv_semiring semiring;
    int64_t n, rows, nnz; // of the rest; rows: those that have entries in it
    // The rest, cut in pieces of a row; row r has pieces first[r] .. first[r+1]-1.
    struct weft__spmv_pieces pieces;
    int64_t *first;
    int32_t *col;
    void *val;
    void *x, *sum; // n values of x; a sum for each piece, joined to one for each row
    cl_mem b[NBUFFERS];
    struct weft__kernel *add;
    cl_event written; // the last copy of sums to the device; NULL: none yet
    size_t bytes, workspace_bytes;
    pthread_t thread;
    struct weft__team team; // of that thread
    pthread_mutex_t mutex;  // guards head, tail, pending, quit
    pthread_cond_t changed;
    struct job *head, *tail;
    int pending; // jobs that are not done
    int started, quit;
};

// ---- the thread ------------------------------------------------------------------------------------------------

// Wait for an event: CL_COMPLETE, or why it failed. Not by a callback: some drivers make none for an event that failed. One
// that has ended is not waited for: Oclgrind would work through its queue in this thread.
static cl_int event_wait(cl_event event)
{
    cl_int state = CL_QUEUED, error = CL_SUCCESS;
    weft__cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    if (state > CL_COMPLETE) {
        error = weft__cl.clWaitForEvents(1, &event);
        if (error == CL_SUCCESS)
            return CL_COMPLETE;
        weft__cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    }
    return state > CL_COMPLETE ? error : state;
}

static void job_do(struct weft__spmv_host *h, struct job *job)
{
    const cl_int state = event_wait(job->x_there);
    if (state == CL_COMPLETE) {
        weft__spmv_pieces_sum(&h->team, &h->pieces, h->type, h->acc, h->semiring, h->x, h->sum);
        weft__spmv_pieces_join(h->first, h->rows, h->acc, h->semiring, h->sum, h->sum);
    }
    weft__cl.clSetUserEventStatus(job->sums, state);
    weft__cl.clReleaseEvent(job->x_there);
    weft__cl.clReleaseEvent(job->sums);
    free(job);
}

static void *thread_main(void *arg)
{
    struct weft__spmv_host *h = arg;
    pthread_mutex_lock(&h->mutex);
    while (!h->quit || h->head) {
        struct job *job = h->head;
        if (!job) {
            pthread_cond_wait(&h->changed, &h->mutex);
            continue;
        }
        h->head = job->next;
        h->tail = h->head ? h->tail : NULL;
        pthread_mutex_unlock(&h->mutex);
        job_do(h, job);
        pthread_mutex_lock(&h->mutex);
        h->pending--;
        pthread_cond_broadcast(&h->changed);
    }
    pthread_mutex_unlock(&h->mutex);
    return NULL;
}

// Wait for every run that is enqueued.
static void runs_wait(struct weft__spmv_host *h)
{
    pthread_mutex_lock(&h->mutex);
    while (h->pending)
        pthread_cond_wait(&h->changed, &h->mutex);
    pthread_mutex_unlock(&h->mutex);
    if (h->written) {
        weft__cl.clWaitForEvents(1, &h->written);
        weft__cl.clReleaseEvent(h->written);
        h->written = NULL;
    }
}

// ---- making ----------------------------------------------------------------------------------------------------

// Rows and pieces from the row of each entry: how many, and memory for them.
static void pieces_make(struct weft__spmv_host *h, struct weft__make *make, const int32_t *row)
{
    int64_t rows = 0, pieces = 0, length = 0;
    for (int64_t p = 0; p < h->nnz; p++) {
        const int begins = p == 0 || row[p] != row[p - 1];
        length = begins ? 0 : length + 1;
        rows += begins;
        pieces += length % PIECE == 0;
    }
    h->rows = rows;
    h->pieces.count = pieces;
    h->first = weft__make_memory(make, ((size_t)rows + 1) * sizeof *h->first, REST);
    h->pieces.piece = weft__make_memory(make, ((size_t)pieces + 1) * sizeof *h->pieces.piece, REST);
    h->sum = weft__make_memory(make, (size_t)pieces * weft_type_bytes(h->acc), REST);
}

// Where they begin; the rows of the rest go to `list`.
static void pieces_place(struct weft__spmv_host *h, const int32_t *row, int32_t *list)
{
    int64_t rows = 0, pieces = 0, length = 0;
    for (int64_t p = 0; p < h->nnz; p++) {
        const int begins = p == 0 || row[p] != row[p - 1];
        length = begins ? 0 : length + 1;
        if (begins) {
            list[rows] = row[p];
            h->first[rows++] = pieces;
        }
        if (length % PIECE == 0)
            h->pieces.piece[pieces++] = p;
    }
    h->first[rows] = pieces;
    h->pieces.piece[pieces] = h->nnz;
}

static void rows_take(struct weft__spmv_host *h, struct weft__make *make, cl_command_queue queue, cl_mem row)
{
    const size_t bytes = (size_t)h->nnz * 4;
    int32_t *rows = weft__make_memory(make, 2 * bytes, REST); // the row of each entry; the list of rows
    struct weft__stream stream = weft__spmv_stream(make, queue);
    make->status = weft__spmv_read(&stream, row, 0, bytes, rows);
    if (!make->status)
        pieces_make(h, make, rows);
    if (!make->status) {
        pieces_place(h, rows, rows + h->nnz);
        make->status =
            weft__buffer_create_from(&h->b[ROW], make->ctx, (size_t)h->rows * 4, rows + h->nnz, "rows of the rest");
    }
    weft__spmv_make_buffer(make, &h->b[ROW_SUM], (size_t)h->rows * weft_type_bytes(h->acc), "sums of the rest");
    free(rows);
}

static void kernel_make(struct weft__spmv_host *h, struct weft_spmv_plan *plan, struct weft__make *make)
{
    const cl_uint count = (cl_uint)h->rows;
    struct weft__defines d = {0};
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", weft__wg_small(plan->ctx));
    weft__make_kernel(make, &h->add, &weft__spmv_add_spec, &d);
    if (!make->status)
        make->status =
            WEFT__BIND(plan->ctx, h->add, WEFT__ARG(row, h->b[ROW]), WEFT__ARG(sum, h->b[ROW_SUM]), WEFT__ARG(count));
}

weft_status weft__spmv_host_create(struct weft__spmv_host **out, struct weft_spmv_plan *plan, cl_command_queue queue,
                                   const struct weft__spmv_coo *c)
{
    const size_t count = (size_t)c->nnz, val = weft_type_bytes(plan->a.type);
    struct weft__make make = {.ctx = plan->ctx};
    struct weft__spmv_host *h = *out = weft__make_memory(&make, sizeof *h, "a plan");
    if (!h)
        return make.status;
    pthread_mutex_init(&h->mutex, NULL);
    pthread_cond_init(&h->changed, NULL);
    weft__team_begin(&h->team, 0);
    h->type = plan->type;
    h->acc = plan->acc;
    h->semiring = plan->info.params.problem.semiring;
    h->n = plan->x_size;
    h->nnz = c->nnz;
    h->col = weft__make_memory(&make, count * 4, REST);
    h->val = val ? weft__make_memory(&make, count * val, REST) : NULL;
    h->x = weft__make_memory(&make, weft__max(1, (size_t)h->n * weft_type_bytes(h->type)), REST);
    rows_take(h, &make, queue, c->b[WEFT__COO_ROW]);
    if (!make.status)
        make.status = weft__spmv_host_refill(h, plan, queue, c);
    kernel_make(h, plan, &make);
    if (make.status)
        return make.status;
    h->bytes = count * (4 + val) + ((size_t)h->rows + 1) * sizeof *h->first + (size_t)h->rows * 4;
    h->workspace_bytes = (size_t)h->n * weft_type_bytes(h->type) +
                         ((size_t)h->pieces.count + (size_t)h->rows) * weft_type_bytes(h->acc) +
                         ((size_t)h->pieces.count + 1) * sizeof *h->pieces.piece;
    h->started = weft__thread_start(&h->thread, thread_main, h);
    return h->started ? WEFT_OK : weft__fail(plan->ctx, WEFT_ENOMEM, "the system gives no thread for a plan");
}

weft_status weft__spmv_host_refill(struct weft__spmv_host *h, struct weft_spmv_plan *plan, cl_command_queue queue,
                                   const struct weft__spmv_coo *c)
{
    const size_t count = (size_t)h->nnz;
    runs_wait(h);
    h->pieces.col = h->col;
    h->pieces.val = h->val;
    struct weft__stream stream = weft__spmv_stream(&(struct weft__make){.ctx = plan->ctx}, queue);
    weft__spmv_read(&stream, c->b[WEFT__COO_COL], 0, count * 4, h->col);
    if (h->val)
        weft__spmv_read(&stream, c->b[WEFT__COO_VAL], 0, count * weft_type_bytes(plan->a.type), h->val);
    return stream.status;
}

void weft__spmv_host_destroy(struct weft__spmv_host **host)
{
    struct weft__spmv_host *h = *host;
    if (!h)
        return;
    runs_wait(h);
    pthread_mutex_lock(&h->mutex);
    h->quit = 1;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->mutex);
    if (h->started)
        pthread_join(h->thread, NULL);
    weft__team_end(&h->team);
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->mutex);
    weft__parts_release(&h->add, 1, h->b, NBUFFERS);
    free(h->pieces.piece);
    free(h->first);
    free(h->col);
    free(h->val);
    free(h->x);
    free(h->sum);
    free(h);
    *host = NULL;
}

size_t weft__spmv_host_bytes(const struct weft__spmv_host *h)
{
    return h->bytes;
}

size_t weft__spmv_host_workspace(const struct weft__spmv_host *h)
{
    return h->workspace_bytes;
}

// ---- a run -----------------------------------------------------------------------------------------------------

// A job whose copy of x is not yet enqueued; NULL: *status says why.
static struct job *job_make(struct weft_context *ctx, weft_status *status)
{
    cl_int error;
    struct job *job = calloc(1, sizeof *job);
    if (job) {
        job->sums = weft__cl.clCreateUserEvent(ctx->cl, &error);
        *status = weft__fail_cl(ctx, error, "clCreateUserEvent");
    } else {
        *status = weft__fail(ctx, WEFT_ENOMEM, "out of host memory for a run");
    }
    if (*status) {
        free(job);
        job = NULL;
    }
    return job;
}

// Hand it to the thread, which waits for x and frees it.
static void job_start(struct weft__spmv_host *h, struct job *job)
{
    pthread_mutex_lock(&h->mutex);
    if (h->tail)
        h->tail->next = job;
    else
        h->head = job;
    h->tail = job;
    h->pending++;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->mutex);
}

weft_status weft__spmv_host_begin(struct weft__spmv_host *h, struct weft_spmv_plan *plan, struct weft__stream *stream,
                                  const struct weft__spmv_call *call, struct weft__spmv_host_run *run)
{
    struct weft_context *ctx = plan->ctx;
    const size_t bytes = (size_t)h->n * weft_type_bytes(h->type);
    run->sums = NULL;
    if (stream->status)
        return stream->status;
    struct job *job = job_make(ctx, &stream->status);
    if (!job)
        return stream->status;
    stream->status = weft__fail_cl(ctx, weft__cl.clRetainEvent(job->sums), "clRetainEvent");
    run->sums = stream->status ? NULL : job->sums;
    if (!stream->status) // behind what the caller waits for, as a launch would be
        stream->status = weft__fail_cl(ctx, weft__stream_barrier(stream), "clEnqueueBarrierWithWaitList");
    if (!stream->status)
        stream->status = weft__fail_cl(ctx,
                                       weft__cl.clEnqueueReadBuffer(stream->queue, call->x, CL_FALSE, 0, bytes, h->x,
                                                                    stream->nwait, stream->wait, &job->x_there),
                                       "clEnqueueReadBuffer of x");
    if (stream->status) {
        if (run->sums)
            weft__cl.clReleaseEvent(run->sums);
        run->sums = NULL;
        weft__cl.clReleaseEvent(job->sums);
        free(job);
        return stream->status;
    }
    if (!weft__launches_note("copy of x") && ctx->on_launch)
        ctx->on_launch(ctx->on_launch_arg, "copy of x", (size_t)h->n, 1, job->x_there);
    // x sets out now. With Oclgrind it is there at the end of a flush, so that the commands that wait for the thread must not
    // be in the same one.
    stream->status = weft__fail_cl(ctx, weft__cl.clFlush(stream->queue), "clFlush");
    job_start(h, job);
    return stream->status;
}

weft_status weft__spmv_host_end(struct weft__spmv_host *h, struct weft_spmv_plan *plan, struct weft__stream *stream,
                                const struct weft__spmv_call *call, struct weft__spmv_host_run *run)
{
    struct weft_context *ctx = plan->ctx;
    const size_t wg = (size_t)weft__wg_small(ctx);
    cl_event written = NULL;
    if (!run->sums)
        return stream->status;
    if (!stream->status)
        stream->status = weft__fail_cl(ctx,
                                       weft__cl.clEnqueueWriteBuffer(stream->queue, h->b[ROW_SUM], CL_FALSE, 0,
                                                                     (size_t)h->rows * weft_type_bytes(h->acc), h->sum,
                                                                     1, &run->sums, &written),
                                       "clEnqueueWriteBuffer of sums");
    weft__cl.clReleaseEvent(run->sums);
    run->sums = NULL;
    if (written) {
        if (h->written)
            weft__cl.clReleaseEvent(h->written);
        h->written = written;
    }
    // Behind everything that is in the queue and the copy of the sums.
    weft__spmv_launch(plan, stream, h->add, weft__groups(weft__ceil_div((size_t)h->rows, wg), wg), wg, call);
    cl_int error = weft__cl.clFlush(stream->queue);
    if (!stream->status)
        stream->status = weft__fail_cl(ctx, error, "clFlush");
    return stream->status;
}
