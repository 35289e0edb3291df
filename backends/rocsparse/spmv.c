// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y by rocSPARSE, in each format and by each algorithm that its headers have.
//   csr_stream, csr_adaptive  rocsparse_?csrmv without and with the analysis of rocsparse_?csrmv_analysis
//   csr_lrb, csr_nnzsplit     from 3.1 and 4.2 on, by the generic routine: rocsparse_spmv, from 4.1 on rocsparse_v2_spmv
//   coo, coo_atomic           the generic routine
//   ell, hyb                  rocsparse_?ellmv, rocsparse_?hybmv
#include "backends/algo.h"
#include "host/common/clock.h"
#include "backends/trace.h"
#include "rocsparse_backend.h"

#include <stdlib.h>
#include <string.h>

// 4.0 has the successor of rocsparse_spmv too, which it calls deprecated. Only from 4.1 on the arguments are known.
#define V2 (ROCSPARSE_HEADERS >= 40100)
#if ROCSPARSE_HEADERS >= 40000 && !V2
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

struct rocsparse_spmv {
    struct rocsparse_gpu gpu;
    const struct algorithm *algo;
    enum weft_type type;
    struct rocsparse_csr a;
    const void *y0; // borrowed; not read when beta is 0
    size_t y_bytes;
    union {
        float f32;
        double f64;
    } alpha, beta;
    int has_beta;
    void *x, *y;
    rocsparse_mat_descr descr;
    rocsparse_mat_info info;   // csr_adaptive: its analysis
    void *row;                 // coo: row indices (size nnz)
    void *ell_col, *ell_val;   // ell: m*width elements, column by column
    rocsparse_int width;       // ell: entries of the longest row
    rocsparse_hyb_mat hyb;     // hyb
    rocsparse_spmat_descr mat; // the generic routine: the matrix and the vectors
    rocsparse_dnvec_descr vec_x, vec_y;
    void *workspace;
#if V2
    rocsparse_spmv_descr product;
    size_t workspace_bytes;
#endif
};

struct algorithm {
    const char *name;
    int generic; // by the generic routine with `alg`
    rocsparse_spmv_alg alg;
    // Convert and analyse. The CSR matrix stays.
    weft_status (*convert)(struct rocsparse_spmv *s, struct weft_backend_times *times, struct weft_error *err);
    weft_status (*launch)(struct rocsparse_spmv *s, struct weft_error *err);
};

// Wait for the stream and give the host's milliseconds since `start`.
static weft_status elapsed(struct rocsparse_spmv *s, double start, double *ms, struct weft_error *err)
{
    weft_status status = weft__rocsparse_hip(hipStreamSynchronize(s->gpu.stream), "hipStreamSynchronize", err);
    double end = clock_ms();
    *ms = end - start;
    weft__trace_command(WEFT_TRACE_ANALYSE, "analysis", -1, start, end, 0);
    return status;
}

// ---- csr_stream, csr_adaptive ----

static weft_status adaptive_analyse(struct rocsparse_spmv *s, struct weft_backend_times *times, struct weft_error *err)
{
    double start = clock_ms();
    weft_status status = weft__rocsparse_lib(rocsparse_create_mat_info(&s->info), "rocsparse_create_mat_info", err);
    if (!status)
        status =
            weft__rocsparse_lib(ROCSPARSE_CALL(s->type, csrmv_analysis, s->gpu.handle, rocsparse_operation_none, s->a.m,
                                               s->a.n, s->a.nnz, s->descr, s->a.val, s->a.row_ptr, s->a.col, s->info),
                                "rocsparse_csrmv_analysis", err);
    return status ? status : elapsed(s, start, &times->analyse_ms, err);
}

static weft_status csrmv(struct rocsparse_spmv *s, struct weft_error *err)
{
    return weft__rocsparse_lib(ROCSPARSE_CALL(s->type, csrmv, s->gpu.handle, rocsparse_operation_none, s->a.m, s->a.n,
                                              s->a.nnz, (void *)&s->alpha, s->descr, s->a.val, s->a.row_ptr, s->a.col,
                                              s->info, s->x, (void *)&s->beta, s->y),
                               "rocsparse_csrmv", err);
}

