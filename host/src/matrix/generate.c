// SPDX-License-Identifier: Apache-2.0
// Method: random numbers are a hash of (seed, stream, counter), so that any thread can make any entry; and nothing is
// computed in floating point that could round differently elsewhere. A random pattern is drawn as coordinates and
// sorted by row and by column; values are drawn by position afterwards. Regular patterns count and fill their rows.
#include "host/src/core/check.h"
#include "host/src/core/error.h"
#include "host/src/core/random.h"
#include "host/src/core/threads.h"
#include "host/src/core/word.h"

#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>

// ---- random numbers --------------------------------------------------------------------------------------------

enum stream { STREAM_ROW = 1, STREAM_COL, STREAM_VAL, STREAM_ROW_ORDER, STREAM_COL_ORDER, STREAM_NEAR };

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

// ---- power law -------------------------------------------------------------------------------------------------

// Index of rank r is drawn with a probability proportional to log((r + c + 1) / (r + c)), close to 1 / (r + c): the
// degrees then follow a power law with exponent 2, as in web graphs, and c bounds the heaviest one. Ranks are
// scattered over the indices by a bijection.
struct power {
    int64_t count;      // indices 0 .. count-1
    uint64_t cut;       // c
    uint64_t low, span; // log2(c) and log2(count + c) - log2(c), 32 bits after the point
    uint64_t key;       // of the draws
    uint64_t order[6];  // multipliers (odd) and summands of the bijection
    int bits;           // of the domain of the bijection: smallest with 2^bits >= count
    uint64_t exp2[257]; // 2^(i/256), 62 bits after the point
};

// 2^t for t with 32 bits after the point, below 2^62; linear between the points of the table; rounded down.
static inline uint64_t power_exp2(const struct power *power, uint64_t t)
{
    uint64_t i = t >> 24 & 255, part = t & 0xffffff;
    uint64_t mantissa = power->exp2[i] + ((power->exp2[i + 1] - power->exp2[i]) >> 24) * part;
    return mantissa >> (62 - (t >> 32));
}

static void power_exp2_fill(uint64_t *exp2)
{
    // 2^(1/2), 2^(1/4), ... 2^(1/256)
    static const uint64_t roots[8] = {
        UINT64_C(0x5a827999fcef3242), UINT64_C(0x4c1bf828c6dc54b7), UINT64_C(0x45cae0f1f545eb73),
        UINT64_C(0x42d561b3e6243d8a), UINT64_C(0x4166c34c5615d0eb), UINT64_C(0x40b268f9de0183b9),
        UINT64_C(0x4058f6a7ecccd5b6), UINT64_C(0x402c6be96af2fb58),
    };
    for (int i = 0; i < 256; i++) {
        exp2[i] = UINT64_C(1) << 62;
        for (int bit = 0; bit < 8; bit++)
            if (i & 128 >> bit)
                exp2[i] = weft__random_below(exp2[i], roots[bit]) << 2;
    }
    exp2[256] = UINT64_C(1) << 63;
}

static void power_init(struct power *power, int64_t count, int64_t cut, uint64_t key, uint64_t order_key)
{
    int64_t smaller = count / 256;
    *power = (struct power){.count = count, .cut = 1, .key = key};
    while (power->cut * 2 <= (uint64_t)(smaller < cut ? smaller : cut)) {
        power->cut *= 2;
        power->low += UINT64_C(1) << 32;
    }
    power_exp2_fill(power->exp2);
    uint64_t high = 0; // the largest t with 2^t <= count + cut
    for (uint64_t bit = UINT64_C(1) << 36; bit; bit >>= 1)
        if (power_exp2(power, high | bit) <= (uint64_t)count + power->cut)
            high |= bit;
    power->span = high - power->low;
    while (INT64_C(1) << power->bits < count)
        power->bits++;
    for (uint64_t i = 0; i < 6; i++)
        power->order[i] = weft__random_draw(order_key, i) | 1;
}

// The bijection of 0 .. count-1: one of 0 .. 2^bits-1, repeated until it falls below count.
static inline int32_t power_scatter(const struct power *power, uint64_t x)
{
    uint64_t mask = (UINT64_C(1) << power->bits) - 1;
    int shift = power->bits / 2 + 1;
    do {
        for (int i = 0; i < 6; i += 2) {
            x = (x * power->order[i] + power->order[i + 1]) & mask;
            x ^= x >> shift;
        }
    } while (x >= (uint64_t)power->count);
    return (int32_t)x;
}

