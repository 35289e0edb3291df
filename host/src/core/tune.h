// SPDX-License-Identifier: Apache-2.0
// Tuning values: rows of the tables in the source, and rows of a file that `weft-bench --tune` writes. The file is read
// when a context is made. A row of it holds for one device, driver and schedule, and says for an operation on elements of
// some width what takes the place of the defaults. docs/reference/tune-file.md has the form of the file.
#pragma once

#include "host/src/core/tunable.h"

#define WEFT__TUNE_KIND "# weft tune" // of any version
#define WEFT__TUNE_HEAD WEFT__TUNE_KIND " 1"
enum { WEFT__TUNE_VALUES = 6, WEFT__TUNE_NAME = 24 };

// One row for the context's device.
struct weft__tune_row {
    char op[WEFT__TUNE_NAME]; // "scan", "transpose.merge"
    int bytes;                // of an element
    int count;
    struct {
        char name[WEFT__TUNE_NAME];
        int value;
    } values[WEFT__TUNE_VALUES];
};

// Where the file is: `wanted`, or for NULL the environment's WEFT_TUNE, else tune.tsv in $XDG_CONFIG_HOME/weft or
// ~/.config/weft. 0: there is none to be used (*out is empty), or the path does not fit.
int weft__tune_path(char *out, size_t size, const char *wanted);
// Read the rows for the device and schedule of ctx. A file or line that cannot be read is a line of the log. A file that
// `wanted` names may be anybody's; one that the environment names is read where it is the user's own (own.h).
void weft__tune_load(struct weft_context *ctx, const char *wanted);
void weft__tune_free(struct weft_context *ctx);

// What every operation does to resolve its defaults:
//
//     struct weft__tuned tuned = weft__tuned_begin(ctx, set, 4, &p);
//     do
//         status = resolve(info, ctx, &p);
//     while (weft__tuned_again(&tuned, status, info->why, sizeof info->why));
//
// Where the caller gave none of the values (all are 0) and the file has a row, the values are those of the row, and
// resolve checks them as it checks a caller's. Where it refuses them, the log says so and resolve gets zeros again.
struct weft__tuned {
    struct weft_context *ctx;
    const struct weft__tunables *set;
    void *params;
    int taken; // nonzero: the values are those of a row
    int refused;
    char said[256]; // why
};
struct weft__tuned weft__tuned_begin(struct weft_context *ctx, const struct weft__tunables *set, size_t bytes,
                                     void *params);
// Nonzero: once more. After success `why` says that the file was taken.
int weft__tuned_again(struct weft__tuned *tuned, weft_status status, char *why, size_t why_size);
