// SPDX-License-Identifier: Apache-2.0
// weft spy and weft entropy: where the entries of a matrix are.
#include "host/common/json.h"
#include "host/common/name.h"
#include "host/common/order.h"
#include "host/common/progress.h"
#include "host/common/word.h"
#include "picture.h"
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/measure.h>

// "39 082 x 39 082, 559 722 entries", and the order when there is one.
static void shape_text(char *out, size_t size, const struct weft_csr *a, const struct tool_options *o)
{
    char m[32], n[32], nnz[32];
    int used = snprintf(out, size, "%s x %s, %s entries", tool_count_text(m, a->m), tool_count_text(n, a->n),
                        tool_count_text(nnz, a->nnz));
    if (o->order_given && o->order)
        snprintf(out + used, size - (size_t)used, "; order %s, seed %llu", bench_order_name(o->order),
                 (unsigned long long)o->seed);
}

int tool_spy(const struct tool_options *o)
{
    struct tool_matrix m;
    struct weft_density d = {0};
    struct weft_error err = {0};
    char line[160];
    if (!o->out) {
        tool_complain("where to? -o PICTURE.png or PICTURE.svg");
        return TOOL_USAGE;
    }
    int code = picture_check(o->out, o->force);
    if (code || (code = tool_pattern_get(&m, o)))
        return code;
    if (o->order_given)
        code = tool_matrix_permute(&m, o);
    if (!code) {
        int64_t rows, cols;
        bench_progress_begin("drawing %s", m.name);
        picture_spy_buckets(&rows, &cols, o->size, m.a.m, m.a.n);
        weft_status status = weft_density_alloc(&d, &m.a, weft_density_params(.rows = rows, .cols = cols), &err);
        bench_progress_end();
        if (status)
            code = tool_fail(status, &err);
    }
    if (!code) {
        shape_text(line, sizeof line, &m.a, o);
        const struct bench_text_line name = bench_text_line(m.name);
        code = picture_spy(&(struct picture){o->out, o->size, o->force, name.text, line, -1, -1}, &d);
    }
    weft_density_free(&d);
    tool_matrix_free(&m);
    return code;
}

// ---- entropy ---------------------------------------------------------------------------------------------------

enum { LEVELS = 3 };
static const int levels[LEVELS] = {2, 4, 8};

struct entropies {
    struct weft_density density; // by the paper's rule
    double h, most;              // H, and its largest value with these buckets
    double shares[4 + 16 + 64];  // of the levels, one behind the other
    const double *parts[LEVELS];
    int compared; // nonzero: there is a distance to the regular order
    struct weft_distance distance;
    double h_before;
};

static weft_status entropies_make(struct entropies *e, const struct weft_csr *a, struct weft_error *err)
{
    weft_status status = weft_density_alloc(&e->density, a, NULL, err);
    if (status)
        return status;
    e->h = weft_density_entropy(&e->density);
    const double buckets = (double)e->density.rows * (double)e->density.cols;
    e->most = buckets > 0 ? log(buckets) : 0;
    double *at = e->shares;
    for (int i = 0; i < LEVELS && !status; i++) {
        e->parts[i] = at;
        status = weft_density_hierarchy(at, &e->density, levels[i]);
        at += levels[i] * levels[i];
    }
    return status;
}

// Distance of the permuted matrix to the histogram that it had before.
static weft_status entropies_compare(struct entropies *e, const struct weft_density *before, uint64_t seed,
                                     struct weft_error *err)
{
    e->compared = 1;
    e->h_before = weft_density_entropy(before);
    return weft_distance(&e->distance, before->count, e->density.count, before->rows * before->cols,
                         weft_distance_params(.seed = seed), err);
}

static void entropies_print(const struct entropies *e, const char *name, const char *line)
{
    printf("%s: %s\n", bench_text_line(name).text, line);
    printf("H %.4f of %.4f possible, %lld x %lld buckets of %lld x %lld\n", e->h, e->most, (long long)e->density.rows,
           (long long)e->density.cols, (long long)e->density.height, (long long)e->density.width);
    if (e->compared)
        printf("before %.4f; Jensen-Shannon distance %.4f (%.0f %%: %.4f to %.4f; by chance up to %.4f, p %.3g)\n",
               e->h_before, e->distance.distance, 100 * e->distance.level, e->distance.low, e->distance.high,
               e->distance.chance, e->distance.p);
    for (int i = 0; i < LEVELS; i++) {
        printf("shares of H, %d x %d\n", levels[i], levels[i]);
        for (int k = 0; k < levels[i] * levels[i]; k++)
            printf("%8.4f%s", e->parts[i][k], (k + 1) % levels[i] ? "" : "\n");
    }
}

