// SPDX-License-Identifier: Apache-2.0
// The recorder: clocks and phases of made-up commands, what ptxas says, and a product on every device, whose bytes are
// counted once more below the recorder.
#include "profile/calls.h"
#include "profile/clock.h"
#include "profile/json.h"
#include "profile/phases.h"
#include "profile/resources.h"
#include "tests/support/device.h"
#include "tests/support/rng.h"

#include "host/internal/inside.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/spmv.h>

static void test_clock(void)
{
    struct profile_clock clock;
    profile_clock_init(&clock);
    profile_clock_solve(&clock);
    tap_ok(!clock.samples && !clock.offset_ns, "clock: nothing known");
    profile_clock_bound(&clock, 1000, 5000);
    profile_clock_bound(&clock, 2000, 9000);
    profile_clock_bound(&clock, -500, 2400);
    profile_clock_solve(&clock);
    tap_ok(clock.offset_ns == 2200 && clock.error_ns == 200 && !clock.contradicts,
           "clock: bounds meet between 2000 and 2400");
    profile_clock_bound(&clock, 3000, 4000);
    profile_clock_solve(&clock);
    tap_ok(clock.offset_ns == 2700 && clock.error_ns == 300 && clock.contradicts,
           "clock: bounds that exclude each other");
    clock.grain_ns = 600;
    profile_clock_solve(&clock);
    tap_ok(clock.offset_ns == 2700 && clock.error_ns == 900 && !clock.contradicts,
           "clock: by less than the device's clock counts in");
    profile_clock_bound(&clock, 3001, 4000);
    profile_clock_solve(&clock);
    tap_ok(clock.contradicts, "clock: by more than that");
}

// A repetition with these commands and spans of the host; everything in nanoseconds from its begin.
static struct profile *made_up(void)
{
    struct profile *p = profile_create(100);
    profile_rep_begin(p);
    int64_t at = p->reps[0].begin_ns;
    p->reps[0].sections[PROFILE_SETUP].begin_ns = at;
    p->section = PROFILE_SETUP;
    profile_command_add(p, PROFILE_WRITE, "write", 40, at + 100, at + 300, 0, 0);
    p->own = 1;
    profile_command_add(p, PROFILE_KERNEL, "fill", -1, at + 300, at + 320, at + 330, at + 400);
    p->own = 0;
    profile_command_add(p, PROFILE_KERNEL, "stats", -1, at + 400, at + 410, at + 450, at + 550);
    p->section = PROFILE_LAUNCH;
    p->reps[0].sections[PROFILE_LAUNCH].begin_ns = at + 600;
    p->reps[0].sections[PROFILE_LAUNCH].end_ns = at + 1000;
    profile_span_add(p, PHASE_CALL, at + 610, at + 980);
    profile_span_add(p, PHASE_STAGE, at + 60, at + 310); // the write goes through pinned memory
    profile_command_add(p, PROFILE_KERNEL, "a", -1, at + 610, at + 620, at + 700, at + 800);
    profile_command_add(p, PROFILE_KERNEL, "b", -1, at + 620, at + 630, at + 850, at + 950);
    p->section = PROFILE_RESULT;
    profile_command_add(p, PROFILE_READ, "read", 8, at + 1000, at + 1100, 0, 0);
    p->section = PROFILE_NONE;
    profile_rep_end(p);
    p->reps[0].end_ns = at + 1200;
    for (size_t i = 0; i < p->count; i++)
        p->commands[i].queue = 0; // one queue, for the gaps
    return p;
}

