// SPDX-License-Identifier: Apache-2.0
// Patterns that are drawn as coordinates: uniform ones, power laws, web graphs, blocks, saddle points, circuits, programs.
#include "generate.h"
#include "host/src/core/random.h"

// ---- a random order --------------------------------------------------------------------------------------------------

struct weft__scatter weft__scatter_of(int64_t count, uint64_t key)
{
    struct weft__scatter out = {.count = count};
    while (INT64_C(1) << out.bits < count)
        out.bits++;
    for (uint64_t i = 0; i < 6; i++)
        out.order[i] = weft__random_draw(key, i) | 1;
    return out;
}

// A bijection of 0 .. 2^bits-1, repeated until it falls below count.
int32_t weft__scatter(const struct weft__scatter *scatter, uint64_t x)
{
    const uint64_t mask = (UINT64_C(1) << scatter->bits) - 1, *order = scatter->order;
    const int shift = scatter->bits / 2 + 1;
    do {
        for (int i = 0; i < 6; i += 2) {
            x = (x * order[i] + order[i + 1]) & mask;
            x ^= x >> shift;
        }
    } while (x >= (uint64_t)scatter->count);
    return (int32_t)x;
}

// ---- power law -------------------------------------------------------------------------------------------------

// Index of rank r is drawn with a probability proportional to log((r + c + 1) / (r + c)), close to 1 / (r + c): the
// degrees then follow a power law with exponent 2, as in web graphs, and c bounds the heaviest one. Ranks are
// scattered over the indices by a bijection.
struct power {
    struct weft__scatter scatter;
    uint64_t cut;       // c
    uint64_t low, span; // log2(c) and log2(count + c) - log2(c), 32 bits after the point
    uint64_t key;       // of the draws
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
    *power = (struct power){.scatter = weft__scatter_of(count, order_key), .cut = 1, .key = key};
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
}

static inline int32_t power_draw(const struct power *power, int64_t k)
{
    uint64_t rank =
        power_exp2(power, power->low + weft__random_below(weft__random_draw(power->key, (uint64_t)k), power->span)) -
        power->cut;
    const uint64_t last = (uint64_t)power->scatter.count - 1;
    return weft__scatter(&power->scatter, rank < last ? rank : last);
}

// ---- entries ---------------------------------------------------------------------------------------------------------

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

#define STAIR         64   // rows around the diagonal of a linear program that most entries of a column lie in
#define LINKING_ROWS  1000 // rows of a program for each that links all columns
#define HUBS          8    // nets of a circuit that a sixteenth of its entries lead to or from
#define KKT_VARIABLES 3    // of every 4 rows of a saddle point; the others are constraints

struct draw {
    struct weft_coo *out;
    const struct weft__generate_spec *s;
    uint64_t row_key, col_key, near_key;
    struct power row, col;
};

static inline int64_t below(uint64_t key, int64_t counter, int64_t count)
{
    return (int64_t)weft__random_below(weft__random_draw(key, (uint64_t)counter), (uint64_t)count);
}

// Half of the entries lie in `few` of `count` lines that stand evenly; the others lie anywhere.
static inline int64_t line_draw(uint64_t key, int64_t k, int64_t few, int64_t count)
{
    if (!few || k % 2)
        return below(key, k, count);
    return (2 * below(key, k, few) + 1) * count / (2 * few);
}

// R-MAT: a quarter of the matrix, a quarter of that and so on, with probabilities 0.57, 0.19, 0.19 and 0.05.
static inline void rmat_draw(const struct draw *d, int64_t k, int64_t *row, int64_t *col)
{
    enum { FIRST = 37356, SECOND = 12452 }; // of 65536
    int levels = 0;
    uint64_t i = 0, j = 0, bits = 0;
    while (INT64_C(1) << levels < d->s->m)
        levels++;
    for (int level = 0; level < levels; level++, bits >>= 16) {
        if (level % 4 == 0)
            bits = weft__random_draw(d->row_key, (uint64_t)k * 8 + (uint64_t)level / 4);
        const int part = (int)(bits & 65535);
        i = i << 1 | (part >= FIRST + SECOND);
        j = j << 1 | ((part >= FIRST && part < FIRST + SECOND) || part >= FIRST + 2 * SECOND);
    }
    *row = (int64_t)(i * (uint64_t)d->s->m >> levels);
    *col = (int64_t)(j * (uint64_t)d->s->m >> levels);
}

// Dense squares of `extra` rows at random places of a grid of such squares.
static inline void block_draw(const struct draw *d, int64_t k, int64_t *row, int64_t *col)
{
    const int64_t side = d->s->extra, grid = d->s->m / side, block = k / (side * side), place = k % (side * side);
    *row = below(d->row_key, block, grid) * side + place / side;
    *col = below(d->col_key, block, grid) * side + place % side;
}

// Entry k is the first or the second of a pair (i, j) and (j, i).
static inline void pair_turn(int64_t k, int64_t *row, int64_t *col)
{
    const int64_t i = *row;
    if (k % 2) {
        *row = *col;
        *col = i;
    }
}

// [H A'; A 0]: H is near its diagonal, a constraint takes variables near its place and a few anywhere.
static inline void kkt_draw(const struct draw *d, int64_t k, int64_t *row, int64_t *col)
{
    const int64_t n = d->s->m, variables = (n * KKT_VARIABLES + 3) / 4, constraints = n - variables;
    *row = *col = k;
    if (k < variables)
        return;
    const int64_t pair = (k - variables) / 2;
    const uint64_t bits = weft__random_draw(d->near_key, (uint64_t)pair);
    if (bits >> 63 || !constraints) {
        *row = below(d->row_key, pair, variables);
        *col = near_draw(bits << 1, (int32_t)*row, variables);
    } else {
        const int64_t constraint = below(d->row_key, pair, constraints);
        *row = variables + constraint;
        *col = bits >> 60 & 7 ? near_draw(bits << 4, (int32_t)(constraint * variables / constraints), variables)
                              : below(d->col_key, pair, variables);
    }
    pair_turn(k - variables, row, col);
}

