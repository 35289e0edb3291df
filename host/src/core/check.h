// SPDX-License-Identifier: Apache-2.0
// Checks of arguments, one for each kind. What fails one is WEFT_EINVAL, with the argument's name in the message.
#pragma once

#include <weft/permute.h>

struct weft__pointer {
    const char *name;
    const void *at;
};
#define WEFT__LIST(type, ...)                                                                                          \
    (const struct type[]){__VA_ARGS__}, sizeof(const struct type[]){__VA_ARGS__} / sizeof(struct type)

// None of these may be NULL: WEFT__NEED(err, {"out", out}, {"a", a}). WEFT__NEED_IN takes a context in the place of the
// error, which may not be NULL either.
weft_status weft__pointers_check(struct weft_error *err, const struct weft__pointer *list, size_t count);
weft_status weft__pointers_check_in(struct weft_context *ctx, const struct weft__pointer *list, size_t count);
#define WEFT__NEED(err, ...)    weft__pointers_check((err), WEFT__LIST(weft__pointer, __VA_ARGS__))
#define WEFT__NEED_IN(ctx, ...) weft__pointers_check_in((ctx), WEFT__LIST(weft__pointer, __VA_ARGS__))

// 0 <= m, n <= 2^31-1 and nnz >= 0; a type of values; a width of offsets.
weft_status weft__sizes_check(struct weft_error *err, int64_t m, int64_t n, int64_t nnz);
weft_status weft__type_check(struct weft_error *err, enum weft_type type);
weft_status weft__ofs_check(struct weft_error *err, enum weft_ofs ofs);
// A matrix: not NULL, sizes, types, arrays there. What the arrays hold is not looked at.
weft_status weft__csr_check(struct weft_error *err, const struct weft_csr *a);
// The same of coordinates, whose indices are looked at: WEFT_EMATRIX one out of range.
weft_status weft__coo_check(struct weft_error *err, const struct weft_coo *a);
// A permutation: not NULL, sizes, both maps of a pair or none. The maps are trusted.
weft_status weft__permutation_check(struct weft_error *err, const struct weft_permutation *p);
// A number of host threads: 0 or more.
weft_status weft__threads_check(struct weft_error *err, int threads);
// A histogram: a size that is not negative, and an array unless it is 0.
weft_status weft__histogram_check(struct weft_error *err, const int64_t *count, int64_t buckets, const char *name);

// WEFT_EINVAL unless `buffer` is a buffer of `bytes` bytes or more; zero bytes may come with NULL.
weft_status weft__check_buffer(struct weft_context *ctx, cl_mem buffer, size_t bytes, const char *name);
// WEFT_EINVAL where the row pointers, columns or (but of a pattern) values are buffers of another OpenCL context. Those that are
// NULL are not looked at.
weft_status weft__check_own(struct weft_context *ctx, const struct weft_device_csr *a);
// WEFT_EINVAL unless low <= value <= high and value is a multiple of `step`.
weft_status weft__check_range(struct weft_context *ctx, int64_t value, int64_t low, int64_t high, int64_t step,
                              const char *name);
// The same for several, in their order: WEFT__BUFFERS(ctx, {"scan: in", in, in_bytes}, {"scan: out", out, out_bytes}).
struct weft__buffer_rule {
    const char *name;
    cl_mem buffer;
    size_t bytes;
};
weft_status weft__buffers_check(struct weft_context *ctx, const struct weft__buffer_rule *list, size_t count);
#define WEFT__BUFFERS(ctx, ...) weft__buffers_check((ctx), WEFT__LIST(weft__buffer_rule, __VA_ARGS__))
// WEFT_EINVAL where the first of these, which is written, is one of the others. Those of 0 bytes are not used.
weft_status weft__alone_check(struct weft_context *ctx, const struct weft__buffer_rule *list, size_t count);
#define WEFT__ALONE(ctx, ...) weft__alone_check((ctx), WEFT__LIST(weft__buffer_rule, __VA_ARGS__))
// WEFT_EINVAL where two matrices, what is read and what is written, have a buffer in common, or the latter has one twice.
weft_status weft__check_apart(struct weft_context *ctx, const struct weft_device_csr *in,
                              const struct weft_device_csr *out);
