// SPDX-License-Identifier: Apache-2.0
// Method: random numbers are a hash of (seed, stream, counter), so that any thread can make any entry; and nothing is
// computed in floating point that could round differently elsewhere. A random pattern is drawn as coordinates and
// sorted by row and by column; values are drawn by position afterwards. Regular patterns count and fill their rows.
#include "generate.h"
#include "host/src/core/check.h"
#include "host/src/core/error.h"
#include "host/src/core/random.h"
#include "host/src/core/word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>
#include <weft/permute.h>

// ---- values ---------------------------------------------------------------------------------------------------

// Values: f32 and f64 uniform in [-1, 1) on a grid that both ends of the range share; integers -8..8 without 0.
struct values {
    uint64_t key;
    int integers;
};

static inline void value_draw(const struct values *values, void *val, enum weft_type type, int64_t p)
{
    uint64_t bits = weft__random_draw(values->key, (uint64_t)p);
    int32_t small = (int32_t)(bits >> 60);
    small = small < 8 ? small - 8 : small - 7;
    if (type == WEFT_TYPE_I32)
        ((int32_t *)val)[p] = small;
    else if (type == WEFT_TYPE_F32)
        ((float *)val)[p] = values->integers ? (float)small : (float)((int32_t)(bits >> 40) - (1 << 23)) * 0x1p-23f;
    else if (type == WEFT_TYPE_F64)
        ((double *)val)[p] = values->integers ? small : (double)((int64_t)(bits >> 11) - (INT64_C(1) << 52)) * 0x1p-52;
}

static inline void value_set(void *val, enum weft_type type, int64_t p, int value)
{
    if (type == WEFT_TYPE_I32)
        ((int32_t *)val)[p] = value;
    else if (type == WEFT_TYPE_F32)
        ((float *)val)[p] = (float)value;
    else if (type == WEFT_TYPE_F64)
        ((double *)val)[p] = value;
}

// ---- specifications --------------------------------------------------------------------------------------------------

