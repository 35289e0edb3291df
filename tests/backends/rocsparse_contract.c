// SPDX-License-Identifier: Apache-2.0
// A contract test of backends/rocsparse, not a result: the module is linked with the stand-in of tests/standin in the
// place of HIP and rocSPARSE. Every algorithm gives what the oracle gives; no call breaks a rule; nothing stays alive,
// whichever call fails; and the stand-in does refuse wrong sizes, pointers, handles and orders of calls.
#include "host/internal/inside.h"
#include "backends/rocsparse/rocsparse_backend.h"
#include "standin/hip.h"
#include "standin/trace_check.h"
#include "host/common/check_spmv.h"
#include "tests/support/csr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct weft_backend *const backend = &weft__backend_rocsparse;

// An OpenCL device at a place on the PCI bus.
static struct weft_context context_at(int domain, int bus, int device)
{
    struct weft_context ctx = {.device = {.pci_domain = domain, .pci_bus = bus, .pci_device = device}};
    snprintf(ctx.device.name, sizeof ctx.device.name, "gfx90a");
    return ctx;
}

// Nothing is alive and no rule was broken.
static int clean(void)
{
    if (standin_alive())
        tap_note("%ld objects are alive", standin_alive());
    if (standin_complaint())
        tap_note("%s", standin_complaint());
    return !standin_alive() && !standin_complaint();
}

static int one_line(const struct weft_error *err, weft_status status)
{
    return err->status == status && err->text[0] && !strchr(err->text, '\n');
}

// ---- which GPU ----

