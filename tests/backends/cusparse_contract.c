// SPDX-License-Identifier: Apache-2.0
// A contract test, not a result: the backend `cusparse` against a stand-in for CUDA and cuSPARSE (tests/standin/cuda.h).
// Every algorithm on edge shapes, every failing call, the choice of the GPU; and that the stand-in sees wrong calls.
#include "backends/cusparse/cusparse_backend.h"
#include "host/internal/inside.h"
#include "cuda_contract.h"
#include "standin/cuda.h"
#include "standin/trace_check.h"
#include "host/common/check_spmv.h"
#include "tests/support/csr.h"

#include <stdlib.h>
#include <string.h>

static const struct weft_backend *const backend = &weft__backend_cusparse;

// ---- results ---------------------------------------------------------------------------------------------------

struct product {
    const struct weft_csr *a;
    const void *x, *y0;
    double alpha, beta;
};

// The same of a product. 2: refused with a reason.
static int product_once(const struct product *p, const char *algo, long fail, long *calls)
{
    const struct weft_csr *a = p->a;
    struct weft_backend_times times = cuda_no_times();
    struct weft_error err = {0};
    struct weft_backend_spmv_job job = {.a = a, .x = p->x, .y = p->y0, .alpha = p->alpha, .beta = p->beta};
    void *state = NULL, *y = test_alloc((size_t)a->m * 8), *whole = test_alloc((size_t)a->m * 8);
    int called = 0;
    double ms = -1;
    cuda_devices(3, 2, 0, 0);
    standin_fail(fail);
    weft_status status = backend->spmv.prepare(&state, &cuda_fake, &job, algo, &times, &err);
    for (int run = 0; run < 2 && !status; run++)
        status = backend->spmv.run(state, &ms, &err);
    if (!status)
        status = backend->spmv.poison(state, &err);
    const struct check_spmv left = {
        .a = a, .type = a->type, .exact = 1, .alpha = p->alpha, .beta = p->beta, .x = p->x, .y0 = p->y0};
    char said[256];
    if (!status)
        status = backend->spmv.result(state, y, &times, &err);
    const int stays = !status && check_spmv(&left, y, said, sizeof said); // what the runs before have left
    if (!status)
        status = backend->spmv.run(state, &ms, &err);
    if (!status && p->beta == 0)
        status = backend->spmv.plain(state, 1, &err);
    if (!status) { // formats other than CSR have no whole call
        status = backend->spmv.call(state, whole, &err);
        called = !status;
        status = status == WEFT_EUNSUPPORTED ? WEFT_OK : status;
    }
    if (!status)
        status = backend->spmv.result(state, y, &times, &err);
    *calls = standin_calls();
    int good = fail ? status == WEFT_EDEVICE || status == WEFT_EDEVMEM : !status || status == WEFT_EUNSUPPORTED;
    if (!good || (status && (!err.text[0] || strchr(err.text, '\n'))))
        tap_note("call %ld: status %d, \"%s\"", fail, status, err.text);
    if (!status) {
        struct check_spmv check = {.a = a, .type = a->type, .exact = 1, .alpha = p->alpha, .beta = p->beta};
        char why[256];
        check.x = p->x;
        check.y0 = p->y0;
        good &= (!called || check_spmv(&check, whole, why, sizeof why)) &&
                called == (!strncmp(algo, "csr_", 4) && p->beta == 0);
        good &= !stays && check_spmv(&check, y, why, sizeof why) && ms == 1 && times.format_bytes > 0;
    }
    backend->spmv.finish(&state);
    free(y);
    free(whole);
    return !cuda_clean("product") ? 0 : status == WEFT_EUNSUPPORTED && !fail ? 2 * good : good;
}

// Small integers in place of the random bits.
static void values_shrink(const struct weft_csr *a)
{
    for (int64_t p = 0; p < a->nnz; p++) {
        double value = (double)rng_between(&cuda_rng, -4, 4);
        if (a->type == WEFT_TYPE_F32)
            ((float *)a->val)[p] = (float)value;
        else
            ((double *)a->val)[p] = value;
    }
}

