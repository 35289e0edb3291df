// SPDX-License-Identifier: Apache-2.0
// The inside of a context, and what every operation needs from it: failures, their text, the log.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <weft/context.h>

#include "host/src/core/cl_table.h"
#include "host/src/core/error.h"

struct weft__program;
struct weft__stage;
struct weft__tune_row;

// Which self-tests were right (selftest.h), and who asked to see each of them.
struct weft__trials {
    bool off;
    uint64_t *right; // hashes; inverted: of what was wrong
    size_t count;
    // Not NULL: every trial runs, whatever is recorded. `error` is not NULL where it could not run.
    void (*seen)(void *arg, const char *what, const char *kernels, const struct weft_error *error, bool right);
    void *arg;
    int every, asked; // every > 1: one in so many of those runs (tests)
};

// How large arrays travel between host and device (stage.h); zeros are the defaults.
struct weft__staging {
    int off;     // not zero: pinned memory was not to be had (atomic)
    bool forced; // also where the device shares the host's memory (tests)
    int slots, threads;
    size_t slot_bytes, piece_bytes;
    struct weft__stage *stage; // NULL: nothing large has travelled yet
};

// What blocking calls leave for the next one (keep.h).
#define WEFT__KEPT_BUFFERS 8
#define WEFT__KEPT_PLANS   3
struct weft__kept {
    cl_command_queue queue; // NULL: none
    struct weft__kept_buffer {
        cl_mem mem;
        size_t bytes;
    } buffer[WEFT__KEPT_BUFFERS]; // the oldest first
    int buffers;
    struct weft__kept_plan {
        void *at; // NULL: none
        size_t bytes;
        void (*drop)(void *plan);
    } plan[WEFT__KEPT_PLANS]; // one of each operation
    size_t bytes;             // of buffers and plans
};

struct weft_context {
    struct weft_device_info device;
    cl_context cl;
    enum weft_schedule schedule; // GPU or CPU, never AUTO
    char *cache_dir;             // NULL: no disk cache
    char cache_told[512];        // the last line of the log about it
    void (*log)(void *arg, const char *text);
    void *log_arg;
    weft_launch_fn *on_launch;
    void *on_launch_arg;
    pthread_mutex_t mutex; // guards error, programs, stats, cache_told, the counts of tune, the records of trials, kept
    struct weft_error error;
    struct weft__program *programs;
    struct weft_build_stats stats;
    struct weft__tune_row *tune; // of the tune file, for this device (tune.h)
    size_t ntune;
    bool no_ballot, no_size; // of sub-groups (program.h)
    int vector;              // floats of a vector of the hardware, 0: the driver does not say
    cl_mem_flags large_flag; // of buffers of WEFT__LARGE_BYTES and more; 0: none is needed
    uint64_t fill_words;     // most words of one launch of a fill; 0: any number
    int wide_positions;      // tests: transpositions with 64-bit offsets take 64-bit positions, however few
    size_t huge_buffers;     // made so far, for where the next one begins (buffer.c)
    struct weft__trials trials;
    struct weft__staging staging;
    struct weft__kept kept;
    uint64_t salt; // not 0: put into program texts, so that no cache, not even the driver's, knows them
};

// Record a failure in the context's last-error slot and log, and return its status.
__attribute__((format(__printf__, 3, 4))) weft_status weft__fail(struct weft_context *ctx, weft_status status,
                                                                 const char *format, ...);
// The same for an OpenCL call: CL_SUCCESS gives WEFT_OK and records nothing. `what` names the call and its object.
weft_status weft__fail_cl(struct weft_context *ctx, cl_int error, const char *what);
// weft__fail with the code of the OpenCL call behind the failure.
__attribute__((format(__printf__, 4, 5))) weft_status weft__fail_code(struct weft_context *ctx, weft_status status,
                                                                      cl_int code, const char *format, ...);
// Record a failure as it is, and return its status.
weft_status weft__fail_again(struct weft_context *ctx, const struct weft_error *error);
// A line of the log that is no failure.
__attribute__((format(__printf__, 2, 3))) void weft__tell(struct weft_context *ctx, const char *format, ...);
// weft__cache_read in the context's cache_dir, which is not NULL. What is not the user's own is a line of the log, once.
unsigned char *weft__cached(struct weft_context *ctx, const char *key, size_t *size);
// For what is tried: until weft__quiet_end, failures of this thread leave the context's error and its log alone. Pairs
// nest, for one context at a time. *out (may be NULL) gets the last failure, status WEFT_OK where there was none.
void weft__quiet_begin(struct weft_context *ctx);
void weft__quiet_end(struct weft_error *out);