static void test_phases(void)
{
    static const struct {
        enum profile_phase phase;
        int64_t ns;
    } want[] = {{PHASE_BENCH, 70}, {PHASE_KERNEL, 200}, {PHASE_WRITE, 200},  {PHASE_READ, 100}, {PHASE_ANALYSE, 100},
                {PHASE_STAGE, 50}, {PHASE_GAP, 50},     {PHASE_LAUNCH, 150}, {PHASE_CALL, 0}};
    struct profile *p = made_up();
    struct profile_split split;
    int64_t sum = 0;
    tap_ok(profile_split(&split, p, &p->reps[0]), "phases: of made-up commands");
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        tap_is_int(split.ns[want[i].phase], want[i].ns, "phases: %s", profile_phase_name(want[i].phase));
    tap_is_int(split.gap_ns, 50, "phases: the gap between two kernels");
    tap_is_int(split.overlaps, 0, "phases: no overlaps");
    for (size_t i = 0; i < split.count; i++)
        sum += split.spans[i].end_ns - split.spans[i].begin_ns;
    tap_is_int(sum, 1200, "phases: the spans are the whole");
    free(split.spans);
    p->commands[4].start_ns -= 120; // b begins while a runs
    profile_split(&split, p, &p->reps[0]);
    tap_ok(split.overlaps == 1 && split.gap_ns == 0, "phases: what overlaps is no negative gap");
    free(split.spans);
    profile_destroy(&p);
    profile_destroy(&p);
    tap_ok(!p, "destroy takes NULL");
}

// A kernel whose first launch waits for a compiler, and a read that waits for both.
static void test_wait(void)
{
    struct profile *p = profile_create(100);
    struct profile_split split;
    profile_rep_begin(p);
    const int64_t at = p->reps[0].begin_ns;
    profile_command_add(p, PROFILE_KERNEL, "a", -1, at + 10, at + 20, at + 5000, at + 5100);
    profile_command_add(p, PROFILE_KERNEL, "read", 8, at + 700, at + 5300, at + 5150, at + 5250);
    profile_command_add(p, PROFILE_KERNEL, "again", 8, at + 5400, at + 5600, at + 5450, at + 5550);
    for (int i = 1; i < 3; i++) {
        p->commands[i].kind = PROFILE_READ;
        p->commands[i].phase = PHASE_READ;
    }
    p->queues = calloc(1, sizeof *p->queues);
    p->queue_count = 1;
    profile_rep_end(p);
    p->reps[0].end_ns = at + 6000;
    for (size_t i = 0; i < p->count; i++)
        p->commands[i].queue = 0;
    tap_ok(p->queues && profile_split(&split, p, &p->reps[0]), "wait: a read behind a kernel that is compiled");
    tap_is_int(split.ns[PHASE_WAIT], 4300, "wait: from the call of the read to the kernel");
    tap_is_int(split.ns[PHASE_KERNEL], 100, "wait: the kernel");
    tap_is_int(split.ns[PHASE_READ], 200 + 200, "wait: the read behind it, and one that waits for nothing");
    free(split.spans);
    p->commands[1].untimed = "no times";
    profile_split(&split, p, &p->reps[0]);
    tap_is_int(split.ns[PHASE_READ], 4600 - 100 + 200, "wait: without times the call is the read");
    free(split.spans);
    profile_destroy(&p);
}

static void test_limit(void)
{
    struct profile *p = profile_create(2);
    profile_command_add(p, PROFILE_WRITE, "write", 1, 0, 1, 0, 0);
    tap_is_int((int64_t)p->count, 0, "limit: nothing is recorded outside of a repetition");
    profile_rep_begin(p);
    for (int i = 0; i < 5; i++)
        profile_command_add(p, PROFILE_WRITE, "write", 1, 0, 1, 0, 0);
    profile_rep_end(p);
    tap_ok(p->count == 2 && p->dropped == 3, "limit: two commands kept, three counted");
    profile_destroy(&p);
}

