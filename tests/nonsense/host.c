// SPDX-License-Identifier: Apache-2.0
// Functions that need no device: matrices, permutations, measures, names.
#include "nonsense.h"

#include <math.h>

#define TYPE(x)  ((enum weft_type)(x))
#define OFS(x)   ((enum weft_ofs)(x))
#define ORDER(x) ((enum weft_order)(x))

static int32_t row_ptr[] = {0, 2, 3}, row[] = {0, 0, 1}, col[] = {0, 2, 1};
static float val[] = {1, 2, 3};
static const struct weft_csr good = {.m = 2, .n = 3, .nnz = 3, .row_ptr = row_ptr, .col = col, .val = val};
static const struct weft_coo coo = {.m = 2, .n = 3, .nnz = 3, .row = row, .col = col, .val = val};

// Matrices that no function may take, each with the word that its message must have.
struct bad {
    struct weft_csr a;
    const char *word;
};
#define BADS 9
static void bads_make(struct bad out[BADS])
{
    for (int i = 0; i < BADS; i++)
        out[i].a = good;
    out[0].a.m = -1, out[0].word = "m, n";
    out[1].a.n = INT64_C(1) << 31, out[1].word = "m, n";
    out[2].a.nnz = -1, out[2].word = "nnz";
    out[3].a.type = TYPE(77), out[3].word = "type 77";
    out[4].a.ofs = OFS(9), out[4].word = "ofs 9";
    out[5].a.row_ptr = NULL, out[5].word = "row_ptr";
    out[6].a.col = NULL, out[6].word = "col";
    out[7].a.val = NULL, out[7].word = "val";
    out[8].a.m = INT64_MIN, out[8].word = "m, n";
}
static void bad_coos_make(struct bad from[BADS], struct weft_coo out[BADS])
{
    for (int i = 0; i < BADS; i++) {
        const struct weft_csr *a = &from[i].a;
        out[i] = (struct weft_coo){
            .m = a->m, .n = a->n, .nnz = a->nnz, .type = a->type, .row = row, .col = a->col, .val = a->val};
    }
    out[4] = coo;
    out[4].nnz = INT64_MIN, from[4].word = "nnz";
    out[5].row = NULL, from[5].word = "row";
}

