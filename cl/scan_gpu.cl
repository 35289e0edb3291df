// SPDX-License-Identifier: Apache-2.0
// Prefix sums: out[i] = in[0] + ... + in[i-1] (exclusive) or + in[i] (inclusive); reduce, then scan.
// Source:  G. Blelloch, Prefix sums and their applications, 1990, section 1.4 (sum, scan the sums, scan again); inside
//          a tile the lanes scan by W. Hillis, G. Steele, Data parallel algorithms, 1986.
// Mapping: 1-D; a group takes tiles grp, grp + groups, ...; a tile is tile = wg*ipt elements. Each 32 lanes own
//          32*ipt neighbours, in rows of 128: a lane holds 4 neighbours of each row, so that loads and stores are
//          vectors of 4 side by side.
// Local:   wg/32 sums; wg uints more where lanes exchange through local memory.
// Needs:   wg a multiple of 32, at most 1024; ipt a multiple of 4. in may be out when the types have one width.
// Gives:   scan_reduce: sums[t] = sum of tile t.  scan_spine: sums[t] = sum of tiles before t, by one group.
//          scan_down: out, and with `total` out[n].
// Order:   neighbours of 4 from the left; the 32 lanes by doubling distance; then rows, then lane groups, then tiles
//          (tile by tile inside scan_spine) from the left. Depends on wg and ipt only.

#if !defined(WEFT_WG) || WEFT_WG % 32 || WEFT_WG > 1024
#error "WEFT_WG: work-group size, a multiple of 32 up to 1024"
#endif
#if !defined(WEFT_IPT) || WEFT_IPT % 4
#error "WEFT_IPT: elements per work-item, a multiple of 4"
#endif
#if !defined(WEFT_IN_T) || !defined(WEFT_SUM_T)
#error "WEFT_IN_T, WEFT_SUM_T: types of an element and of a sum"
#endif
#if !defined(WEFT_SUM_BITS) || (WEFT_SUM_BITS != 32 && WEFT_SUM_BITS != 64)
#error "WEFT_SUM_BITS: 32 or 64, width of WEFT_SUM_T; with WEFT_SUM_IS_F32 when that is float"
#endif
#if !defined(WEFT_INCLUSIVE)
#error "WEFT_INCLUSIVE: 0 or 1"
#endif

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
typedef WEFT_IN_T in_t;
typedef WEFT_SUM_T sum_t;
typedef PASTE(WEFT_IN_T, 4) in4_t;
typedef PASTE(WEFT_SUM_T, 4) sum4_t;

#define TILE   ((uint)WEFT_WG * WEFT_IPT)
#define ROWS   (WEFT_IPT / 4)
#define GROUPS (WEFT_WG / 32)

// Value of v in lane `from`.
static inline sum_t sum_get(sum_t v, uint from, __local uint *mem)
{
#if defined(WEFT_SUM_IS_F32)
    return as_float(lane_get(as_uint(v), from, mem));
#elif WEFT_SUM_BITS == 64
    uint low = lane_get((uint)v, from, mem), high = lane_get((uint)((ulong)v >> 32), from, mem);
    return (sum_t)((ulong)high << 32 | low);
#else
    return (sum_t)lane_get((uint)v, from, mem);
#endif
}

// Elements of tile t, of n in all.
static inline uint tile_left(ulong t, ulong n)
{
    return (uint)min(n - t * TILE, (ulong)TILE);
}

// First element of this work-item's row j, counted from the start of the tile.
static inline uint row_at(uint j)
{
    return lane_group() * (32u * WEFT_IPT) + j * 128u + lane_id() * 4u;
}

// The elements of this work-item in a tile of which `left` are there, row after row; the others are 0. Plain variables
// rather than vectors: Oclgrind 21.10 crashes on the shuffles that clang makes of those.
static inline void tile_load(sum_t *x, __global const in_t *in, uint left)
{
    WEFT_UNROLL
    for (uint j = 0; j < ROWS; j++) {
        uint i = row_at(j);
        if (left == TILE) {
            in4_t v = *(__global const in4_t *)(in + i);
            x[4 * j] = (sum_t)v.x;
            x[4 * j + 1] = (sum_t)v.y;
            x[4 * j + 2] = (sum_t)v.z;
            x[4 * j + 3] = (sum_t)v.w;
        } else {
            for (uint k = 0; k < 4; k++)
                x[4 * j + k] = i + k < left ? (sum_t)in[i + k] : 0;
        }
    }
}

