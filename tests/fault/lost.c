// SPDX-License-Identifier: Apache-2.0
// What a plan does where the device gives up: each launch of a run is refused, alone and with all that follow; or a wait
// fails. The run says so, and the next run of the same plan is right, with no call in between. Events that failed:
// lost_events.c.
#include "lost_jobs.h"

#include <string.h>

// Each launch of a run is refused, with `ever` all that follow too: the device is gone until the next run.
static void test_launches(struct lost_job *j, const struct lost_operation *o, bool ever)
{
    int good = 1, n = 1, hit = 1;
    for (; good && hit; n++) {
        struct weft_error err;
        if (ever)
            fault_set_ever(FAULT_clEnqueueNDRangeKernel, n);
        else
            fault_set(FAULT_clEnqueueNDRangeKernel, n);
        const weft_status status = o->run(j, 0, NULL, NULL);
        hit = fault_hit();
        weft_context_error(&err, j->dev->ctx);
        good =
            !hit ? !status : status == WEFT_EDEVMEM && err.status == status && strstr(err.text, "CL_OUT_OF_RESOURCES");
        if (!good)
            tap_note("launch %d: status %d, %s", n, (int)status, err.text);
        else if (!(good = lost_next_right(j, o)))
            tap_note("launch %d: the next run is wrong", n);
    }
    tap_ok(good && n > 2, "%s, %s: %d launches refused%s, the next run is right", j->dev->name, o->name, n - 2,
           ever ? " with all later ones" : "");
}

// Is a device lost for a blocking call, as when a driver ends a kernel that takes too long? The wait fails; the next call works.
static void test_waits(struct test_device *dev)
{
    static const enum fault_call waits[] = {FAULT_clFinish, FAULT_clWaitForEvents, FAULT_clEnqueueReadBuffer,
                                            FAULT_clEnqueueUnmapMemObject};
    int failed = 0, good = 1;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        for (int n = 1, hit = 1; good && hit; n++) {
            struct weft_csr got = {0}, again = {0};
            fault_set(waits[i], n);
            const weft_status status = weft_transpose_sync(&got, dev->ctx, lost_matrix(), NULL);
            hit = fault_hit();
            failed += hit && status;
            fault_set(FAULT_clFlush, 0);
            good = (status ? !got.row_ptr : weft_csr_equal(&got, lost_transposed())) &&
                   !weft_transpose_sync(&again, dev->ctx, lost_matrix(), NULL) &&
                   weft_csr_equal(&again, lost_transposed());
            if (!good)
                tap_note("%s number %d: %d, %s", fault_name(waits[i]), n, (int)status, test_error(dev));
            weft_csr_free(&got);
            weft_csr_free(&again);
        }
    tap_ok(good && failed, "%s: %d waits of a blocking call fail, the next call is right", dev->name, failed);
}

static void test_device(struct test_device *dev)
{
    fault_install();
    for (size_t i = 0; i < lost_count; i++) {
        const struct lost_operation *o = &lost_operations[i];
        struct lost_job j;
        if (!dev->gpu && o->gpu)
            continue;
        if (lost_begin(&j, dev, o)) {
            test_launches(&j, o, false);
            test_launches(&j, o, true);
        }
        lost_end(&j);
    }
    test_waits(dev);
    fault_remove();
}

int main(void)
{
    lost_make();
    test_device_each(test_device);
    lost_free();
    return tap_done();
}