static void test_ptxas(void)
{
    static const char log[] = "ptxas info    : 0 bytes gmem\n"
                              "ptxas info    : Compiling entry function 'fill' for 'sm_90'\n"
                              "ptxas info    : Function properties for fill\n"
                              "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                              "ptxas info    : Used 8 registers, 368 bytes cmem[0]\n"
                              "ptxas info    : Compiling entry function 'scan_gpu' for 'sm_90'\n"
                              "ptxas info    : Function properties for scan_gpu\n"
                              "    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
                              "ptxas info    : Used 96 registers, used 1 barriers, 33792 bytes smem, 400 bytes cmem[0]";
    struct profile_resources r = {.registers = -1, .spill_bytes = -1, .stack_bytes = -1, .local_bytes = 7};
    struct profile_occupancy o;
    tap_ok(profile_ptxas_parse(&r, log, "scan_gpu") && r.registers == 96 && r.spill_bytes == 32 &&
               r.stack_bytes == 16 && r.local_bytes == 33792 && !strcmp(r.target, "sm_90"),
           "ptxas: registers, spills, stack, local memory, target");
    // tests/lint/occupancy.py of the same: 5 groups by registers (65536 / 3072 / 4 * 4 / 8 = 2), by local memory 6.
    tap_ok(!profile_occupancy(&o, &r, 256) && o.groups == 2 && o.waves == 16 && o.waves_max == 64 &&
               !strcmp(o.limit, "registers"),
           "occupancy: 96 registers leave 2 groups of 8 warps");
    struct profile_resources small = {.registers = -1, .spill_bytes = -1, .stack_bytes = -1, .local_bytes = 7};
    tap_ok(profile_ptxas_parse(&small, log, "fill") && small.registers == 8 && small.spill_bytes == 0 &&
               small.local_bytes == 7,
           "ptxas: what it does not say stays");
    tap_ok(!profile_occupancy(&o, &small, 64) && o.groups == 32 && o.waves == 64 && !strcmp(o.limit, "waves"),
           "occupancy: 32 groups of 2 warps fill it");
    struct profile_resources none = {.registers = -1};
    tap_ok(!profile_ptxas_parse(&none, log, "scan") && none.registers == -1, "ptxas: a name is a whole name");
    tap_ok(profile_occupancy(&o, &none, 64) != NULL, "occupancy: not without registers");
    strcpy(small.target, "sm_123");
    tap_ok(profile_occupancy(&o, &small, 64) != NULL, "occupancy: not for a device without a model");
    tap_ok(profile_occupancy(&o, &r, 0) != NULL, "occupancy: not when the driver chose the work-group");
}

static void test_stat(void)
{
    const double samples[] = {4, 1, 3, 2};
    cJSON *o = cJSON_CreateObject();
    profile_json_stat(o, "t", samples, 4);
    profile_json_stat(o, "none", samples, 0);
    char *text = cJSON_PrintUnformatted(o);
    tap_is_str(text, "{\"t\":{\"samples\":[4,1,3,2],\"min\":1,\"median\":2.5,\"max\":4,\"noise\":0.6}}", "stat");
    tap_ok(profile_json_median(o, "t") == 2.5 && isnan(profile_json_median(o, "none")), "median of a stat");
    cJSON_free(text);
    cJSON_Delete(o);
}

// ---- on devices: what passes below the recorder ------------------------------------------------------------------

static struct weft__cl_table below;
static int64_t wrote, was_read;
static int launched;

static cl_int CL_API_CALL count_write(cl_command_queue q, cl_mem b, cl_bool k, size_t o, size_t s, const void *h,
                                      cl_uint n, const cl_event *w, cl_event *event)
{
    wrote += (int64_t)s;
    return below.clEnqueueWriteBuffer(q, b, k, o, s, h, n, w, event);
}

static cl_int CL_API_CALL count_read(cl_command_queue q, cl_mem b, cl_bool k, size_t o, size_t s, void *h, cl_uint n,
                                     const cl_event *w, cl_event *event)
{
    was_read += (int64_t)s;
    return below.clEnqueueReadBuffer(q, b, k, o, s, h, n, w, event);
}

static cl_int CL_API_CALL count_launch(cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g,
                                       const size_t *l, cl_uint n, const cl_event *w, cl_event *event)
{
    launched++;
    return below.clEnqueueNDRangeKernel(q, k, d, o, g, l, n, w, event);
}

