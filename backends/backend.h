// SPDX-License-Identifier: Apache-2.0
// What the bench and the tests know of an implementation: a table of functions.
#pragma once

#include <weft/matrix.h>

struct weft_context; // the OpenCL device the bench is on; NULL when there is none

// Times of one prepared operation, in milliseconds; negative: does not apply.
struct weft_backend_times {
    double write_ms;          // host to device
    double read_ms;           // device to host
    double convert_ms;        // conversion of the format
    double analyse_ms;        // analysis of the plan
    double tune_ms;           // measuring of candidates when the plan was made
    double compile_cold_ms;   // compilation from source
    double compile_cached_ms; // program from the disk cache
    int64_t workspace_bytes;  // scratch memory beyond input and output
    int64_t format_bytes;     // bytes of the matrix in the format that is run
    int host_clock;           // nonzero: a run on a device is told by the host's clock, since its events have no times
    char chosen[96];          // algorithm, format and schedule that really ran; "" when it is `algo` itself
};
#define WEFT_BACKEND_NO_TIMES                                                                                          \
    {                                                                                                                  \
        -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, ""                                                                      \
    }

#define WEFT_BACKEND_TUNE_MOST 6
// A point of tuning values, by the names of the bench's axes.
struct weft_backend_tune {
    int count;
    struct {
        const char *name; // "wg"
        int value;
    } values[WEFT_BACKEND_TUNE_MOST];
};

// One operation of a backend. A backend that lacks it leaves `algos` NULL. All functions return a status and fill err.
struct weft_backend_transpose {
    const char *const *algos; // NULL-terminated names; the first is the default
    // Prepare A^T from `a` (borrowed until finish) with algorithm `algo`, tuned by `tune` (NULL: defaults); *state owns
    // everything. WEFT_EINVAL: an algorithm or a tuning value that the backend does not know, named in err.
    weft_status (*prepare)(void **state, struct weft_context *ctx, const struct weft_csr *a, const char *algo,
                           const struct weft_backend_tune *tune, struct weft_backend_times *times,
                           struct weft_error *err);
    // Run once; *ms is the time of the kernels by device events, or of the host clock.
    weft_status (*run)(void *state, double *ms, struct weft_error *err);
    // Run `runs` times as a program would, that measures nothing, and wait once, behind the last; the caller looks at the
    // clock. NULL: `run` is that.
    weft_status (*plain)(void *state, int runs, struct weft_error *err);
    // All of it once more as a program does it whose arrays are in host memory alone: memory there, copies in, the run, a copy
    // out, release. `out` is allocated here; the caller looks at the clock. NULL, or WEFT_EUNSUPPORTED: not to be had.
    weft_status (*call)(void *state, struct weft_csr *out, struct weft_error *err);
    // Put what is no result (NaN, a negative index, or nothing at all) where runs leave theirs, and wait: what `result` gives
    // then is of a run behind this call. What `result` cannot give is an error of it.
    weft_status (*poison)(void *state, struct weft_error *err);
    // Copy the result of the last run out; `out` is allocated here, n x m, same type and offsets as `a`.
    weft_status (*result)(void *state, struct weft_csr *out, struct weft_backend_times *times, struct weft_error *err);
    void (*finish)(void **state); // accepts NULL and *state == NULL
};

// y = alpha*op(A)*x + beta*y
struct weft_backend_spmv_job {
    const struct weft_csr *a; // borrowed
    const void *x;            // n elements of the type of a (f32 when a is a pattern)
    const void *y;            // m elements: y before the run (read when beta != 0)
    double alpha, beta;
    int64_t products;                     // how many products are expected, 0: not known
    int64_t hyb_width;                    // of hyb: entries of a row in the ELL part, 0: as the backend likes
    const struct weft_backend_tune *tune; // NULL: defaults
};
struct weft_backend_spmv {
    const char *const *algos;
    weft_status (*prepare)(void **state, struct weft_context *ctx, const struct weft_backend_spmv_job *job,
                           const char *algo, struct weft_backend_times *times, struct weft_error *err);
    // Run once on a fresh copy of y (its reset is not timed); *ms as above.
    weft_status (*run)(void *state, double *ms, struct weft_error *err);
    weft_status (*plain)(void *state, int runs, struct weft_error *err); // as above; y is what the run before left
    weft_status (*call)(void *state, void *y, struct weft_error *err);   // as above; what `y` holds is not read
    weft_status (*poison)(void *state, struct weft_error *err);          // as above
    weft_status (*result)(void *state, void *y, struct weft_backend_times *times, struct weft_error *err);
    void (*finish)(void **state);
};

