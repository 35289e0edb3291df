// SPDX-License-Identifier: Apache-2.0
// What counters.c knows of a source of counters: a table of functions, one file each.
#pragma once

#include <stddef.h>
#include <weft/device.h>

struct weft_counters;

enum weft_counter_kind {
    WEFT_COUNTER_SUM,   // counts while the work runs; the source gives the total
    WEFT_COUNTER_DELTA, // a count that always runs: last sample - the one at the first start
    WEFT_COUNTER_GAUGE, // a value of the moment: mean, least and greatest of the samples
    WEFT_COUNTER_FLAGS, // bits: all that were seen
    WEFT_COUNTER_FIXED  // does not change
};

struct weft_counter {
    const char *name, *unit, *source;
    enum weft_counter_kind kind;
    long samples;
    double value; // sum of the samples of a gauge
    double min, max, base;
    uint64_t flags;
    const char *(*flag_text)(uint64_t bit); // FLAGS: NULL: a bit that is none of the record's
    char why[200];                          // not available: the reason; else ""
};

// A counter of the record, at the end of the list; it counts nothing yet. NULL: the list is full.
struct weft_counter *weft_counter_add(struct weft_counters *c, const char *name, const char *unit, const char *source,
                                      enum weft_counter_kind kind);
// A value; of SUM and FIXED the last one counts. Accepts NULL.
void weft_counter_put(struct weft_counters *c, struct weft_counter *counter, double value);
void weft_counter_put_flags(struct weft_counters *c, struct weft_counter *counter, uint64_t bits);
// Why there is no value; the first reason stays, until a value comes. Accepts NULL.
__attribute__((format(printf, 2, 3))) void weft_counter_absent(struct weft_counter *counter, const char *format, ...);

struct weft_counter_source {
    // Adds the counters it knows, those that cannot be had with their reason. Gives its state, for the others; NULL:
    // none of them can be had.
    void *(*open)(struct weft_counters *c, const struct weft_device_info *device);
    void (*start)(void *state); // each may be NULL
    void (*stop)(void *state);
    void (*sample)(void *state, struct weft_counters *c); // by another thread, while the work runs and after each stop
    void (*total)(void *state, struct weft_counters *c);  // values of SUM, before the record is made
    void (*close)(void *state);
};
extern const struct weft_counter_source weft_counters_perf, weft_counters_sysfs, weft_counters_nvml,
    weft_counters_cupti, weft_counters_rocm;

// What the library of a driver tells of a whole board: the same names and units for every vendor.
struct weft_board {
    struct weft_counter *power, *power_limit, *energy, *temperature, *gpu_busy, *memory_busy;
};
// Add them to the record. why: the reason that none of them can be had; NULL: they can.
void weft_board_add(struct weft_board *out, struct weft_counters *c, const char *source, const char *why);

// The first of the libraries (ends with NULL) that can be loaded; NULL, with the reason for the first one in `why`.
void *weft_counters_library(const char *const *names, char *why, size_t size);
// Set the function pointer at `slot` to a symbol of the library, NULL where it lacks it.
void weft_counters_symbol(void *library, const char *name, void *slot);
// Number in a file of sysfs; 0 when it cannot be read, with errno.
int weft_counters_file(const char *path, double *out);

// For tests: the folder of sysfs, and the system call perf_event_open (-1 and errno).
struct perf_event_attr;
extern const char *weft_counters_sys;
extern int (*weft_counters_perf_open)(struct perf_event_attr *attr, int tid, int group);
