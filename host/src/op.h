// SPDX-License-Identifier: Apache-2.0
// What operations share: rows of tuning tables, checks of arguments.
#ifndef WEFT_OP_H
#define WEFT_OP_H

#include "context.h"

struct weft_device_csr;

// First member of a row of a tuning table: the contexts it is for. The values that follow are the operation's own
// struct weft_tune_*.
struct weft__tune_key {
    enum weft_schedule schedule;
    const char *vendor; // part of the device's vendor; NULL: any
    const char *device; // part of the device's name; NULL: any
    const char *source; // date, driver and record the values come from
};
// Part of the vendor's name that AMD's driver tells. Rows for it come from the registers and the local memory of kernels
// compiled offline (tests/lint/occupancy.py).
#define WEFT__VENDOR_AMD "Advanced Micro Devices"
// Index of the row to use: one that names the device, else the vendor, else neither. The table, `count` rows of
// `bytes` bytes that begin with their key, has a row with neither for each schedule.
size_t weft__tune_find(const struct weft_context *ctx, const void *rows, size_t bytes, size_t count);
#define WEFT__TUNE_FIND(ctx, rows)                                                                                     \
    (&(rows)[weft__tune_find((ctx), (rows), sizeof *(rows), sizeof(rows) / sizeof *(rows))])

// WEFT_EINVAL unless `buffer` is a buffer of `bytes` bytes or more; zero bytes may come with NULL.
weft_status weft__check_buffer(struct weft_context *ctx, cl_mem buffer, size_t bytes, const char *name);
// WEFT_EINVAL unless low <= value <= high and value is a multiple of `step`.
weft_status weft__check_range(struct weft_context *ctx, int64_t value, int64_t low, int64_t high, int64_t step,
                              const char *name);
// WEFT_EINVAL where two matrices, what is read and what is written, have a buffer in common.
weft_status weft__check_apart(struct weft_context *ctx, const struct weft_device_csr *in,
                              const struct weft_device_csr *out);

#endif