static void device_test(void)
{
    static const struct {
        int devices, domain, bus, device, want; // want: HIP's number, -1: an error
        const char *text;
    } cases[] = {
        {0, 0, 3, 0, -1, "no HIP device"},
        {1, 0, 3, 0, 0, NULL},
        {2, 0, 0x83, 0, 1, NULL},
        {3, 1, 3, 0, 2, NULL},
        {2, -1, 0x83, 0, 1, NULL}, // AMD's older drivers do not tell the domain
        {3, -1, 3, 0, -1, "more than one HIP device at 03:00 on the PCI bus"},
        {2, 0, 3, 1, -1, "no HIP device at 03:01 on the PCI bus"},
        {2, 0, 4, 0, -1, "no HIP device at 04:00 on the PCI bus"},
        {2, -1, -1, -1, -1, "no HIP device: gfx90a has no place on the PCI bus"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct weft_context ctx = context_at(cases[k].domain, cases[k].bus, cases[k].device);
        struct weft_error err = {0};
        struct rocsparse_gpu gpu;
        standin_reset(cases[k].devices);
        weft_status status = backend->probe(&ctx, &err);
        weft_status opened = weft__rocsparse_open(&gpu, &ctx, &err);
        if (cases[k].want < 0) {
            tap_ok(status == WEFT_ENODEV && opened == WEFT_ENODEV && one_line(&err, status),
                   "%d GPUs, %d:%02x: refused", cases[k].devices, cases[k].domain, (unsigned)cases[k].bus & 0xff);
            tap_is_str(err.text, cases[k].text, "its reason");
        } else {
            tap_ok(!status && !opened, "%d GPUs, %d:%02x: found", cases[k].devices, cases[k].domain,
                   (unsigned)cases[k].bus & 0xff);
            tap_is_int(standin_device(), cases[k].want, "HIP's number of it");
        }
        weft__rocsparse_close(&gpu);
        tap_ok(clean(), "closed");
    }
    struct weft_error err = {0};
    char want[64];
    standin_reset(0);
    snprintf(want, sizeof want, "rocSPARSE %d.%d.%d (headers)", ROCSPARSE_VERSION_MAJOR, ROCSPARSE_VERSION_MINOR,
             ROCSPARSE_VERSION_PATCH);
    tap_is_str(backend->version(), want, "version without a GPU");
    tap_ok(backend->probe(NULL, &err) == WEFT_ENODEV && !strcmp(err.text, "no HIP device"), "no GPU: %s", err.text);
    standin_reset(1);
    want[strcspn(want, "(") - 1] = 0;
    tap_is_str(backend->version(), want, "version of the library");
    tap_ok(backend->probe(NULL, &err) == WEFT_ENODEV && one_line(&err, WEFT_ENODEV), "no OpenCL: %s", err.text);
    tap_ok(clean(), "nothing is left");
}

// ---- matrices ----

static const struct {
    int64_t m, n, nnz;
} shapes[] = {{1, 1, 0},  {1, 1, 1},    {7, 3, 0},     {1, 40, 25},  {40, 1, 25},      {3, 3, 9},   {1, 1, 9},
              {3, 3, 50}, {64, 64, 64}, {500, 9, 300}, {9, 500, 77}, {129, 257, 2000}, {300, 1, 1}, {2, 300, 600}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static double value_of(struct rng *rng, int exact)
{
    return exact ? (double)rng_between(rng, -4, 4) : 2 * rng_unit(rng) - 1;
}

static void set(void *values, int64_t i, enum weft_type type, double value)
{
    if (type == WEFT_TYPE_F64)
        ((double *)values)[i] = value;
    else
        ((float *)values)[i] = (float)value;
}

static void fill(void *values, int64_t count, enum weft_type type, struct rng *rng, int exact)
{
    for (int64_t i = 0; i < count; i++)
        set(values, i, type, value_of(rng, exact));
}

// ---- transposition ----

// Prepare, run twice, compare. Gives the status of the first call that fails.
static weft_status transposed(struct weft_context *ctx, const struct weft_csr *a, int *right, struct weft_error *err)
{
    const struct weft_backend_transpose *ops = &backend->transpose;
    struct weft_backend_times times = WEFT_BACKEND_NO_TIMES;
    struct weft_csr want, got = {0};
    void *state = NULL;
    double ms;
    int stays = 0;
    *right = 0;
    weft_status status = ops->prepare(&state, ctx, a, ops->algos[0], NULL, &times, err);
    if (status && state)
        tap_note("a state is left");
    for (int turn = 0; turn < 2 && !status && (!turn || *right); turn++) {
        ms = -1;
        status = turn ? ops->poison(state, err) : WEFT_OK;
        if (!status && turn) { // nothing that the run before has left
            status = ops->result(state, &got, &times, err);
            stays = !status && ((int32_t *)got.row_ptr)[got.m] == a->nnz;
            weft_csr_free(&got);
        }
        if (!status)
            status = ops->run(state, &ms, err);
        if (!status)
            status = ops->result(state, &got, &times, err);
        if (status)
            break;
        if (weft__ref_transpose(&want, a))
            tap_bail("no memory");
        *right = !stays && weft_csr_equal(&want, &got) && ms >= 0 && standin_timed() == 1 && times.write_ms >= 0 &&
                 times.read_ms >= 0 && times.workspace_bytes > 0;
        weft_csr_free(&want);
        weft_csr_free(&got);
    }
    ops->finish(&state);
    *right &= !state && !status;
    return status;
}

static void transpose_test(struct rng *rng)
{
    struct weft_context ctx = context_at(0, 0x83, 0);
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_I32, WEFT_TYPE_PATTERN};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        int good = 1;
        standin_reset(2);
        for (size_t k = 0; k < SHAPES; k++)
            for (int spread = 0; spread < TEST_SPREADS; spread++) {
                struct weft_csr a;
                struct weft_error err = {0};
                int right;
                test_matrix_make(&a, rng, (enum test_spread)spread, shapes[k].m, shapes[k].n, shapes[k].nnz, types[t],
                                 WEFT_OFS_32);
                if (transposed(&ctx, &a, &right, &err) || !right) {
                    tap_note("%lld x %lld, %lld entries, %s: %s", (long long)a.m, (long long)a.n, (long long)a.nnz,
                             test_spread_name((enum test_spread)spread), err.text);
                    good = 0;
                }
                weft_csr_free(&a);
            }
        tap_ok(good && clean(), "csr2csc, %s: as the oracle, one call timed, nothing left", weft_type_name(types[t]));
    }
}

// ---- products ----

struct product {
    struct weft_csr a;
    void *x, *y0, *y;
};

static void product_make(struct product *p, struct rng *rng, enum test_spread spread, int64_t m, int64_t n, int64_t nnz,
                         enum weft_type type, int exact)
{
    test_matrix_make(&p->a, rng, spread, m, n, nnz, type, WEFT_OFS_32);
    p->x = malloc((size_t)n * 8 + 8);
    p->y0 = malloc((size_t)m * 8 + 8);
    p->y = malloc((size_t)m * 8 + 8);
    if (!p->x || !p->y0 || !p->y)
        tap_bail("no memory");
    fill(p->a.val, nnz, type, rng, exact);
    fill(p->x, n, type, rng, exact);
    fill(p->y0, m, type, rng, exact);
}

