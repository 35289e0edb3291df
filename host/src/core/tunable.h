// SPDX-License-Identifier: Apache-2.0
// The description of a tuning value: one table for each operation, algorithm and schedule says all that is known of them.
// It drives checks and defaults (tunable.c), the tune file (tune.c), the axes and values of weft-bench, and the page
// docs/reference/tunables.md.
#pragma once

#include <stddef.h>
#include <weft/context.h>

#ifdef __cplusplus
extern "C" {
#endif

// First member of a row of a tuning table: the contexts it is for. The values that follow are the operation's own
// struct weft_tune_*.
struct weft__tune_key {
    enum weft_schedule schedule;
    const char *vendor; // part of the device's vendor; NULL: any
    int wave;           // lanes of the hardware that the driver tells, 32 or 64; 0: any
    const char *device; // part of the device's name; NULL: any
    const char *source; // date, driver and record the values come from
};
// Part of the vendor's name that AMD's driver tells. Rows for it come from the registers and the local memory of kernels
// compiled offline (docs/log/amd-occupancy.md): one for waves of 64, and one for waves of 32, whose compute units come in
// pairs with twice the local memory for as many work-items.
#define WEFT__VENDOR_AMD "Advanced Micro Devices"
// Index of the row to use: one that names the device, else the vendor and the wave, else the vendor, else nothing. The table, `count` rows of
// `bytes` bytes that begin with their key, has a row with none for each schedule.
size_t weft__tune_find(const struct weft_context *ctx, const void *rows, size_t bytes, size_t count);
#define WEFT__TUNE_FIND(ctx, rows)                                                                                     \
    (&(rows)[weft__tune_find((ctx), (rows), sizeof *(rows), sizeof(rows) / sizeof *(rows))])

#define WEFT__TUNE_ROWS(rows)                                                                                          \
    {                                                                                                                  \
        (rows), sizeof *(rows), sizeof(rows) / sizeof *(rows)                                                          \
    }

// Whether the best value is one for a device, or depends on the matrix.
enum weft__tunable_kept {
    WEFT__KEPT_NOT = 0, // it depends on the matrix, or is no tuning value: the tune file does not have it
    WEFT__KEPT,         // the tune file may have it; weft-bench --tune leaves it alone
    WEFT__KEPT_FOUND    // weft-bench --tune looks for it
};
// How a default goes down where work-groups or local memory are too small for it.
enum weft__tunable_lower {
    WEFT__LOWER_CUT = 0, // to the largest value in the range; not for local memory
    WEFT__LOWER_HALVE,   // by halves
    WEFT__LOWER_STEP     // by steps
};

enum { WEFT__TUNABLE_SWEEP = 12, WEFT__TUNABLES_MOST = 8, WEFT__POWER_OF_TWO = -1 };

struct weft__tunable {
    const char *name;   // in the tune file and of weft-bench: "ipt"
    const char *member; // of the params: "gpu.ipt"
    size_t at;          // offset of that int in the params
    size_t from;        // offset of its default in a row of the operation's table; 0: chosen by the shape
    int low, high;      // high 0: what `most` leaves
    int step;           // what values are a multiple of, or WEFT__POWER_OF_TWO
    // What the device and the values before it in the table leave of `high`; NULL: all.
    int64_t (*most)(const struct weft_context *ctx, const void *params);
    enum weft__tunable_lower lower;
    enum weft__tunable_kept kept;
    int sweep[WEFT__TUNABLE_SWEEP]; // values that weft-bench --sweep tries, ends with 0; none: no axis
    const char *help;               // what it is, with its unit
};
// The members that say where a value lies and where its default comes from.
#define WEFT__TUNABLE(label, params, place, row, column)                                                               \
    .name = (label), .member = #place, .at = offsetof(params, place), .from = offsetof(row, column)
#define WEFT__TUNABLE_BY_SHAPE(label, params, place) .name = (label), .member = #place, .at = offsetof(params, place)

// The tuning values of an operation for one algorithm and schedule.
struct weft__tunables {
    const char *op;   // as in weft-bench --op
    const char *algo; // as in weft-bench --algo; NULL: those that no other entry names
    enum weft_schedule schedule;
    const char *row; // in the tune file; NULL: none
    const struct weft__tunable *list;
    size_t count;
    struct {
        const void *rows; // that defaults come from; NULL: all are chosen by the shape
        size_t bytes, count;
    } table;
};
#define WEFT__TUNABLES(list) (list), sizeof(list) / sizeof *(list)

// The value in `params`.
static inline int *weft__tunable_value(const struct weft__tunable *t, void *params)
{
    return (int *)((char *)params + t->at);
}
// The one of that name; NULL: none.
const struct weft__tunable *weft__tunable_find(const struct weft__tunables *set, const char *name);
// The value of that name in `params`; 0 where the set has none.
int weft__tunable_get(const struct weft__tunables *set, const void *params, const char *name);
// Nonzero: the caller gave a value that the tune file could have.
int weft__tunables_given(const struct weft__tunables *set, const void *params);

// Bytes of local memory that the values in `params` take.
typedef size_t weft__local_fn(const void *of, const void *params);
// Give values of `params` that are 0 the default that `row` has for them (a row of set->table, or one like it; NULL: they
// stay 0), lowered
// until it is in range and local memory suffices: the last of the set first. `local` may be NULL: none is taken.
// WEFT_EINVAL: the caller's value is out of range, or does not fit into local memory.
weft_status weft__tunables_resolve(const struct weft__tunables *set, struct weft_context *ctx, void *params,
                                   const void *row, weft__local_fn *local, const void *of);

// For `most`: the largest work-group that the device and its kernels take.
int64_t weft__tunable_wg(const struct weft_context *ctx, const void *params);

#ifdef __cplusplus
}
#endif