// ---- the generic routine ----

#if V2

#define GENERIC "rocsparse_v2_spmv"

static rocsparse_status input_set(struct rocsparse_spmv *s, rocsparse_spmv_input which, const void *value, size_t bytes)
{
    return rocsparse_spmv_set_input(s->gpu.handle, s->product, which, value, bytes, NULL);
}

static weft_status product_describe(struct rocsparse_spmv *s, rocsparse_datatype type, struct weft_error *err)
{
    const rocsparse_operation none = rocsparse_operation_none;
    const struct {
        rocsparse_spmv_input which;
        const void *value;
        size_t bytes;
    } inputs[] = {{rocsparse_spmv_input_alg, &s->algo->alg, sizeof s->algo->alg},
                  {rocsparse_spmv_input_operation, &none, sizeof none},
                  {rocsparse_spmv_input_scalar_datatype, &type, sizeof type},
                  {rocsparse_spmv_input_compute_datatype, &type, sizeof type}};
    weft_status status =
        weft__rocsparse_lib(rocsparse_create_spmv_descr(&s->product), "rocsparse_create_spmv_descr", err);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs && !status; i++)
        status = weft__rocsparse_lib(input_set(s, inputs[i].which, inputs[i].value, inputs[i].bytes),
                                     "rocsparse_spmv_set_input", err);
    return status;
}

static rocsparse_status stage_run(struct rocsparse_spmv *s, rocsparse_v2_spmv_stage stage)
{
    return rocsparse_v2_spmv(s->gpu.handle, s->product, &s->alpha, s->mat, s->vec_x, &s->beta, s->vec_y, stage,
                             s->workspace_bytes, s->workspace, NULL);
}

// A workspace for the stage in the place of the last one; none where the stage wants none, since it refuses memory then.
static weft_status stage_workspace(struct rocsparse_spmv *s, rocsparse_v2_spmv_stage stage,
                                   struct weft_backend_times *times, struct weft_error *err)
{
    weft__rocsparse_free(&s->workspace);
    weft_status status = weft__rocsparse_lib(rocsparse_v2_spmv_buffer_size(s->gpu.handle, s->product, s->mat, s->vec_x,
                                                                           s->vec_y, stage, &s->workspace_bytes, NULL),
                                             GENERIC ", size of the workspace", err);
    if (!status && s->workspace_bytes)
        status = weft__rocsparse_alloc(&s->workspace, s->workspace_bytes, "workspace", err);
    times->workspace_bytes = (int64_t)weft__max((size_t)times->workspace_bytes, s->workspace_bytes);
    return status;
}

static weft_status stages_prepare(struct rocsparse_spmv *s, rocsparse_datatype type, struct weft_backend_times *times,
                                  struct weft_error *err)
{
    times->workspace_bytes = 0;
    weft_status status = product_describe(s, type, err);
    if (!status)
        status = stage_workspace(s, rocsparse_v2_spmv_stage_analysis, times, err);
    if (!status)
        status = weft__rocsparse_lib(stage_run(s, rocsparse_v2_spmv_stage_analysis), GENERIC ", analysis", err);
    return status ? status : stage_workspace(s, rocsparse_v2_spmv_stage_compute, times, err);
}

static rocsparse_status compute(struct rocsparse_spmv *s)
{
    return stage_run(s, rocsparse_v2_spmv_stage_compute);
}

#else

#define GENERIC "rocsparse_spmv"

enum stage { SIZE, ANALYSE, COMPUTE };