static void product_free(struct product *p)
{
    weft_csr_free(&p->a);
    free(p->x);
    free(p->y0);
    free(p->y);
}

// Prepare, run twice, compare.
static weft_status multiplied(struct weft_context *ctx, struct product *p, const char *algo, double alpha, double beta,
                              int exact, int *right, struct weft_error *err)
{
    const struct weft_backend_spmv *ops = &backend->spmv;
    const struct weft_backend_spmv_job job = {
        .a = &p->a, .x = p->x, .y = beta != 0 ? p->y0 : NULL, .alpha = alpha, .beta = beta};
    const struct check_spmv check = {
        .a = &p->a, .type = p->a.type, .exact = exact, .alpha = alpha, .beta = beta, .x = p->x, .y0 = job.y};
    struct weft_backend_times times = WEFT_BACKEND_NO_TIMES;
    char why[256] = "";
    void *state = NULL;
    double ms;
    int stays = 0;
    *right = 0;
    weft_status status = ops->prepare(&state, ctx, &job, algo, &times, err);
    if (status && state)
        tap_note("a state is left");
    for (int turn = 0; turn < 2 && !status; turn++) {
        ms = -1;
        memset(p->y, 0xa5, (size_t)p->a.m * 8);
        status = turn ? ops->poison(state, err) : WEFT_OK;
        if (!status && turn) { // nothing that the run before has left
            status = ops->result(state, p->y, &times, err);
            stays = !status && p->a.m && check_spmv(&check, p->y, why, sizeof why);
        }
        if (!status)
            status = ops->run(state, &ms, err);
        if (!status)
            status = ops->result(state, p->y, &times, err);
        if (status)
            break;
        const int analyses = strcmp(algo, "csr_stream") && strcmp(algo, "ell") && strcmp(algo, "hyb");
        const int converts = strncmp(algo, "csr", 3) != 0;
        *right = !stays && check_spmv(&check, p->y, why, sizeof why) && ms >= 0 && standin_timed() == 1;
        *right &= times.write_ms >= 0 && times.read_ms >= 0 && (times.analyse_ms >= 0) == analyses &&
                  (times.convert_ms >= 0) == converts && (times.format_bytes > 0) == (strcmp(algo, "hyb") != 0);
        if (!*right) {
            tap_note("%s: %s; write %g, read %g, analyse %g, convert %g ms, format %lld", algo, why, times.write_ms,
                     times.read_ms, times.analyse_ms, times.convert_ms, (long long)times.format_bytes);
            break;
        }
    }
    ops->finish(&state);
    *right &= !state && !status;
    return status;
}

// What an algorithm may refuse: a matrix without entries, ELL that would be mostly padding, a matrix whose duplicates
// are more than it has places.
static int may_refuse(const struct weft_csr *a, const char *algo)
{
    int64_t longest = 0;
    for (int64_t i = 0; i < a->m; i++) {
        const int64_t length = weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i);
        longest = length > longest ? length : longest;
    }
    const int described = !strncmp(algo, "coo", 3) || !strcmp(algo, "csr_lrb") || !strcmp(algo, "csr_nnzsplit");
    return !a->nnz || (!strcmp(algo, "ell") && a->m * longest > 16 * a->nnz) || (described && a->nnz > a->m * a->n);
}

