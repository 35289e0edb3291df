// SPDX-License-Identifier: Apache-2.0
// Buffers of a context: what they hold, limits, and the memory behind large ones on a processor.
#include "host/internal/inside.h"
#include "tests/support/device.h"
#include "tests/support/fault.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LARGE ((size_t)9 << 20)

static atomic_int freed; // destructors that ran

static void CL_CALLBACK freed_count(cl_mem buffer, void *arg)
{
    (void)buffer;
    ++*(atomic_int *)arg;
}

// Drivers call it from a thread of theirs, some after clFinish.
static int freed_becomes(int wanted)
{
    for (int ms = 0; ms < 5000 && freed != wanted; ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return freed == wanted;
}

// Memory of the host behind the buffer; NULL: the driver's own.
static void *host_of(cl_mem buffer)
{
    void *host = NULL;
    clGetMemObjectInfo(buffer, CL_MEM_HOST_PTR, sizeof host, &host, NULL);
    return host;
}

static void test_contents(struct test_device *dev, size_t bytes)
{
    cl_mem buffer = NULL;
    unsigned char *in = test_alloc(bytes), *out = test_alloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        in[i] = (unsigned char)(i * 7 + (i >> 11));
    memset(out, 0, bytes);
    const int created = weft__buffer_create(&buffer, dev->ctx, bytes, "a test") == WEFT_OK;
    if (tap_ok(created, "%s: a buffer of %zu bytes", dev->name, bytes)) {
        const cl_int wrote = clEnqueueWriteBuffer(dev->queue, buffer, CL_TRUE, 0, bytes, in, 0, NULL, NULL);
        memset(in, 1, bytes / 2); // what was written is the buffer's own now
        const cl_int read = clEnqueueReadBuffer(dev->queue, buffer, CL_TRUE, 0, bytes, out, 0, NULL, NULL);
        int same = !wrote && !read;
        for (size_t i = 0; i < bytes && same; i++)
            same = out[i] == (unsigned char)(i * 7 + (i >> 11));
        tap_ok(same, "%s: holds what is written", dev->name);
        freed = 0;
        clSetMemObjectDestructorCallback(buffer, freed_count, (void *)&freed);
        weft__buffer_release(&buffer);
        clFinish(dev->queue);
        tap_ok(!buffer && freed_becomes(!dev->checker), "%s: and ends with its release", dev->name); // there it is kept
    }
    free(in);
    free(out);
}

static void test_pages(struct test_device *dev)
{
    const int processor = (weft_context_device(dev->ctx)->type & CL_DEVICE_TYPE_CPU) != 0;
    cl_mem large = NULL, other = NULL, small = NULL, none = NULL;
    tap_ok(!weft__buffer_create(&large, dev->ctx, LARGE, "a test") &&
               !weft__buffer_create(&other, dev->ctx, LARGE, "a test") &&
               !weft__buffer_create(&small, dev->ctx, 4096, "a test") &&
               !weft__buffer_create(&none, dev->ctx, 0, "a test"),
           "%s: large, small, empty", dev->name);
    tap_ok(!host_of(small) && !host_of(none), "%s: small ones are the driver's", dev->name);
    const size_t at = (size_t)host_of(large), next = (size_t)host_of(other);
    tap_ok(processor ? at && at % ((size_t)2 << 20) < 4096 && at % 256 == 0 : !at,
           "%s: a large one begins in the first page of a huge one on a processor", dev->name);
    tap_ok(processor ? next && next % 4096 != at % 4096 : !next, "%s: the next one elsewhere in a page", dev->name);
    weft__buffer_release(&large);
    weft__buffer_release(&other);
    weft__buffer_release(&small);
    weft__buffer_release(&none);
}

static void test_refusals(struct test_device *dev)
{
    const size_t limit = (size_t)weft_context_device(dev->ctx)->max_alloc_bytes;
    cl_mem buffer = NULL;
    weft_status status = weft__buffer_create(&buffer, dev->ctx, limit + 1, "a test");
    tap_ok(status == WEFT_ERANGE && !buffer && strstr(test_error(dev), "a test needs"), "%s: beyond the limit: %s",
           dev->name, test_error(dev));

    // Large buffers do without huge pages where the driver will not have them, and lose nothing.
    const int processor = (weft_context_device(dev->ctx)->type & CL_DEVICE_TYPE_CPU) != 0;
    fault_install();
    const int live = fault_live();
    fault_set(FAULT_clSetMemObjectDestructorCallback, 1);
    status = weft__buffer_create(&buffer, dev->ctx, LARGE, "a test");
    tap_ok(!status && buffer && !host_of(buffer) && fault_hit() == processor, "%s: no callbacks", dev->name);
    weft__buffer_release(&buffer);
    fault_set(FAULT_clCreateBuffer, 1);
    status = weft__buffer_create(&buffer, dev->ctx, LARGE, "a test");
    tap_ok(processor ? !status && buffer && !host_of(buffer) : status == WEFT_EDEVMEM && !buffer,
           "%s: the first allocation fails", dev->name);
    weft__buffer_release(&buffer);
    fault_set(FAULT_clCreateBuffer, 1);
    status = weft__buffer_create(&buffer, dev->ctx, 4096, "a test");
    tap_ok(status == WEFT_EDEVMEM && !buffer && strstr(test_error(dev), "a test of 4096 bytes"), "%s: no memory: %s",
           dev->name, test_error(dev));
    tap_is_int(fault_live(), live, "%s: nothing is left", dev->name);
    fault_remove();
}

static void test_each(struct test_device *dev)
{
    test_contents(dev, 1);
    test_contents(dev, 100003);
    test_contents(dev, dev->checker ? 4097 : LARGE + 5);
    if (!dev->checker) // it keeps a shadow of each byte
        test_pages(dev);
    test_refusals(dev);
}

int main(void)
{
    test_device_each(test_each);
    return tap_done();
}
