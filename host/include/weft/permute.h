// SPDX-License-Identifier: Apache-2.0
// Rows and columns in another order, on the host and on the device.
#ifndef WEFT_PERMUTE_H
#define WEFT_PERMUTE_H

#include <weft/transpose.h>

#ifdef __cplusplus
extern "C" {
#endif

// An order of the rows and columns of a matrix. The first five are those of A. Jain, I. Bustany, P. D'Alberto,
// "Randomization of Sparse Matrix by Vector Multiplication"; docs/permute.md says what differs. The last two are controls.
enum weft_order {
    WEFT_ORDER_REGULAR = 0, // as it is
    WEFT_ORDER_ROW,         // rows at random
    WEFT_ORDER_ROW_GRADIENT, // rows cut in two where their histogram is steepest, each part at random, parts mixed evenly
    WEFT_ORDER_COL_GRADIENT, // the same for the rows and for the columns (so are the paper's numbers of that name)
    WEFT_ORDER_ROW_COL,      // rows at random, columns at random
    WEFT_ORDER_DEGREE,       // rows by the number of their entries, longest first, equal ones in their order
    WEFT_ORDER_RCM, // reverse Cuthill-McKee of the pattern of A + A^T, rows and columns alike; of a matrix that is
                    // not square, of the graph whose vertices are both rows and columns
    WEFT_ORDER_COUNT
};
// "regular" "row" "row-gradient" "col-gradient" "row-col" "degree" "rcm"
WEFT_API const char *weft_order_name(enum weft_order order);
WEFT_API weft_status weft_order_parse(enum weft_order *out, const char *text);

// Permutations of m rows and n columns: P A Q. Arrays are owned, and their contents trusted; both of a pair are NULL where nothing moves.
struct weft_permutation {
    int64_t m, n;
    int32_t *row;     // new row i is old row row[i] (size m)
    int32_t *row_inv; // old row i is new row row_inv[i] (size m)
    int32_t *col;     // new column j is old column col[j] (size n)
    int32_t *col_inv; // old column j is new column col_inv[j] (size n)
    int64_t row_cut;  // gradient orders: rows before the cut, 0 < row_cut < m; 0: no cut was found, or another order
    int64_t col_cut;  // the same for columns
};

// Make the permutation of an order for the pattern of `a` (its val is not read).
//   a     m x n, checked as by weft_csr_validate
//   seed  of the random orders: the same seed gives the same permutation on every machine and thread count
// On failure *out is all zero.
// Errors: WEFT_EINVAL no such order; WEFT_EMATRIX, WEFT_EINVAL arrays of `a`; WEFT_ERANGE rcm: m + n beyond 2^31-1 where
//         they differ; WEFT_ENOMEM.
WEFT_API weft_status weft_permutation_alloc(struct weft_permutation *out, enum weft_order order,
                                            const struct weft_csr *a, uint64_t seed, struct weft_error *err);
// The caller's own: row (size m) and col (size n) say which old row or column comes to each new place; NULL: none moves.
// They are copied.
// Errors: WEFT_EINVAL sizes; WEFT_EMATRIX an index out of range or there twice; WEFT_ENOMEM.
WEFT_API weft_status weft_permutation_from(struct weft_permutation *out, int64_t m, int64_t n, const int32_t *row,
                                           const int32_t *col, struct weft_error *err);
// What undoes p. Errors: WEFT_EINVAL, also where `out` is `p` itself, and nothing changes; WEFT_ENOMEM.
WEFT_API weft_status weft_permutation_inverse(struct weft_permutation *out, const struct weft_permutation *p);
// Neither rows nor columns move. False for one that is not valid.
WEFT_API bool weft_permutation_is_identity(const struct weft_permutation *p);
// 64-bit FNV-1a over m, n, row and col (a missing array counts as 0, 1, 2, ...). 0 for one that is not
// valid.
WEFT_API uint64_t weft_permutation_hash(const struct weft_permutation *p);
// Free the arrays and zero the struct; accepts NULL and an all-zero struct.
WEFT_API void weft_permutation_free(struct weft_permutation *p);

struct weft_permute_params {
    bool keep;   // entries of a row keep their order also when columns move; default: columns then ascend
                 // in each row, equal ones in their order
    int threads; // of weft_csr_permute; default 0: every processor
};
#define weft_permute_params(...) (&(struct weft_permute_params){__VA_ARGS__})

// out = P A Q: entry (i, j) of `a` comes to (row_inv[i], col_inv[j]). Entries of a row keep their order where no column
// moves, or with params.keep; else columns ascend. With `keep`, or where columns ascend in `a`, the inverse gives `a`
// back bit for bit. The result does not depend on the number of threads. `out` is allocated here; on failure it is all
// zero. Where it is `a` itself that is WEFT_EINVAL, and nothing changes. params may be NULL.
// Errors: WEFT_EINVAL shapes differ; WEFT_EMATRIX, WEFT_EINVAL arrays of `a`; WEFT_ERANGE a row of 2^32 entries or more
//         to sort; WEFT_ENOMEM.
WEFT_API weft_status weft_csr_permute(struct weft_csr *out, const struct weft_csr *a, const struct weft_permutation *p,
                                      const struct weft_permute_params *params, struct weft_error *err);
// The same for coordinates: entries keep their places, their indices change. `out` is not `a` either.
// Errors: WEFT_EINVAL shapes differ; WEFT_EMATRIX an index out of range; WEFT_ENOMEM.
WEFT_API weft_status weft_coo_permute(struct weft_coo *out, const struct weft_coo *a, const struct weft_permutation *p,
                                      struct weft_error *err);

// Which vectors: those with an element for each row (y of y = A*x), or for each column (x).
enum weft_permute_side { WEFT_PERMUTE_SIDE_ROWS = 0, WEFT_PERMUTE_SIDE_COLS };
// "rows" "cols"
WEFT_API const char *weft_permute_side_name(enum weft_permute_side side);
WEFT_API weft_status weft_permute_side_parse(enum weft_permute_side *out, const char *text);
// out = in, brought to the new order (out[i] = in[row[i]]) or back to the old one (`back`:
// out[i] = in[row_inv[i]]). With A' = P A Q, x' = x to the new order: A'*x', brought back, is A*x.
//   out, in  m elements (columns: n) of `bytes` bytes, 4 or 8; not the same array
// Errors: WEFT_EINVAL bytes, side, an array missing or the same twice.
WEFT_API weft_status weft_vector_permute(void *out, const void *in, const struct weft_permutation *p,
                                         enum weft_permute_side side, bool back, size_t bytes);

struct weft_permute_info {
    struct weft_permute_params params;
    enum weft_schedule schedule;
    bool sorts;             // columns move and each row is sorted
    size_t workspace_bytes; // device memory held by the plan: maps, row indices, the sort's scratch
};

// A permutation of CSR matrices of one shape on a device.
struct weft_permute_plan;

// Bytes that such a plan holds, without making it: they depend on the shape, on whether columns move, and on params.keep.
// Errors: WEFT_EINVAL sizes, type, ofs, or p of another shape; WEFT_ERANGE nnz too large for ofs.
WEFT_API weft_status weft_permute_workspace(size_t *out_bytes, struct weft_context *ctx, struct weft_shape shape,
                                            const struct weft_permutation *p, const struct weft_permute_params *params);
// Compile the kernels, allocate the scratch memory, copy the maps of `p` to the device. params may be NULL.
// Errors: WEFT_EINVAL sizes, type, ofs, or p of another shape; WEFT_ERANGE nnz too large for ofs or the device;
//         WEFT_EDEVMEM; WEFT_EBUILD; WEFT_EDEVICE; WEFT_ENOMEM.
// Blocks: yes, until the maps are on the device. `p` is not needed afterwards.
// Threads: a plan runs in one queue at a time.
WEFT_API weft_status weft_permute_plan_create(struct weft_permute_plan **out, struct weft_context *ctx,
                                              struct weft_shape shape, const struct weft_permutation *p,
                                              const struct weft_permute_params *params);
// out = P A Q, the same bits as weft_csr_permute on every device.
//   out    m x n, every element of its arrays is written; other buffers than those of `a`
//   a      m x n, trusted: monotone offsets, columns in range; read, borrowed until the event
//   wait   nwait events to wait for; event: NULL or where to put the event of the result
// Errors: WEFT_EINVAL shapes, type or offsets differ from those of the plan, a buffer missing, too small or on both
//         sides; WEFT_EDEVICE, WEFT_EDEVMEM, WEFT_ENOMEM the driver refused a launch.
// Blocks: no; allocates nothing.
// Moves:  nnz*(4*4 + 2*sizeof val) + m*(4 + 4*sizeof ofs) bytes at least; sorting reads and writes the entries again.
WEFT_API weft_status weft_permute_run(struct weft_permute_plan *plan, cl_command_queue queue,
                                      const struct weft_device_csr *out, const struct weft_device_csr *a, cl_uint nwait,
                                      const cl_event *wait, cl_event *event);
// weft_vector_permute on the device.
//   out, in  m values (columns: n) of `type`, not WEFT_TYPE_PATTERN; not the same buffer
// Errors: WEFT_EINVAL side, type, a buffer missing, too small or the same twice; WEFT_EDEVICE.
// Blocks: no; allocates nothing.   Moves: m*(4 + 2*sizeof val) bytes.
WEFT_API weft_status weft_permute_vector_run(struct weft_permute_plan *plan, cl_command_queue queue, cl_mem out,
                                             cl_mem in, enum weft_permute_side side, bool back, enum weft_type type,
                                             cl_uint nwait, const cl_event *wait, cl_event *event);
// What the plan is: valid until it is destroyed. NULL for NULL.
WEFT_API const struct weft_permute_info *weft_permute_plan_info(const struct weft_permute_plan *plan);
// Accepts NULL and *plan == NULL.
WEFT_API void weft_permute_plan_destroy(struct weft_permute_plan **plan);

// out = P A Q with host arrays in and out: validates, creates, writes, runs, reads. Blocks. `out` is allocated here; on
// failure it is all zero. Where it is `a` itself that is WEFT_EINVAL, and nothing changes.
// Errors: as above; WEFT_EMATRIX row pointers or columns that contradict the shape; WEFT_ENOMEM.
WEFT_API weft_status weft_permute_sync(struct weft_csr *out, struct weft_context *ctx, const struct weft_csr *a,
                                       const struct weft_permutation *p, const struct weft_permute_params *params);

#ifdef __cplusplus
}
#endif
#endif
