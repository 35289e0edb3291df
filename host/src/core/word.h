// SPDX-License-Identifier: Apache-2.0
// Words as people write them: counts such as 10M and 1e6, names with a letter wrong.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The whole number that starts `text`: digits, perhaps a point, an exponent and one of the letters k, K, M, G, T, each `unit`
// (1000 or 1024) times the one before. 1.5M is 1500000; 1.5 is none. Returns its length, 0: there is none, -1: more than
// 64 bits.
int weft__word_count(int64_t *out, const char *text, int64_t unit);

// The one of `count` words (each `stride` bytes behind the one before, a const char * first) that `text` of `length` letters
// may have been meant to be, NULL: none is near. Near are words that a third of the letters, and at most 3, make equal, and
// words of 3 letters or more that `text` begins, or that begin it.
const char *weft__word_nearest(const char *text, size_t length, const void *words, size_t count, size_t stride);
