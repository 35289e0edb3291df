// SPDX-License-Identifier: Apache-2.0
// The litmus: every protocol is right here, and a driver that leaves out a launch is found by those whose groups leave a result.
#include "tests/support/device.h"

#include "host/internal/inside.h"

#include <string.h>

static struct weft__cl_table real;
static int launches;

// Every second launch is not made.
static cl_int CL_API_CALL lying_launch(cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g,
                                       const size_t *l, cl_uint n, const cl_event *w, cl_event *event)
{
    if (++launches % 2)
        return real.clEnqueueNDRangeKernel(q, k, d, o, g, l, n, w, event);
    return n || event ? real.clEnqueueMarkerWithWaitList(q, n, w, event) : CL_SUCCESS;
}

struct seen {
    int right, mutants, found, wrong;
    uint64_t met;
};

static void result_seen(void *arg, const struct weft__litmus_result *r)
{
    struct seen *s = arg;
    s->right += !r->change && !r->wrong;
    s->wrong += !r->change && r->wrong;
    s->mutants += r->change != NULL;
    s->found += r->change && r->wrong;
    s->met += r->met;
    tap_note("%s%s%s: %llu slots, %llu met, %llu wrong", r->protocol, r->change ? ", " : "", r->change ? r->change : "",
             (unsigned long long)r->slots, (unsigned long long)r->met, (unsigned long long)r->wrong);
}

static void test_device(struct test_device *dev)
{
    struct seen s = {0};
    uint64_t wrong = 1;
    if (dev->checker || (test_sample() && dev->gpu)) {
        tap_skip("%s: %s", dev->name, dev->checker ? "its groups run one after the other" : "a sample");
        return;
    }
    const int wide = weft__caps_of(dev->ctx).int64_atomics, all = wide ? 6 : 4, mutants = wide ? 11 : 7;
    weft_status status = weft__litmus(&wrong, dev->ctx, test_sample() ? 1 : 20, result_seen, &s);
    tap_ok(!status && !wrong && s.right == all && s.mutants == mutants,
           "%s: %d of %d protocols are right; of %d mutants %d were found (%d)", dev->name, s.right, all, s.mutants,
           s.found, (int)status);
    real = weft__cl;
    weft__cl.clEnqueueNDRangeKernel = lying_launch;
    launches = 0;
    s = (struct seen){0};
    status = weft__litmus(&wrong, dev->ctx, 0, result_seen, &s);
    weft__cl = real;
    tap_ok(!status && wrong && s.wrong == (wide ? 4 : 3), "%s: launches that are left out are found in %d protocols",
           dev->name, s.wrong);
    tap_is_int(weft__litmus(NULL, dev->ctx, 1, NULL, NULL), WEFT_EINVAL, "%s: no count", dev->name);
    tap_is_int(weft__litmus(&wrong, NULL, 1, NULL, NULL), WEFT_EINVAL, "%s: no context", dev->name);
}

int main(void)
{
    test_device_each(test_device);
    return tap_done();
}