static void spmv_test(struct rng *rng)
{
    static const double scalars[][2] = {{1, 0}, {2, 1}, {-1, 0.5}, {0, 3}};
    struct weft_context ctx = context_at(0, 3, 0);
    for (const char *const *algo = backend->spmv.algos; *algo; algo++)
        for (int type = WEFT_TYPE_F32; type <= WEFT_TYPE_F64; type++) {
            int good = 1, refused = 0, ran = 0, round = 0;
            standin_reset(1);
            for (size_t k = 0; k < SHAPES; k++)
                for (int spread = 0; spread < TEST_SPREADS; spread++, round++) {
                    struct product p;
                    struct weft_error err = {0};
                    const int exact = round % 2;
                    int right;
                    product_make(&p, rng, (enum test_spread)spread, shapes[k].m, shapes[k].n, shapes[k].nnz,
                                 (enum weft_type)type, exact);
                    weft_status status =
                        multiplied(&ctx, &p, *algo, scalars[round % 4][0], scalars[round % 4][1], exact, &right, &err);
                    const int refusal = may_refuse(&p.a, *algo);
                    const int fine = refusal ? status == WEFT_EUNSUPPORTED && one_line(&err, status) : !status && right;
                    if (!fine) {
                        tap_note("%lld x %lld, %lld entries, %s: status %d, %s", (long long)p.a.m, (long long)p.a.n,
                                 (long long)p.a.nnz, test_spread_name((enum test_spread)spread), (int)status, err.text);
                        good = 0;
                    }
                    refused += refusal;
                    ran += !refusal;
                    product_free(&p);
                }
            tap_ok(good && ran && clean(), "%s, %s: %d products as the oracle, %d refused, nothing left", *algo,
                   weft_type_name((enum weft_type)type), ran, refused);
        }
}

// ---- what is refused ----

static void refusal_test(struct rng *rng)
{
    struct weft_context ctx = context_at(0, 3, 0);
    static const struct {
        enum weft_type type;
        enum weft_ofs ofs;
        int64_t m, n, nnz;
        const char *transpose, *spmv; // NULL: it is not refused
    } cases[] = {
        {WEFT_TYPE_I32, WEFT_OFS_32, 9, 9, 20, NULL, "rocSPARSE has no SpMV for values of type i32"},
        {WEFT_TYPE_PATTERN, WEFT_OFS_32, 9, 9, 20, NULL, "rocSPARSE has no SpMV for values of type pattern"},
        {WEFT_TYPE_F32, WEFT_OFS_64, 9, 9, 20, "these routines of rocSPARSE take 32-bit offsets only",
         "these routines of rocSPARSE take 32-bit offsets only"},
        {WEFT_TYPE_F64, WEFT_OFS_32, 0, 9, 0, "rocSPARSE transposes no matrix without rows or columns",
         "rocSPARSE's SpMV wants a matrix with entries"},
        {WEFT_TYPE_F64, WEFT_OFS_32, 9, 0, 0, "rocSPARSE transposes no matrix without rows or columns",
         "rocSPARSE's SpMV wants a matrix with entries"},
    };
    standin_reset(1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct weft_csr a;
        struct weft_error err = {0};
        struct weft_backend_times times = {0};
        void *state = &a;
        double x[9] = {0};
        int right;
        test_matrix_make(&a, rng, TEST_UNIFORM, cases[k].m, cases[k].n, cases[k].nnz, cases[k].type, cases[k].ofs);
        weft_status status = transposed(&ctx, &a, &right, &err);
        tap_ok(cases[k].transpose ? status == WEFT_EUNSUPPORTED && !strcmp(err.text, cases[k].transpose)
                                  : !status && right,
               "transposing %s: %s", weft_type_name(cases[k].type), err.text);
        struct weft_backend_spmv_job job = {.a = &a, .x = x, .alpha = 1};
        status = backend->spmv.prepare(&state, &ctx, &job, NULL, &times, &err);
        tap_ok(status == WEFT_EUNSUPPORTED && !state, "its product is refused");
        tap_is_str(err.text, cases[k].spmv, "its reason");
        status = backend->transpose.prepare(&state, &ctx, &a, "nonsense", NULL, &times, &err);
        tap_ok(status == WEFT_EINVAL && strstr(err.text, "\"nonsense\""), "%s", err.text);
        status = backend->spmv.prepare(&state, &ctx, &job, "nonsense", &times, &err);
        tap_ok(status == WEFT_EINVAL && strstr(err.text, "\"nonsense\""), "%s", err.text);
        weft_csr_free(&a);
    }
    backend->transpose.finish(NULL);
    backend->spmv.finish(NULL);
    tap_ok(clean(), "nothing is left");
}

// ---- every call fails once ----

