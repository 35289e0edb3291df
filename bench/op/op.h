// SPDX-License-Identifier: Apache-2.0
// What the bench knows of an operation: a table of functions, one file each (bench/op/copy.c is the model;
// docs/howto/add-a-bench-operation.md walks through it). The bench calls them in this order:
//
//     input                        once for each matrix and type: draw the data, compute the reference
//       setup                      once for each backend, device, algorithm and tuning point
//         launch, launch, ...      a warm-up, then samples until the stop rule is content
//         poison, plain or launch  one run more, whose result cannot be that of a run before
//         verify                   reads back what the last launch gave, compares it with the reference
//       finish                     also after a failure half-way
//     input_free
//
// No function prints. A failure is a weft_status with one line in err->text; WEFT_EUNSUPPORTED means "not here, and
// that is no fault" (a type that the device lacks): the line says "skipped" and the exit status stays as it is.
#pragma once

#include "backends/backend.h"
#include "host/internal/inside.h"
#include <weft/context.h>

enum { BENCH_AXES_MAX = WEFT_BACKEND_TUNE_MOST, BENCH_CASES_MAX = 8 };

// What is the same for every backend and device.
struct bench_input {
    const struct weft_csr *a; // the matrix, valid rows and columns; NULL for an operation without one
    uint64_t seed;            // for data that the operation draws itself
    int64_t products;         // spmv: products expected, 0: not known
    int64_t hyb_width;        // spmv: entries of a row in the ELL part of hyb, 0: not given
    int hash;                 // nonzero: --hash, fill bench_run.hash in verify
    void *data;               // the operation's own: reference result, vectors, ...
};

// One line of the results.
struct bench_run {
    const struct bench_op *op;
    const struct bench_input *input;
    const struct weft_backend *backend; // name "ref", "omp", "opencl", ...
    const char *algo;                   // one of op->algos(backend)
    struct weft_context *ctx;           // the device; NULL on backends that need "host"
    cl_command_queue queue;             // in order, with profiling; NULL where ctx is
    struct weft_backend_tune tune;      // values asked for; bench_tune puts them into params
    // The operation fills these; what it leaves alone does not appear in the record.
    struct weft_backend_times times;
    uint64_t hash; // of the result
    int has_hash;
    void *state;                  // the operation's own: buffers, plan, result
    struct opencl_events *events; // used by bench_events_begin and _end
};

// The tuning values that backend, algorithm and device of the run have; NULL: none. Those with values to sweep are the
// axes of --sweep and --tune.
const struct weft__tunables *bench_tunables(const struct bench_run *run);
// Put what was asked for into `params`; what is not asked for stays.
void bench_tune(const struct bench_run *run, void *params);
// The value of that name in `params`; 0: there is none.
int bench_tuned(const struct bench_run *run, const void *params, const char *name);

struct bench_primitive;
struct bench_op {
    const char *name;     // as in --op
    const char *help;     // one line for --help
    const char *defaults; // algorithms of weft run without --algo, "scan,merge"; NULL: all of them
    int cases;            // nonzero: the algorithms are different tasks, and `ref` runs each of them
    int no_matrix;        // nonzero: runs once for each device, whatever the matrices
    int draws;            // nonzero: input draws data from the seed, so that the seed belongs to the record
    const struct bench_primitive *primitive; // what a primitive adds (primitive.h); NULL: it is none

    // Algorithms of `backend`, NULL-terminated, the first is its default; NULL: the backend lacks the operation.
    const char *const *(*algos)(const struct weft_backend *backend);
    int products; // nonzero: --products applies, one conversion and many runs
    int hashes;   // nonzero: --hash applies, verify fills run->hash
    // The tuning values with this algorithm and device where they are not those that the library lists for the operation;
    // NULL: nothing to tune.
    const struct weft__tunables *(*tunables)(const struct bench_run *run);