static int64_t bytes_of(const struct profile *p, enum profile_kind kind)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < p->count; i++)
        bytes += p->commands[i].kind == kind ? p->commands[i].bytes : 0;
    return bytes;
}

// y = A*x with copies to the device and back, with a queue that is made without profiling.
static weft_status product(struct test_device *dev, const struct weft_csr *a, const float *x, float *y)
{
    const size_t x_bytes = (size_t)a->n * sizeof *x, y_bytes = (size_t)a->m * sizeof *y;
    struct weft_device_csr d = {0};
    struct weft_spmv_plan *plan = NULL;
    cl_command_queue queue = NULL;
    cl_mem dx = NULL, dy = NULL;
    weft_status status = weft__queue_create(&queue, dev->ctx);
    if (!status)
        status = weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(a));
    if (!status)
        status = weft_device_csr_write_sync(&d, dev->ctx, queue, a);
    if (!status)
        status = weft__buffer_create(&dx, dev->ctx, x_bytes, "x");
    if (!status)
        status = weft__buffer_create(&dy, dev->ctx, y_bytes, "y");
    if (!status)
        status = weft__copy_in(dev->ctx, queue, dx, x, x_bytes);
    if (!status)
        status = weft_spmv_plan_create(&plan, dev->ctx, queue, &d, NULL);
    if (!status)
        status = weft_spmv_run(plan, queue, dy, 1, dx, 0, 0, NULL, NULL);
    if (!status)
        status = weft__copy_out(dev->ctx, queue, y, dy, y_bytes);
    weft_spmv_plan_destroy(&plan);
    weft__buffer_release(&dx);
    weft__buffer_release(&dy);
    weft_device_csr_free(&d);
    weft__queue_release(&queue);
    return status;
}

static void device_check(struct test_device *dev)
{
    enum { ROWS = 300, PER_ROW = 5 };
    int32_t row_ptr[ROWS + 1], col[ROWS * PER_ROW];
    float val[ROWS * PER_ROW], x[ROWS], y[ROWS], want[ROWS];
    struct weft_csr a = {.m = ROWS, .n = ROWS, .nnz = ROWS * PER_ROW, .type = WEFT_TYPE_F32, .ofs = WEFT_OFS_32};
    a.row_ptr = row_ptr;
    a.col = col;
    a.val = val;
    for (int i = 0; i < ROWS; i++) {
        row_ptr[i] = i * PER_ROW;
        x[i] = (float)(i % 7);
        want[i] = 0;
        for (int k = 0; k < PER_ROW; k++) {
            col[i * PER_ROW + k] = (i + 50 * k) % ROWS;
            val[i * PER_ROW + k] = (float)(k + 1);
        }
    }
    row_ptr[ROWS] = ROWS * PER_ROW;
    for (int i = 0; i < ROWS * PER_ROW; i++)
        want[i / PER_ROW] += val[i] * (float)(col[i] % 7);

    below = weft__cl;
    weft__cl.clEnqueueWriteBuffer = count_write;
    weft__cl.clEnqueueReadBuffer = count_read;
    weft__cl.clEnqueueNDRangeKernel = count_launch;
    wrote = was_read = launched = 0;
    struct profile *p = profile_create(1000);
    tap_ok(profile_calls_attach(p) && !profile_calls_attach(p), "%s: one recorder at a time", dev->name);
    profile_rep_begin(p);
    profile_section_begin(p, PROFILE_LAUNCH);
    weft_status status = product(dev, &a, x, y);
    profile_section_end(p);
    profile_rep_end(p);
    profile_rep_settle(p);
    profile_calls_detach();
    weft__cl = below;

    int kernels = 0, timed = 0, ordered = 0, within = 0, queues = 0;
    const struct profile_rep *rep = &p->reps[0];
    for (size_t i = 0; i < p->count; i++) {
        const struct profile_command *c = &p->commands[i];
        kernels += c->kind == PROFILE_KERNEL && c->wg[0] && c->bound_bytes > 0 && c->resources.known;
        timed += !c->untimed;
        ordered += c->queued_ns <= c->submit_ns && c->submit_ns <= c->start_ns && c->start_ns <= c->end_ns;
        within += c->end_ns <= rep->end_ns + rep->clock.error_ns && c->start_ns >= rep->begin_ns - rep->clock.error_ns;
    }
    for (size_t i = 0; i < p->queue_count; i++)
        queues += !p->queues[i].untimed;
    tap_ok(!status && !memcmp(y, want, sizeof y), "%s: the product is right", dev->name);
    tap_is_int(bytes_of(p, PROFILE_WRITE), wrote, "%s: bytes written", dev->name);
    tap_is_int(bytes_of(p, PROFILE_READ), was_read, "%s: bytes read", dev->name);
    tap_ok(wrote >= (int64_t)(sizeof row_ptr + sizeof col + sizeof val + sizeof x), "%s: not fewer than the input",
           dev->name);
    tap_ok(kernels == launched && launched > 0, "%s: %d kernels, with their sizes", dev->name, launched);
    tap_ok(queues == (int)p->queue_count && queues > 0, "%s: a queue made without profiling keeps times", dev->name);
    tap_is_int(timed, (int64_t)p->count, "%s: every command has times", dev->name);
    tap_is_int(ordered, (int64_t)p->count, "%s: queued, submitted, started, ended, in that order", dev->name);
    tap_is_int(within, (int64_t)p->count, "%s: all within the repetition, on the host's clock", dev->name);
    tap_is_int(rep->outside, 0, "%s: none before its call, none after what waited for it", dev->name);
    struct profile_split split;
    profile_split(&split, p, rep);
    tap_is_int(split.overlaps, 0, "%s: no overlaps on an in-order queue", dev->name);
    free(split.spans);

    struct profile_facts facts = PROFILE_FACTS_NONE;
    cJSON *run = cJSON_CreateObject();
    tap_ok(profile_run_fill(run, p, &facts), "%s: the record", dev->name);
    tap_is_int((int64_t)cJSON_GetObjectItem(cJSON_GetObjectItem(run, "bytes"), "write")->valuedouble, wrote,
               "%s: bytes written, in the record", dev->name);
    cJSON_Delete(run);
    profile_destroy(&p);
}

