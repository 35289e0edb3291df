// SPDX-License-Identifier: Apache-2.0
// Prefix sums of integers in one launch: out[i] = in[0] + ... + in[i-1] (exclusive) or + in[i] (inclusive); each tile looks
// back at what the tiles before it have published.
// Source:  D. Merrill, M. Garland, Single-pass parallel prefix scan with decoupled look-back, NVIDIA NVR-2016-002, section 4.
//          Different: words bear the number of their run, so that none need be cleared; waits end.
// Mapping: 1-D; group g owns tile g. Devices begin groups in order, as a rule, and then the tiles before it are done or with
//          groups that run. The first `look` work-items of a group look at a tile each.
// Words:   as scan/words.clh.
// Waits:   no longer than SPIN looks at a word, and the next time than SPIN_AGAIN. Then the group sums that tile up itself, as
//          `in` is never written here, and publishes the sum for it. So in any order of groups each tile is summed up a
//          few times at most.
// Local:   a tile of elements, which would take the registers of more groups; as scan/quads.clh; look/32 sums and 2*look/32
//          words.
// Needs:   64-bit atomics; in and out apart; a group for each tile; words[0 .. tiles*SUM_WORDS - 1] without a word of this run,
//          whose number is below 2^31 - 1.
// Gives:   out, and with `total` out[n].
// Order:   integers, whose sums do not depend on it.

#ifndef WEFT_HAS_INT64_ATOMICS
#error "WEFT_HAS_INT64_ATOMICS is needed to publish a sum with its tag"
#endif
#ifdef WEFT_SUM_IS_F32
#error "WEFT_SUM_IS_F32: these sums would depend on which tile was there first"
#endif

#if !defined(WEFT_LOOK) || WEFT_LOOK % 32 || WEFT_LOOK < 32 || WEFT_LOOK > WEFT_WG
#error "WEFT_LOOK: tiles that a group looks at at once, a multiple of 32 up to WEFT_WG"
#endif

// WEFT_STUCK, in tests: one of so many tiles publishes nothing, and waits are short.
#ifdef WEFT_STUCK
#define SPIN               3u
#define SPIN_AGAIN         2u
#define stuck(tile, tiles) (((tile) + (tiles)) % WEFT_STUCK == 1u)
#else
#define SPIN               4096u
#define SPIN_AGAIN         16u
#define stuck(tile, tiles) false
#endif

// What the LOOK tiles before some tile have published, 32 by 32, the nearest first: the sum of those up to the nearest that
// has published something else than its own sum, which one that is (LANES: none), and what it has published.
#define LOOKERS (WEFT_LOOK / 32u)
struct window {
    sum_t sum[LOOKERS];
    uint end[LOOKERS], kind[LOOKERS];
};

// Sum of one value per lane group over the groups before this one; *all gets the sum of all. Nobody uses `sums` before;
// the next use comes after another barrier.
WEFT_INLINE_LOCAL sum_t groups_sums(sum_t v, sum_t *all, __local sum_t *sums, __local uint *mem)
{
    sum_t before = 0, sum = 0;
    if (lane_id() == 0u)
        sums[lane_group()] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
#if defined(WEFT_LANES_FAST) && WEFT_WG > 256
    const sum_t own = lane_id() < WARPS ? sums[lane_id()] : 0;
    sum = lanes_scan(own, mem);
    before = sum_get(sum - own, lane_group(), mem);
    sum = sum_get(sum, LANES - 1u, mem);
#else
    for (uint g = 0; g < WARPS; g++) {
        before = g == lane_group() ? sum : before;
        sum += sums[g];
    }
#endif
    *all = sum;
    return before;
}

// Sum of a whole tile, in few registers.
WEFT_INLINE_LOCAL sum_t tile_sum(__global const in_t *in, __local sum_t *sums, __local uint *mem)
{
    sum_t sum = 0, all;
#pragma unroll 1
    for (uint i = (uint)get_local_id(0); i < TILE; i += WEFT_WG)
        sum += (sum_t)in[i];
    groups_scan(lanes_sum(sum, mem), &all, sums);
    return all;
}

// First look at the tile that is this work-item's in the window before `tile`.
static inline uint look(sum_t *sum, volatile __global ulong *words, uint tile, uint run)
{
    const uint lid = (uint)get_local_id(0);
    *sum = 0;
    if (lid >= WEFT_LOOK || lid >= tile)
        return THROUGH; // before the first tile; nobody asks those beyond the window
    return published(sum, words, tile - 1u - lid, run);
}