static rocsparse_status spmv_stage(struct rocsparse_spmv *s, enum stage stage, size_t *bytes)
{
    const rocsparse_datatype type = s->type == WEFT_TYPE_F64 ? rocsparse_datatype_f64_r : rocsparse_datatype_f32_r;
    void *workspace = stage == SIZE ? NULL : s->workspace;
#if ROCSPARSE_HEADERS >= 20400
    const rocsparse_spmv_stage stages[] = {rocsparse_spmv_stage_buffer_size, rocsparse_spmv_stage_preprocess,
                                           rocsparse_spmv_stage_compute};
#endif
#if ROCSPARSE_HEADERS >= 30000
    return rocsparse_spmv(s->gpu.handle, rocsparse_operation_none, &s->alpha, s->mat, s->vec_x, &s->beta, s->vec_y,
                          type, s->algo->alg, stages[stage], bytes, workspace);
#elif ROCSPARSE_HEADERS >= 20400
    return rocsparse_spmv_ex(s->gpu.handle, rocsparse_operation_none, &s->alpha, s->mat, s->vec_x, &s->beta, s->vec_y,
                             type, s->algo->alg, stages[stage], bytes, workspace);
#else
    if (stage == ANALYSE) // COO has none here, and no workspace means that its size is asked for
        return rocsparse_status_success;
    return rocsparse_spmv(s->gpu.handle, rocsparse_operation_none, &s->alpha, s->mat, s->vec_x, &s->beta, s->vec_y,
                          type, s->algo->alg, bytes, workspace);
#endif
}

static weft_status stages_prepare(struct rocsparse_spmv *s, rocsparse_datatype type, struct weft_backend_times *times,
                                  struct weft_error *err)
{
    size_t bytes = 0;
    (void)type;
    weft_status status = weft__rocsparse_lib(spmv_stage(s, SIZE, &bytes), GENERIC ", size of the workspace", err);
    if (!status)
        status = weft__rocsparse_alloc(&s->workspace, bytes, "workspace", err);
    times->workspace_bytes = (int64_t)bytes;
    return status ? status : weft__rocsparse_lib(spmv_stage(s, ANALYSE, &bytes), GENERIC ", analysis", err);
}

static rocsparse_status compute(struct rocsparse_spmv *s)
{
    size_t bytes = 0;
    return spmv_stage(s, COMPUTE, &bytes);
}

#endif

// Descriptors of the vectors, workspace, analysis; s->mat is there.
static weft_status generic_prepare(struct rocsparse_spmv *s, struct weft_backend_times *times, struct weft_error *err)
{
    const rocsparse_datatype type = s->type == WEFT_TYPE_F64 ? rocsparse_datatype_f64_r : rocsparse_datatype_f32_r;
    weft_status status = weft__rocsparse_lib(rocsparse_create_dnvec_descr(&s->vec_x, s->a.n, s->x, type),
                                             "rocsparse_create_dnvec_descr of x", err);
    if (!status)
        status = weft__rocsparse_lib(rocsparse_create_dnvec_descr(&s->vec_y, s->a.m, s->y, type),
                                     "rocsparse_create_dnvec_descr of y", err);
    double start = clock_ms();
    if (!status)
        status = stages_prepare(s, type, times, err);
    return status ? status : elapsed(s, start, &times->analyse_ms, err);
}

static weft_status generic_launch(struct rocsparse_spmv *s, struct weft_error *err)
{
    return weft__rocsparse_lib(compute(s), GENERIC, err);
}

static weft_status coo_convert(struct rocsparse_spmv *s, struct weft_backend_times *times, struct weft_error *err)
{
    const rocsparse_datatype type = s->type == WEFT_TYPE_F64 ? rocsparse_datatype_f64_r : rocsparse_datatype_f32_r;
    size_t nnz = (size_t)s->a.nnz;
    weft_status status = weft__rocsparse_alloc(&s->row, nnz * sizeof(int32_t), "memory for row", err);
    double start = clock_ms();
    if (!status)
        status = weft__rocsparse_lib(
            rocsparse_csr2coo(s->gpu.handle, s->a.row_ptr, s->a.nnz, s->a.m, s->row, rocsparse_index_base_zero),
            "rocsparse_csr2coo", err);
    if (!status)
        status = elapsed(s, start, &times->convert_ms, err);
    if (!status)
        status = weft__rocsparse_lib(rocsparse_create_coo_descr(&s->mat, s->a.m, s->a.n, s->a.nnz, s->row, s->a.col,
                                                                s->a.val, rocsparse_indextype_i32,
                                                                rocsparse_index_base_zero, type),
                                     "rocsparse_create_coo_descr", err);
    times->format_bytes = (int64_t)(nnz * (2 * sizeof(int32_t) + weft_type_bytes(s->type)));
    return status ? status : generic_prepare(s, times, err);
}