static void fault_test(struct rng *rng)
{
    struct weft_context ctx = context_at(0, 3, 0);
    static const char *const transposition[] = {"csr2csc", NULL};
    for (int op = 0; op < 2; op++)
        for (const char *const *algo = op ? backend->spmv.algos : transposition; *algo; algo++) {
            struct product p;
            int good = 1, right = 0;
            long calls = 0, failed = 0;
            product_make(&p, rng, TEST_UNIFORM, 20, 30, 100, WEFT_TYPE_F64, 0);
            for (long n = 0; n <= calls; n++) { // none fails the first time
                struct weft_error err = {0};
                standin_reset(1);
                standin_fail(n);
                weft_status status =
                    op ? multiplied(&ctx, &p, *algo, 1, 1, 0, &right, &err) : transposed(&ctx, &p.a, &right, &err);
                calls = n ? calls : standin_calls();
                failed += status != WEFT_OK;
                if ((status ? !one_line(&err, status) || right : !right) || !clean()) {
                    tap_note("call %ld: status %d, %s", n, (int)status, err.text);
                    good = 0;
                }
            }
            // The last call is the wait before all is released, whose failure changes nothing.
            tap_ok(good && failed == calls - 1, "%s: %ld of %ld calls fail in one line, and leave nothing", *algo,
                   failed, calls);
            product_free(&p);
        }
}

// ---- the stand-in refuses what is wrong ----

// Device memory with the contents of `from` (NULL: not set).
static void *device(const void *from, size_t bytes)
{
    void *out = NULL;
    if (hipMalloc(&out, bytes) != hipSuccess ||
        (from && hipMemcpy(out, from, bytes, hipMemcpyHostToDevice) != hipSuccess))
        tap_bail("the stand-in has no memory");
    return out;
}

// A 3 x 4 matrix with 5 entries, and what calls want to know of it; one member is wrong in each case.
struct call {
    rocsparse_handle handle;
    rocsparse_mat_descr descr;
    rocsparse_mat_info info;
    rocsparse_int m, n, nnz, width;
    void *row_ptr, *col, *val, *x, *y, *workspace, *col_ptr, *row, *ell_col, *ell_val;
};

static struct call call_make(void)
{
    static const rocsparse_int ptr[] = {0, 2, 2, 5}, col[] = {1, 3, 0, 1, 2};
    static const float val[] = {1, 2, 3, 4, 5}, x[] = {1, 1, 1, 1};
    struct call c = {.m = 3, .n = 4, .nnz = 5, .width = 3};
    size_t bytes = 0;
    standin_reset(1);
    c.row_ptr = device(ptr, sizeof ptr);
    c.col = device(col, sizeof col);
    c.val = device(val, sizeof val);
    c.x = device(x, sizeof x);
    c.y = device(NULL, 3 * sizeof(float));
    c.col_ptr = device(NULL, 5 * sizeof(rocsparse_int));
    c.row = device(NULL, sizeof col);
    c.ell_col = device(NULL, 9 * sizeof(rocsparse_int));
    c.ell_val = device(NULL, 9 * sizeof(float));
    if (rocsparse_create_handle(&c.handle) != rocsparse_status_success ||
        rocsparse_create_mat_descr(&c.descr) != rocsparse_status_success ||
        rocsparse_create_mat_info(&c.info) != rocsparse_status_success ||
        rocsparse_csr2csc_buffer_size(c.handle, c.m, c.n, c.nnz, c.row_ptr, c.col, rocsparse_action_numeric, &bytes) !=
            rocsparse_status_success)
        tap_bail("the stand-in refuses what is right: %s", standin_complaint());
    c.workspace = device(NULL, bytes);
    return c;
}

static rocsparse_status call_csr2csc(const struct call *c)
{
    return rocsparse_scsr2csc(c->handle, c->m, c->n, c->nnz, c->val, c->row_ptr, c->col, c->ell_val, c->row, c->col_ptr,
                              rocsparse_action_numeric, rocsparse_index_base_zero, c->workspace);
}

static rocsparse_status call_csrmv(const struct call *c)
{
    const float one = 1, zero = 0;
    rocsparse_status status = rocsparse_scsrmv_analysis(c->handle, rocsparse_operation_none, c->m, c->n, c->nnz,
                                                        c->descr, c->val, c->row_ptr, c->col, c->info);
    return status != rocsparse_status_success
               ? status
               : rocsparse_scsrmv(c->handle, rocsparse_operation_none, c->m, c->n, c->nnz, &one, c->descr, c->val,
                                  c->row_ptr, c->col, c->info, c->x, &zero, c->y);
}

