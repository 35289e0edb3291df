// SPDX-License-Identifier: Apache-2.0
// Moves large arrays through the ring of pinned slots of a context.
#include "host/src/core/stage.h"
#include "host/src/core/buffer.h"
#include "host/src/core/huge.h"
#include "host/src/core/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

void (*weft__stage_told)(bool begins);

#define TOUCHED_AHEAD 64 // touches that may have ended before an earlier one
#define PIECES        4  // for which waking another thread pays
#define PARTS         16 // pieces of a small transfer

struct slot {
    cl_mem buffer;
    char *at;               // mapped as long as the slot lives
    cl_event leaves;        // a chunk that is on its way to the device though its transfer has ended; NULL: none
    cl_command_queue queue; // of it
};

struct weft__stage {
    pthread_mutex_t one;    // held by the transfer that runs
    pthread_mutex_t mutex;  // guards what its threads share
    pthread_cond_t work;    // there may be something to copy or to touch
    pthread_cond_t result;  // a chunk was copied, or pages were touched
    cl_command_queue queue; // of the mappings
    struct slot slot[WEFT__STAGE_SLOTS_MOST];
    int slots, next;       // next: the slot of the next transfer's first chunk
    cl_command_queue lost; // whose chunk did not arrive, as another transfer saw that waited for its slot; NULL: none
    struct weft__team team;
};

// A part of one array. Chunks are counted from 0 on over all arrays; chunk k travels in slot (first + k) % slots.
struct chunk {
    int copy;                  // which array
    size_t first;              // byte of it
    size_t bytes, taken, left; // taken: for copying; left: not copied yet
    cl_event moved;
};

struct move {
    struct weft_context *ctx;
    struct weft__stage *stage;
    cl_command_queue queue;
    bool out;   // from the device
    bool leave; // to the device: over when all is in slots and was sent
    const struct weft__copy *copies;
    int count, copy; // copy: which array the next chunk is of
    size_t first;    // and its first byte
    size_t slot_bytes, piece_bytes;
    int slots, first_slot;
    pthread_t caller;
    struct chunk chunk[WEFT__STAGE_SLOTS_MOST];
    // Numbers of chunks. They pass these stations in their order; to the device: opened = ready, copied, sent, landed; from
    // the device: opened = sent, landed = ready, copied.
    int64_t chunks, opened, ready, taken, copied, sent, landed;
    // Numbers of touches, each of the bytes of an array that lie in one huge page. [0, touched) are done, and those of bits
    // of `ahead` behind them; the next one begins at byte touch_first of array touch_copy.
    int64_t touches, touching, touched;
    uint64_t ahead;
    int touch_copy;
    size_t touch_first;
    bool over;
    weft_status status;
};

struct job {
    struct chunk *chunk; // NULL: pages to touch
    char *to;
    const char *from;
    size_t bytes;
    int64_t touch;
};

void weft__stage_begin(struct weft_context *ctx)
{
    const char *text = secure_getenv("WEFT_STAGE");
    int slots = 0, slot = 0, threads = 0, piece = 0;
    if (!text || sscanf(text, "%d,%d,%d,%d", &slots, &slot, &threads, &piece) < 1 || slots < 0 ||
        slots > WEFT__STAGE_SLOTS_MOST || slot < 0 || slot > 65536 || threads < 0 || piece < 0 || piece > 65536)
        return;
    ctx->staging.slots = slots;
    ctx->staging.slot_bytes = (size_t)slot << 10;
    ctx->staging.threads = threads;
    ctx->staging.piece_bytes = (size_t)piece << 10;
}

bool weft__stage_takes(const struct weft_context *ctx, size_t bytes)
{
    const struct weft__staging *s = &ctx->staging;
    return !__atomic_load_n(&s->off, __ATOMIC_RELAXED) && (!ctx->device.unified || s->forced) &&
           bytes >= (s->piece_bytes ? s->piece_bytes : (size_t)WEFT__STAGE_LEAST);
}

// ---- the ring -----------------------------------------------------------------------------------------------------