    // Make in->data from in->a: reference and everything else that all lines share. NULL: nothing is shared.
    weft_status (*input)(struct bench_input *in, struct weft_error *err);
    void (*input_free)(struct bench_input *in); // accepts data == NULL; sets it to NULL

    // Least bytes the operation can move: each input read once, each output written once. After setup.
    int64_t (*bytes_min)(const struct bench_run *run);
    // Arithmetic operations for a GFLOP/s column; NULL: none.
    int64_t (*flops)(const struct bench_run *run);

    // Compile, allocate, write the input; fill run->times (the bench itself measures what compiling costs). run->state owns everything, also when half built.
    weft_status (*setup)(struct bench_run *run, struct weft_error *err);
    // Run once and wait; *ms is the time by device events, or of the host clock for a host backend.
    weft_status (*launch)(struct bench_run *run, double *ms, struct weft_error *err);
    // Run `runs` times as a program would, that measures nothing, and wait once: the bench takes the host's clock around
    // it, for `run_ms` and `b2b_ms`. WEFT_EUNSUPPORTED, or a NULL function: there is no such time.
    weft_status (*plain)(struct bench_run *run, int runs, struct weft_error *err);
    // All of it in one call from host to host, as a program makes whose arrays are in host memory alone; *ms by the host's
    // clock. The result is compared with the reference: *right as of verify. WEFT_EUNSUPPORTED, or NULL: not to be had.
    weft_status (*call)(struct bench_run *run, double *ms, int *right, struct weft_error *err);
    // Put what is no result where runs leave theirs, and wait; not timed. The bench does it behind all samples and runs once
    // more: what verify sees then is of a run of the path that was timed, and not of one before.
    weft_status (*poison)(struct bench_run *run, struct weft_error *err);
    // Copy the result of the last launch to the host as a program would, and do nothing else with it: for --profile,
    // which cannot do without it.
    weft_status (*read)(struct bench_run *run, struct weft_error *err);
    // Least bytes that go to the device and come back: each input written once, each output read once.
    void (*transfers)(const struct bench_run *run, int64_t *write_bytes, int64_t *read_bytes);
    // Compare the result of the last launch with the reference: *right is 1, or 0 with the first difference in
    // err->text. A returned status means that the result could not be had at all.
    weft_status (*verify)(struct bench_run *run, int *right, struct weft_error *err);
    void (*finish)(struct bench_run *run); // accepts state == NULL
};

// Every operation, in the order of `--op all`; ends with NULL. bench/main.c holds it.
extern const struct bench_op *const bench_ops[];
extern const struct bench_op bench_transpose, bench_refill, bench_spmv, bench_scan, bench_segsort, bench_merge,
    bench_histogram, bench_expand, bench_copy;

// ---- for operations that launch kernels themselves (bench/op/device.c) ----

// A buffer of `bytes` bytes on run->ctx with the contents of `from` (NULL: not set); adds to run->times.write_ms.
weft_status bench_buffer(struct bench_run *run, cl_mem *out, const void *from, size_t bytes, const char *what,
                         struct weft_error *err);
// Copy `bytes` bytes back; adds to run->times.read_ms.
weft_status bench_read(struct bench_run *run, cl_mem from, void *to, size_t bytes, struct weft_error *err);
// Around the calls that enqueue: *ms is the span from the start of the first kernel to the end of the last one by
// device events, of the host clock where the driver keeps none. `status` is what the calls in between returned; a
// failure comes back with the context's message.
void bench_events_begin(struct bench_run *run);
// Count the event of a command that is no kernel of weft (a copy); takes the reference over.
void bench_events_add(struct bench_run *run, cl_event event);
weft_status bench_events_end(struct bench_run *run, weft_status status, double *ms, struct weft_error *err);
// Milliseconds of the host clock.
double bench_now_ms(void);
// Move the context's last error to err and return `status` (WEFT_OK: nothing happens).
weft_status bench_fail(struct bench_run *run, weft_status status, struct weft_error *err);