static void product_test(const char *algo)
{
    static const double scales[][2] = {{1, 0}, {-2, 0}, {3, -2}};
    int good = 1, done = 0, refused = 0, caught = 1;
    long calls = 0, most = 0, ignored;
    for (int k = 0; k < CUDA_SHAPES * 6; k++) {
        struct weft_csr a;
        const enum weft_type type = k & 1 ? WEFT_TYPE_F64 : WEFT_TYPE_F32;
        test_matrix_make(&a, &cuda_rng, (enum test_spread)(k / 6 % TEST_SPREADS), cuda_shapes[k / 6].m,
                         cuda_shapes[k / 6].n, cuda_shapes[k / 6].nnz, type, k % 5 == 4 ? WEFT_OFS_64 : WEFT_OFS_32);
        values_shrink(&a);
        struct weft_csr x = {.nnz = a.n, .type = type, .val = test_alloc((size_t)a.n * 8)};
        struct weft_csr y = {.nnz = a.m, .type = type, .val = test_alloc((size_t)a.m * 8)};
        values_shrink(&x);
        values_shrink(&y);
        struct product p = {&a, x.val, scales[k % 3][1] != 0 ? y.val : NULL, scales[k % 3][0], scales[k % 3][1]};
        int outcome = product_once(&p, algo, 0, &calls);
        good &= outcome != 0;
        done += outcome == 1;
        refused += outcome == 2;
        if (outcome == 1 && k % 3 == 2 && calls > most)
            for (long fail = 1, all = most = calls; fail <= all; fail++)
                caught &= product_once(&p, algo, fail, &ignored);
        free(x.val);
        free(y.val);
        weft_csr_free(&a);
    }
    tap_ok(good && done > 5, "product by %s: %d right, %d refused", algo, done, refused);
    tap_ok(most > 30 && caught, "product by %s: each of %ld calls fails once", algo, most);
}

static void refusal_test(void)
{
    struct weft_backend_times times = cuda_no_times();
    struct weft_error err = {0};
    struct weft_csr a;
    void *state = NULL;
    struct weft_backend_spmv_job job = {.a = &a, .alpha = 1};
    cuda_devices(2, 2, 0, 0);
    test_matrix_make(&a, &cuda_rng, TEST_UNIFORM, 9, 9, 30, WEFT_TYPE_I32, WEFT_OFS_64);
    tap_ok(backend->transpose.prepare(&state, &cuda_fake, &a, "alg1", NULL, &times, &err) == WEFT_EUNSUPPORTED &&
               !state,
           "64-bit offsets: %s", err.text);
    tap_ok(backend->spmv.prepare(&state, &cuda_fake, &job, "csr_alg1", &times, &err) == WEFT_EUNSUPPORTED && !state,
           "integers: %s", err.text);
    tap_ok(backend->spmv.prepare(&state, &cuda_fake, &job, "ell", &times, &err) == WEFT_EINVAL && !state, "ell: %s",
           err.text);
    weft_csr_free(&a);
    test_matrix_make(&a, &cuda_rng, TEST_UNIFORM, 0, 9, 0, WEFT_TYPE_F32, WEFT_OFS_32);
    tap_ok(backend->transpose.prepare(&state, &cuda_fake, &a, "alg1", NULL, &times, &err) == WEFT_EUNSUPPORTED &&
               !state,
           "no rows: %s", err.text);
    weft_csr_free(&a);
    test_matrix_make(&a, &cuda_rng, TEST_ONE_ROW, 64, 100000, 90000, WEFT_TYPE_F32, WEFT_OFS_32);
    tap_ok(backend->spmv.prepare(&state, &cuda_fake, &job, "sell", &times, &err) == WEFT_EUNSUPPORTED && !state,
           "a row that pads others too far: %s", err.text);
    weft_csr_free(&a);
    test_matrix_make(&a, &cuda_rng, TEST_UNIFORM, 9, 9, 100, WEFT_TYPE_F32, WEFT_OFS_32);
    static const char *const described[] = {"csr_alg1", "csr_alg2", "coo_alg1", "coo_alg2"};
    for (size_t i = 0; i < sizeof described / sizeof *described; i++)
        tap_ok(backend->spmv.prepare(&state, &cuda_fake, &job, described[i], &times, &err) == WEFT_EUNSUPPORTED &&
                   !state,
               "%s, places that hold several entries: %s", described[i], err.text);
    weft_csr_free(&a);
    tap_ok(cuda_clean("refusals"), "refusals leave nothing");
}