// Numbers of a form: M rows, N columns (alone: both), NNZ entries, D unknowns, and one more that is none of these.
static const struct {
    const char *name;
    enum weft__generate_kind kind;
    const char *form;
} kinds[] = {
    {"uniform", WEFT__GENERATE_UNIFORM, "uniform:M,N,NNZ"},
    {"heavy", WEFT__GENERATE_HEAVY, "heavy:M,N,NNZ,ROW"},
    {"rows", WEFT__GENERATE_ROWS, "rows:M,N,NNZ,K"},
    {"cols", WEFT__GENERATE_COLS, "cols:M,N,NNZ,K"},
    {"power", WEFT__GENERATE_POWER, "power:M,N,NNZ"},
    {"web", WEFT__GENERATE_WEB, "web:M,NNZ"},
    {"rmat", WEFT__GENERATE_RMAT, "rmat:M,NNZ"},
    {"block", WEFT__GENERATE_BLOCK, "block:M,NNZ,B"},
    {"kkt", WEFT__GENERATE_KKT, "kkt:M,NNZ"},
    {"circuit", WEFT__GENERATE_CIRCUIT, "circuit:M,NNZ"},
    {"lp", WEFT__GENERATE_LP, "lp:M,N,NNZ"},
    {"near", WEFT__GENERATE_NEAR, "near:M,NNZ,W"},
    {"arrow", WEFT__GENERATE_ARROW, "arrow:M,W"},
    {"stencil5", WEFT__GENERATE_STENCIL5, "stencil5:K"},
    {"stencil7", WEFT__GENERATE_STENCIL7, "stencil7:K"},
    {"stencil27", WEFT__GENERATE_STENCIL27, "stencil27:K"},
    {"fem", WEFT__GENERATE_FEM, "fem:K,D"},
    {"band", WEFT__GENERATE_BAND, "band:N,W"},
    {"dense", WEFT__GENERATE_DENSE, "dense:M,N"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int is_drawn(const struct weft__generate_spec *s)
{
    return s->kind <= WEFT__GENERATE_LAST_DRAWN;
}

static weft_status form_error(const char *spec, struct weft_error *err)
{
    char forms[512] = "";
    for (size_t k = 0, at = 0; k < KINDS; k++)
        at += (size_t)snprintf(forms + at, sizeof forms - at, "%s%s",
                               !k              ? ""
                               : k + 1 < KINDS ? ", "
                                               : " or ",
                               kinds[k].form);
    return weft__error(err, WEFT_EINVAL, "'%.200s': expected %s", spec, forms);
}

// The numbers of `text` as `form` names them, and "+shuffled" and "+unsorted" behind them.
static weft_status numbers_parse(struct weft__generate_spec *out, const char *form, const char *spec, const char *text,
                                 struct weft_error *err)
{
    const char *name = strchr(form, ':');
    out->m = out->n = -1;
    do {
        const size_t wide = strcspn(++name, ",");
        int64_t *to = wide == 3 && !memcmp(name, "NNZ", 3) ? &out->nnz
                      : wide == 1 && *name == 'M'          ? &out->m
                      : wide == 1 && *name == 'N'          ? &out->n
                      : wide == 1 && *name == 'D'          ? &out->unknowns
                                                           : &out->extra;
        const int length = *text == '-' ? 0 : weft__word_count(to, text, 1000);
        if (length < 0)
            return weft__error(err, WEFT_ERANGE, "'%.200s': a number exceeds 64 bits", spec);
        text += length;
        name += wide;
        if (!length || (*name && *text++ != ','))
            return weft__error(err, WEFT_EINVAL, "'%.200s': expected %s", spec, form);
    } while (*name);
    while (*text == '+') {
        static const char *const words[] = {"shuffled", "unsorted"};
        int *const flags[] = {&out->shuffled, &out->unsorted};
        const size_t length = strcspn(++text, "+");
        int known = 0;
        for (int i = 0; i < 2; i++)
            if (strlen(words[i]) == length && !memcmp(words[i], text, length))
                known = *flags[i] = 1;
        if (!known)
            return weft__error(err, WEFT_EINVAL, "'%.200s': behind the numbers stands +shuffled or +unsorted", spec);
        text += length;
    }
    return *text ? weft__error(err, WEFT_EINVAL, "'%.200s': expected %s", spec, form) : WEFT_OK;
}

static weft_status drawn_check(const struct weft__generate_spec *s, const char *spec, struct weft_error *err)
{
    if (s->kind == WEFT__GENERATE_HEAVY && s->extra > s->nnz)
        return weft__error(err, WEFT_EINVAL, "'%.200s': one row cannot have more than all entries", spec);
    if (s->nnz && (!s->m || !s->n))
        return weft__error(err, WEFT_EINVAL, "'%.200s': a matrix without rows or columns has no entries", spec);
    const int64_t most = s->kind == WEFT__GENERATE_COLS ? s->n : s->m;
    if (s->nnz &&
        (s->kind == WEFT__GENERATE_ROWS || s->kind == WEFT__GENERATE_COLS || s->kind == WEFT__GENERATE_BLOCK) &&
        (s->extra < 1 || s->extra > most))
        return weft__error(err, WEFT_EINVAL, "'%.200s': the last number is 1 to %lld", spec, (long long)most);
    return WEFT_OK;
}

// Rows and diagonal of a grid; more than INT32_MAX rows where they are too many.
static void grid_resolve(struct weft__generate_spec *s)
{
    const int grid =
        s->kind == WEFT__GENERATE_STENCIL5 ? 2
        : s->kind == WEFT__GENERATE_STENCIL7 || s->kind == WEFT__GENERATE_STENCIL27 || s->kind == WEFT__GENERATE_FEM
            ? 3
            : 0;
    if (!grid)
        return;
    s->diagonal = s->kind == WEFT__GENERATE_STENCIL5   ? 4
                  : s->kind == WEFT__GENERATE_STENCIL7 ? 6
                  : s->kind == WEFT__GENERATE_FEM      ? 0
                                                       : 26;
    s->m = s->extra;
    for (int d = 1; d < grid && s->m <= INT32_MAX; d++)
        s->m *= s->extra;
    if (s->kind == WEFT__GENERATE_FEM && s->m <= INT32_MAX)
        s->m = s->unknowns <= INT32_MAX ? s->m * s->unknowns : s->unknowns;
}

static weft_status spec_parse(struct weft__generate_spec *out, const char *spec, struct weft_error *err)
{
    size_t name = strcspn(spec, ":"), k = 0;
    while (k < KINDS && (strlen(kinds[k].name) != name || memcmp(kinds[k].name, spec, name) != 0))
        k++;
    const char *meant = k == KINDS ? weft__word_nearest(spec, name, kinds, KINDS, sizeof *kinds) : NULL;
    if (meant)
        return weft__error(err, WEFT_EINVAL, "'%.200s': no generator is named %.*s: did you mean %s?", spec, (int)name,
                           spec, meant);
    if (k == KINDS)
        return form_error(spec, err);
    *out = (struct weft__generate_spec){.kind = kinds[k].kind};
    weft_status status = numbers_parse(out, kinds[k].form, spec, spec + name + (spec[name] == ':'), err);
    if (status)
        return status;
    grid_resolve(out);
    if (out->kind == WEFT__GENERATE_FEM && out->unknowns < 1)
        return weft__error(err, WEFT_EINVAL, "'%.200s': a point has at least one unknown", spec);
    out->m = out->m < 0 ? out->n : out->m;
    out->n = out->n < 0 ? out->m : out->n;
    if (out->m > INT32_MAX || out->n > INT32_MAX)
        return weft__error(err, WEFT_ERANGE, "'%.200s': rows and columns are limited to 2147483647", spec);
    if (out->kind == WEFT__GENERATE_BAND && out->extra % 2 == 0)
        return weft__error(err, WEFT_EINVAL, "'%.200s': the number of diagonals must be odd", spec);
    if (out->kind == WEFT__GENERATE_BAND && out->extra > 2 * out->n)
        out->extra = 2 * out->n + 1; // wider than the matrix: every diagonal
    if ((out->kind == WEFT__GENERATE_ARROW || out->kind == WEFT__GENERATE_NEAR) && out->extra > out->m)
        return weft__error(err, WEFT_EINVAL, "'%.200s': the last number is 0 to %lld", spec, (long long)out->m);
    return is_drawn(out) ? drawn_check(out, spec, err) : WEFT_OK;
}

// ---- regular patterns ------------------------------------------------------------------------------------------

// Neighbours of x on a line of `side` points, itself included: from .. to-1.
static inline void line_range(int64_t x, int64_t side, int64_t *from, int64_t *to)
{
    *from = x > 0 ? x - 1 : 0;
    *to = x + 2 < side ? x + 2 : side;
}

// The same in space, of point i: x, y, z.
static void cube_range(int64_t i, int64_t side, int64_t from[3], int64_t to[3])
{
    line_range(i % side, side, &from[0], &to[0]);
    line_range(i / side % side, side, &from[1], &to[1]);
    line_range(i / (side * side), side, &from[2], &to[2]);
}

static int64_t row_length(const struct weft__generate_spec *s, int64_t i)
{
    const int64_t k = s->extra, half = k / 2; // of a band
    int64_t from[3], to[3];
    switch (s->kind) {
    case WEFT__GENERATE_STENCIL5:
        return 1 + (i % k > 0) + (i % k < k - 1) + (i / k > 0) + (i / k < k - 1);
    case WEFT__GENERATE_STENCIL7:
        cube_range(i, k, from, to);
        return to[0] - from[0] + to[1] - from[1] + to[2] - from[2] - 2;
    case WEFT__GENERATE_STENCIL27:
        cube_range(i, k, from, to);
        return (to[0] - from[0]) * (to[1] - from[1]) * (to[2] - from[2]);
    case WEFT__GENERATE_FEM:
        cube_range(i / s->unknowns, k, from, to);
        return (to[0] - from[0]) * (to[1] - from[1]) * (to[2] - from[2]) * s->unknowns;
    case WEFT__GENERATE_BAND:
        from[0] = i - half > 0 ? i - half : 0;
        to[0] = i + half < s->n - 1 ? i + half : s->n - 1;
        return to[0] - from[0] + 1;
    case WEFT__GENERATE_DENSE:
        return s->n;
    case WEFT__GENERATE_ARROW:
        return i < k ? s->n : k + 1;
    default:
        break;
    }
    return 0;
}

static void row_fill(const struct weft__generate_spec *s, int64_t i, int64_t length, int32_t *col)
{
    const int64_t k = s->extra, half = k / 2; // of a band
    int64_t from[3], to[3], width;
    switch (s->kind) {
    case WEFT__GENERATE_STENCIL5:
        if (i / k > 0)
            *col++ = (int32_t)(i - k);
        if (i % k > 0)
            *col++ = (int32_t)(i - 1);
        *col++ = (int32_t)i;
        if (i % k < k - 1)
            *col++ = (int32_t)(i + 1);
        if (i / k < k - 1)
            *col++ = (int32_t)(i + k);
        break;
    case WEFT__GENERATE_STENCIL7:
        for (int d = 0; d < 7; d++) {
            const int64_t step[] = {-k * k, -k, -1, 0, 1, k, k * k}, at[] = {i / (k * k), i / k % k, i % k};
            const int64_t axis = d < 3 ? d : 6 - d, to_side = d < 3 ? at[axis] : d > 3 ? k - 1 - at[axis] : 1;
            if (to_side > 0)
                *col++ = (int32_t)(i + step[d]);
        }
        break;
    case WEFT__GENERATE_STENCIL27:
    case WEFT__GENERATE_FEM:
        width = s->kind == WEFT__GENERATE_FEM ? s->unknowns : 1;
        cube_range(i / width, k, from, to);
        for (int64_t z = from[2]; z < to[2]; z++)
            for (int64_t y = from[1]; y < to[1]; y++)
                for (int64_t x = from[0] * width; x < to[0] * width; x++)
                    *col++ = (int32_t)((z * k + y) * k * width + x);
        break;
    case WEFT__GENERATE_BAND:
    case WEFT__GENERATE_DENSE:
        from[0] = s->kind == WEFT__GENERATE_BAND && i > half ? i - half : 0;
        for (int64_t p = 0; p < length; p++)
            col[p] = (int32_t)(from[0] + p);
        break;
    case WEFT__GENERATE_ARROW:
        for (int64_t p = 0; p < length; p++)
            col[p] = (int32_t)(i >= k && p == k ? i : p);
        break;
    default:
        break;
    }
}

static inline void row_ptr_set(struct weft_csr *a, int64_t i, int64_t ofs)
{
    if (a->ofs == WEFT_OFS_64)
        ((int64_t *)a->row_ptr)[i] = ofs;
    else
        ((int32_t *)a->row_ptr)[i] = (int32_t)ofs;
}

// Rows are dealt out in pieces; the entries before each piece are counted first.
#define PIECE_ROWS 4096

struct regular {
    struct weft_csr *out;
    const struct weft__generate_spec *s;
    const struct values *values;
    int64_t *before; // entries before each piece, and first its own
};

static void regular_count(void *arg, int64_t piece)
{
    const struct regular *r = arg;
    const int64_t from = piece * PIECE_ROWS, to = from + PIECE_ROWS < r->s->m ? from + PIECE_ROWS : r->s->m;
    int64_t count = 0;
    if (r->s->kind == WEFT__GENERATE_DENSE) // one that is refused for its size is refused at once
        count = (to - from) * r->s->n;
    else
        for (int64_t i = from; i < to; i++)
            count += row_length(r->s, i);
    r->before[piece] = count;
}

static void regular_fill(void *arg, int64_t piece)
{
    const struct regular *r = arg;
    const struct weft__generate_spec *s = r->s;
    struct weft_csr *out = r->out;
    int64_t p = r->before[piece];
    for (int64_t i = piece * PIECE_ROWS; i < s->m && i < (piece + 1) * PIECE_ROWS; i++) {
        int64_t end = p + row_length(s, i);
        row_ptr_set(out, i, p);
        row_fill(s, i, end - p, out->col + p);
        for (; p < end; p++) {
            if (s->diagonal)
                value_set(out->val, out->type, p, out->col[p] == i ? s->diagonal : -1);
            else
                value_draw(r->values, out->val, out->type, p);
        }
    }
}

static weft_status regular_make(struct weft_csr *out, const struct weft__generate_spec *s,
                                const struct weft_generate_params *params, const struct values *values,
                                struct weft__team *team)
{
    int64_t pieces = (s->m + PIECE_ROWS - 1) / PIECE_ROWS, nnz = 0;
    int64_t *before = malloc(((size_t)pieces + 1) * sizeof *before);
    if (!before)
        return WEFT_ENOMEM;
    struct regular r = {out, s, values, before};
    weft__team_each(team, s->m, pieces, regular_count, &r);
    for (int64_t piece = 0; piece < pieces; piece++) {
        int64_t count = before[piece];
        before[piece] = nnz;
        nnz += count;
    }
    weft_status status = weft_csr_alloc(out, weft_shape(s->m, s->n, nnz, params->type, params->ofs));
    if (status) {
        free(before);
        return status;
    }
    row_ptr_set(out, s->m, nnz);
    weft__team_each(team, nnz, pieces, regular_fill, &r);
    free(before);
    return WEFT_OK;
}

// ---- drawn patterns --------------------------------------------------------------------------------------------------

#define INSERTION_LIMIT 64

// Ascending order of col[0 .. count-1], all below 2^bits; `scratch` holds as many.
static void row_sort(int32_t *col, int64_t count, int32_t *scratch, int bits)
{
    if (count <= INSERTION_LIMIT) {
        for (int64_t i = 1; i < count; i++) {
            int32_t c = col[i];
            int64_t p = i;
            for (; p > 0 && col[p - 1] > c; p--)
                col[p] = col[p - 1];
            col[p] = c;
        }
        return;
    }
    for (int shift = 0; shift < bits; shift += 8) {
        int64_t next[257] = {0};
        for (int64_t p = 0; p < count; p++)
            next[(col[p] >> shift & 255) + 1]++;
        for (int d = 0; d < 256; d++)
            next[d + 1] += next[d];
        for (int64_t p = 0; p < count; p++)
            scratch[next[col[p] >> shift & 255]++] = col[p];
        memcpy(col, scratch, (size_t)count * sizeof *col);
    }
}

struct rows {
    struct weft_csr *a;
    int64_t longest;
    int bits;
    struct weft__loop loop;
};

static void rows_work(void *arg)
{
    struct rows *r = arg;
    struct weft_csr *a = r->a;
    int32_t *scratch = malloc((size_t)(r->longest + 1) * sizeof *scratch);
    int64_t i, end;
    while (scratch && weft__next(&r->loop, 1024, &i, &end))
        for (; i < end; i++) {
            int64_t begin = weft_csr_ofs(a, i);
            row_sort(a->col + begin, weft_csr_ofs(a, i + 1) - begin, scratch, r->bits);
        }
    free(scratch);
}

static weft_status rows_sort(struct weft_csr *a, struct weft__team *team)
{
    struct rows r = {.a = a, .bits = 1, .loop.count = a->m};
    while (INT64_C(1) << r.bits < a->n)
        r.bits++;
    for (int64_t i = 0; i < a->m; i++) {
        int64_t length = weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i);
        r.longest = length > r.longest ? length : r.longest;
    }
    weft__team_run(team, weft__team_threads(team, a->nnz), rows_work, &r);
    return weft__loop_done(&r.loop) ? WEFT_OK : WEFT_ENOMEM;
}

struct draw_values {
    const struct values *values;
    struct weft_csr *out;
};

static void values_draw(void *arg, int64_t chunk)
{
    const struct draw_values *d = arg;
    for (int64_t p = chunk * WEFT__DRAWS, end = weft__draws_end(chunk, d->out->nnz); p < end; p++)
        value_draw(d->values, d->out->val, d->out->type, p);
}

static weft_status drawn_make(struct weft_csr *out, const struct weft__generate_spec *s,
                              const struct weft_generate_params *params, const struct values *values,
                              struct weft__team *team)
{
    struct weft_coo coo;
    if (params->ofs == WEFT_OFS_32 && s->nnz > INT32_MAX)
        return WEFT_ERANGE;
    weft_status status = weft__generate_draw(&coo, s, params->seed, team);
    if (status)
        return status;
    status = weft_csr_from_coo(out, &coo, params->ofs, NULL);
    weft_coo_free(&coo);
    if (!status)
        status = rows_sort(out, team);
    if (!status && params->type != WEFT_TYPE_PATTERN) {
        out->val = malloc(weft__max(weft__mul((size_t)out->nnz, weft_type_bytes(params->type)), 1));
        if (!out->val)
            return WEFT_ENOMEM;
        out->type = params->type;
        weft__team_each(team, out->nnz, out->nnz / WEFT__DRAWS + 1, values_draw, &(struct draw_values){values, out});
    }
    return status;
}

// ---- orders ----------------------------------------------------------------------------------------------------------

static weft_status shuffle(struct weft_csr *a, uint64_t seed)
{
    const uint64_t key = weft__random_key(seed, WEFT__STREAM_SHUFFLE);
    const struct weft__scatter rows = weft__scatter_of(a->m, key),
                               cols = a->m == a->n ? rows : weft__scatter_of(a->n, weft__random_mix(key));
    struct weft_permutation p = {0};
    struct weft_csr out;
    int32_t *row = malloc(weft__max((size_t)a->m * sizeof *row, 1));
    int32_t *col = malloc(weft__max((size_t)a->n * sizeof *col, 1));
    weft_status status = row && col ? WEFT_OK : WEFT_ENOMEM;
    for (int64_t i = 0; i < a->m && !status; i++)
        row[i] = weft__scatter(&rows, (uint64_t)i);
    for (int64_t j = 0; j < a->n && !status; j++)
        col[j] = weft__scatter(&cols, (uint64_t)j);
    if (!status)
        status = weft_permutation_from(&p, a->m, a->n, row, col, NULL);
    if (!status)
        status = weft_csr_permute(&out, a, &p, NULL, NULL);
    if (!status) {
        weft_csr_free(a);
        *a = out;
    }
    weft_permutation_free(&p);
    free(row);
    free(col);
    return status;
}

struct unsort {
    struct weft_csr *a;
    uint64_t key;
};

static void rows_unsort(void *arg, int64_t piece)
{
    const struct unsort *u = arg;
    const struct weft_csr *a = u->a;
    const size_t wide = weft_type_bytes(a->type);
    char *val = a->val, kept[8];
    for (int64_t i = piece * PIECE_ROWS; i < a->m && i < (piece + 1) * PIECE_ROWS; i++) {
        const int64_t first = weft_csr_ofs(a, i);
        for (int64_t p = weft_csr_ofs(a, i + 1) - 1; p > first; p--) {
            const int64_t q =
                first + (int64_t)weft__random_below(weft__random_draw(u->key, (uint64_t)p), (uint64_t)(p - first + 1));
            const int32_t col = a->col[p];
            a->col[p] = a->col[q];
            a->col[q] = col;
            if (!val)
                continue;
            memcpy(kept, val + (size_t)p * wide, wide);
            memmove(val + (size_t)p * wide, val + (size_t)q * wide, wide);
            memcpy(val + (size_t)q * wide, kept, wide);
        }
    }
}

weft_status weft_generate(struct weft_csr *out, const char *spec, const struct weft_generate_params *params,
                          struct weft_error *err)
{
    static const struct weft_generate_params defaults;
    struct weft__generate_spec s;
    weft_status status = WEFT__NEED(err, {"out", out});
    if (status)
        return status;
    memset(out, 0, sizeof *out);
    if (!params)
        params = &defaults;
    status = WEFT__NEED(err, {"spec", spec});
    if (!status)
        status = weft__type_check(err, params->type);
    if (!status)
        status = weft__ofs_check(err, params->ofs);
    if (!status)
        status = spec_parse(&s, spec, err);
    if (status)
        return status;
    struct values values = {weft__random_key(params->seed, WEFT__STREAM_VAL), params->integers};
    struct weft__team team;
    weft__team_begin(&team, 0);
    status = is_drawn(&s) ? drawn_make(out, &s, params, &values, &team) : regular_make(out, &s, params, &values, &team);
    if (!status && s.shuffled)
        status = shuffle(out, params->seed);
    if (!status && s.unsorted)
        weft__team_each(&team, out->nnz, out->m / PIECE_ROWS + 1, rows_unsort,
                        &(struct unsort){out, weft__random_key(params->seed, WEFT__STREAM_UNSORTED)});
    weft__team_end(&team);
    if (status) {
        weft_csr_free(out);
        const char *why = status == WEFT_ERANGE ? "32-bit offsets cannot count the entries" : weft_status_text(status);
        return weft__error(err, status, "'%.200s': %s", spec, why);
    }
    return WEFT_OK;
}