static rocsparse_status call_ell(const struct call *c)
{
    const float one = 1, zero = 0;
    rocsparse_status status = rocsparse_scsr2ell(c->handle, c->m, c->descr, c->val, c->row_ptr, c->col, c->descr,
                                                 c->width, c->ell_val, c->ell_col);
    return status != rocsparse_status_success
               ? status
               : rocsparse_sellmv(c->handle, rocsparse_operation_none, c->m, c->n, &one, c->descr, c->ell_val,
                                  c->ell_col, c->width, c->x, &zero, c->y);
}

#if ROCSPARSE_HEADERS >= 40100
// A product by the routine of version 2.
struct v2 {
    int inputs, analyse; // 4: all; 0: no analysis
    long more;           // bytes of its workspace beside what is asked for
    rocsparse_spmv_alg alg;
};

static rocsparse_status call_v2(const struct call *c, const struct v2 *v)
{
    const rocsparse_operation none = rocsparse_operation_none;
    const rocsparse_datatype type = rocsparse_datatype_f32_r;
    const float one = 1, zero = 0;
    rocsparse_spmat_descr mat;
    rocsparse_dnvec_descr x, y;
    rocsparse_spmv_descr d;
    size_t bytes = 0;
    if (rocsparse_create_csr_descr(&mat, c->m, c->n, c->nnz, c->row_ptr, c->col, c->val, rocsparse_indextype_i32,
                                   rocsparse_indextype_i32, rocsparse_index_base_zero, type) ||
        rocsparse_create_dnvec_descr(&x, c->n, c->x, type) || rocsparse_create_dnvec_descr(&y, c->m, c->y, type) ||
        rocsparse_create_spmv_descr(&d) ||
        rocsparse_spmv_set_input(c->handle, d, rocsparse_spmv_input_alg, &v->alg, sizeof v->alg, NULL) ||
        rocsparse_spmv_set_input(c->handle, d, rocsparse_spmv_input_operation, &none, sizeof none, NULL) ||
        rocsparse_spmv_set_input(c->handle, d, rocsparse_spmv_input_scalar_datatype, &type, sizeof type, NULL) ||
        (v->inputs == 4 &&
         rocsparse_spmv_set_input(c->handle, d, rocsparse_spmv_input_compute_datatype, &type, sizeof type, NULL)))
        return rocsparse_status_internal_error;
    rocsparse_status status = rocsparse_status_success;
    for (int stage = !v->analyse; stage < 2 && status == rocsparse_status_success; stage++) {
        const rocsparse_v2_spmv_stage which =
            stage ? rocsparse_v2_spmv_stage_compute : rocsparse_v2_spmv_stage_analysis;
        status = rocsparse_v2_spmv_buffer_size(c->handle, d, mat, x, y, which, &bytes, NULL);
        if (status != rocsparse_status_success)
            return status;
        bytes += stage ? 0 : (size_t)v->more;
        status = rocsparse_v2_spmv(c->handle, d, &one, mat, x, &zero, y, which, bytes,
                                   bytes ? device(NULL, bytes) : NULL, NULL);
    }
    return status;
}
#endif

// The call is refused, and the stand-in complains of it, `expected` among its words.
static void refused(rocsparse_status status, const char *expected, const char *what)
{
    const char *complaint = standin_complaint();
    tap_ok(status != rocsparse_status_success && complaint && strstr(complaint, expected), "%s: status %d, %s", what,
           (int)status, complaint ? complaint : "no complaint");
}

