// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SPMV_H
#define WEFT_SPMV_H

#include <weft/transpose.h>

#ifdef __cplusplus
extern "C" {
#endif

// Format and schedule of a product.
enum weft_spmv_algo {
    WEFT_SPMV_AUTO = 0,   // any of them; a conversion only when params.products says that it pays
    WEFT_SPMV_CSR,        // the best CSR schedule: the arrays as given, no conversion
    WEFT_SPMV_CSR_SCALAR, // CSR, a row per work-item
    WEFT_SPMV_CSR_LANES,  // CSR, 2 to 32 work-items per row (CPU: independent sums of a row)
    WEFT_SPMV_CSR_MERGE   // CSR, tiles of equal rows plus entries, long rows cut
};
// "auto" "csr" "csr_scalar" ...; "unknown" for any other number.
WEFT_API const char *weft_spmv_algo_name(enum weft_spmv_algo algo);

// What stands for + and * (and for zero, the sum of no entries).
enum weft_spmv_semiring {
    WEFT_PLUS_TIMES = 0, // (+, *, 0): y = alpha*A*x + beta*y
    WEFT_MIN_PLUS,       // (min, +, infinity): shortest paths; INT32_MAX is infinity in integers
    WEFT_OR_AND,         // (or, and, 0): reachability; nonzero is true, results are 0 and 1
    WEFT_MAX_TIMES,      // (max, *, -infinity): most reliable paths; INT32_MIN in integers
    WEFT_CUSTOM          // params.plus, .times, .zero
};

struct weft_spmv_params {
    enum weft_spmv_algo algo;         // default WEFT_SPMV_AUTO
    enum weft_spmv_semiring semiring; // default WEFT_PLUS_TIMES
    // For WEFT_CUSTOM, OpenCL C expressions of one line in `a` and `b` of type acc_t (the type of sums), such as
    // "fmax(a, b)", "a * b", "-INFINITY". `plus` is associative and commutative, `zero` its identity. Copied.
    const char *plus, *times, *zero;
    enum weft_type vec_type; // of x and y where the matrix is a pattern; default WEFT_F32
    int f64_sums;            // nonzero: sums in double of f32 values; default 0
    int64_t products;        // how many products are expected; default 0: not known, no conversion
    // Tuning, 0: from the tables. A value outside what the schedule and device allow is WEFT_EINVAL.
    int lanes; // csr_lanes: work-items per row, 2..32 (CPU: independent sums of a row, 1..16)
    int wg;    // work-items per work-group (GPU schedules)
    int ipt;   // entries per work-item at a time (GPU schedules)
    int read;  // 1: entries as any data; 2: marked to leave the caches first; 3: past the first cache. A hint.
};
#define weft_spmv_params(...) (&(struct weft_spmv_params){__VA_ARGS__})

// What analysis found and chose.
struct weft_spmv_info {
    struct weft_spmv_params params; // with defaults resolved and the algorithm chosen; its strings are NULL
    enum weft_schedule schedule;
    int64_t max_row;        // entries of the longest row
    int64_t empty_rows;     // rows without entries
    size_t format_bytes;    // the matrix in the format that runs
    size_t workspace_bytes; // scratch held by the plan beside it
    double analyse_ms;      // host time of analysis, without compilation
    char why[256];          // why this algorithm
};

// A product with one matrix: analysed once, run often.
struct weft_spmv_plan;

// Analyse the matrix, choose format and schedule, compile, allocate.
//   queue   of the device of ctx: runs the analysis
//   a       m x n, arrays trusted (weft_csr_validate checks them on the host). CSR schedules read its buffers in every
//           run: the plan retains them, new values may be written between runs, the structure must stay.
//   params  may be NULL
// Errors:  WEFT_EINVAL sizes, buffers, params; WEFT_EUNSUPPORTED f64 on a device without it; WEFT_ERANGE, WEFT_EDEVMEM
//          scratch; WEFT_EBUILD (a custom semiring that does not compile: the build log is in the context's error);
//          WEFT_EDEVICE; WEFT_ENOMEM.
// Blocks:  yes, the choice rests on figures read back from the device.
// Threads: a plan runs in one queue at a time.
WEFT_API weft_status weft_spmv_plan_create(struct weft_spmv_plan **out, struct weft_context *ctx,
                                           cl_command_queue queue, const struct weft_device_csr *a,
                                           const struct weft_spmv_params *params);
// y = alpha*A*x + beta*y; other semirings: y = A*x when beta == 0, else y = y plus A*x, and alpha is 1.
//   x      n values of the type of A (of vec_type for a pattern)      (read, borrowed until the event)
//   y      m values; not read when beta == 0                          (read/written), not x
//   wait   nwait events to wait for; event: NULL or where to put the event of the result
// Errors:     WEFT_EINVAL a buffer too small, alpha or beta that the semiring or the integer type does not have;
//             WEFT_EDEVICE the queue refused the launch.
// Blocks:     no; allocates nothing. Runs of one plan follow each other: on an out-of-order queue, or on a second
//             queue, wait for the event of the run before.
// Repeatable: bitwise on one device with equal params and tuning.
// Moves:      nnz*(sizeof val + 4) + (m+1)*sizeof ofs + (n + m)*sizeof val bytes at least, m*sizeof val more when
//             beta != 0.
WEFT_API weft_status weft_spmv_run(struct weft_spmv_plan *plan, cl_command_queue queue, double alpha, cl_mem x,
                                   double beta, cl_mem y, cl_uint nwait, const cl_event *wait, cl_event *event);
WEFT_API void weft_spmv_plan_info(const struct weft_spmv_plan *plan, struct weft_spmv_info *out);
// Accepts NULL and *plan == NULL.
WEFT_API void weft_spmv_plan_destroy(struct weft_spmv_plan **plan);

#ifdef __cplusplus
}
#endif
#endif