#if ROCSPARSE_HEADERS >= 30100
static weft_status csr_describe(struct rocsparse_spmv *s, struct weft_backend_times *times, struct weft_error *err)
{
    const rocsparse_datatype type = s->type == WEFT_TYPE_F64 ? rocsparse_datatype_f64_r : rocsparse_datatype_f32_r;
    weft_status status = weft__rocsparse_lib(
        rocsparse_create_csr_descr(&s->mat, s->a.m, s->a.n, s->a.nnz, s->a.row_ptr, s->a.col, s->a.val,
                                   rocsparse_indextype_i32, rocsparse_indextype_i32, rocsparse_index_base_zero, type),
        "rocsparse_create_csr_descr", err);
    return status ? status : generic_prepare(s, times, err);
}
#endif

// ---- ell ----

static weft_status ell_convert(struct rocsparse_spmv *s, struct weft_backend_times *times, struct weft_error *err)
{
    double start = clock_ms();
    weft_status status =
        weft__rocsparse_lib(rocsparse_csr2ell_width(s->gpu.handle, s->a.m, s->descr, s->a.row_ptr, s->descr, &s->width),
                            "rocsparse_csr2ell_width", err);
    if (!status)
        status = elapsed(s, start, &times->convert_ms, err);
    if (status)
        return status;
    // Memory has an end, and rocSPARSE counts the elements in 32 bits.
    const int64_t elements = (int64_t)s->a.m * s->width;
    if (elements > 16 * (int64_t)s->a.nnz || elements > INT32_MAX)
        return weft__error(err, WEFT_EUNSUPPORTED, "ELL would take %lld elements for %d entries", (long long)elements,
                           (int)s->a.nnz);
    status = weft__rocsparse_alloc(&s->ell_col, (size_t)elements * sizeof(int32_t), "memory for columns of ELL", err);
    if (!status)
        status = weft__rocsparse_alloc(&s->ell_val, (size_t)elements * weft_type_bytes(s->type),
                                       "memory for values of ELL", err);
    double width_ms = times->convert_ms;
    start = clock_ms();
    if (!status)
        status = weft__rocsparse_lib(ROCSPARSE_CALL(s->type, csr2ell, s->gpu.handle, s->a.m, s->descr, s->a.val,
                                                    s->a.row_ptr, s->a.col, s->descr, s->width, s->ell_val, s->ell_col),
                                     "rocsparse_csr2ell", err);
    if (!status)
        status = elapsed(s, start, &times->convert_ms, err);
    times->convert_ms += width_ms;
    times->format_bytes = elements * (int64_t)(sizeof(int32_t) + weft_type_bytes(s->type));
    return status;
}

static weft_status ellmv(struct rocsparse_spmv *s, struct weft_error *err)
{
    return weft__rocsparse_lib(ROCSPARSE_CALL(s->type, ellmv, s->gpu.handle, rocsparse_operation_none, s->a.m, s->a.n,
                                              (void *)&s->alpha, s->descr, s->ell_val, s->ell_col, s->width, s->x,
                                              (void *)&s->beta, s->y),
                               "rocsparse_ellmv", err);
}

// ---- hyb: rows up to the mean length in ELL, the rest in COO ----