// ---- columns in any order ----------------------------------------------------------------------------------------

static void values_swap(struct weft_csr *t, int64_t p, int64_t q)
{
    const size_t bytes = weft_type_bytes(t->type);
    char *val = t->val, value[8];
    memcpy(value, val + (size_t)p * bytes, bytes);
    memcpy(val + (size_t)p * bytes, val + (size_t)q * bytes, bytes);
    memcpy(val + (size_t)q * bytes, value, bytes);
}

enum wrong { RIGHT, VALUE, ROW, VALUES, PLACE, POINTERS, WRONGS };

// A transpose of `a` whose columns are shuffled, and wrong in one way, after it was ordered: nonzero when it is `want`.
static int ordered(const struct weft_csr *a, const struct weft_csr *want, enum wrong wrong)
{
    struct weft_csr t = {0};
    struct weft_error err = {0};
    if (weft__ref_transpose(&t, a))
        tap_bail("no memory");
    int32_t *ptr = t.row_ptr;
    for (int64_t c = 0; c < t.m; c++)
        for (int64_t p = ptr[c]; p < ptr[c + 1]; p++) {
            const int64_t q = rng_between(&cuda_rng, p, ptr[c + 1] - 1);
            const int32_t row = t.col[p];
            t.col[p] = t.col[q];
            t.col[q] = row;
            if (t.val)
                values_swap(&t, p, q);
        }
    int64_t last = t.nnz - 1, other = last;
    if (wrong == VALUE)
        ((char *)t.val)[0] ^= 1;
    if (wrong == ROW)
        t.col[last] = t.col[last] ? t.col[last] - 1 : 1;
    if (wrong == VALUES) { // of two rows
        while (other > ptr[t.m - 1] &&
               (t.col[other] == t.col[last] || ((float *)t.val)[other] == ((float *)t.val)[last]))
            other--;
        values_swap(&t, last, other);
    }
    if (wrong == PLACE)
        t.col[0] = -5;
    if (wrong == POINTERS)
        ptr[1] = (int32_t)t.nnz + 3;
    const int equal = !weft__cusparse_columns_order(&t, a, &err) && weft_csr_equal(&t, want);
    weft_csr_free(&t);
    return equal;
}

static void columns_test(void)
{
    struct weft_csr a, want;
    for (int k = 0; k < 3; k++) { // 600 places, the first with many entries each
        static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_PATTERN};
        test_matrix_make(&a, &cuda_rng, TEST_UNIFORM, 20, 30, k ? 4000 : 500, types[k], WEFT_OFS_32);
        if (weft__ref_transpose(&want, &a))
            tap_bail("no memory");
        tap_ok(ordered(&a, &want, RIGHT), "columns in any order, %s", weft_type_name(types[k]));
        for (int w = VALUE; w < WRONGS; w++)
            if (k == 0 || (w != VALUE && w != VALUES))
                tap_ok(!ordered(&a, &want, (enum wrong)w), "what is wrong stays wrong: %d, %s", w,
                       weft_type_name(types[k]));
        weft_csr_free(&a);
        weft_csr_free(&want);
    }
}

// ---- the stand-in itself ----------------------------------------------------------------------------------------

static void *take(const void *from, size_t bytes)
{
    void *out = NULL;
    cudaMalloc(&out, bytes);
    cudaMemcpy(out, from, bytes, cudaMemcpyHostToDevice);
    return out;
}

enum mistake {
    NO_MISTAKE,
    SMALL_BUFFER,
    WRONG_NNZ,
    SMALL_OUTPUT,
    HOST_POINTER,
    DEAD_HANDLE,
    SHORT_VECTOR,
    EARLY_TIME,
    LEFT_MEMORY,
    MISTAKES
};
static const char *const mistakes[] = {"no mistake",          "a buffer too small",    "a wrong number of entries",
                                       "an output too small", "a host pointer",        "a destroyed handle",
                                       "a short vector",      "a time before the end", "memory that is left"};