static inline int32_t power_draw(const struct power *power, int64_t k)
{
    uint64_t rank =
        power_exp2(power, power->low + weft__random_below(weft__random_draw(power->key, (uint64_t)k), power->span)) -
        power->cut;
    return power_scatter(power, rank < (uint64_t)power->count ? rank : (uint64_t)power->count - 1);
}

// ---- specifications --------------------------------------------------------------------------------------------

enum kind { UNIFORM, HEAVY, POWER, WEB, STENCIL5, STENCIL27, BAND, DENSE };
static const struct {
    const char *name;
    enum kind kind;
    int numbers;
    const char *form;
} kinds[] = {
    {"uniform", UNIFORM, 3, "uniform:M,N,NNZ"}, {"heavy", HEAVY, 4, "heavy:M,N,NNZ,ROW"},
    {"power", POWER, 3, "power:M,N,NNZ"},       {"stencil5", STENCIL5, 1, "stencil5:K"},
    {"stencil27", STENCIL27, 1, "stencil27:K"}, {"band", BAND, 2, "band:N,W"},
    {"dense", DENSE, 2, "dense:M,N"},           {"web", WEB, 2, "web:M,NNZ"},
};

struct spec {
    enum kind kind;
    int64_t m, n;
    int64_t nnz;  // uniform, heavy, power and web
    int64_t row;  // entries drawn for row M/2 of heavy
    int64_t side; // K of a stencil
    int64_t half; // diagonals on each side of the main one of a band
    int diagonal; // value on the diagonal of a stencil
};

// Drawn as coordinates.
static int is_random(enum kind kind)
{
    return kind <= WEB;
}

static weft_status spec_numbers(int64_t *numbers, int count, const char *form, const char *spec, const char *text,
                                struct weft_error *err)
{
    for (int i = 0; i < count; i++) {
        const int length = *text == '-' ? 0 : weft__word_count(&numbers[i], text, 1000);
        if (length < 0)
            return weft__error(err, WEFT_ERANGE, "'%.200s': a number exceeds 64 bits", spec);
        if (!length)
            return weft__error(err, WEFT_EINVAL, "'%.200s': expected %s", spec, form);
        text += length;
        if (*text++ != (i + 1 < count ? ',' : '\0'))
            return weft__error(err, WEFT_EINVAL, "'%.200s': expected %s", spec, form);
    }
    return WEFT_OK;
}

static weft_status spec_parse(struct spec *out, const char *spec, struct weft_error *err)
{
    size_t name = strcspn(spec, ":"), k = 0, known = sizeof kinds / sizeof *kinds;
    while (k < known && (strlen(kinds[k].name) != name || memcmp(kinds[k].name, spec, name) != 0))
        k++;
    const char *meant = k == known ? weft__word_nearest(spec, name, kinds, known, sizeof *kinds) : NULL;
    if (meant)
        return weft__error(err, WEFT_EINVAL, "'%.200s': no generator is named %.*s: did you mean %s?", spec, (int)name,
                           spec, meant);
    if (k == known)
        return weft__error(err, WEFT_EINVAL,
                           "'%.200s': expected uniform:M,N,NNZ, heavy:M,N,NNZ,ROW, power:M,N,NNZ, web:M,NNZ, "
                           "stencil5:K, stencil27:K, band:N,W or dense:M,N",
                           spec);
    int64_t v[4] = {0};
    const char *numbers = spec + name + (spec[name] == ':');
    weft_status status = spec_numbers(v, kinds[k].numbers, kinds[k].form, spec, numbers, err);
    if (status)
        return status;
    *out = (struct spec){.kind = kinds[k].kind, .m = v[0], .n = v[1]};
    if (v[0] > INT32_MAX || (out->kind != BAND && out->kind != WEB && kinds[k].numbers > 1 && v[1] > INT32_MAX))
        return weft__error(err, WEFT_ERANGE, "'%.200s': rows and columns are limited to 2147483647", spec);
    if (is_random(out->kind)) {
        out->n = out->kind == WEB ? v[0] : v[1];
        out->nnz = out->kind == WEB ? v[1] : v[2];
        out->row = v[3];
        if (out->row > out->nnz)
            return weft__error(err, WEFT_EINVAL, "'%.200s': one row cannot have more than all entries", spec);
        if (out->nnz && (!out->m || !out->n))
            return weft__error(err, WEFT_EINVAL, "'%.200s': a matrix without rows or columns has no entries", spec);
    } else if (out->kind == BAND) {
        out->n = v[0];
        out->half = (v[1] < 2 * v[0] ? v[1] : 2 * v[0]) / 2; // wider than the matrix: every diagonal
        if (v[1] % 2 == 0)
            return weft__error(err, WEFT_EINVAL, "'%.200s': the number of diagonals must be odd", spec);
    } else if (out->kind != DENSE) {
        int dimensions = out->kind == STENCIL5 ? 2 : 3;
        out->side = v[0];
        out->diagonal = out->kind == STENCIL5 ? 4 : 26;
        for (int d = 1; d < dimensions && out->m <= INT32_MAX; d++)
            out->m *= out->side;
        if (out->m > INT32_MAX)
            return weft__error(err, WEFT_ERANGE, "'%.200s': rows and columns are limited to 2147483647", spec);
        out->n = out->m;
    }
    return WEFT_OK;
}