// A large copy is one span of staging, in which its commands lie; after the recorder has left it is none.
static void stage_check(struct test_device *dev)
{
    enum { BYTES = 1 << 20 };
    struct profile *p = profile_create(1000);
    const bool forced = dev->ctx->staging.forced;
    char *bytes = test_alloc(BYTES);
    cl_mem buffer = NULL;
    memset(bytes, 1, BYTES);
    dev->ctx->staging.forced = true;
    weft_status status = weft__buffer_create(&buffer, dev->ctx, BYTES, "a test");
    profile_calls_attach(p);
    profile_rep_begin(p);
    if (!status)
        status = weft__copy_in(dev->ctx, dev->queue, buffer, bytes, BYTES);
    profile_rep_end(p);
    profile_rep_settle(p);
    int staged = 0, inside = 0;
    const struct profile_span *span = NULL;
    for (size_t i = 0; i < p->span_count; i++)
        if (p->spans[i].phase == PHASE_STAGE) {
            span = &p->spans[i];
            staged++;
        }
    for (size_t i = 0; span && i < p->count; i++)
        inside += p->commands[i].kind == PROFILE_WRITE && p->commands[i].call_ns >= span->begin_ns &&
                  p->commands[i].return_ns <= span->end_ns;
    tap_ok(!status && staged == 1 && inside == 1, "%s: one span of staging, with one write in it (%d, %d)", dev->name,
           staged, inside);
    profile_destroy(&p);
    tap_ok(!weft__stage_told && !weft__copy_in(dev->ctx, dev->queue, buffer, bytes, BYTES),
           "%s: nobody is told when the recorder has left", dev->name);
    dev->ctx->staging.forced = forced;
    weft__buffer_release(&buffer);
    free(bytes);
}