// Sum of the tiles before `tile`, by the whole work-group; `kind` and `sum` come from a first look. The next use of `w`
// comes after another barrier.
WEFT_INLINE_LOCAL sum_t look_back(volatile __global ulong *words, __global const in_t *in, uint tile, uint run,
                                  uint kind, sum_t sum, __local struct window *w, __local sum_t *sums,
                                  __local uint *mem)
{
    const uint lid = (uint)get_local_id(0);
    sum_t before = 0;
    for (uint spin = SPIN;;) {
#pragma unroll 1
        for (uint i = 1; i < spin && kind == NOTHING; i++)
            kind = published(&sum, words, tile - 1u - lid, run);
        const uint ends = lane_ballot(kind != OWN, mem), end = ends ? popcount((ends & -ends) - 1u) : LANES;
        const sum_t part = lanes_sum(lane_id() <= end ? sum : 0, mem);
        if (lid < WEFT_LOOK && lane_id() == (end & (LANES - 1u))) {
            w->sum[lane_group()] = part;
            w->end[lane_group()] = end;
            w->kind[lane_group()] = kind;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint g = 0, last = LANES;
#pragma unroll 1
        for (; g < LOOKERS && last == LANES; g++) {
            before += w->sum[g];
            last = w->end[g];
        }
        const uint what = w->kind[g - 1u];
        if (what == THROUGH)
            return before;
        barrier(CLK_LOCAL_MEM_FENCE);
        // Its own sum is in: the next window begins behind. Nothing: that tile is summed up here.
        tile -= (g - 1u) * LANES + last + (what == NOTHING);
        if (what == NOTHING) {
            const sum_t silent = tile_sum(in + (size_t)tile * TILE, sums, mem);
            if (lid == 0u)
                publish(words, tile, run, silent, tile == 0u);
            before += silent;
            spin = SPIN_AGAIN;
        }
        kind = look(&sum, words, tile, run);
    }
}

// Rows that are loaded, and scanned, at a time: more would take the registers of other work-groups.
#define LOADS (ROWS % 4u == 0u && sizeof(in_t) == 4u ? 4u : ROWS % 2u == 0u ? 2u : 1u)
#define SCANS (ROWS % 2u == 0u ? 2u : 1u)

static inline sum_t quad_sum(const in_t *x)
{
    return ((sum_t)x[0] + (sum_t)x[1]) + ((sum_t)x[2] + (sum_t)x[3]);
}

// The elements of this work-item in a tile of which `left` are there go to `kept`, 0 for the others; returns their sum.
// Only this work-item touches what is its own there.
WEFT_INLINE_LOCAL sum_t tile_keep(__local in_t *kept, __global const in_t *in, uint left)
{
    const uint at = row_at(0);
    sum_t sum = 0;
#pragma unroll 1
    for (uint from = 0; from < ROWS; from += LOADS) {
        in_t x[4 * LOADS];
        WEFT_UNROLL
        for (uint j = 0; j < LOADS; j++)
            quad_load(x + 4 * j, in, at + (from + j) * 128u, left);
        WEFT_UNROLL
        for (uint j = 0; j < LOADS; j++) {
            *(__local in4_t *)(kept + at + (from + j) * 128u) =
                (in4_t)(x[4 * j], x[4 * j + 1], x[4 * j + 2], x[4 * j + 3]);
            sum += quad_sum(x + 4 * j);
        }
    }
    return sum;
}

// Store the prefix sums of what is kept, from the sum of what is before this lane group.
WEFT_INLINE_LOCAL void sums_store(__global sum_t *out, __local const in_t *kept, sum_t carry, uint left,
                                  __local uint *mem)
{
    const uint at = row_at(0);
#pragma unroll 1
    for (uint from = 0; from < ROWS; from += SCANS) {
        in_t x[4 * SCANS];
        sum_t rows[SCANS];
        WEFT_UNROLL
        for (uint j = 0; j < SCANS; j++) {
            const in4_t v = *(__local const in4_t *)(kept + at + (from + j) * 128u);
            x[4 * j] = v.x;
            x[4 * j + 1] = v.y;
            x[4 * j + 2] = v.z;
            x[4 * j + 3] = v.w;
            rows[j] = lanes_scan(quad_sum(x + 4 * j), mem);
        }
        WEFT_UNROLL
        for (uint j = 0; j < SCANS; j++) {
            sum_t sum = carry + (rows[j] - quad_sum(x + 4 * j)), sums[4];
            for (uint k = 0; k < 4; k++) {
                const sum_t next = sum + (sum_t)x[4 * j + k];
                sums[k] = WEFT_INCLUSIVE ? next : sum;
                sum = next;
            }
            quad_store(out, sums, at + (from + j) * 128u, left);
            carry += sum_get(rows[j], LANES - 1u, mem);
        }
    }
}

// Prefix sums of each tile, from what the tiles before it have published.
WEFT_KERNEL void scan_chained(__global const WEFT_IN_T *restrict in, __global WEFT_SUM_T *restrict out,
                              __global ulong *words, ulong n, uint tiles, uint run, uint total)
{
    __local in_t kept[TILE] __attribute__((aligned(32)));
    __local sum_t group_sums[WARPS];
    __local struct window window;
    LANE_MEMORY(uint, mem);
    uint tile = (uint)get_group_id(0), left = tile_left(tile, n);
    sum_t all, seen;
    const sum_t sum = tile_keep(kept, in + (size_t)tile * TILE, left);
    const sum_t start = groups_sums(lanes_sum(sum, mem), &all, group_sums, mem);
    const bool first = get_local_id(0) == 0, speaks = first && !stuck(tile, tiles);
    if (speaks)
        publish(words, tile, run, all, tile == 0u);
    const uint kind = look(&seen, words, tile, run);
    const sum_t before = look_back(words, in, tile, run, kind, seen, &window, group_sums, mem);
    if (speaks && tile)
        publish(words, tile, run, before + all, true);
    forget_all(tile); // what derives from it is not worth registers while the group looks back
    left = tile_left(tile, n);
    sums_store(out + (size_t)tile * TILE, kept, before + start, left, mem);
    if (total && tile == tiles - 1u && first)
        out[n] = before + all;
}