// ---- regular patterns ------------------------------------------------------------------------------------------

// Neighbours of x on a line of `side` points, itself included: from .. to-1.
static inline void line_range(int64_t x, int64_t side, int64_t *from, int64_t *to)
{
    *from = x > 0 ? x - 1 : 0;
    *to = x + 2 < side ? x + 2 : side;
}

static int64_t row_length(const struct spec *s, int64_t i)
{
    int64_t k = s->side, from[3], to[3];
    switch (s->kind) {
    case STENCIL5:
        return 1 + (i % k > 0) + (i % k < k - 1) + (i / k > 0) + (i / k < k - 1);
    case STENCIL27:
        line_range(i % k, k, &from[0], &to[0]);
        line_range(i / k % k, k, &from[1], &to[1]);
        line_range(i / (k * k), k, &from[2], &to[2]);
        return (to[0] - from[0]) * (to[1] - from[1]) * (to[2] - from[2]);
    case BAND:
        from[0] = i - s->half > 0 ? i - s->half : 0;
        to[0] = i + s->half < s->n - 1 ? i + s->half : s->n - 1;
        return to[0] - from[0] + 1;
    case DENSE:
        return s->n;
    case UNIFORM:
    case HEAVY:
    case POWER:
    case WEB:
        break;
    }
    return 0;
}