struct weft_backend {
    const char *name;  // as in --backend
    const char *needs; // "host", "opencl", "cuda", "hip": what it runs on
    // WEFT_OK when it can run here, else why not in err->text. ctx may be NULL.
    weft_status (*probe)(struct weft_context *ctx, struct weft_error *err);
    // Name and version of the library behind it, "cuSPARSE 12.6.3", also where no device is; NULL function: weft's own.
    const char *(*version)(void);
    struct weft_backend_transpose transpose;
    struct weft_backend_spmv spmv;
};

// Every backend, compiled in or not (one that is not says so in probe), NULL-terminated.
extern const struct weft_backend *const weft__backends[];
// References and vendors first: what comes later is compared with them as it is printed.
// clang-format off
#define WEFT__BACKENDS(X) \
    X(ref) \
    X(omp) \
    X(graphblas) \
    X(mkl) \
    X(rsb) \
    X(rocalution) \
    X(petsc) \
    X(cub) \
    X(cusparse) \
    X(rocsparse) \
    X(viennacl) \
    X(opencl)
// The table of a backend, and the functions that it names; a backend defines those that it has.
#define WEFT__BACKEND_DECLARE(name) \
    extern const struct weft_backend weft__backend_##name; \
    extern const char *const weft__##name##_transpose_algos[]; \
    weft_status weft__##name##_transpose_prepare(void **state, struct weft_context *ctx, const struct weft_csr *a, \
                                                 const char *algo, const struct weft_backend_tune *tune, \
                                                 struct weft_backend_times *times, struct weft_error *err); \
    weft_status weft__##name##_transpose_run(void *state, double *ms, struct weft_error *err); \
    weft_status weft__##name##_transpose_plain(void *state, int runs, struct weft_error *err); \
    weft_status weft__##name##_transpose_call(void *state, struct weft_csr *out, struct weft_error *err); \
    weft_status weft__##name##_transpose_poison(void *state, struct weft_error *err); \
    weft_status weft__##name##_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *times, \
                                                struct weft_error *err); \
    void weft__##name##_transpose_finish(void **state); \
    extern const char *const weft__##name##_spmv_algos[]; \
    weft_status weft__##name##_spmv_prepare(void **state, struct weft_context *ctx, \
                                            const struct weft_backend_spmv_job *job, const char *algo, \
                                            struct weft_backend_times *times, struct weft_error *err); \
    weft_status weft__##name##_spmv_run(void *state, double *ms, struct weft_error *err); \
    weft_status weft__##name##_spmv_plain(void *state, int runs, struct weft_error *err); \
    weft_status weft__##name##_spmv_call(void *state, void *y, struct weft_error *err); \
    weft_status weft__##name##_spmv_poison(void *state, struct weft_error *err); \
    weft_status weft__##name##_spmv_result(void *state, void *y, struct weft_backend_times *times, \
                                           struct weft_error *err); \
    void weft__##name##_spmv_finish(void **state);
// clang-format on
WEFT__BACKENDS(WEFT__BACKEND_DECLARE)

// What every backend has of operation `op` (transpose, spmv), as the beginning of that member of its table.
#define WEFT__BACKEND_OP(name, op)                                                                                     \
    .algos = weft__##name##_##op##_algos, .prepare = weft__##name##_##op##_prepare, .run = weft__##name##_##op##_run,  \
    .poison = weft__##name##_##op##_poison, .result = weft__##name##_##op##_result,                                    \
    .finish = weft__##name##_##op##_finish