// The diagonal, neighbours in a symmetric pattern, and a few nets that everything hangs on.
static inline void circuit_draw(const struct draw *d, int64_t k, int64_t *row, int64_t *col)
{
    const int64_t n = d->s->m, pair = (k - n) / 2;
    *row = *col = k;
    if (k < n)
        return;
    const uint64_t bits = weft__random_draw(d->near_key, (uint64_t)pair);
    *row = below(d->row_key, pair, n);
    *col = bits >> 60 ? near_draw(bits << 4, (int32_t)*row, n) : below(d->col_key, pair, HUBS) * n / HUBS;
    pair_turn(k - n, row, col);
}

// A staircase of constraints with some that link all columns.
static inline void lp_draw(const struct draw *d, int64_t k, int64_t *row, int64_t *col)
{
    const int64_t m = d->s->m, n = d->s->n;
    const uint64_t kind = weft__random_draw(d->near_key, (uint64_t)k) >> 60;
    *col = below(d->col_key, k, n);
    if (kind == 0)
        *row = below(d->row_key, k, m / LINKING_ROWS + 1) * (m < LINKING_ROWS ? m : LINKING_ROWS);
    else if (kind < 4)
        *row = below(d->row_key, k, m);
    else
        *row = *col * m / n + below(d->row_key, k, STAIR) - STAIR / 2;
    *row = *row < 0 ? 0 : *row < m ? *row : m - 1;
}

// Anywhere in a row, and within `extra` columns of the diagonal.
static inline void within_draw(const struct draw *d, int64_t k, int64_t *row, int64_t *col)
{
    const int64_t m = d->s->m, w = d->s->extra;
    *row = below(d->row_key, k, m);
    const int64_t first = *row > w ? *row - w : 0, last = *row + w < m ? *row + w : m - 1;
    *col = first + below(d->col_key, k, last - first + 1);
}

static inline void entry_draw(const struct draw *d, int64_t k, int64_t *row, int64_t *col)
{
    const struct weft__generate_spec *s = d->s;
    const enum weft__generate_kind kind = s->kind;
    if (kind == WEFT__GENERATE_RMAT) {
        rmat_draw(d, k, row, col);
    } else if (kind == WEFT__GENERATE_BLOCK) {
        block_draw(d, k, row, col);
    } else if (kind == WEFT__GENERATE_KKT) {
        kkt_draw(d, k, row, col);
    } else if (kind == WEFT__GENERATE_CIRCUIT) {
        circuit_draw(d, k, row, col);
    } else if (kind == WEFT__GENERATE_LP) {
        lp_draw(d, k, row, col);
    } else if (kind == WEFT__GENERATE_NEAR) {
        within_draw(d, k, row, col);
    } else if (kind == WEFT__GENERATE_POWER || kind == WEFT__GENERATE_WEB) {
        const uint64_t bits = weft__random_draw(d->near_key, (uint64_t)k);
        *row = power_draw(&d->row, k);
        *col = kind == WEFT__GENERATE_WEB && bits >> 62 < WEB_NEAR ? near_draw(bits, (int32_t)*row, s->n)
                                                                   : power_draw(&d->col, k);
    } else {
        *row = kind == WEFT__GENERATE_HEAVY && k < s->extra
                   ? s->m / 2
                   : line_draw(d->row_key, k, kind == WEFT__GENERATE_ROWS ? s->extra : 0, s->m);
        *col = line_draw(d->col_key, k, kind == WEFT__GENERATE_COLS ? s->extra : 0, s->n);
    }
}

static void entries_draw(void *arg, int64_t chunk)
{
    const struct draw *d = arg;
    for (int64_t k = chunk * WEFT__DRAWS, end = weft__draws_end(chunk, d->s->nnz); k < end; k++) {
        int64_t row, col;
        entry_draw(d, k, &row, &col);
        d->out->row[k] = (int32_t)row;
        d->out->col[k] = (int32_t)col;
    }
}

weft_status weft__generate_draw(struct weft_coo *out, const struct weft__generate_spec *s, uint64_t seed,
                                struct weft__team *team)
{
    const int web = s->kind == WEFT__GENERATE_WEB;
    weft_status status =
        weft_coo_alloc(out, weft_shape(.m = s->m, .n = s->n, .nnz = s->nnz, .type = WEFT_TYPE_PATTERN));
    if (status || !s->nnz)
        return status;
    struct draw d = {.out = out,
                     .s = s,
                     .row_key = weft__random_key(seed, WEFT__STREAM_ROW),
                     .col_key = weft__random_key(seed, WEFT__STREAM_COL),
                     .near_key = weft__random_key(seed, WEFT__STREAM_NEAR)};
    if (web || s->kind == WEFT__GENERATE_POWER) {
        // In web graphs the pages with most links in (columns) are heavier than those with most links out.
        power_init(&d.row, s->m, web ? WEB_CUT : 64, d.row_key, weft__random_key(seed, WEFT__STREAM_ROW_ORDER));
        power_init(&d.col, s->n, 16, d.col_key, weft__random_key(seed, WEFT__STREAM_COL_ORDER));
    }
    weft__team_each(team, s->nnz, s->nnz / WEFT__DRAWS + 1, entries_draw, &d);
    return WEFT_OK;
}
