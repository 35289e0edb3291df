// SPDX-License-Identifier: Apache-2.0
// Allocations that fail, and a count of those that are alive: the linker turns malloc and its kin into the functions of heap.c.
#pragma once

#include <stdbool.h>

// `count` more allocations succeed, then one fails, or with `ever` all that follow; negative: none fails.
void heap_fail_after(int count, bool ever);
// Nonzero: one has failed. None fails from now on.
int heap_failed(void);
// Allocations that are not yet freed.
int heap_live(void);
