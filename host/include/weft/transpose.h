// SPDX-License-Identifier: Apache-2.0
// Transposition of CSR matrices (CSR to CSC) on the device, and refill of values.
#ifndef WEFT_TRANSPOSE_H
#define WEFT_TRANSPOSE_H

#include <weft/device_csr.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_transpose_algo {
    WEFT_TRANSPOSE_ALGO_AUTO = 0, // chosen by shape and device; weft_transpose_plan_info says which and why
    WEFT_TRANSPOSE_ALGO_SCAN,     // ScanTrans
    WEFT_TRANSPOSE_ALGO_MERGE     // MergeTrans
};
// "auto" "scan" "merge"
WEFT_API const char *weft_transpose_algo_name(enum weft_transpose_algo algo);
WEFT_API weft_status weft_transpose_algo_parse(enum weft_transpose_algo *out, const char *text);

struct weft_transpose_params {
    enum weft_transpose_algo algo;
    // Tuning, 0: from the tables. A value outside what the method and device allow is WEFT_EINVAL. Those of the
    // schedule that does not run are not looked at.
    struct {
        int wg;       // work-items per work-group: scan 2^k from 32 on, merge a multiple of 32
        int ipt;      // entries per work-item and tile: scan 1..64, wg*ipt up to 32768; merge 2..32
        int bits;     // scan: column bits that one pass resolves, 1..14; merge: log2 of the runs merged at once, 1..10
        int groups;   // scan: work-groups that share the entries, up to 2^20
        int wg_large; // scan: work-items of large tiles, where bins are many, 2^k; wg or less: no tiles are large
    } gpu;
    struct {
        int bits;   // scan, 1..31: as many as all columns need mean the direct form, fewer 2^bits blocks of columns,
                    // 0 lets a probe of the columns decide; merge: log2 of the pieces merged at once, 1..10
        int chunks; // chunks of the entries, 1..4096
    } cpu;
};
#define weft_transpose_params(...) (&(struct weft_transpose_params){__VA_ARGS__})

struct weft_transpose_info {
    struct weft_transpose_params params; // with every default resolved
    enum weft_schedule schedule;
    int passes;             // trips of all entries through device memory
    size_t workspace_bytes; // scratch beyond input and output, held by the object
    char why[200];          // why this method and schedule
};

// Transposition of CSR matrices of one shape. Method: H. Wang, W. Liu, K. Hou, W. Feng, "Parallel Transposition of
// Sparse Data Structures", ICS 2016, sections 3.1 (ScanTrans) and 3.2 (MergeTrans); docs/transpose.md says what differs.
struct weft_transpose_plan;

// Scratch bytes that an object of this shape holds, without making it. What the device's memory holds is not asked.
// Errors: WEFT_EINVAL sizes or tuning; WEFT_ERANGE beyond the offsets or rows, as below.
WEFT_API weft_status weft_transpose_workspace(size_t *out_bytes, struct weft_context *ctx, struct weft_shape shape,
                                              const struct weft_transpose_params *params);
// Compile the kernels and allocate the scratch memory for matrices a of this shape. params may be NULL.
// Errors: WEFT_EINVAL sizes or tuning; WEFT_ERANGE beyond the offsets (of 32 bits: more than 2^31 - 2^26 - 1 entries) or
//         more than 2^31 - 2^10 - 1 rows that have entries. WEFT_ERANGE also beyond the device: an array of input, output
//         or scratch larger than it allocates at once, or (not on processors) all of them larger than its memory;
//         WEFT_EDEVMEM; WEFT_EBUILD.
// Threads: one object runs in one queue at a time.
WEFT_API weft_status weft_transpose_plan_create(struct weft_transpose_plan **out, struct weft_context *ctx,
                                                struct weft_shape shape, const struct weft_transpose_params *params);