static weft_status hyb_convert(struct rocsparse_spmv *s, struct weft_backend_times *times, struct weft_error *err)
{
    if ((int64_t)s->a.m + s->a.nnz > INT32_MAX)
        return weft__error(err, WEFT_EUNSUPPORTED, "HYB of %d rows and %d entries: rocSPARSE counts in 32 bits",
                           (int)s->a.m, (int)s->a.nnz);
    weft_status status = weft__rocsparse_lib(rocsparse_create_hyb_mat(&s->hyb), "rocsparse_create_hyb_mat", err);
    double start = clock_ms();
    if (!status)
        status = weft__rocsparse_lib(ROCSPARSE_CALL(s->type, csr2hyb, s->gpu.handle, s->a.m, s->a.n, s->descr, s->a.val,
                                                    s->a.row_ptr, s->a.col, s->hyb, 0, rocsparse_hyb_partition_auto),
                                     "rocsparse_csr2hyb", err);
    times->format_bytes = -1; // rocSPARSE does not tell
    return status ? status : elapsed(s, start, &times->convert_ms, err);
}

static weft_status hybmv(struct rocsparse_spmv *s, struct weft_error *err)
{
    return weft__rocsparse_lib(ROCSPARSE_CALL(s->type, hybmv, s->gpu.handle, rocsparse_operation_none,
                                              (void *)&s->alpha, s->descr, s->hyb, s->x, (void *)&s->beta, s->y),
                               "rocsparse_hybmv", err);
}

// ---- the operation ----

static const struct algorithm algorithms[] = {
    {"csr_adaptive", 0, rocsparse_spmv_alg_default, adaptive_analyse, csrmv},
    {"csr_stream", 0, rocsparse_spmv_alg_default, NULL, csrmv},
#if ROCSPARSE_HEADERS >= 30100
    {"csr_lrb", 1, rocsparse_spmv_alg_csr_lrb, csr_describe, generic_launch},
#endif
#if ROCSPARSE_HEADERS >= 40200
    {"csr_nnzsplit", 1, rocsparse_spmv_alg_csr_nnzsplit, csr_describe, generic_launch},
#endif
    {"coo", 1, rocsparse_spmv_alg_coo, coo_convert, generic_launch},
    {"coo_atomic", 1, rocsparse_spmv_alg_coo_atomic, coo_convert, generic_launch},
    {"ell", 0, rocsparse_spmv_alg_default, ell_convert, ellmv},
    {"hyb", 0, rocsparse_spmv_alg_default, hyb_convert, hybmv},
};
const char *const weft__rocsparse_spmv_algos[] = {"csr_adaptive", "csr_stream",
#if ROCSPARSE_HEADERS >= 30100
                                                  "csr_lrb",
#endif
#if ROCSPARSE_HEADERS >= 40200
                                                  "csr_nnzsplit",
#endif
                                                  "coo",          "coo_atomic", "ell", "hyb", NULL};

static const struct algorithm *algorithm_find(const char *name)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        if (!name || !strcmp(name, algorithms[i].name))
            return &algorithms[i];
    return NULL;
}

// What rocSPARSE does not take.
static weft_status fits(const struct weft_csr *a, const struct algorithm *algo, struct weft_error *err)
{
    if (a->type != WEFT_TYPE_F32 && a->type != WEFT_TYPE_F64)
        return weft__error(err, WEFT_EUNSUPPORTED, "rocSPARSE has no SpMV for values of type %s",
                           weft_type_name(a->type));
    if (!a->nnz) // some releases leave y as it is, some scale it, and HYB cannot be made
        return weft__error(err, WEFT_EUNSUPPORTED, "rocSPARSE's SpMV wants a matrix with entries");
    if (algo->generic && a->nnz > a->m * a->n)
        return weft__error(err, WEFT_EUNSUPPORTED, "rocSPARSE describes no matrix with more entries than m*n");
    return WEFT_OK;
}

