// SPDX-License-Identifier: Apache-2.0
// SpMV, y = alpha*A*x + beta*y, in the format and schedule that suit the matrix.
#ifndef WEFT_SPMV_H
#define WEFT_SPMV_H

#include <stdbool.h>
#include <weft/transpose.h>

#ifdef __cplusplus
extern "C" {
#endif

// Format and schedule of SpMV.
enum weft_spmv_algo {
    WEFT_SPMV_ALGO_AUTO = 0,   // any of them; a conversion only when policy.products says that it pays
    WEFT_SPMV_ALGO_CSR,        // the best CSR schedule: the arrays as given, no conversion
    WEFT_SPMV_ALGO_CSR_SCALAR, // CSR, a row per work-item
    WEFT_SPMV_ALGO_CSR_LANES,  // CSR, 2 to 32 work-items per row (CPU: independent sums of a row)
    WEFT_SPMV_ALGO_CSR_MERGE,  // CSR, tiles of equal rows plus entries, long rows cut
    WEFT_SPMV_ALGO_ELL,        // every row padded to the longest, stored by columns
    WEFT_SPMV_ALGO_SELL,       // the same in slices of 32 rows (CPU: 8), sorted by length within windows
    WEFT_SPMV_ALGO_HYB,        // ELL of a limited width, the rest of longer rows as coordinates
    WEFT_SPMV_ALGO_COO,        // coordinates, sums by segments
    WEFT_SPMV_ALGO_COO_ATOMIC, // coordinates, sums by atomics: not repeatable in floating point
    WEFT_SPMV_ALGO_CSR_FIXED, // CSR, sums by a tree that depends on the row alone: what WEFT_SPMV_MODE_REPRODUCIBLE runs
    WEFT_SPMV_ALGO_SELL16, // sliced ELL, columns as distances of 16 bits; as WEFT_SPMV_ALGO_SELL where they do not fit
    WEFT_SPMV_ALGO_SDIA,   // the diagonals of each 32 rows, with masks; as WEFT_SPMV_ALGO_SELL where they do not fit
    WEFT_SPMV_ALGO_CSR_FLAGS, // CSR, tiles of equal entries, sums by bits that say where rows begin (CPU: as csr_merge)
    WEFT_SPMV_ALGO_PANELS,    // cut into columns whose part of x fits local memory (CPU: as WEFT_SPMV_ALGO_SELL16)
    WEFT_SPMV_ALGO_CSR_HUBS,  // as csr_flags, x of columns with many entries in local memory (CPU: as csr_merge)
    WEFT_SPMV_ALGO_CSR_NODES  // CSR, columns read once for rows that follow each other and have the same
};
// "auto" "csr" "csr_scalar" "csr_lanes" "csr_merge" "ell" "sell" "hyb" "coo" "coo_atomic" "csr_fixed" "sell16" "sdia"
// "csr_flags" "panels" "csr_hubs" "csr_nodes"
WEFT_API const char *weft_spmv_algo_name(enum weft_spmv_algo algo);
WEFT_API weft_status weft_spmv_algo_parse(enum weft_spmv_algo *out, const char *text);

// What stands for + and * (and for zero, the sum of no entries).
enum weft_spmv_semiring {
    WEFT_SPMV_SEMIRING_PLUS_TIMES = 0, // (+, *, 0): y = alpha*A*x + beta*y
    WEFT_SPMV_SEMIRING_MIN_PLUS,       // (min, +, infinity): shortest paths; INT32_MAX is infinity in integers
    WEFT_SPMV_SEMIRING_OR_AND,         // (or, and, 0): reachability; nonzero is true, results are 0 and 1
    WEFT_SPMV_SEMIRING_MAX_TIMES,      // (max, *, -infinity): most reliable paths; INT32_MIN in integers
    WEFT_SPMV_SEMIRING_CUSTOM          // params.problem.plus, .times, .zero
};
// "plus_times" "min_plus" "or_and" "max_times" "custom"
WEFT_API const char *weft_spmv_semiring_name(enum weft_spmv_semiring semiring);
WEFT_API weft_status weft_spmv_semiring_parse(enum weft_spmv_semiring *out, const char *text);

// y = A^T*x with the arrays of A.
enum weft_spmv_transpose {
    WEFT_SPMV_TRANSPOSE_PLAIN = 0, // no: y = A*x
    WEFT_SPMV_TRANSPOSE_BY_COPY,   // the plan holds A^T, made by weft_transpose; every algorithm is there for it
    WEFT_SPMV_TRANSPOSE_BY_ATOMICS // terms are added to y where they belong: no copy, not repeatable in floating point
};
// "plain" "by_copy" "by_atomics"
WEFT_API const char *weft_spmv_transpose_name(enum weft_spmv_transpose transpose);
WEFT_API weft_status weft_spmv_transpose_parse(enum weft_spmv_transpose *out, const char *text);

// What may differ in the last bits of y.
enum weft_spmv_mode {
    WEFT_SPMV_MODE_REPEATABLE =
        0, // equal on repeated runs of one device with equal tuning (but for atomics, where asked for)
    WEFT_SPMV_MODE_REPRODUCIBLE // equal on every device, GPU or CPU: sums in a fixed order, nothing fused
};
// "repeatable" "reproducible"
WEFT_API const char *weft_spmv_mode_name(enum weft_spmv_mode mode);
WEFT_API weft_status weft_spmv_mode_parse(enum weft_spmv_mode *out, const char *text);

struct weft_spmv_params {
    // What is computed.
    struct {
        enum weft_spmv_semiring semiring; // default WEFT_SPMV_SEMIRING_PLUS_TIMES
        // For WEFT_SPMV_SEMIRING_CUSTOM, OpenCL C expressions of one line in `a` and `b` of type acc_t (the type of sums),
        // such as "fmax(a, b)", "a * b", "-INFINITY". `plus` is associative and commutative, `zero` its identity. Copied.
        const char *plus, *times, *zero;
        enum weft_type vec_type; // of x and y where the matrix is a pattern; default WEFT_TYPE_F32
        // Sums in double of f32 values, rounded to f32 once. Algorithms hyb and coo may round twice: terms that cancel then
        // keep the error of f32 (docs/spmv.md, "Errors of rounding"). With integers and with atomics on f32 values
        // (WEFT_SPMV_ALGO_COO_ATOMIC, BY_ATOMICS) it is WEFT_EINVAL.
        bool f64_sums;
        enum weft_spmv_transpose transpose; // default WEFT_SPMV_TRANSPOSE_PLAIN
    } problem;
    // How the algorithm is chosen.
    struct {
        enum weft_spmv_algo algo; // default WEFT_SPMV_ALGO_AUTO
        enum weft_spmv_mode mode; // default WEFT_SPMV_MODE_REPEATABLE
        // How many runs are expected, 0 or more: they share what a plan takes to make. Default 0: not known, no conversion.
        int64_t products;
        // Measure. The algorithms that `algo` allows, with some values of their tuning, run for a bounded while (about
        // 20 ms each, beside compiling and converting) on the matrix itself. The one with the least time of conversion and
        // `products` runs is taken and kept in the context's cache_dir for this device and structure. Plans may then
        // differ between devices and days. Nothing to measure in WEFT_SPMV_MODE_REPRODUCIBLE and BY_ATOMICS.
        bool tune;
    } policy;
    // Formats that are converted to.
    struct {
        // hyb: entries of a row in the ELL part; default 0: the last column that a third of the rows fill
        int64_t width;
        bool host_rest; // hyb: the host multiplies the rest while the device multiplies the ELL part
        // ell, sell, sell16, panels, hyb: most elements for each entry, else WEFT_ERANGE (sdia: else sell); default 4
        double max_padding;
        // sell, sell16: rows of a window that is sorted, a power of two up to 1024; 1: none; default 0: 1024 where sorting saves a
        // tenth or more, else 1
        int sigma;
    } format;
    // Tuning, 0: from the tables. A value outside what the algorithm and device allow is WEFT_EINVAL. Those of the schedule
    // that does not run are not looked at.
    struct {
        int lanes; // csr_lanes, csr_nodes: work-items per row, per node, a power of two, 2..32
        int wg;    // work-items per work-group
        int ipt;   // entries per work-item at a time; of csr_scalar rows of a block, 1: none
        int rows;  // sdia: rows per work-item at a time, 1..4; csr_nodes: rows of a node at most, 1..8
        int read;  // 1: entries as any data; 2: marked to leave the caches first; 3: past the first cache. A hint.
    } gpu;
    struct {
        int lanes; // CSR: independent sums of a row, a power of two, 1..16
        int wg;    // work-items per work-group
    } cpu;
};
#define weft_spmv_params(...) (&(struct weft_spmv_params){__VA_ARGS__})

// What analysis found and chose.
struct weft_spmv_info {
    struct weft_spmv_params params; // with defaults resolved and the algorithm chosen; its strings are NULL
    enum weft_schedule schedule;
    int64_t max_row;        // entries of the longest row
    int64_t empty_rows;     // rows without entries
    int64_t rest;           // hyb: entries outside the ELL part
    size_t format_bytes;    // the matrix in the format that runs
    size_t workspace_bytes; // scratch held by the plan beside it
    double analyse_ms;      // host time of analysis, without compilation and conversion
    double tune_ms;         // host time of measuring, without compilation; 0: none, or from the cache
    double convert_ms;      // host time of conversion and transposition, without compilation; 0: none
    char why[256];          // why this algorithm
};

// SpMV with one matrix: analysed once, run often.
struct weft_spmv_plan;

// Analyse the matrix, choose format and schedule, compile, allocate.
//   queue   of the device of ctx: runs the analysis
//   a       m x n, arrays trusted (weft_csr_validate checks them on the host). CSR schedules read its buffers in every
//           run: the plan retains them, new values may be written between runs, the structure must stay. Of other
//           formats and of a transposed copy the plan holds its own (coordinates share col and val).
//   params  may be NULL
// Errors:  WEFT_EINVAL sizes, buffers, params; WEFT_EUNSUPPORTED f64 on a device without it; WEFT_ERANGE more padding
//          than params.format.max_padding (the sizes are in the context's error), more memory than the device gives at once;
//          WEFT_EDEVMEM; WEFT_EBUILD (a custom semiring that does not compile: the build log is in the context's error);
//          WEFT_EDEVICE; WEFT_ENOMEM.
// Memory:  depends on the contents, so no function tells it before: the plan's info does, format_bytes + workspace_bytes.
// Blocks:  yes, the choice rests on figures read back from the device.
// Threads: a plan runs in one queue at a time, and retains the queue of its last run.
WEFT_API weft_status weft_spmv_plan_create(struct weft_spmv_plan **out, struct weft_context *ctx,
                                           cl_command_queue queue, const struct weft_device_csr *a,
                                           const struct weft_spmv_params *params);
// y = alpha*A*x + beta*y; other semirings: y = A*x when beta == 0, else y = y plus A*x, and alpha is 1.
//   alpha, beta  are rounded to the type of sums first. In f32 a beta of 1e-50 is 0, and an alpha of 1e39 is infinite.
//   y      m values; not read when beta == 0                          (read/written), not x and no
//          array of the matrix
//   x      n values of the type of A (of vec_type for a pattern)      (read, borrowed until the event)
//          With params.problem.transpose A is A^T here, x has m values and y has n.
//   wait   nwait events to wait for; event: NULL or where to put the event of the result
// Errors:     WEFT_EINVAL a buffer too small, alpha or beta that the semiring or the integer type does not have;
//             WEFT_EDEVICE the queue refused the launch; with host_rest WEFT_ENOMEM.
// Blocks:     no; allocates nothing (with host_rest a few words of the host, and the queue is flushed). Runs of one plan
//             follow each other: on an out-of-order queue, or on a second queue, wait for the event of the run before.
// Repeatable: bitwise on one device with equal params and tuning, but for atomics.
// Subnormal:  numbers are kept; f32 added by atomics (coo_atomic, BY_ATOMICS) takes them for zero on NVIDIA's devices.
// Moves:      nnz*(sizeof val + 4) + (m+1)*sizeof ofs + (n + m)*sizeof val bytes at least, m*sizeof val more when
//             beta != 0.
WEFT_API weft_status weft_spmv_run(struct weft_spmv_plan *plan, cl_command_queue queue, cl_mem y, double alpha,
                                   cl_mem x, double beta, cl_uint nwait, const cl_event *wait, cl_event *event);
// Take new values from `a`, which has the structure that was analysed: equal row_ptr and col, in the same order; else y is wrong. Only a
// plan that converted or transposed needs it when values change, or one that is to read other buffers. Blocks.
// Errors: WEFT_EINVAL another shape or type; as weft_spmv_plan_create.
WEFT_API weft_status weft_spmv_plan_refill(struct weft_spmv_plan *plan, cl_command_queue queue,
                                           const struct weft_device_csr *a);
// What the plan is: valid until it is destroyed. NULL for NULL.
WEFT_API const struct weft_spmv_info *weft_spmv_plan_info(const struct weft_spmv_plan *plan);
// Accepts NULL and *plan == NULL. Runs that are enqueued keep what they need; a plan with host_rest waits here for them.
WEFT_API void weft_spmv_plan_destroy(struct weft_spmv_plan **plan);

// The same once with host arrays: validates, writes, makes a plan, runs, reads. Blocks.
//   y m values, not read when beta == 0; a  m x n CSR; x n values (with params.problem.transpose x has m values and y has n)
// Errors: as weft_spmv_plan_create and weft_spmv_run; WEFT_EMATRIX row pointers or columns that contradict the shape.
WEFT_API weft_status weft_spmv_sync(void *y, struct weft_context *ctx, double alpha, const struct weft_csr *a,
                                    const void *x, double beta, const struct weft_spmv_params *params);

#ifdef __cplusplus
}
#endif
#endif