static weft_status slot_make(struct weft_context *ctx, struct weft__stage *stage, size_t bytes)
{
    struct slot *slot = &stage->slot[stage->slots];
    cl_int error;
    weft_status status = stage->queue ? WEFT_OK : weft__queue_create(&stage->queue, ctx);
    if (status)
        return status;
    slot->buffer = weft__cl.clCreateBuffer(ctx->cl, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &error);
    if (error != CL_SUCCESS) {
        slot->buffer = NULL;
        return weft__fail_cl(ctx, error, "a pinned buffer");
    }
    slot->at = weft__cl.clEnqueueMapBuffer(stage->queue, slot->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                                           NULL, NULL, &error);
    status = weft__fail_cl(ctx, error, "clEnqueueMapBuffer");
    if (status)
        weft__buffer_release(&slot->buffer);
    else
        stage->slots++;
    return status;
}

// Slots for a transfer, `wanted` if they are to be had; the first failure ends the ring's growth, and that of none is told.
static int slots_make(struct weft_context *ctx, struct weft__stage *stage, int wanted, size_t bytes)
{
    struct weft_error error = {0};
    weft__quiet_begin(ctx);
    while (stage->slots < wanted && !slot_make(ctx, stage, bytes))
        ;
    weft__quiet_end(&error);
    if (!stage->slots && !__atomic_exchange_n(&ctx->staging.off, 1, __ATOMIC_RELAXED))
        weft__tell(ctx, "copies are not staged: %s", error.text);
    return stage->slots < wanted ? stage->slots : wanted;
}

static struct weft__stage *stage_of(struct weft_context *ctx)
{
    struct weft__staging *s = &ctx->staging;
    pthread_mutex_lock(&ctx->mutex);
    if (!s->stage && (s->stage = calloc(1, sizeof *s->stage))) {
        pthread_mutex_init(&s->stage->one, NULL);
        pthread_mutex_init(&s->stage->mutex, NULL);
        pthread_cond_init(&s->stage->work, NULL);
        pthread_cond_init(&s->stage->result, NULL);
        const int most = weft__threads(s->threads);
        weft__team_begin(&s->stage->team, s->threads || most < WEFT__STAGE_THREADS ? most : WEFT__STAGE_THREADS);
    }
    pthread_mutex_unlock(&ctx->mutex);
    return s->stage;
}

// Wait until the slot's last chunk has left it. Under mutex `one`. Its failure is that of the transfer it belongs to.
static weft_status slot_wait(struct weft_context *ctx, struct weft__stage *stage, struct slot *slot,
                             cl_command_queue queue)
{
    if (!slot->leaves)
        return WEFT_OK;
    const cl_int error = weft__cl.clWaitForEvents(1, &slot->leaves);
    weft__cl.clReleaseEvent(slot->leaves);
    slot->leaves = NULL;
    if (error != CL_SUCCESS && slot->queue != queue) {
        stage->lost = slot->queue;
        return WEFT_OK;
    }
    return weft__fail_cl(ctx, error, "clWaitForEvents");
}

weft_status weft__stage_settle(struct weft_context *ctx, cl_command_queue queue)
{
    weft_status status = WEFT_OK;
    pthread_mutex_lock(&ctx->mutex);
    struct weft__stage *stage = ctx->staging.stage;
    pthread_mutex_unlock(&ctx->mutex);
    if (!stage)
        return status;
    pthread_mutex_lock(&stage->one);
    for (int i = 0; i < stage->slots; i++)
        if (stage->slot[i].queue == queue) {
            const weft_status waited = slot_wait(ctx, stage, &stage->slot[i], queue);
            status = status ? status : waited;
        }
    if (stage->lost == queue && !status)
        status = weft__fail(ctx, WEFT_EDEVICE, "a part of an array did not arrive on the device");
    stage->lost = stage->lost == queue ? NULL : stage->lost;
    pthread_mutex_unlock(&stage->one);
    return status;
}

void weft__stage_free(struct weft_context *ctx)
{
    struct weft__stage *stage = ctx->staging.stage;
    if (!stage)
        return;
    weft__team_end(&stage->team);
    for (int i = 0; i < stage->slots; i++)
        slot_wait(ctx, stage, &stage->slot[i], NULL);
    for (int i = 0; i < stage->slots; i++)
        weft__cl.clEnqueueUnmapMemObject(stage->queue, stage->slot[i].buffer, stage->slot[i].at, 0, NULL, NULL);
    if (stage->queue)
        weft__cl.clFinish(stage->queue);
    for (int i = 0; i < stage->slots; i++)
        weft__buffer_release(&stage->slot[i].buffer);
    weft__queue_release(&stage->queue);
    pthread_cond_destroy(&stage->result);
    pthread_cond_destroy(&stage->work);
    pthread_mutex_destroy(&stage->mutex);
    pthread_mutex_destroy(&stage->one);
    free(stage);
    ctx->staging.stage = NULL;
}