// at = a^T. Row indices ascend in each row of `at` and equal entries keep their order, on every device the same bits.
//   at     n x m, every element of its arrays is written
//   a      m x n, trusted: monotone offsets, columns in range (weft_csr_validate checks them on the host);
//          read, borrowed until the event
//   wait   nwait events to wait for; event: NULL or where to put the event of the result
// Errors: WEFT_EINVAL shapes, types or offsets differ from those of the object, a buffer is missing, too small, on
//         both sides or twice in `at`; WEFT_EDEVICE, WEFT_EDEVMEM, WEFT_ENOMEM the driver refused a launch.
// Blocks: no, but for a read of 4 bytes once a run on the same buffers has ended (auto on GPUs, square matrices, about every 64th
//         run); allocates nothing. Moves: at least nnz*(2*4 + 2*sizeof val) + (m+1 + n+1)*sizeof ofs bytes.
WEFT_API weft_status weft_transpose_run(struct weft_transpose_plan *op, cl_command_queue queue,
                                        const struct weft_device_csr *at, const struct weft_device_csr *a,
                                        cl_uint nwait, const cl_event *wait, cl_event *event);
// What the plan is: valid until it is destroyed. NULL for NULL.
WEFT_API const struct weft_transpose_info *weft_transpose_plan_info(const struct weft_transpose_plan *op);
// Accepts NULL and *op == NULL. What is enqueued still completes.
WEFT_API void weft_transpose_plan_destroy(struct weft_transpose_plan **op);

// *out = a^T with host arrays in and out: validates, creates, writes, runs, reads. Blocks. `out` is allocated here; on
// failure it is all zero. Where it is `a` itself that is WEFT_EINVAL, and nothing changes.
// Errors: as above; WEFT_EMATRIX row pointers or columns that contradict the shape; WEFT_ENOMEM.
WEFT_API weft_status weft_transpose_sync(struct weft_csr *out, struct weft_context *ctx, const struct weft_csr *a,
                                         const struct weft_transpose_params *params);

// A plan analyses one pattern once; later values are refilled by one gather.
struct weft_transpose_refill;

// Bytes that a plan for such patterns holds once its analysis is done, without making it; the type is not used.
// Errors: WEFT_EINVAL sizes, type, ofs; WEFT_ERANGE nnz too large for ofs.
WEFT_API weft_status weft_transpose_refill_workspace(size_t *out_bytes, struct weft_context *ctx,
                                                     struct weft_shape shape);
// Analyse the pattern of `a` (its val is not read): transposes positions, keeps row_ptr, col and the permutation.
// Blocks: no, the analysis is enqueued on `queue` and `a` borrowed until it is done; a run in another queue waits for it.
// Errors: as weft_transpose_plan_create and weft_transpose_run. Scratch: what weft_transpose_workspace says until the
//         analysis is done, then nnz*(4 + sizeof ofs) + (n+1)*sizeof ofs.
WEFT_API weft_status weft_transpose_refill_create(struct weft_transpose_refill **out, struct weft_context *ctx,
                                                  cl_command_queue queue, const struct weft_device_csr *a,
                                                  const struct weft_transpose_params *params);
// at_val[p] = val[permutation[p]]: the values of a^T, bit-identical to a full transposition. Both hold nnz values of
// `type`, whatever the type of `a`.
// Errors: WEFT_EINVAL type, a buffer missing, too small or the same twice; WEFT_EDEVICE, WEFT_EDEVMEM, WEFT_ENOMEM.
// Blocks: no; allocates nothing. Moves: nnz*(sizeof ofs + 2*sizeof val).
WEFT_API weft_status weft_transpose_refill_run(struct weft_transpose_refill *plan, cl_command_queue queue,
                                               cl_mem at_val, cl_mem val, enum weft_type type, cl_uint nwait,
                                               const cl_event *wait, cl_event *event);
// The pattern of a^T, n x m, of type WEFT_TYPE_PATTERN, val NULL; valid until the plan is destroyed, NULL for NULL. Its
// arrays are complete when the analysis is: read them behind a run, or in the queue of the analysis.
WEFT_API const struct weft_device_csr *weft_transpose_refill_pattern(const struct weft_transpose_refill *plan);
// What the plan is: valid until it is destroyed. NULL for NULL.
WEFT_API const struct weft_transpose_info *weft_transpose_refill_info(const struct weft_transpose_refill *plan);
WEFT_API void weft_transpose_refill_destroy(struct weft_transpose_refill **plan);

#ifdef __cplusplus
}
#endif
#endif
