// SPDX-License-Identifier: Apache-2.0
// Shared by the library's own files: errors, checked sizes.
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <weft/status.h>

// Fill *err (may be NULL) with a one-line message and return `status`, so that failing reads
// `return weft__error(err, WEFT_EINVAL, "m is %lld", m);`.
__attribute__((format(__printf__, 3, 4))) weft_status weft__error(struct weft_error *err, weft_status status,
                                                                  const char *format, ...);

// a*b and a+b; on overflow the result is SIZE_MAX, which no allocation satisfies.
static inline size_t weft__mul(size_t a, size_t b)
{
    size_t out;
    return __builtin_mul_overflow(a, b, &out) ? SIZE_MAX : out;
}
static inline size_t weft__add(size_t a, size_t b)
{
    size_t out;
    return __builtin_add_overflow(a, b, &out) ? SIZE_MAX : out;
}
static inline size_t weft__ceil_div(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}
static inline size_t weft__round_up(size_t a, size_t b)
{
    return weft__mul(weft__ceil_div(a, b), b);
}
static inline size_t weft__min(size_t a, size_t b)
{
    return a < b ? a : b;
}
static inline size_t weft__max(size_t a, size_t b)
{
    return a > b ? a : b;
}