static void row_fill(const struct spec *s, int64_t i, int64_t length, int32_t *col)
{
    int64_t k = s->side, from[3], to[3];
    switch (s->kind) {
    case STENCIL5:
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
    case STENCIL27:
        line_range(i % k, k, &from[0], &to[0]);
        line_range(i / k % k, k, &from[1], &to[1]);
        line_range(i / (k * k), k, &from[2], &to[2]);
        for (int64_t z = from[2]; z < to[2]; z++)
            for (int64_t y = from[1]; y < to[1]; y++)
                for (int64_t x = from[0]; x < to[0]; x++)
                    *col++ = (int32_t)((z * k + y) * k + x);
        break;
    case BAND:
    case DENSE:
        from[0] = s->kind == BAND && i > s->half ? i - s->half : 0;
        for (int64_t p = 0; p < length; p++)
            col[p] = (int32_t)(from[0] + p);
        break;
    case UNIFORM:
    case HEAVY:
    case POWER:
    case WEB:
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
    const struct spec *s;
    const struct values *values;
    int64_t *before; // entries before each piece, and first its own
};

static void regular_count(void *arg, int64_t piece)
{
    const struct regular *r = arg;
    int64_t count = 0;
    for (int64_t i = piece * PIECE_ROWS; i < r->s->m && i < (piece + 1) * PIECE_ROWS; i++)
        count += row_length(r->s, i);
    r->before[piece] = count;
}

static void regular_fill(void *arg, int64_t piece)
{
    const struct regular *r = arg;
    const struct spec *s = r->s;
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

static weft_status regular_make(struct weft_csr *out, const struct spec *s, const struct weft_generate_params *params,
                                const struct values *values, struct weft__team *team)
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

// ---- random patterns -------------------------------------------------------------------------------------------

// A page near page `row`: at a distance of k bits, every k alike likely, before or behind, round the end.
static inline int32_t near_draw(uint64_t bits, int32_t row, int64_t count)
{
    int most = 1;
    while (INT64_C(1) << most < count)
        most++;
    const int k = (int)weft__random_below(bits << 32, (uint64_t)most);
    const int64_t distance = ((INT64_C(1) << k) + (int64_t)(bits >> 33 & ((UINT64_C(1) << k) - 1))) % count;
    return (int32_t)((row + (bits >> 32 & 1 ? distance : count - distance)) % count);
}

#define WEB_CUT  128 // of the power law of rows: the heaviest has about 0.1 % of the entries
#define WEB_NEAR 3   // of 4 entries that are links to a page near by; the others go to any, hubs first

// Entries that a thread draws at a time.
#define DRAWS 65536

static int64_t draws_end(int64_t chunk, int64_t count)
{
    return chunk * DRAWS + DRAWS < count ? chunk * DRAWS + DRAWS : count;
}

struct draw {
    struct weft_coo *out;
    const struct spec *s;
    uint64_t row_key, col_key, near_key;
    struct power row, col;
};

static void uniform_draw(void *arg, int64_t chunk)
{
    const struct draw *d = arg;
    const struct spec *s = d->s;
    for (int64_t k = chunk * DRAWS, end = draws_end(chunk, s->nnz); k < end; k++) {
        d->out->row[k] =
            (int32_t)(k < s->row ? (uint64_t)s->m / 2
                                 : weft__random_below(weft__random_draw(d->row_key, (uint64_t)k), (uint64_t)s->m));
        d->out->col[k] = (int32_t)weft__random_below(weft__random_draw(d->col_key, (uint64_t)k), (uint64_t)s->n);
    }
}

static void powers_draw(void *arg, int64_t chunk)
{
    const struct draw *d = arg;
    for (int64_t k = chunk * DRAWS, end = draws_end(chunk, d->s->nnz); k < end; k++) {
        const int32_t row = d->out->row[k] = power_draw(&d->row, k);
        const uint64_t bits = weft__random_draw(d->near_key, (uint64_t)k);
        d->out->col[k] =
            d->s->kind == WEB && bits >> 62 < WEB_NEAR ? near_draw(bits, row, d->s->n) : power_draw(&d->col, k);
    }
}

static weft_status random_draw(struct weft_coo *out, const struct spec *s, uint64_t seed, struct weft__team *team)
{
    const int64_t chunks = s->nnz / DRAWS + 1;
    weft_status status =
        weft_coo_alloc(out, weft_shape(.m = s->m, .n = s->n, .nnz = s->nnz, .type = WEFT_TYPE_PATTERN));
    if (status)
        return status;
    struct draw d = {.out = out,
                     .s = s,
                     .row_key = weft__random_key(seed, STREAM_ROW),
                     .col_key = weft__random_key(seed, STREAM_COL),
                     .near_key = weft__random_key(seed, STREAM_NEAR)};
    if (s->kind != POWER && s->kind != WEB) {
        weft__team_each(team, s->nnz, chunks, uniform_draw, &d);
    } else if (s->nnz) {
        // In web graphs the pages with most links in (columns) are heavier than those with most links out.
        power_init(&d.row, s->m, s->kind == WEB ? WEB_CUT : 64, d.row_key, weft__random_key(seed, STREAM_ROW_ORDER));
        power_init(&d.col, s->n, 16, d.col_key, weft__random_key(seed, STREAM_COL_ORDER));
        weft__team_each(team, s->nnz, chunks, powers_draw, &d);
    }
    return WEFT_OK;
}

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
    for (int64_t p = chunk * DRAWS, end = draws_end(chunk, d->out->nnz); p < end; p++)
        value_draw(d->values, d->out->val, d->out->type, p);
}

static weft_status random_make(struct weft_csr *out, const struct spec *s, const struct weft_generate_params *params,
                               const struct values *values, struct weft__team *team)
{
    struct weft_coo coo;
    if (params->ofs == WEFT_OFS_32 && s->nnz > INT32_MAX)
        return WEFT_ERANGE;
    weft_status status = random_draw(&coo, s, params->seed, team);
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
        weft__team_each(team, out->nnz, out->nnz / DRAWS + 1, values_draw, &(struct draw_values){values, out});
    }
    return status;
}

weft_status weft_generate(struct weft_csr *out, const char *spec, const struct weft_generate_params *params,
                          struct weft_error *err)
{
    static const struct weft_generate_params defaults;
    struct spec s;
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
    struct values values = {weft__random_key(params->seed, STREAM_VAL), params->integers};
    struct weft__team team;
    weft__team_begin(&team, 0);
    status = is_random(s.kind) ? random_make(out, &s, params, &values, &team)
                               : regular_make(out, &s, params, &values, &team);
    weft__team_end(&team);
    if (status) {
        weft_csr_free(out);
        const char *why = status == WEFT_ERANGE ? "32-bit offsets cannot count the entries" : weft_status_text(status);
        return weft__error(err, status, "'%.200s': %s", spec, why);
    }
    return WEFT_OK;
}