static inline void tile_store(__global sum_t *out, const sum_t *x, uint left)
{
    WEFT_UNROLL
    for (uint j = 0; j < ROWS; j++) {
        uint i = row_at(j);
        if (left == TILE) {
            *(__global sum4_t *)(out + i) = (sum4_t)(x[4 * j], x[4 * j + 1], x[4 * j + 2], x[4 * j + 3]);
        } else {
            for (uint k = 0; k < 4; k++)
                if (i + k < left)
                    out[i + k] = x[4 * j + k];
        }
    }
}

// Sum of one value per lane group over the groups before this one; *all gets the sum of all. Barriers at both ends.
static inline sum_t groups_scan(sum_t v, sum_t *all, __local sum_t *sums)
{
    sum_t before = 0, sum = 0;
    if (lane_id() == 0u)
        sums[lane_group()] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint g = 0; g < GROUPS; g++) {
        before = g == lane_group() ? sum : before;
        sum += sums[g];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *all = sum;
    return before;
}

// x becomes the prefix sums of the tile that begin at `carry`; returns the sum of the tile.
static inline sum_t tile_scan(sum_t *x, sum_t carry, int inclusive, __local sum_t *sums, __local uint *mem)
{
    sum_t before[ROWS], running = 0, all;
    WEFT_UNROLL
    for (uint j = 0; j < ROWS; j++) {
        sum_t sum = ((x[4 * j] + x[4 * j + 1]) + x[4 * j + 2]) + x[4 * j + 3];
        for (uint d = 1; d < LANES; d <<= 1) {
            sum_t left = sum_get(sum, lane_id() < d ? lane_id() : lane_id() - d, mem);
            sum = lane_id() < d ? sum : left + sum;
        }
        sum_t left = sum_get(sum, lane_id() ? lane_id() - 1u : 0u, mem);
        before[j] = lane_id() ? running + left : running;
        running += sum_get(sum, LANES - 1u, mem);
    }
    carry += groups_scan(running, &all, sums);
    WEFT_UNROLL
    for (uint j = 0; j < ROWS; j++) {
        sum_t start = carry + before[j], sum = 0;
        for (uint k = 0; k < 4; k++) {
            sum_t next = sum + x[4 * j + k];
            x[4 * j + k] = start + (inclusive ? next : sum);
            sum = next;
        }
    }
    return all;
}

// Sum of each tile.
WEFT_KERNEL void scan_reduce(__global const WEFT_IN_T *in, __global WEFT_SUM_T *sums, ulong n, ulong tiles)
{
    __local sum_t group_sums[GROUPS];
    LANE_MEMORY(uint, mem);
    for (ulong tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        sum_t x[WEFT_IPT];
        sum_t sum = 0, all;
        tile_load(x, in + tile * TILE, tile_left(tile, n));
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++)
            sum += x[k];
        for (uint d = LANES / 2u; d; d >>= 1)
            sum += sum_get(sum, lane_id() ^ d, mem);
        groups_scan(sum, &all, group_sums);
        if (get_local_id(0) == 0)
            sums[tile] = all;
    }
}

// Sums of the tiles become sums of the tiles before.
WEFT_KERNEL void scan_spine(__global WEFT_SUM_T *sums, ulong tiles)
{
    __local sum_t group_sums[GROUPS];
    LANE_MEMORY(uint, mem);
    sum_t carry = 0;
    for (ulong t = 0; t * TILE < tiles; t++) {
        sum_t x[WEFT_IPT];
        uint left = tile_left(t, tiles);
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++) {
            uint i = row_at(k / 4) + k % 4;
            x[k] = i < left ? sums[t * TILE + i] : 0;
        }
        sum_t all = tile_scan(x, carry, 0, group_sums, mem);
        tile_store(sums + t * TILE, x, left);
        carry += all;
    }
}

// Prefix sums of each tile, from the sum of the tiles before it.
WEFT_KERNEL void scan_down(__global const WEFT_IN_T *in, __global const WEFT_SUM_T *sums, __global WEFT_SUM_T *out,
                           ulong n, ulong tiles, uint has_sums, uint total)
{
    __local sum_t group_sums[GROUPS];
    LANE_MEMORY(uint, mem);
    for (ulong tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        sum_t x[WEFT_IPT];
        sum_t carry = has_sums ? sums[tile] : 0;
        tile_load(x, in + tile * TILE, tile_left(tile, n));
        sum_t all = tile_scan(x, carry, WEFT_INCLUSIVE, group_sums, mem);
        tile_store(out + tile * TILE, x, tile_left(tile, n));
        if (total && tile == tiles - 1 && get_local_id(0) == 0)
            out[n] = carry + all;
    }
}
