// SPDX-License-Identifier: Apache-2.0
// What the tests of small devices share.
#pragma once

#include "layer.h"
#include "tests/support/device.h"

extern struct limits limits; // of the layer, and what the device lacks itself

// The context's last error names something that the device lacks or a buffer beyond its limit; it is forgotten then.
int limited(struct test_device *dev);
// Arrays of three quarters of the device's memory (memory.c).
void test_memory(struct test_device *dev);