static void negative_test(void)
{
    static const rocsparse_int far[] = {1, 4, 0, 1, 2}, ends_early[] = {0, 2, 2, 4};
    struct call c = call_make();
    tap_ok(call_csr2csc(&c) == rocsparse_status_success && call_csrmv(&c) == rocsparse_status_success &&
               call_ell(&c) == rocsparse_status_success && !standin_complaint(),
           "the stand-in takes what is right");

#define WRONG(call, change, expected, what)                                                                            \
    do {                                                                                                               \
        c = call_make();                                                                                               \
        change;                                                                                                        \
        refused(call(&c), expected, what);                                                                             \
    } while (0)
    WRONG(call_csr2csc, c.workspace = device(NULL, 1000), "temp_buffer", "a workspace that is too small");
    WRONG(call_csr2csc, c.nnz = 6, "nnz is 6", "too many entries");
    WRONG(call_csrmv, c.nnz = 4, "nnz is 4", "too few entries");
    WRONG(call_csr2csc, c.m = 4, "row_ptr", "too many rows");
    WRONG(call_csr2csc, c.n = 3, "col[1] is 3", "too few columns");
    WRONG(call_csr2csc, c.n = 5, "csc_col_ptr", "a result for fewer columns");
    WRONG(call_csrmv, c.n = 5, "x has", "x for fewer columns");
    WRONG(call_csrmv, c.col = device(far, sizeof far), "col[1] is 4", "a column outside of the matrix");
    WRONG(call_csrmv, c.row_ptr = device(ends_early, sizeof ends_early), "nnz is 5", "row_ptr of another matrix");
    WRONG(call_csrmv, c.y = device(NULL, 2 * sizeof(float)), "y has", "y that is too short");
    WRONG(call_csrmv, c.y = &c, "not in device memory", "a pointer of the host");
    WRONG(call_csrmv, c.x = NULL, "not in device memory", "no pointer");
    WRONG(call_csr2csc, rocsparse_destroy_handle(c.handle), "not alive", "a handle that is gone");
    WRONG(call_csrmv, rocsparse_destroy_mat_info(c.info), "not alive", "an analysis that is gone");
    WRONG(call_csrmv, rocsparse_destroy_mat_descr(c.descr), "not alive", "a descriptor that is gone");
    WRONG(call_csrmv, (void)hipFree(c.val), "not in device memory", "values that are gone");
    WRONG(call_ell, c.width = 2, "2 wide", "ELL that is too narrow");
    WRONG(call_ell, c.width = 4, "ell_col_ind has", "ELL that is wider than its memory");

#if ROCSPARSE_HEADERS >= 40100
    c = call_make();
    tap_ok(call_v2(&c, &(struct v2){4, 1, 0, rocsparse_spmv_alg_csr_lrb}) == rocsparse_status_success &&
               !standin_complaint(),
           "the stand-in takes a right product of version 2");
    refused(call_v2(&c, &(struct v2){3, 1, 0, rocsparse_spmv_alg_csr_lrb}), "not all", "a product without its type");
    c = call_make();
    refused(call_v2(&c, &(struct v2){4, 0, 0, rocsparse_spmv_alg_csr_lrb}), "not analysed", "no analysis");
    c = call_make();
    refused(call_v2(&c, &(struct v2){4, 1, -1, rocsparse_spmv_alg_csr_lrb}), "workspace",
            "a workspace that is too small");
    c = call_make();
    refused(call_v2(&c, &(struct v2){4, 1, 0, rocsparse_spmv_alg_coo}), "format", "an algorithm of another format");
#endif

    float one = 1, zero = 0;
    c = call_make();
    refused(rocsparse_scsrmv(c.handle, rocsparse_operation_none, c.m, c.n, c.nnz, &one, c.descr, c.val, c.row_ptr,
                             c.col, c.info, c.x, &zero, c.y),
            "not analysed", "csrmv before its analysis");
    float ms;
    hipEvent_t event;
    hipStream_t stream;
    c = call_make();
    if (hipStreamCreate(&stream) != hipSuccess || hipEventCreate(&event) != hipSuccess ||
        hipEventRecord(event, stream) != hipSuccess)
        tap_bail("the stand-in refuses what is right");
    tap_ok(hipEventElapsedTime(&ms, event, event) == hipErrorNotReady && standin_complaint(),
           "a time nobody waited for");
    c = call_make();
    tap_ok(hipMemcpy(c.y, c.x, 3 * sizeof one, hipMemcpyHostToDevice) != hipSuccess && standin_complaint(),
           "a copy whose host side is on the device");
    c = call_make();
    tap_ok(standin_alive() == 13 && !clean(), "what stays alive is counted: %ld", standin_alive());
    standin_reset(0);
}

int main(void)
{
    struct rng rng = rng_start();
    tap_note("the stand-in declares rocSPARSE %d.%d.%d", ROCSPARSE_VERSION_MAJOR, ROCSPARSE_VERSION_MINOR,
             ROCSPARSE_VERSION_PATCH);
    device_test();
    transpose_test(&rng);
    spmv_test(&rng);
    struct weft_context ctx = context_at(0, 3, 0);
    standin_reset(1);
    trace_check(backend, &ctx, "csr_adaptive");
    refusal_test(&rng);
    fault_test(&rng);
    negative_test();
    return tap_done();
}