// [1 2; 0 3] transposed and multiplied by calls that are right but for one.
static void mistake_make(enum mistake mistake)
{
    int ptr[] = {0, 2, 3}, col[] = {0, 1, 1}, nnz = mistake == WRONG_NNZ ? 2 : 3;
    float val[] = {1, 2, 3}, one = 1, zero = 0, ms;
    size_t bytes = 0;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    cusparseHandle_t handle;
    cusparseSpMatDescr_t a = NULL;
    cusparseDnVecDescr_t x = NULL, y = NULL;
    standin_reset(1);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cusparseCreate(&handle);
    cusparseSetStream(handle, stream);
    if (mistake == DEAD_HANDLE)
        cusparseDestroy(handle);
    void *dptr = take(ptr, sizeof ptr), *dcol = take(col, sizeof col), *dval = take(val, sizeof val);
    void *out_ptr = take(ptr, sizeof ptr), *out_row = take(col, mistake == SMALL_OUTPUT ? 8 : sizeof col);
    void *out_val = take(val, sizeof val), *buffer = NULL;
    void *in = mistake == HOST_POINTER ? val : dval;
    cusparseCsr2cscEx2_bufferSize(handle, 2, 2, nnz, in, dptr, dcol, out_val, out_ptr, out_row, CUDA_R_32F,
                                  CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, &bytes);
    cudaMalloc(&buffer, mistake == SMALL_BUFFER ? bytes - 1 : bytes + 1);
    cudaEventRecord(start, stream);
    cusparseCsr2cscEx2(handle, 2, 2, nnz, in, dptr, dcol, out_val, out_ptr, out_row, CUDA_R_32F,
                       CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, buffer);
    cudaEventRecord(stop, stream);
    if (mistake != EARLY_TIME)
        cudaStreamSynchronize(stream);
    cudaEventElapsedTime(&ms, start, stop);
    cudaFree(buffer);
    cusparseCreateCsr(&a, 2, 2, nnz, dptr, dcol, dval, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                      CUDA_R_32F);
    cusparseCreateDnVec(&x, mistake == SHORT_VECTOR ? 1 : 2, out_val, CUDA_R_32F);
    cusparseCreateDnVec(&y, 2, out_row, CUDA_R_32F);
    cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, x, &zero, y, CUDA_R_32F,
                            CUSPARSE_SPMV_CSR_ALG1, &bytes);
    cudaMalloc(&buffer, bytes + 1);
    cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG1,
                 buffer);
    cudaStreamSynchronize(stream);
    void *all[] = {dptr, dcol, dval, out_ptr, out_row, out_val, buffer};
    for (size_t i = mistake == LEFT_MEMORY; i < sizeof all / sizeof *all; i++)
        cudaFree(all[i]);
    if (a)
        cusparseDestroySpMat(a);
    cusparseDestroyDnVec(x);
    cusparseDestroyDnVec(y);
    if (mistake != DEAD_HANDLE)
        cusparseDestroy(handle);
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    cudaStreamDestroy(stream);
}

int main(void)
{
    cuda_begin();
    cuda_probe_test(backend, "cuSPARSE 99.8.7");
    refusal_test();
    columns_test();
    for (const char *const *algo = backend->transpose.algos; *algo; algo++)
        cuda_transpose_test(backend, *algo);
    for (const char *const *algo = backend->spmv.algos; *algo; algo++)
        if (strncmp(*algo, "op", 2)) // the stand-in has no cusparseSpMVOp
            product_test(*algo);
    cuda_devices(1, 1, 0, 0);
    trace_check(backend, &cuda_fake, "csr_alg1");
    for (int k = 0; k < MISTAKES; k++) {
        mistake_make((enum mistake)k);
        const char *complaint = standin_complaint();
        tap_ok(k == LEFT_MEMORY ? standin_alive() == 1 : !complaint == !k, "%s: %s", mistakes[k],
               complaint ? complaint : "no complaint");
    }
    standin_reset(0);
    return tap_done();
}
