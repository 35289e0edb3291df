// SPDX-License-Identifier: Apache-2.0
// Huge pages of the host: which sizes are worth them, asking for them, touching pages before they are needed.
#pragma once

#include <stddef.h>

// The size and alignment of huge pages on most machines.
#define WEFT__HUGE_BYTES ((size_t)2 << 20)

// Memory of at least `bytes` bytes for free(); from WEFT__HUGE_BYTES on it begins and ends at huge pages, and asks for them.
// NULL: none.
void *weft__huge_alloc(size_t bytes);
// Ask for huge pages where they lie whole in `bytes` bytes that nobody has touched yet; only a wish.
void weft__huge_advise(void *at, size_t bytes);
// Have the system give all pages of memory that will be written over: its contents may change.
void weft__huge_touch(void *at, size_t bytes);
