// SPDX-License-Identifier: Apache-2.0
// What a run does where an event that it waits for has failed, before the run or behind it: its own event fails too, or the call
// says so. Nothing hangs, no result is written, the next run of the same plan is right, and nothing is left alive.
//
// Below the layer of events_layer.c, which the loader finds by OPENCL_LAYERS, each run is tried in all that the specification
// leaves open. Without it these are the events of the driver.
#include "events.h"
#include "lost_jobs.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HANGS = 120 }; // seconds, on a machine that is busy

static bool layer; // there is one
static char doing[400];

static void hangs(int number)
{
    (void)number;
    static const char text[] = "Bail out! it hangs: ";
    const ssize_t ignored = write(1, text, sizeof text - 1) + write(1, doing, strlen(doing)) + write(1, "\n", 1);
    _exit(ignored ? 1 : 2);
}

static cl_platform_id platform_of(struct test_device *dev)
{
    cl_platform_id platform = NULL;
    clGetDeviceInfo(weft_context_device(dev->ctx)->id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    return platform;
}

// false: there is no layer.
static bool layer_take(struct test_device *dev, cl_uint flags)
{
    return clGetPlatformInfo(platform_of(dev), EVENTS_TAKE, sizeof flags, &flags, NULL) == CL_SUCCESS;
}

static struct events_alive alive_now(struct test_device *dev)
{
    struct events_alive now = {0};
    clGetPlatformInfo(platform_of(dev), EVENTS_ALIVE, sizeof now, &now, NULL);
    return now;
}

static const char *flags_name(cl_uint flags)
{
    static const char *const names[] = {"failure by wait lists", "failure by wait lists, no callbacks",
                                        "failure by order", "failure by order, no callbacks"};
    return layer ? names[flags] : "the driver's events";
}

static cl_event gate_make(struct test_device *dev)
{
    cl_int error;
    return clCreateUserEvent(weft_context_cl(dev->ctx), &error);
}

static cl_int state_of(cl_event event)
{
    cl_int state = CL_COMPLETE;
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return state;
}

// Callbacks of the events of runs: how many, and how many of them with a failure.
static atomic_int called, called_failed;

static void CL_CALLBACK count_call(cl_event event, cl_int state, void *arg)
{
    (void)event, (void)arg;
    called_failed += state < 0;
    called++; // last, as it is waited for
}

// A run of which one event fails, early: before the run. Gives what is wrong, or NULL.
static const char *failed_run(struct lost_job *j, const struct lost_operation *o, cl_uint flags, bool early)
{
    struct weft_error err;
    cl_event gate = gate_make(j->dev), good = gate_make(j->dev), done = NULL;
    const cl_event wait[] = {good, gate};
    const char *bad = NULL;
    lost_poison(j, o);
    fault_set(FAULT_clFlush, 0);
    called = called_failed = 0;
    clSetUserEventStatus(good, CL_COMPLETE);
    if (early)
        clSetUserEventStatus(gate, -5);
    const weft_status status = o->run(j, 2, wait, &done);
    if (!status)
        clSetEventCallback(done, CL_COMPLETE, count_call, NULL);
    if (!early)
        clSetUserEventStatus(gate, -5);
    weft_context_error(&err, j->dev->ctx);
    if (status && (!early || err.status != status || !err.text[0]))
        bad = "the call fails without a word, or before anything did";
    else if (!status &&
             (clWaitForEvents(1, &done) != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST || state_of(done) >= 0))
        bad = "the event of the run is none that failed";
    if (!status)
        weft__cl.clReleaseEvent(done);
    clReleaseEvent(gate);
    clReleaseEvent(good);
    clFinish(j->queue);
    for (int ms = 0; ms < 5000 && layer && !status && !(flags & EVENTS_MUTE) && !called; ms++)
        usleep(1000); // a callback is another thread's, and may come later than what waits for the event
    if (!bad && layer && !status && (called != !(flags & EVENTS_MUTE) || called_failed != called))
        bad = "callbacks of the run's event";
    if (!bad && layer && !lost_untouched(j, o))
        bad = "something was written";
    if (!bad && !lost_next_right(j, o))
        bad = "the next run is wrong";
    return bad;
}

static void test_runs(struct lost_job *j, const struct lost_operation *o, cl_uint flags, const char *queue)
{
    const char *bad = NULL;
    layer_take(j->dev, flags);
    for (int early = o->blocks; early < 2 && !bad; early++) {
        snprintf(doing, sizeof doing, "%s, %s, %s, %s%s", j->dev->name, o->name, queue, flags_name(flags),
                 early ? ", failed before the run" : "");
        alarm(HANGS);
        bad = failed_run(j, o, flags, early);
        alarm(0);
    }
    if (bad)
        tap_note("%s: %s", doing, bad);
    tap_ok(!bad, "%s, %s, %s, %s: the run fails too, the next is right", j->dev->name, o->name, queue,
           flags_name(flags));
}

// New values, and the end of a plan, right behind a run that failed.
static void test_end(struct lost_job *j, const struct lost_operation *o, cl_uint flags)
{
    bool good = true;
    layer_take(j->dev, flags);
    for (int end = 0; end < 2 && good && !o->blocks; end++) {
        cl_event gate = gate_make(j->dev), done = NULL;
        snprintf(doing, sizeof doing, "%s, %s, %s: %s", j->dev->name, o->name, flags_name(flags),
                 end ? "the end" : "new values");
        alarm(HANGS);
        good = !o->run(j, 1, &gate, &done);
        clSetUserEventStatus(gate, -5);
        if (end)
            lost_plan_destroy(j);
        else if (j->spmv && !o->transpose)
            good = good && !weft_spmv_plan_refill(j->spmv, j->queue, &j->problem.d) && lost_next_right(j, o);
        good = good && clWaitForEvents(1, &done) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        if (done)
            weft__cl.clReleaseEvent(done);
        clReleaseEvent(gate);
        alarm(0);
    }
    tap_ok(good, "%s, %s, %s: new values and the end of the plan behind a run that failed", j->dev->name, o->name,
           flags_name(flags));
}

static void test_operation(struct test_device *dev, const struct lost_operation *o)
{
    static const cl_command_queue_properties order[] = {0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE};
    static const char *const names[] = {"in order", "out of order"};
    struct lost_job j;
    const struct events_alive before = alive_now(dev);
    layer_take(dev, EVENTS_ORDER);
    if (lost_begin(&j, dev, o)) {
        for (int q = 0; q < 2; q++) {
            cl_command_queue queue = test_queue(dev, order[q]);
            if (!queue)
                continue;
            j.queue = queue;
            for (cl_uint flags = 0; flags < (layer ? 4u : 1u); flags++)
                if (!test_sample() || o->host_rest || flags % 3 == 0)
                    test_runs(&j, o, flags, names[q]);
            j.queue = dev->queue;
            clReleaseCommandQueue(queue);
        }
        test_end(&j, o, EVENTS_MUTE);
    }
    lost_end(&j);
    // PoCL's threads let go of a command's buffers after its event is complete.
    struct events_alive now = alive_now(dev);
    for (int ms = 0; ms < 5000 && (now.events != before.events || now.buffers != before.buffers); ms++) {
        usleep(1000);
        now = alive_now(dev);
    }
    tap_ok(now.events == before.events && now.buffers == before.buffers, "%s, %s: %d events and %d buffers are left",
           dev->name, o->name, (int)(now.events - before.events), (int)(now.buffers - before.buffers));
}

// Three commands in a queue in order: the second waits for the first, which waits for what fails; the third has no list.
struct chain {
    cl_int first, second, third; // how they ended
    cl_int wait;                 // what a wait for the second says
    int words[3];                // nonzero: written
    int calls;                   // of the second's callback
};

static struct chain chain_run(struct test_device *dev)
{
    struct chain out = {0};
    const cl_int ones[3] = {1, 1, 1};
    cl_event gate = gate_make(dev), done[3] = {NULL};
    cl_int error = 0;
    struct test_buffer to = test_buffer_make(dev, &(cl_int[3]){0}, sizeof ones);
    called = 0;
    for (cl_uint i = 0; i < 3; i++)
        error |= clEnqueueWriteBuffer(dev->queue, to.mem, CL_FALSE, i * 4, 4, &ones[i], i < 2,
                                      i == 0   ? &gate
                                      : i == 1 ? &done[0]
                                               : NULL,
                                      &done[i]);
    if (error)
        tap_bail("a write fails: %d", error);
    clSetEventCallback(done[1], CL_COMPLETE, count_call, NULL);
    clSetUserEventStatus(gate, -5);
    out.wait = clWaitForEvents(1, &done[1]);
    clFinish(dev->queue);
    out.first = state_of(done[0]);
    out.second = state_of(done[1]);
    out.third = state_of(done[2]);
    test_buffer_read(dev, &to, out.words, sizeof ones);
    out.calls = called;
    for (int i = 0; i < 3; i++)
        clReleaseEvent(done[i]);
    clReleaseEvent(gate);
    test_buffer_free(&to);
    return out;
}

static void test_layer(struct test_device *dev)
{
    const struct events_alive before = alive_now(dev);
    const cl_int failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    for (cl_uint flags = 0; flags < 4; flags++) {
        layer_take(dev, flags);
        const struct chain c = chain_run(dev);
        const bool order = flags & EVENTS_ORDER;
        tap_ok(c.first == failed && c.second == failed && c.wait == failed && !c.words[0] && !c.words[1] &&
                   c.third == (order ? failed : CL_COMPLETE) && c.words[2] == !order &&
                   c.calls == !(flags & EVENTS_MUTE),
               "%s: the layer has %s", dev->name, flags_name(flags));
    }
    const struct events_alive now = alive_now(dev);
    tap_ok(now.events == before.events && now.buffers == before.buffers, "%s: the layer keeps nothing", dev->name);
}

static void test_device(struct test_device *dev)
{
    const bool pocl = !strcmp(weft_context_device(dev->ctx)->platform, "Portable Computing Language");
    layer = layer_take(dev, EVENTS_ORDER);
    if (!layer && pocl) {
        tap_skip("%s: PoCL 3.1 ends the process where a released event fails, in pocl_update_event_failed", dev->name);
        return;
    }
    if (layer)
        test_layer(dev);
    else if (chain_run(dev).second >= 0) {
        tap_skip("%s: this driver does not hand a failure on to what waits for it", dev->name);
        return;
    }
    fault_install();
    for (size_t i = 0; i < lost_count; i++)
        if (dev->gpu || !lost_operations[i].gpu)
            test_operation(dev, &lost_operations[i]);
    fault_remove();
}

int main(void)
{
    signal(SIGALRM, hangs);
    lost_make();
    test_device_each(test_device);
    lost_free();
    return tap_done();
}