// ---- what threads do ----------------------------------------------------------------------------------------------

static struct chunk *chunk_at(struct move *m, int64_t k)
{
    return &m->chunk[k % m->slots];
}

static struct slot *slot_at(struct move *m, int64_t k)
{
    return &m->stage->slot[(m->first_slot + k) % m->slots];
}

// Huge pages that the first `bytes` bytes of an array lie in.
static int64_t touches_of(const struct weft__copy *copy, size_t bytes)
{
    const uintptr_t at = (uintptr_t)copy->host;
    return (int64_t)((at + bytes - 1) / WEFT__HUGE_BYTES - at / WEFT__HUGE_BYTES) + 1;
}

// Were the pages touched that a chunk needs up to its byte `end`? Two threads that touch one huge page at a time would both
// fill it with zeros.
static bool touched(const struct move *m, const struct chunk *c, size_t end)
{
    int64_t need = touches_of(&m->copies[c->copy], c->first + end);
    for (int i = 0; i < c->copy; i++)
        if (weft__stage_takes(m->ctx, m->copies[i].bytes))
            need += touches_of(&m->copies[i], m->copies[i].bytes);
    return need <= m->touched;
}

// The first array from *copy on that the stage takes.
static void copy_find(const struct move *m, int *copy)
{
    while (*copy < m->count && !weft__stage_takes(m->ctx, m->copies[*copy].bytes))
        ++*copy;
}

static void touch_take(struct move *m, struct job *out)
{
    const struct weft__copy *copy = &m->copies[m->touch_copy];
    char *const at = (char *)copy->host + m->touch_first;
    const size_t page = WEFT__HUGE_BYTES - (uintptr_t)at % WEFT__HUGE_BYTES;
    *out = (struct job){.to = at, .bytes = weft__min(page, copy->bytes - m->touch_first), .touch = m->touching++};
    m->touch_first += out->bytes;
    if (m->touch_first == copy->bytes) {
        m->touch_copy++;
        m->touch_first = 0;
        copy_find(m, &m->touch_copy);
    }
}

// Something to do at once; false: there is nothing. Under the mutex.
static bool job_take(struct move *m, struct job *out)
{
    if (m->taken < m->ready) {
        struct chunk *c = chunk_at(m, m->taken);
        const size_t bytes = weft__min(m->piece_bytes, c->bytes - c->taken);
        if (!m->out || touched(m, c, c->taken + bytes)) {
            char *const host = (char *)m->copies[c->copy].host + c->first + c->taken;
            char *const slot = slot_at(m, m->taken)->at + c->taken;
            *out = (struct job){.chunk = c, .to = m->out ? host : slot, .from = m->out ? slot : host, .bytes = bytes};
            c->taken += bytes;
            m->taken += c->taken == c->bytes;
            return true;
        }
    }
    if (m->touching == m->touches || m->touching - m->touched >= TOUCHED_AHEAD)
        return false;
    touch_take(m, out);
    return true;
}

// Into a slot, past the caches where the processor can: a device reads lines that lie changed in caches of other processors
// at less than half the bus's speed.
static void slot_fill(char *to, const char *from, size_t bytes)
{
#ifdef __SSE2__
    enum { VECTORS = 4 };
    if ((uintptr_t)to % sizeof(__m128i) == 0) {
        for (; bytes >= VECTORS * sizeof(__m128i); bytes -= VECTORS * sizeof(__m128i)) {
            __m128i v[VECTORS];
            for (int i = 0; i < VECTORS; i++)
                v[i] = _mm_loadu_si128((const __m128i *)(const void *)from + i);
            for (int i = 0; i < VECTORS; i++)
                _mm_stream_si128((__m128i *)(void *)to + i, v[i]);
            from += sizeof v;
            to += sizeof v;
        }
        _mm_sfence();
    }
#endif
    memcpy(to, from, bytes);
}

