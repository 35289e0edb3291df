// SPDX-License-Identifier: Apache-2.0
// Keeps a sequential AIJ matrix and weft's plans for it on the device: the one file that calls weft's operations.
#include "bindings/petsc/block.h"
#include <petsc/private/matimpl.h>

// The names of the formats, in the order of enum weft_spmv_algo; as the options' database wants them.
static const char *const formats[] = {"auto", "csr",       "csr_scalar", "csr_lanes",  "csr_merge", "ell",
                                      "sell", "hyb",       "coo",        "coo_atomic", "csr_fixed", "sell16",
                                      "sdia", "csr_flags", "panels",     "csr_hubs",   "csr_nodes"};

PetscErrorCode wp_options_read(wp_option_items PetscOptionsObject, struct wp_options *options)
{
    PetscInt format = options->format;
    PetscOptionsHeadBegin(PetscOptionsObject, "weft: the matrix on an OpenCL device");
    PetscCall(PetscOptionsEList("-mat_weft_format", "Format and schedule of SpMV (docs/spmv.md)", "weft", formats,
                                (PetscInt)(sizeof formats / sizeof *formats), formats[format], &format, NULL));
    PetscCall(PetscOptionsInt("-mat_weft_products",
                              "Products expected of one structure: formats that convert are chosen from when they pay",
                              "weft", options->products, &options->products, NULL));
    PetscCall(PetscOptionsBool("-mat_weft_tune", "Measure formats on the matrix, and keep the best in weft's cache",
                               "weft", options->tune, &options->tune, NULL));
    PetscCall(PetscOptionsBool("-mat_weft_reproducible", "The same bits on every device, with slower sums", "weft",
                               options->reproducible, &options->reproducible, NULL));
    PetscOptionsHeadEnd();
    options->format = (int)format;
    return 0;
}

static void drop_plans(struct wp_block *block)
{
    weft_spmv_plan_destroy(&block->plan[0]);
    weft_spmv_plan_destroy(&block->plan[1]);
    weft_transpose_refill_destroy(&block->transposer);
}

PetscErrorCode wp_block_free(struct wp_block *block)
{
    drop_plans(block);
    weft_device_csr_free(&block->csr);
    PetscCall(wp_buffer_free(&block->rows));
    PetscCall(wp_buffer_free(&block->packed));
    PetscCall(PetscMemzero(block, sizeof *block));
    return 0;
}

// Columns as weft's 32-bit indices: PETSc's own, or a copy that the caller frees.
static PetscErrorCode narrow(const PetscInt *col, int64_t nnz, const int32_t **out, int32_t **owned)
{
    *owned = NULL;
#if defined(PETSC_USE_64BIT_INDICES)
    PetscCall(PetscMalloc1(nnz, owned));
    for (int64_t i = 0; i < nnz; i++)
        (*owned)[i] = (int32_t)col[i];
    *out = *owned;
#else
    (void)nnz;
    *out = col;
#endif
    return 0;
}

// Row pointers of the rows that have entries, with the list of them on the device; or those given, where the other rows are not
// the most. The caller frees `owned`.
static PetscErrorCode pack_rows(struct wp_block *block, const PetscInt **row_ptr, PetscInt **owned, int64_t *m)
{
    const PetscInt *ptr = *row_ptr;
    PetscInt count = 0;
    cl_int *rows;
    for (int64_t i = 0; i < block->m; i++)
        count += ptr[i + 1] > ptr[i];
    if (count == 0 || count > block->m / 2)
        return 0;
    PetscCall(PetscMalloc1((size_t)count + 1, owned));
    PetscCall(PetscMalloc1((size_t)count, &rows));
    count = 0;
    for (int64_t i = 0; i < block->m; i++) {
        if (ptr[i + 1] == ptr[i])
            continue;
        rows[count] = (cl_int)i;
        (*owned)[count++] = ptr[i];
    }
    (*owned)[count] = ptr[block->m];
    PetscCall(wp_buffer(&block->rows, (size_t)count * sizeof *rows));
    PetscCall(wp_buffer(&block->packed, (size_t)count * sizeof(PetscScalar)));
    PetscCall(wp_write(block->rows, rows, (size_t)count * sizeof *rows));
    PetscCall(PetscFree(rows));
    *row_ptr = *owned;
    *m = count;
    return 0;
}

