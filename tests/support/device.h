// SPDX-License-Identifier: Apache-2.0
// Devices for tests: every device found (or WEFT_DEVICE alone), in every schedule (or WEFT_SCHEDULE=cpu, gpu alone) and
// lane implementation that it can run; and buffers between canaries.
#pragma once

#include "tap.h"

#include <weft/context.h>

// One way to run.
struct test_device {
    struct weft_context *ctx;
    cl_command_queue queue; // in order, with profiling
    int gpu;                // nonzero: GPU schedule
    int checker;            // nonzero: the device is a memory checker (Oclgrind)
    char name[200];         // "0 NVIDIA H200, gpu, ptx"
};

// Call fn for each way to run. A device that cannot be used gives a skipped test, and so does having none.
void test_device_each(void (*fn)(struct test_device *dev));
// An in-order or out-of-order queue of the device; release with clReleaseCommandQueue. NULL: it has none of the kind.
cl_command_queue test_queue(struct test_device *dev, cl_command_queue_properties properties);
// Plans made from now on take kernels whose work-groups hand memory to each other, or not. On where the device is known to
// do so, and on processors without lane operations: they keep the order of what is written.
void test_fence(struct test_device *dev, int on);
// The head of a program whose work-group g of n is taken for the group of this number, an expression of g and n.
void test_order_text(char *text, size_t room, const char *number);
// Call fn with a cache that is empty, for what is measured and recorded once: nothing of earlier runs with the same seed is there.
void test_cache_empty(struct test_device *dev, void (*fn)(struct test_device *dev));
// Text of the context's last error.
const char *test_error(struct test_device *dev);

// A tuning value of `params`, those of an operation, by its name in the tune file, for the schedule of the device: "wg". 0
// where there is none of that name; setting such a one bails out.
int test_value(const struct test_device *dev, const char *op, const void *params, const char *name);
void test_value_set(const struct test_device *dev, const char *op, void *params, const char *name, int value);

// WEFT_SAMPLE=1: a reduced fixed sample of sizes, for slow checkers; no kind of check may be left out.
int test_sample(void);
// WEFT_SLOW=1: the long sweeps as well.
int test_slow(void);

// What a buffer holds before anything is written: NaN as f32 and f64, negative as an integer.
#define TEST_POISON UINT32_C(0xffffa5a5)

// A device buffer of exactly `bytes` bytes (at least one); words before and behind it must stay as they are. A memory
// checker gets a plain buffer and sees for itself.
struct test_buffer {
    cl_mem mem;    // what the operation gets
    cl_mem parent; // NULL: no canaries
    size_t bytes;
};
// With `data` as its contents, or poison where data is NULL. Bails out when the device refuses.
struct test_buffer test_buffer_make(struct test_device *dev, const void *data, size_t bytes);
void test_buffer_poison(struct test_device *dev, struct test_buffer *b);
void test_buffer_write(struct test_device *dev, struct test_buffer *b, const void *data, size_t bytes);
void test_buffer_read(struct test_device *dev, const struct test_buffer *b, void *data, size_t bytes);
// Nonzero: both canaries are untouched.
int test_buffer_intact(struct test_device *dev, const struct test_buffer *b);
void test_buffer_free(struct test_buffer *b);

// Fill host memory with poison; nonzero when all of it still is.
void test_poison(void *data, size_t bytes);
int test_poisoned(const void *data, size_t bytes);
// malloc that bails out.
void *test_alloc(size_t bytes);