static void test_matrix(void)
{
    struct bad bad[BADS];
    struct weft_coo bad_coo[BADS], coo_out;
    struct weft_csr out;
    bads_make(bad);
    CASE(weft_csr_validate);
    NO("matrix is NULL", weft_csr_validate(NULL, &err));
    for (int i = 0; i < BADS; i++)
        NO(bad[i].word, weft_csr_validate(&bad[i].a, &err));
    tap_is_int(weft_csr_validate(&good, NULL), WEFT_OK, "a good one, no place for an error");
    CASE(weft_csr_validate_columns);
    NO("matrix is NULL", weft_csr_validate_columns(NULL, WEFT_COLUMNS_ANY, &err));
    NO("columns is 77", weft_csr_validate_columns(&good, (enum weft_columns)77, &err));
    NO("columns is -1", weft_csr_validate_columns(&good, (enum weft_columns) - 1, &err));
    CASE(weft_csr_rebase);
    NO("matrix is NULL", weft_csr_rebase(NULL, 1, 0, &err));
    for (int i = 0; i < BADS; i++)
        NO(bad[i].word, weft_csr_rebase(&bad[i].a, 1, 0, &err));
    out = good;
    NO("bases 2 and 0", weft_csr_rebase(&out, 2, 0, &err));
    NO("bases 0 and -1", weft_csr_rebase(&out, 0, -1, &err));
    tap_is_int(weft_csr_rebase(&out, 0, 0, NULL), WEFT_OK, "from 0 to 0, no place for an error");
    CASE(weft_columns_name);
    tap_is_str(weft_columns_name((enum weft_columns) - 1), "unknown", "no demand");
    CASE(weft_columns_parse);
    enum weft_columns columns;
    SILENT(weft_columns_parse(NULL, "any"));
    SILENT(weft_columns_parse(&columns, NULL));
    SILENT(weft_columns_parse(&columns, "up"));
    CASE(weft_fault_name);
    tap_is_str(weft_fault_name((enum weft_fault)77), "unknown", "no fault");
    CASE(weft_fault_parse);
    enum weft_fault fault;
    SILENT(weft_fault_parse(NULL, "none"));
    SILENT(weft_fault_parse(&fault, NULL));
    SILENT(weft_fault_parse(&fault, ""));
    CASE(weft_csr_canonical);
    NO("matrix is NULL", weft_csr_canonical(NULL, NULL, &err));
    for (int i = 0; i < BADS; i++)
        NO(bad[i].word, weft_csr_canonical(&bad[i].a, NULL, &err));
    out = good;
    NO("threads is -1", weft_csr_canonical(&out, weft_canonical_params(.threads = -1), &err));
    CASE(weft_csr_alloc);
    SILENT(weft_csr_alloc(NULL, weft_shape(1, 1, 1, WEFT_TYPE_F32, WEFT_OFS_32)));
    const int64_t sizes[][3] = {{-1, 1, 1},        {1, -1, 1},        {1, 1, -1},
                                {INT64_MAX, 1, 1}, {1, INT64_MIN, 1}, {1, 1, INT64_MIN}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(&out, 1, sizeof out);
        SILENT(weft_csr_alloc(&out, weft_shape(sizes[i][0], sizes[i][1], sizes[i][2], WEFT_TYPE_F32, WEFT_OFS_64)));
        ZERO(out);
    }
    SILENT(weft_csr_alloc(&out, weft_shape(1, 1, 1, TYPE(77), WEFT_OFS_32)));
    SILENT(weft_csr_alloc(&out, weft_shape(1, 1, 1, TYPE(-1), WEFT_OFS_32)));
    SILENT(weft_csr_alloc(&out, weft_shape(1, 1, 1, WEFT_TYPE_F32, OFS(9))));
    tap_is_int(weft_csr_alloc(&out, weft_shape(1, 1, INT64_MAX, WEFT_TYPE_F64, WEFT_OFS_64)), WEFT_ENOMEM,
               "2^63-1 entries");
    ZERO(out);
    CASE(weft_csr_free);
    weft_csr_free(NULL);
    weft_csr_free(&out);
    CASE(weft_coo_alloc);
    SILENT(weft_coo_alloc(NULL, weft_shape(.m = 1, .n = 1, .nnz = 1, .type = WEFT_TYPE_F32)));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        SILENT(weft_coo_alloc(
            &coo_out, weft_shape(.m = sizes[i][0], .n = sizes[i][1], .nnz = sizes[i][2], .type = WEFT_TYPE_F32)));
    SILENT(weft_coo_alloc(&coo_out, weft_shape(.m = 1, .n = 1, .nnz = 1, .type = TYPE(77))));
    ZERO(coo_out);
    CASE(weft_coo_free);
    weft_coo_free(NULL);
    weft_coo_free(&coo_out);
    CASE(weft_csr_equal);
    tap_ok(!weft_csr_equal(NULL, &good) && !weft_csr_equal(&good, NULL) && weft_csr_equal(&good, &good), "equal");
    CASE(weft_csr_hash);
    tap_ok(!weft_csr_hash(NULL) && weft_csr_hash(&good), "hash");
    for (int i = 0; i < BADS; i++)
        tap_ok(!weft_csr_equal(&bad[i].a, &bad[i].a) && !weft_csr_hash(&bad[i].a), "bad %d: not equal, no hash", i);
    bad_coos_make(bad, bad_coo);
    CASE(weft_csr_from_coo);
    NO("out is NULL", weft_csr_from_coo(NULL, &coo, WEFT_OFS_32, &err));
    NO("matrix is NULL", weft_csr_from_coo(&out, NULL, WEFT_OFS_32, &err));
    NO("ofs 9", weft_csr_from_coo(&out, &coo, OFS(9), &err));
    for (int i = 0; i < BADS; i++)
        NO(bad[i].word, weft_csr_from_coo(&out, &bad_coo[i], WEFT_OFS_32, &err));
    ZERO(out);
    CASE(weft_type_bytes);
    tap_ok(!weft_type_bytes(TYPE(77)) && !weft_type_bytes(TYPE(-1)), "no type");
    CASE(weft_ofs_bytes);
    tap_ok(!weft_ofs_bytes(OFS(9)) && !weft_ofs_bytes(OFS(-1)), "no width");
    CASE(weft_key_bytes);
    tap_ok(!weft_key_bytes((enum weft_key)77) && !weft_key_bytes((enum weft_key) - 1), "no key");
    CASE(weft_version);
    tap_is_int(weft_version(), WEFT_VERSION_NUMBER, "the library is of the headers' version");
    CASE(weft_status_text);
    tap_is_str(weft_status_text((weft_status)77), "unknown status", "no status");
}