// New structure: buffers of the matrix, written whole.
static PetscErrorCode replace(struct wp_block *block, Mat a, int pack, const PetscInt *row_ptr, const PetscInt *col,
                              PetscScalar *val)
{
    const struct wp_device *d;
    const int32_t *col32;
    int32_t *owned;
    PetscInt *owned_ptr = NULL;
    int64_t m = a->rmap->n, n = a->cmap->n, nnz = row_ptr[m];
    enum weft_ofs ofs = sizeof(PetscInt) == 8 ? WEFT_OFS_64 : WEFT_OFS_32;
    PetscCheck(m < INT32_MAX && n < INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "weft has 32-bit indices: a rank cannot hold more than 2^31-1 rows or columns");
    PetscCall(wp_device_get(&d));
    PetscCall(wp_block_free(block));
    block->m = m;
    if (pack)
        PetscCall(pack_rows(block, &row_ptr, &owned_ptr, &m));
    PetscCall(narrow(col, nnz, &col32, &owned));
    WP_CALL(weft_device_csr_alloc(&block->csr, d->ctx, weft_shape(m, n, nnz, WP_TYPE, ofs)));
    struct weft_csr host = {m, n, nnz, WP_TYPE, ofs, (void *)(size_t)row_ptr, (int32_t *)(size_t)col32, val};
    WP_CALL(weft_device_csr_write_sync(&block->csr, d->ctx, d->queue, &host));
    PetscCall(PetscFree(owned));
    PetscCall(PetscFree(owned_ptr));
    return 0;
}

PetscErrorCode wp_block_update(struct wp_block *block, Mat a, int pack)
{
    const PetscInt *row_ptr, *col;
    PetscScalar *val;
    PetscMemType type;
    PetscObjectId id;
    PetscObjectState values;
    PetscCall(PetscObjectGetId((PetscObject)a, &id));
    PetscCall(PetscObjectStateGet((PetscObject)a, &values));
    if (block->id == id && block->structure == a->nonzerostate && block->values == values)
        return 0;
    PetscCall(MatSeqAIJGetCSRAndMemType(a, &row_ptr, &col, &val, &type));
    PetscCheck(PetscMemTypeHost(type), PETSC_COMM_SELF, PETSC_ERR_SUP, "the matrix has its values on another device");
    PetscCall(PetscLogEventBegin(wp_events[WP_EVENT_UPLOAD], a, 0, 0, 0));
    if (block->id == id && block->structure == a->nonzerostate && block->csr.nnz == row_ptr[a->rmap->n]) {
        PetscCall(wp_write(block->csr.val, val, (size_t)block->csr.nnz * sizeof *val));
        block->stale[0] = block->stale[1] = 1;
    } else {
        PetscCall(replace(block, a, pack, row_ptr, col, val));
    }
    PetscCall(PetscLogEventEnd(wp_events[WP_EVENT_UPLOAD], a, 0, 0, 0));
    block->id = id;
    block->structure = a->nonzerostate;
    block->values = values;
    return 0;
}

// A plan in the format that the options ask for; where that pads too much, as it may for the few entries of an off-diagonal
// block, in the one that weft chooses.
static PetscErrorCode make_plan(struct wp_block *block, const struct wp_options *options, int transposed)
{
    const struct wp_device *d;
    struct weft_spmv_params params = {
        .policy.algo = (enum weft_spmv_algo)options->format,
        .policy.products = options->products,
        .policy.tune = options->tune == PETSC_TRUE,
        .policy.mode = options->reproducible ? WEFT_SPMV_MODE_REPRODUCIBLE : WEFT_SPMV_MODE_REPEATABLE,
        .problem.transpose = transposed ? WEFT_SPMV_TRANSPOSE_BY_COPY : WEFT_SPMV_TRANSPOSE_PLAIN,
    };
    PetscCall(wp_device_get(&d));
    PetscCall(PetscLogEventBegin(wp_events[WP_EVENT_PLAN], 0, 0, 0, 0));
    weft_status status = weft_spmv_plan_create(&block->plan[transposed], d->ctx, d->queue, &block->csr, &params);
    if (status == WEFT_ERANGE && params.policy.algo != WEFT_SPMV_ALGO_AUTO) {
        PetscCall(PetscInfo(NULL, "weft: -mat_weft_format %s does not suit a block, auto is used\n",
                            formats[options->format]));
        params.policy.algo = WEFT_SPMV_ALGO_AUTO;
        status = weft_spmv_plan_create(&block->plan[transposed], d->ctx, d->queue, &block->csr, &params);
    }
    PetscCall(wp_check(status, "weft_spmv_plan_create"));
    PetscCall(PetscLogEventEnd(wp_events[WP_EVENT_PLAN], 0, 0, 0, 0));
    return 0;
}