static cJSON *entropies_json(const struct entropies *e, const struct tool_matrix *m, const struct tool_options *o)
{
    cJSON *top = cJSON_CreateObject();
    cJSON_AddStringToObject(top, "matrix", m->name);
    cJSON_AddNumberToObject(top, "m", (double)m->a.m);
    cJSON_AddNumberToObject(top, "n", (double)m->a.n);
    cJSON_AddNumberToObject(top, "nnz", (double)m->a.nnz);
    if (o->order_given) {
        cJSON_AddStringToObject(top, "order", bench_order_name(o->order));
        bench_json_count(top, "seed", o->seed);
    }
    cJSON_AddNumberToObject(top, "entropy", e->h);
    cJSON_AddNumberToObject(top, "entropy_max", e->most);
    cJSON_AddNumberToObject(top, "bucket_rows", (double)e->density.rows);
    cJSON_AddNumberToObject(top, "bucket_cols", (double)e->density.cols);
    cJSON *parts = cJSON_AddObjectToObject(top, "parts");
    for (int i = 0; i < LEVELS; i++) {
        char name[8];
        snprintf(name, sizeof name, "%dx%d", levels[i], levels[i]);
        cJSON_AddItemToObject(parts, name, cJSON_CreateDoubleArray(e->parts[i], levels[i] * levels[i]));
    }
    if (e->compared) {
        cJSON *distance = cJSON_AddObjectToObject(top, "jensen_shannon");
        cJSON_AddNumberToObject(distance, "distance", e->distance.distance);
        cJSON_AddNumberToObject(distance, "low", e->distance.low);
        cJSON_AddNumberToObject(distance, "high", e->distance.high);
        cJSON_AddNumberToObject(distance, "chance", e->distance.chance);
        cJSON_AddNumberToObject(distance, "p", e->distance.p);
        cJSON_AddNumberToObject(distance, "level", e->distance.level);
        cJSON_AddNumberToObject(top, "entropy_before", e->h_before);
    }
    return top;
}

static int64_t longest_row(const struct weft_csr *a)
{
    int64_t longest = 0;
    for (int64_t i = 0; i < a->m; i++) {
        const int64_t length = weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i);
        longest = length > longest ? length : longest;
    }
    return longest;
}

// -1: a count for each column takes far more memory than the matrix, or more than there is.
static int64_t longest_col(const struct weft_csr *a)
{
    const int64_t room = 1 << 20;
    int64_t longest = 0;
    int64_t *count = a->n <= (a->nnz > room ? a->nnz : room) ? malloc((size_t)(a->n + 1) * sizeof *count) : NULL;
    if (!count || weft_col_histogram(count, a, 0, NULL)) {
        free(count);
        return -1;
    }
    for (int64_t j = 0; j < a->n; j++)
        longest = count[j] > longest ? count[j] : longest;
    free(count);
    return longest;
}

static int entropy_draw(const struct entropies *e, const struct tool_matrix *m, const struct tool_options *o,
                        const char *line)
{
    struct weft_density d = {0};
    struct weft_error err = {0};
    char text[320];
    int64_t rows, cols;
    int used = snprintf(text, sizeof text, "%s; H = %.3f of %.3f possible", line, e->h, e->most);
    if (e->compared)
        snprintf(text + used, sizeof text - (size_t)used, "; was %.3f, distance %.3f", e->h_before,
                 e->distance.distance);
    picture_map_buckets(&rows, &cols, o->size, m->a.m, m->a.n);
    weft_status status = weft_density_alloc(&d, &m->a, weft_density_params(.rows = rows, .cols = cols), &err);
    const struct bench_text_line name = bench_text_line(m->name);
    const struct picture picture = {o->out, o->size, o->force, name.text, text, longest_row(&m->a), longest_col(&m->a)};
    int code = status ? tool_fail(status, &err) : picture_entropy(&picture, &d, e->parts);
    weft_density_free(&d);
    return code;
}

int tool_entropy(const struct tool_options *o)
{
    struct tool_matrix m;
    struct entropies e = {0};
    struct weft_density before = {0};
    struct weft_error err = {0};
    char line[160];
    weft_status status = WEFT_OK;
    int code = o->out ? picture_check(o->out, o->force) : TOOL_OK;
    if (code || (code = tool_pattern_get(&m, o)))
        return code;
    if (o->order_given) {
        status = weft_density_alloc(&before, &m.a, NULL, &err);
        code = status ? tool_fail(status, &err) : tool_matrix_permute(&m, o);
    }
    if (!code) {
        bench_progress_begin("entropies of %s", m.name);
        status = entropies_make(&e, &m.a, &err);
        if (!status && o->order_given)
            status = entropies_compare(&e, &before, o->seed, &err);
        bench_progress_end();
        if (status)
            code = tool_fail(status, &err);
    }
    shape_text(line, sizeof line, &m.a, o);
    if (!code && o->out)
        code = entropy_draw(&e, &m, o, line);
    if (!code && !bench_word_is_stream(o->json))
        entropies_print(&e, m.name, line);
    if (!code && o->json)
        code = tool_json_write(o, entropies_json(&e, &m, o));
    weft_density_free(&e.density);
    weft_density_free(&before);
    tool_matrix_free(&m);
    return code;
}