// Do it; the mutex is held before and after.
static void job_do(struct move *m, const struct job *job)
{
    struct weft__stage *stage = m->stage;
    pthread_mutex_unlock(&stage->mutex);
    if (!job->chunk)
        weft__huge_touch(job->to, job->bytes);
    else if (m->out)
        memcpy(job->to, job->from, job->bytes);
    else
        slot_fill(job->to, job->from, job->bytes);
    pthread_mutex_lock(&stage->mutex);
    if (job->chunk) {
        job->chunk->left -= job->bytes;
        if (!job->chunk->left)
            pthread_cond_signal(&stage->result);
        return;
    }
    m->ahead |= UINT64_C(1) << (job->touch - m->touched);
    for (; m->ahead & 1; m->ahead >>= 1)
        m->touched++;
    pthread_cond_signal(&stage->result);
    pthread_cond_broadcast(&stage->work);
}

// ---- what the calling thread does ---------------------------------------------------------------------------------

// The driver moves a chunk between its slot and the device. Without the mutex.
static weft_status chunk_send(struct move *m, int64_t k)
{
    struct chunk *c = chunk_at(m, k);
    const struct weft__copy *copy = &m->copies[c->copy];
    void *const at = slot_at(m, k)->at;
    cl_int error = m->out ? weft__cl.clEnqueueReadBuffer(m->queue, copy->buffer, CL_FALSE, copy->first + c->first,
                                                         c->bytes, at, 0, NULL, &c->moved)
                          : weft__cl.clEnqueueWriteBuffer(m->queue, copy->buffer, CL_FALSE, copy->first + c->first,
                                                          c->bytes, at, 0, NULL, &c->moved);
    if (error != CL_SUCCESS) {
        c->moved = NULL;
        return weft__fail_cl(m->ctx, error, m->out ? "clEnqueueReadBuffer" : "clEnqueueWriteBuffer");
    }
    return weft__fail_cl(m->ctx, weft__cl.clFlush(m->queue), "clFlush");
}

static weft_status chunk_wait(struct move *m, int64_t k)
{
    cl_event *moved = &chunk_at(m, k)->moved;
    const weft_status status = weft__fail_cl(m->ctx, weft__cl.clWaitForEvents(1, moved), "clWaitForEvents");
    weft__cl.clReleaseEvent(*moved);
    *moved = NULL;
    return status;
}

// What an earlier transfer left in the slot has to be gone.
static weft_status slot_empty(struct move *m, int64_t k)
{
    return slot_wait(m->ctx, m->stage, slot_at(m, k), m->queue);
}

static void chunk_open(struct move *m)
{
    const struct weft__copy *copy = &m->copies[m->copy];
    const size_t bytes = weft__min(m->slot_bytes, copy->bytes - m->first);
    *chunk_at(m, m->opened++) = (struct chunk){.copy = m->copy, .first = m->first, .bytes = bytes, .left = bytes};
    m->first += bytes;
    if (m->first == copy->bytes) {
        m->copy++;
        m->first = 0;
        copy_find(m, &m->copy);
    }
}

static void ready_add(struct move *m)
{
    m->ready++;
    pthread_cond_broadcast(&m->stage->work);
}

// With the mutex released, since the driver may take its time.
static void driver_call(struct move *m, weft_status (*call)(struct move *m, int64_t k), int64_t k)
{
    pthread_mutex_unlock(&m->stage->mutex);
    const weft_status status = call(m, k);
    pthread_mutex_lock(&m->stage->mutex);
    m->status = status;
}

// The next step of the caller's thread: what keeps the driver busy comes first, then what it has done, then copying.
static void step(struct move *m)
{
    struct job job;
    const int64_t ended = m->out ? m->copied : m->landed;
    if (m->copied < m->taken && !chunk_at(m, m->copied)->left) {
        m->copied++;
        if (!m->out)
            driver_call(m, chunk_send, m->sent++);
    } else if (m->opened < m->chunks && m->opened - ended < m->slots) {
        driver_call(m, slot_empty, m->opened);
        if (m->status)
            return;
        chunk_open(m);
        if (m->out)
            driver_call(m, chunk_send, m->sent++);
        else
            ready_add(m);
    } else if (m->landed < m->sent && !(m->leave && m->opened == m->chunks)) {
        driver_call(m, chunk_wait, m->landed);
        m->landed++;
        if (m->out && !m->status)
            ready_add(m);
    } else if (job_take(m, &job)) {
        job_do(m, &job);
    } else {
        pthread_cond_wait(&m->stage->result, &m->stage->mutex);
    }
}