PetscErrorCode wp_block_mult(struct wp_block *block, const struct wp_options *options, int transposed, cl_mem x,
                             double beta, cl_mem y)
{
    const struct wp_device *d;
    size_t rows = (size_t)(transposed ? block->csr.n : block->m), packed = (size_t)block->csr.m;
    cl_mem sums = y;
    if (beta == 0 && (block->csr.nnz == 0 || (block->rows && !transposed)))
        PetscCall(wp_launch(WP_KERNEL_set, rows, y, 0.0));
    if (block->csr.nnz == 0)
        return 0;
    PetscCall(wp_device_get(&d));
    if (!block->plan[transposed])
        PetscCall(make_plan(block, options, transposed));
    else if (block->stale[transposed])
        WP_CALL(weft_spmv_plan_refill(block->plan[transposed], d->queue, &block->csr));
    block->stale[transposed] = 0;
    if (block->rows && transposed) {
        PetscCall(wp_launch(WP_KERNEL_gather, packed, block->packed, block->rows, x));
        x = block->packed;
    } else if (block->rows) {
        sums = block->packed;
        beta = 0;
    }
    WP_CALL(weft_spmv_run(block->plan[transposed], d->queue, sums, 1, x, beta, 0, NULL, NULL));
    return sums == y ? 0 : wp_launch(WP_KERNEL_scatter_add, packed, y, block->rows, sums, (cl_ulong)0);
}

// Offsets and columns of the transposed pattern as PETSc's integers.
static PetscErrorCode read_pattern(struct wp_block *block, PetscInt **row_ptr, PetscInt **col)
{
    const struct weft_device_csr *at = weft_transpose_refill_pattern(block->transposer);
    PetscCall(PetscMalloc1(at->m + 1, row_ptr));
    PetscCall(PetscMalloc1(at->nnz, col));
    PetscCall(wp_read(*row_ptr, at->row_ptr, (size_t)(at->m + 1) * sizeof(PetscInt)));
#if defined(PETSC_USE_64BIT_INDICES)
    int32_t *narrow_col;
    PetscCall(PetscMalloc1(at->nnz, &narrow_col));
    PetscCall(wp_read(narrow_col, at->col, (size_t)at->nnz * sizeof *narrow_col));
    for (int64_t i = 0; i < at->nnz; i++)
        (*col)[i] = narrow_col[i];
    PetscCall(PetscFree(narrow_col));
#else
    PetscCall(wp_read(*col, at->col, (size_t)at->nnz * sizeof **col));
#endif
    return 0;
}

PetscErrorCode wp_block_transpose(struct wp_block *block, PetscInt **row_ptr, PetscInt **col, PetscScalar *values)
{
    const struct wp_device *d;
    cl_mem at_val;
    PetscCall(wp_device_get(&d));
    if (!block->transposer)
        WP_CALL(weft_transpose_refill_create(&block->transposer, d->ctx, d->queue, &block->csr, NULL));
    if (row_ptr)
        PetscCall(read_pattern(block, row_ptr, col));
    PetscCall(wp_buffer(&at_val, (size_t)block->csr.nnz * sizeof *values));
    WP_CALL(weft_transpose_refill_run(block->transposer, d->queue, at_val, block->csr.val, WP_TYPE, 0, NULL, NULL));
    PetscCall(wp_read(values, at_val, (size_t)block->csr.nnz * sizeof *values));
    return wp_buffer_free(&at_val);
}