// Calls that fail are no commands, and calls after the recorder has left go past it.
static void failure_check(struct test_device *dev)
{
    struct profile *p = profile_create(10);
    int byte = 0;
    cl_int error;
    cl_mem buffer = clCreateBuffer(weft_context_cl(dev->ctx), CL_MEM_READ_WRITE, 4, NULL, &error);
    profile_calls_attach(p);
    profile_rep_begin(p);
    error = weft__cl.clEnqueueWriteBuffer(dev->queue, buffer, CL_TRUE, 0, 400, &byte, 0, NULL, NULL);
    profile_rep_end(p);
    tap_ok(error != CL_SUCCESS && p->count == 0, "%s: a write that fails is no command", dev->name);
    profile_rep_begin(p);
    error = weft__cl.clEnqueueWriteBuffer(dev->queue, buffer, CL_TRUE, 0, 4, &byte, 0, NULL, NULL);
    profile_destroy(&p);
    tap_ok(error == CL_SUCCESS && !profile__active &&
               weft__cl.clEnqueueWriteBuffer(dev->queue, buffer, CL_TRUE, 0, 4, &byte, 0, NULL, NULL) == CL_SUCCESS,
           "%s: destroyed with commands that nobody asked", dev->name);
    clReleaseMemObject(buffer);
}

// ---- the layer's way: commands are asked as the program runs -------------------------------------------------------

static int asked, called_back, gate;
static cl_command_queue flushed;

// Says that commands have not ended while the gate is closed.
static cl_int CL_API_CALL count_asked(cl_event event, cl_event_info what, size_t size, void *value, size_t *needed)
{
    const cl_int submitted = CL_SUBMITTED;
    asked++;
    if (gate && what == CL_EVENT_COMMAND_EXECUTION_STATUS)
        return memcpy(value, &submitted, sizeof submitted), CL_SUCCESS;
    return below.clGetEventInfo(event, what, size, value, needed);
}

// A driver that calls back into the program when the last reference to something goes.
static cl_int CL_API_CALL release_and_call(cl_event event)
{
    called_back++;
    weft__cl.clFlush(flushed);
    return below.clReleaseEvent(event);
}

static void often_check(struct test_device *dev)
{
    enum { COMMANDS = 3000 };
    struct profile *p = profile_create(2 * COMMANDS);
    cl_int error = CL_SUCCESS;
    p->settle_often = 1;
    below = weft__cl;
    profile_calls_attach(p);
    profile__next.clGetEventInfo = count_asked;
    profile__next.clReleaseEvent = release_and_call;
    flushed = dev->queue;
    asked = called_back = 0;
    gate = 1;
    profile_rep_begin(p);
    for (int i = 0; i < COMMANDS && error == CL_SUCCESS; i++)
        error = weft__cl.clEnqueueMarkerWithWaitList(dev->queue, 0, NULL, NULL);
    const int waiting = asked;
    gate = 0;
    if (error == CL_SUCCESS)
        error = weft__cl.clFinish(dev->queue);
    profile_rep_end(p);
    profile_rep_settle(p);
    size_t untimed = 0;
    for (size_t i = 0; i < p->count; i++)
        untimed += p->commands[i].untimed != NULL;
    tap_ok(error == CL_SUCCESS && p->count == COMMANDS && !untimed && !p->pending,
           "%s: %d commands that do not end for long", dev->name, COMMANDS);
    tap_ok(waiting > 0 && waiting < 3 * COMMANDS, "%s: are not asked again and again: %d times", dev->name, waiting);
    tap_ok(called_back >= COMMANDS, "%s: the driver may call back from where the recorder is", dev->name);
    profile_destroy(&p);
}

static void device_run(struct test_device *dev)
{
    often_check(dev);
    device_check(dev);
    stage_check(dev);
    failure_check(dev);
}

int main(void)
{
    test_clock();
    test_phases();
    test_wait();
    test_limit();
    test_ptxas();
    test_stat();
    test_device_each(device_run);
    return tap_done();
}