// An enum with the values 0 .. last: each has a name of its own, which leads back to it; nothing else has one or is one.
#define NAMES(noun, last)                                                                                              \
    do {                                                                                                               \
        enum weft_##noun value = (enum weft_##noun)1;                                                                  \
        int same = 1;                                                                                                  \
        CASE(weft_##noun##_name);                                                                                      \
        tap_is_str(weft_##noun##_name((enum weft_##noun)((last) + 1)), "unknown", "one more than the last");           \
        tap_is_str(weft_##noun##_name((enum weft_##noun)(-1)), "unknown", "-1");                                       \
        CASE(weft_##noun##_parse);                                                                                     \
        SILENT(weft_##noun##_parse(&value, NULL));                                                                     \
        SILENT(weft_##noun##_parse(&value, ""));                                                                       \
        SILENT(weft_##noun##_parse(&value, "unknown"));                                                                \
        SILENT(weft_##noun##_parse(NULL, weft_##noun##_name((enum weft_##noun)0)));                                    \
        tap_is_int((int)value, 1, "a refusal leaves the value as it was");                                             \
        for (int i = 0; i <= (int)(last); i++)                                                                         \
            same = same && !weft_##noun##_parse(&value, weft_##noun##_name((enum weft_##noun)i)) && (int)value == i;   \
        tap_ok(same, "each name leads back");                                                                          \
    } while (0)

static void test_names(void)
{
    NAMES(schedule, WEFT_SCHEDULE_CPU);
    NAMES(lanes, WEFT_LANES_SUBGROUPS);
    NAMES(type, WEFT_TYPE_PATTERN);
    NAMES(ofs, WEFT_OFS_64);
    NAMES(key, WEFT_KEY_I64);
    NAMES(order, WEFT_ORDER_RCM);
    NAMES(permute_side, WEFT_PERMUTE_SIDE_COLS);
    NAMES(scan_type, WEFT_SCAN_TYPE_U32_U64);
    NAMES(scan_algo, WEFT_SCAN_ALGO_CHAINED);
    NAMES(segsort_whole, WEFT_SEGSORT_WHOLE_CHAINED);
    NAMES(histogram_algo, WEFT_HISTOGRAM_ALGO_ATOMIC);
    NAMES(transpose_algo, WEFT_TRANSPOSE_ALGO_MERGE);
    NAMES(spmv_algo, WEFT_SPMV_ALGO_CSR_NODES);
    NAMES(spmv_semiring, WEFT_SPMV_SEMIRING_CUSTOM);
    NAMES(spmv_transpose, WEFT_SPMV_TRANSPOSE_BY_ATOMICS);
    NAMES(spmv_mode, WEFT_SPMV_MODE_REPRODUCIBLE);
    NAMES(mtx_complex, WEFT_MTX_COMPLEX_IMAG);
    NAMES(mtx_field, WEFT_MTX_FIELD_COMPLEX);
    NAMES(mtx_symmetry, WEFT_MTX_SYMMETRY_HERMITIAN);
    weft_status status = WEFT_EIO;
    CASE(weft_status_name);
    tap_is_str(weft_status_name((weft_status)1), "unknown", "no status");
    tap_is_str(weft_status_name((weft_status)-99), "unknown", "no status");
    tap_is_str(weft_status_name(WEFT_EINVAL), "WEFT_EINVAL", "a status as in programs");
    CASE(weft_status_parse);
    SILENT(weft_status_parse(NULL, "WEFT_OK"));
    SILENT(weft_status_parse(&status, NULL));
    SILENT(weft_status_parse(&status, "unknown"));
    tap_is_int(status, WEFT_EIO, "a refusal leaves the status as it was");
    int same = 1;
    for (int i = 0; i >= WEFT_EMATRIX; i--)
        same = same && !weft_status_parse(&status, weft_status_name((weft_status)i)) && (int)status == i;
    tap_ok(same, "each name leads back");
}

static void test_permutation(void)
{
    struct bad bad[BADS];
    struct weft_coo bad_coo[BADS], coo_out;
    struct weft_csr out;
    struct weft_permutation p, q, bad_p[4];
    bads_make(bad);
    CASE(weft_permutation_alloc);
    NO("out is NULL", weft_permutation_alloc(NULL, WEFT_ORDER_ROW, &good, 0, &err));
    NO("order 77", weft_permutation_alloc(&p, ORDER(77), &good, 0, &err));
    NO("order -1", weft_permutation_alloc(&p, ORDER(-1), &good, 0, &err));
    NO("matrix is NULL", weft_permutation_alloc(&p, WEFT_ORDER_ROW, NULL, 0, &err));
    for (int i = 0; i < BADS; i++)
        NO(bad[i].word, weft_permutation_alloc(&p, WEFT_ORDER_RCM, &bad[i].a, 0, &err));
    ZERO(p);
    if (weft_permutation_alloc(&p, WEFT_ORDER_ROW_COL, &good, 1, NULL))
        tap_bail("no permutation");
    for (int i = 0; i < 4; i++)
        bad_p[i] = p;
    bad_p[0].m = -1;
    bad_p[1].n = INT64_MAX;
    bad_p[2].row = NULL;
    bad_p[3].col_inv = NULL;
    static const char *const words[] = {"permutation", "permutation", "row and row_inv", "col and col_inv"};
    CASE(weft_permutation_from);
    NO("out is NULL", weft_permutation_from(NULL, 2, 3, p.row, p.col, &err));
    NO("m, n", weft_permutation_from(&q, -1, 3, p.row, p.col, &err));
    NO("m, n", weft_permutation_from(&q, 2, INT64_MAX, p.row, p.col, &err));
    ZERO(q);
    CASE(weft_permutation_inverse);
    SILENT(weft_permutation_inverse(NULL, &p));
    SILENT(weft_permutation_inverse(&q, NULL));
    ZERO(q);
    q = p;
    SILENT(weft_permutation_inverse(&q, &q));
    tap_ok(q.row == p.row && q.m == p.m, "a permutation that is its own result is as it was");
    q = (struct weft_permutation){0};
    CASE(weft_permutation_is_identity);
    tap_ok(!weft_permutation_is_identity(NULL), "none is no identity");
    CASE(weft_permutation_hash);
    tap_ok(!weft_permutation_hash(NULL), "none has no hash");
    CASE(weft_csr_permute);
    NO("out is NULL", weft_csr_permute(NULL, &good, &p, NULL, &err));
    NO("matrix is NULL", weft_csr_permute(&out, NULL, &p, NULL, &err));
    NO("permutation is NULL", weft_csr_permute(&out, &good, NULL, NULL, &err));
    NO("threads", weft_csr_permute(&out, &good, &p, weft_permute_params(.threads = -1), &err));
    out = good;
    NO("same matrix", weft_csr_permute(&out, &out, &p, NULL, &err));
    tap_ok(weft_csr_equal(&out, &good), "the matrix is as it was");
    for (int i = 0; i < BADS; i++)
        NO(bad[i].word, weft_csr_permute(&out, &bad[i].a, &p, NULL, &err));
    ZERO(out);
    CASE(weft_coo_permute);
    bad_coos_make(bad, bad_coo);
    NO("out is NULL", weft_coo_permute(NULL, &coo, &p, &err));
    NO("matrix is NULL", weft_coo_permute(&coo_out, NULL, &p, &err));
    NO("permutation is NULL", weft_coo_permute(&coo_out, &coo, NULL, &err));
    coo_out = coo;
    NO("same matrix", weft_coo_permute(&coo_out, &coo_out, &p, &err));
    tap_ok(coo_out.row == coo.row && coo_out.nnz == coo.nnz, "the coordinates are as they were");
    for (int i = 0; i < BADS; i++)
        NO(bad[i].word, weft_coo_permute(&coo_out, &bad_coo[i], &p, &err));
    for (int i = 0; i < 4; i++) {
        CASE(weft_coo_permute);
        NO(words[i], weft_coo_permute(&coo_out, &coo, &bad_p[i], &err));
        CASE(weft_csr_permute);
        NO(words[i], weft_csr_permute(&out, &good, &bad_p[i], NULL, &err));
        SILENT(weft_permutation_inverse(&q, &bad_p[i]));
        tap_ok(!weft_permutation_hash(&bad_p[i]) && !weft_permutation_is_identity(&bad_p[i]), "bad permutation %d", i);
        SILENT(weft_vector_permute(val, val, &bad_p[i], WEFT_PERMUTE_SIDE_ROWS, 0, 4));
    }
    ZERO(coo_out);
    CASE(weft_vector_permute);
    float in[3] = {1, 2, 3}, to[3] = {0};
    SILENT(weft_vector_permute(NULL, in, &p, WEFT_PERMUTE_SIDE_ROWS, 0, 4));
    SILENT(weft_vector_permute(to, NULL, &p, WEFT_PERMUTE_SIDE_ROWS, 0, 4));
    SILENT(weft_vector_permute(to, in, NULL, WEFT_PERMUTE_SIDE_ROWS, 0, 4));
    SILENT(weft_vector_permute(to, in, &p, (enum weft_permute_side)77, 0, 4));
    SILENT(weft_vector_permute(to, in, &p, WEFT_PERMUTE_SIDE_COLS, 0, 3));
    ZERO(to);
    SILENT(weft_vector_permute(in, in, &p, WEFT_PERMUTE_SIDE_ROWS, 0, 4));
    CASE(weft_permutation_free);
    weft_permutation_free(NULL);
    weft_permutation_free(&p);
    weft_permutation_free(&p);
}

static void test_measure(void)
{
    struct bad bad[BADS];
    int64_t counts[3] = {1, 2, 3}, big[4] = {INT64_MAX, INT64_MAX, INT64_MAX, 1}, least[3] = {INT64_MIN, INT64_MIN, 5};
    int64_t steep[4] = {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN}, lines[3];
    double shares[4];
    bads_make(bad);
    CASE(weft_row_histogram);
    NO("out is NULL", weft_row_histogram(NULL, &good, &err));
    NO("matrix is NULL", weft_row_histogram(lines, NULL, &err));
    CASE(weft_col_histogram);
    NO("out is NULL", weft_col_histogram(NULL, &good, 0, &err));
    NO("matrix is NULL", weft_col_histogram(lines, NULL, 0, &err));
    NO("threads", weft_col_histogram(lines, &good, -1, &err));
    CASE(weft_entropy);
    tap_ok(weft_entropy(NULL, 3) == 0 && weft_entropy(counts, -1) == 0 && weft_entropy(NULL, 0) == 0, "no histogram");
    tap_ok(fabs(weft_entropy(big, 4) - log(3)) < 1e-12, "three counts of 2^63-1: ln 3");
    tap_ok(weft_entropy(least, 3) == 0, "counts below 0 are none");
    CASE(weft_histogram_cut);
    tap_ok(!weft_histogram_cut(NULL, 4) && !weft_histogram_cut(counts, INT64_MIN) && !weft_histogram_cut(counts, 2),
           "no cut");
    tap_is_int(weft_histogram_cut(big, 4), 1, "a step down from 2^63-1");
    tap_ok(weft_histogram_cut(steep, 4) >= 0, "differences of 64 bits");
    CASE(weft_jensen_shannon);
    tap_ok(weft_jensen_shannon(NULL, counts, 3) == 0 && weft_jensen_shannon(counts, NULL, 3) == 0 &&
               weft_jensen_shannon(counts, counts, -1) == 0,
           "no histograms");
    tap_ok(weft_jensen_shannon(big, big, 4) == 0, "counts of 2^63-1");
    tap_ok(weft_jensen_shannon(least, counts, 3) >= 0 && weft_jensen_shannon(least, counts, 3) <= 1, "counts below 0");
    CASE(weft_distance);
    struct weft_distance d;
    NO("out is NULL", weft_distance(NULL, counts, counts, 3, NULL, &err));
    NO("a is NULL", weft_distance(&d, NULL, counts, 3, NULL, &err));
    NO("b is NULL", weft_distance(&d, counts, NULL, 3, NULL, &err));
    NO("buckets", weft_distance(&d, counts, counts, -1, NULL, &err));
    NO("bucket 0", weft_distance(&d, least, counts, 3, NULL, &err));
    NO("trials", weft_distance(&d, counts, counts, 3, weft_distance_params(.trials = -1), &err));
    NO("level", weft_distance(&d, counts, counts, 3, weft_distance_params(.level = 1), &err));
    NO("level", weft_distance(&d, counts, counts, 3, weft_distance_params(.level = (double)NAN), &err));
    ZERO(d);
    tap_ok(!weft_distance(&d, big, big, 4, weft_distance_params(.trials = 3), NULL) && d.distance == 0, "of 2^63-1");
    CASE(weft_density_alloc);
    struct weft_density e;
    NO("out is NULL", weft_density_alloc(NULL, &good, NULL, &err));
    NO("matrix is NULL", weft_density_alloc(&e, NULL, NULL, &err));
    NO("buckets", weft_density_alloc(&e, &good, weft_density_params(.rows = -1, .cols = -1), &err));
    NO("buckets", weft_density_alloc(&e, &good, weft_density_params(.rows = 1), &err));
    NO("threads", weft_density_alloc(&e, &good, weft_density_params(.threads = INT32_MIN), &err));
    ZERO(e);
    if (weft_density_alloc(&e, &good, weft_density_params(.rows = INT64_MAX, .cols = INT64_MAX), NULL))
        tap_bail("no density");
    CASE(weft_density_entropy);
    struct weft_density none = {0}, lost = e, negative = e, huge = e;
    lost.count = NULL;
    negative.rows = -1;
    huge.rows = huge.cols = INT64_MAX;
    tap_ok(weft_density_entropy(NULL) == 0 && weft_density_entropy(&none) == 0 && weft_density_entropy(&lost) == 0 &&
               weft_density_entropy(&negative) == 0 && weft_density_entropy(&huge) == 0,
           "no density");
    CASE(weft_density_hierarchy);
    SILENT(weft_density_hierarchy(NULL, &e, 2));
    SILENT(weft_density_hierarchy(shares, NULL, 2));
    SILENT(weft_density_hierarchy(shares, &lost, 2));
    SILENT(weft_density_hierarchy(shares, &huge, 2));
    SILENT(weft_density_hierarchy(shares, &e, 0));
    SILENT(weft_density_hierarchy(shares, &e, INT64_MAX));
    CASE(weft_density_free);
    weft_density_free(NULL);
    weft_density_free(&e);
    CASE(weft_measure);
    struct weft_measures m;
    NO("out is NULL", weft_measure(NULL, &good, 0, &err));
    NO("matrix is NULL", weft_measure(&m, NULL, 0, &err));
    NO("threads", weft_measure(&m, &good, -5, &err));
    for (int i = 0; i < BADS; i++)
        NO(bad[i].word, weft_measure(&m, &bad[i].a, 0, &err));
    ZERO(m);
    CASE(weft_load_imbalance);
    NO("out is NULL", weft_load_imbalance(NULL, &good, 2, &err));
    NO("matrix is NULL", weft_load_imbalance(shares, NULL, 2, &err));
    NO("parts", weft_load_imbalance(shares, &good, 0, &err));
    NO("parts", weft_load_imbalance(shares, &good, INT64_MAX, &err));
    CASE(weft_generate);
    struct weft_csr out;
    NO("out is NULL", weft_generate(NULL, "dense:2,2", NULL, &err));
    NO("spec is NULL", weft_generate(&out, NULL, NULL, &err));
    NO("type 77", weft_generate(&out, "dense:2,2", weft_generate_params(.type = TYPE(77)), &err));
    NO("ofs 9", weft_generate(&out, "dense:2,2", weft_generate_params(.ofs = OFS(9)), &err));
    static const char *const specs[] = {"",         ":",         "dense",        "dense:-1,2", "dense:2", "dense:2,2,2",
                                        "band:2,2", "nothing:1", "uniform:0,5,1"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        NO("'", weft_generate(&out, specs[i], NULL, &err));
    static const char *const large[] = {"dense:2147483647,2147483647", "stencil5:4294967296",
                                        "stencil27:9223372036854775807", "uniform:99999999999999999999,1,1",
                                        "uniform:1,1,9223372036854775807"};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        tap_is_int(weft_generate(&out, large[i], NULL, NULL), WEFT_ERANGE, "%s", large[i]);
    ZERO(out);
}

void nonsense_host(void)
{
    test_names();
    test_matrix();
    test_permutation();
    test_measure();
}

// ---- files -----------------------------------------------------------------------------------------------------

void nonsense_files(void)
{
    static const char text[] = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";
    struct bad bad[BADS];
    struct weft_csr out;
    struct weft_mtx_info info;
    bads_make(bad);
    CASE(weft_mtx_read);
    NO("out is NULL", weft_mtx_read(NULL, NULL, "/dev/null", NULL, &err));
    NO("path is NULL", weft_mtx_read(&out, &info, NULL, NULL, &err));
    ZERO(info);
    CASE(weft_mtx_parse);
    NO("out is NULL", weft_mtx_parse(NULL, NULL, "x", text, sizeof text - 1, NULL, &err));
    NO("text is NULL", weft_mtx_parse(&out, NULL, "x", NULL, 5, NULL, &err));
    tap_is_int(weft_mtx_parse(&out, NULL, NULL, NULL, 0, NULL, NULL), WEFT_EFORMAT, "an empty text without a name");
    NO("type 77", weft_mtx_parse(&out, NULL, "x", text, sizeof text - 1, weft_mtx_params(.type = TYPE(77)), &err));
    NO("ofs 9", weft_mtx_parse(&out, NULL, "x", text, sizeof text - 1, weft_mtx_params(.ofs = OFS(9)), &err));
    NO("complex is 77", weft_mtx_parse(&out, NULL, "x", text, sizeof text - 1,
                                       weft_mtx_params(.complex = (enum weft_mtx_complex)77), &err));
    NO("threads", weft_mtx_parse(&out, NULL, "x", text, sizeof text - 1, weft_mtx_params(.threads = -1), &err));
    NO("limit_bytes is -1",
       weft_mtx_parse(&out, NULL, "x", text, sizeof text - 1, weft_mtx_params(.limit_bytes = -1), &err));
    ZERO(out);
    CASE(weft_mtx_write);
    NO("path is NULL", weft_mtx_write(NULL, &good, &err));
    NO("path", weft_mtx_write("", &good, &err));
    NO("matrix is NULL", weft_mtx_write("/nowhere/x.mtx", NULL, &err));
    for (int i = 0; i < BADS; i++)
        NO(bad[i].word, weft_mtx_write("/nowhere/x.mtx", &bad[i].a, &err));
    CASE(weft_mtx_write_fd);
    NO("matrix is NULL", weft_mtx_write_fd(1, "x", NULL, 0, &err));
    for (int i = 0; i < BADS; i++)
        NO(bad[i].word, weft_mtx_write_fd(1, "x", &bad[i].a, 0, &err));
    tap_is_int(weft_mtx_write_fd(-1, NULL, &good, 0, NULL), WEFT_EIO, "no file and no name");
}