weft_status weft__rocsparse_spmv_prepare(void **state, struct weft_context *ctx,
                                         const struct weft_backend_spmv_job *job, const char *algo,
                                         struct weft_backend_times *times, struct weft_error *err)
{
    *state = NULL;
    const struct weft_csr *a = job->a;
    if (weft__algo_find(weft__rocsparse_spmv_algos, algo, job->tune, "backend rocsparse has no SpMV", err) < 0)
        return WEFT_EINVAL;
    const struct algorithm *found = algorithm_find(algo);
    weft_status status = fits(a, found, err);
    if (status)
        return status;
    struct rocsparse_spmv *s = calloc(1, sizeof *s);
    if (!s)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for SpMV");
    *state = s;
    s->algo = found;
    s->type = a->type;
    s->y0 = job->y;
    s->has_beta = job->beta != 0;
    if (a->type == WEFT_TYPE_F64) {
        s->alpha.f64 = job->alpha;
        s->beta.f64 = job->beta;
    } else {
        s->alpha.f32 = (float)job->alpha;
        s->beta.f32 = (float)job->beta;
    }
    const size_t x_bytes = (size_t)a->n * weft_type_bytes(a->type);
    s->y_bytes = (size_t)a->m * weft_type_bytes(a->type);
    status = weft__rocsparse_open(&s->gpu, ctx, err);
    if (!status)
        status = weft__rocsparse_csr_create(&s->a, a, err);
    if (!status)
        status = weft__rocsparse_alloc(&s->x, x_bytes, "memory for x", err);
    if (!status)
        status = weft__rocsparse_alloc(&s->y, s->y_bytes, "memory for y", err);
    if (!status)
        status = weft__rocsparse_lib(rocsparse_create_mat_descr(&s->descr), "rocsparse_create_mat_descr", err);
    double start = clock_ms();
    if (!status)
        status = weft__rocsparse_csr_write(&s->a, a, err);
    if (!status)
        status = weft__rocsparse_write(s->x, job->x, x_bytes, "write x", err);
    times->write_ms = clock_ms() - start;
    times->format_bytes =
        (a->m + 1) * (int64_t)sizeof(int32_t) + a->nnz * (int64_t)(sizeof(int32_t) + weft_type_bytes(a->type));
    if (!status && found->convert)
        status = found->convert(s, times, err);
    if (status)
        weft__rocsparse_spmv_finish(state);
    return status;
}

weft_status weft__rocsparse_spmv_run(void *state, double *ms, struct weft_error *err)
{
    struct rocsparse_spmv *s = state;
    weft_status status = WEFT_OK;
    if (s->has_beta)
        status = weft__rocsparse_write(s->y, s->y0, s->y_bytes, "write y", err);
    if (!status)
        status = weft__rocsparse_begin(&s->gpu, err);
    return status ? status : weft__rocsparse_end(&s->gpu, s->algo->launch(s, err), ms, err);
}

weft_status weft__rocsparse_spmv_poison(void *state, struct weft_error *err)
{
    struct rocsparse_spmv *s = state;
    return weft__rocsparse_poison(s->y, s->y_bytes, err);
}

weft_status weft__rocsparse_spmv_result(void *state, void *y, struct weft_backend_times *times, struct weft_error *err)
{
    struct rocsparse_spmv *s = state;
    double start = clock_ms();
    weft_status status = weft__rocsparse_read(y, s->y, s->y_bytes, "read y", err);
    times->read_ms = clock_ms() - start;
    return status;
}

void weft__rocsparse_spmv_finish(void **state)
{
    if (!state || !*state)
        return;
    struct rocsparse_spmv *s = *state;
#if V2
    if (s->product)
        rocsparse_destroy_spmv_descr(s->product);
#endif
    if (s->mat)
        rocsparse_destroy_spmat_descr(s->mat);
    if (s->vec_x)
        rocsparse_destroy_dnvec_descr(s->vec_x);
    if (s->vec_y)
        rocsparse_destroy_dnvec_descr(s->vec_y);
    if (s->hyb)
        rocsparse_destroy_hyb_mat(s->hyb);
    if (s->info)
        rocsparse_destroy_mat_info(s->info);
    if (s->descr)
        rocsparse_destroy_mat_descr(s->descr);
    void **memory[] = {&s->x, &s->y, &s->row, &s->ell_col, &s->ell_val, &s->workspace};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        weft__rocsparse_free(memory[i]);
    weft__rocsparse_csr_free(&s->a);
    weft__rocsparse_close(&s->gpu);
    free(s);
    *state = NULL;
}