static void work(void *arg)
{
    struct move *m = arg;
    struct weft__stage *stage = m->stage;
    struct job job;
    pthread_mutex_lock(&stage->mutex);
    if (pthread_equal(pthread_self(), m->caller)) {
        while (!m->status && (m->out ? m->copied : m->leave ? m->sent : m->landed) < m->chunks)
            step(m);
        m->over = true;
        pthread_cond_broadcast(&stage->work);
    }
    // Who finds nothing left to take is gone before the device has ended: the caller need not wait for it to wake up.
    while (!m->over && (m->taken < m->chunks || m->touching < m->touches))
        if (job_take(m, &job))
            job_do(m, &job);
        else
            pthread_cond_wait(&stage->work, &stage->mutex);
    pthread_cond_broadcast(&stage->work);
    pthread_mutex_unlock(&stage->mutex);
}

// Chunks that did not arrive yet stay in their slots.
static void chunks_leave(struct move *m)
{
    for (int64_t k = m->landed; k < m->sent; k++) {
        slot_at(m, k)->leaves = chunk_at(m, k)->moved;
        slot_at(m, k)->queue = m->queue;
    }
}

// After a failure, no slot may be in use.
static void give_up(struct move *m)
{
    weft__cl.clFinish(m->queue);
    for (int i = 0; i < m->slots; i++)
        if (m->chunk[i].moved)
            weft__cl.clReleaseEvent(m->chunk[i].moved);
}

weft_status weft__stage_move(bool *done, struct weft_context *ctx, cl_command_queue queue, enum weft__stage_way way,
                             const struct weft__copy *copies, int count)
{
    const struct weft__staging *s = &ctx->staging;
    const bool out = way == WEFT__STAGE_OUT;
    struct move m = {.ctx = ctx,
                     .queue = queue,
                     .out = out,
                     .leave = way == WEFT__STAGE_IN_LEAVE,
                     .copies = copies,
                     .count = count,
                     .caller = pthread_self()};
    size_t bytes = 0;
    *done = false;
    m.slot_bytes = s->slot_bytes ? s->slot_bytes : (size_t)WEFT__STAGE_SLOT;
    for (int i = 0; i < count; i++) {
        if (!weft__stage_takes(ctx, copies[i].bytes))
            continue;
        bytes += copies[i].bytes;
        m.chunks += (int64_t)weft__ceil_div(copies[i].bytes, m.slot_bytes);
        if (out) {
            weft__huge_advise(copies[i].host, copies[i].bytes);
            m.touches += touches_of(&copies[i], copies[i].bytes);
        }
    }
    m.piece_bytes = weft__min(weft__max(bytes / PARTS, (size_t)WEFT__STAGE_LEAST), (size_t)WEFT__STAGE_PIECE);
    m.piece_bytes = s->piece_bytes ? s->piece_bytes : m.piece_bytes;
    copy_find(&m, &m.copy);
    m.touch_copy = m.copy;
    m.stage = m.chunks ? stage_of(ctx) : NULL;
    if (!m.stage)
        return WEFT_OK;
    pthread_mutex_lock(&m.stage->one);
    const int most = s->slots ? s->slots : WEFT__STAGE_SLOTS;
    m.slots = slots_make(ctx, m.stage, m.chunks < most ? (int)m.chunks : most, m.slot_bytes);
    if (m.slots) {
        *done = true;
        m.slots = m.stage->slots;
        m.first_slot = m.stage->next;
        m.stage->next = (int)((m.first_slot + m.chunks) % m.slots);
        if (weft__stage_told)
            weft__stage_told(true);
        weft__team_run(&m.stage->team, (int)weft__min(WEFT__THREADS_MOST, 1 + bytes / (PIECES * m.piece_bytes)), work,
                       &m);
        if (m.status)
            give_up(&m);
        else if (m.leave)
            chunks_leave(&m);
        if (weft__stage_told)
            weft__stage_told(false);
    }
    pthread_mutex_unlock(&m.stage->one);
    return m.status;
}
