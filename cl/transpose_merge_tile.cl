// SPDX-License-Identifier: Apache-2.0
// The moving kernels of MergeTrans. merge_sort orders tiles of entries by column: the first runs. merge_join merges up
// to WEFT_JOIN neighbouring runs at once; transpose_merge_cut.cl found where each of its tiles begins in every run.
// Source:  Wang et al., ICS 2016, section 3.2: sort blocks of entries, then merge pairs of blocks in rounds. Here many
//          runs are merged in one round, and a merged tile is ordered by a stable radix sort of the few bits in which
//          its columns differ (its parts lie in local memory one behind the other, so stable means: by run).
// Shares:  tile.clh
// Mapping: 1-D; a group takes tiles grp, grp+groups, ... of TILE entries.
// Local:   struct tile; merge_join struct parts as well.
// Needs:   columns below 2^(32 - WEFT_TILE_BITS + WEFT_RADIX_BITS), or WEFT_WIDE.
// Gives:   runs (col, row, val) ordered by column, stable. With WEFT_LAST: rows, values and column pointers; columns
//          are dropped, and gaps of WEFT_GAP empty columns or more are left to merge_gaps.
// Order:   exact.

#if !defined(WEFT_SORT) && !defined(WEFT_JOIN)
#error "WEFT_SORT: this is merge_sort, or WEFT_JOIN: this is merge_join, room for so many runs"
#endif
#ifndef WEFT_GAP
#error "WEFT_GAP: empty columns that make a gap, more than 8*WEFT_WG*WEFT_IPT"
#endif

#define POS ((1u << WEFT_TILE_BITS) - 1u)

// Take the smallest key of the tile off each key; returns the bits that hold what is left, at least 1. Keys of slots
// without an entry are all ones before and after.
WEFT_INLINE uint tile_reduce(__local struct tile *x, uint *key)
{
    uint least = 0xffffffffu, most = 0u; // of 1 + key, so that all ones count as nothing
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++) {
        least = min(least, key[j]);
        most = max(most, key[j] + 1u);
    }
    if (get_local_id(0) == 0) {
        x->least = 0xffffffffu;
        x->most = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef WEFT_LANES_FAST
    WEFT_UNROLL
    for (uint d = LANES / 2u; d; d >>= 1) {
        least = min(least, lane_get(least, lane_id() ^ d, x->stage));
        most = max(most, lane_get(most, lane_id() ^ d, x->stage));
    }
    if (lane_id() == 0u)
#endif
    {
        atomic_min(&x->least, least);
        atomic_max(&x->most, most);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    least = x->least;
    uint bits = max(32u - clz(x->most - 1u - least), 1u);
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        key[j] = min(key[j] - least, (1u << bits) - 1u);
    return bits;
}

// Bits of the next step of a sort by `bits` bits: evened out over the steps.
WEFT_INLINE uint step_bits(uint bits)
{
    uint steps = (bits + WEFT_RADIX_BITS - 1u) / WEFT_RADIX_BITS;
    return (bits + steps - 1u) / steps;
}

// In at[j]: the key of SLOT(j), `bits` bits. Out: the slot whose entry comes to SLOT(j) when the tile is ordered by
// key, stable.
WEFT_INLINE void tile_sort(__local struct tile *x, uint *at, uint bits)
{
    uint slot = slot_first();
    uint to[WEFT_IPT];
#ifdef WEFT_WIDE
    uint key[WEFT_IPT];
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++) {
        key[j] = at[j];
        at[j] = SLOT(j);
    }
    do {
        uint step = step_bits(bits);
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++) {
            to[j] = (key[j] & ((1u << step) - 1u)) << 16;
            key[j] >>= step;
        }
        tile_rank(x, to, step);
        tile_scatter(x, key, to);
        tile_scatter(x, at, to);
        bits -= step;
    } while (bits);
#else
    // A word is the key until the first step, then what is left of the key above the slot where the entry came from.
    uint shift = 0u;
    do {
        uint step = step_bits(bits);
        if (bits > 32u - WEFT_TILE_BITS && shift == 0u) // what is left has to fit
            step = max(step, bits - (32u - WEFT_TILE_BITS));
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            to[j] = (at[j] >> shift & ((1u << step) - 1u)) << 16;
        tile_rank(x, to, step);
        forget(slot);
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            at[j] = at[j] >> (shift + step) << WEFT_TILE_BITS | (shift ? at[j] & POS : SLOT(j));
        tile_scatter(x, at, to);
        shift = WEFT_TILE_BITS;
        bits -= step;
    } while (bits);
#endif
}

// col[j], the tile's columns in order, into the stage: for bound_find, up to a barrier.
WEFT_INLINE void columns_stage(__local struct tile *x, const uint *col)
{
    uint slot = slot_first();
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        x->stage[SLOT(j)] = col[j];
    barrier(CLK_LOCAL_MEM_FENCE);
}
// First of the tile's entries with this column or a later one.
WEFT_INLINE uint bound_find(const __local struct tile *x, uint count, uint column)
{
    uint lo = 0u, hi = count;
    while (lo < hi) {
        uint mid = (lo + hi) / 2u;
        if (x->stage[mid] < column)
            lo = mid + 1u;
        else
            hi = mid;
    }
    return lo;
}

#ifdef WEFT_LAST
// Column pointers of the columns after `before` up to `until` (-1 for the first tile, n for the last): where the first
// entry of that column or a later one is. col[j] are the tile's columns in order.
WEFT_INLINE void pointers_store(__local struct tile *x, __global ofs_t *col_ptr, __global long *gaps, ofs_t base,
                                uint count, const uint *col, long before, long until)
{
    columns_stage(x, col);
    if (until - before <= 8L * TILE) {
        for (long c = before + 1 + (long)get_local_id(0); c <= until; c += WEFT_WG)
            col_ptr[c] = base + (ofs_t)bound_find(x, count, (uint)c);
    } else {
        // Far between: the columns before each entry, and after the last one.
        uint first = lane_group() * (32u * WEFT_IPT), last = min(first + 32u * WEFT_IPT, count);
        if (first < count)
            for (uint s = first; s < last + (last == count); s++) {
                long from = s ? (long)x->stage[s - 1u] : before, to = s < count ? (long)x->stage[s] : until;
                if (to - from < WEFT_GAP) {
                    for (long c = from + 1 + (long)lane_id(); c <= to; c += LANES)
                        col_ptr[c] = base + (ofs_t)s;
                } else if (lane_id() == 0u) {
                    // gaps[0] counts; then from, to and the pointer of each.
                    uint i = atomic_inc((__global uint *)gaps);
                    gaps[1 + 3 * i] = from;
                    gaps[2 + 3 * i] = to;
                    gaps[3 + 3 * i] = (long)base + s;
                }
            }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
#else
// Buckets from .. until of the row of merge_cut's table that a run has: where its first entry with a column of
// bucket << shift or more is, when that is in this tile, `count` entries at `base`, or at its end.
WEFT_INLINE void table_store(__local struct tile *x, __global ofs_t *row, uint from, uint until, uint shift, ofs_t base,
                             uint count, const uint *col)
{
    columns_stage(x, col);
    for (uint b = from + (uint)get_local_id(0); b <= until; b += WEFT_WG)
        row[b] = base + (ofs_t)bound_find(x, count, b << shift);
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

#ifdef WEFT_SORT
#ifndef WEFT_ROWS_GIVEN
// row[j] = row of the entry in SLOT(j) of the tile at `base`.
WEFT_INLINE void rows_find(__local struct tile *x, uint *row, __global const ofs_t *row_ptr, idx_t m, ofs_t base,
                           uint count)
{
    uint slot = slot_first();
    idx_t first, last;
    rows_bracket(x, &first, &last, row_ptr, m, base, base + (ofs_t)count - 1);
    bool few = last - first > 4 * TILE; // mostly empty rows: no marks, a search for each entry
    idx_t stop = few ? first : last;
    marks_clear(&x->marks);
    for (idx_t r = first + 1 + (idx_t)get_local_id(0); r <= stop; r += WEFT_WG) {
        ofs_t from = row_ptr[r];
        if (from < row_ptr[r + 1]) {
            mark(&x->marks, (uint)(from - base));
            x->stage[from - base] = (uint)r;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // The row at a slot stands at the nearest mark at or before it; `carry` is the one before the word.
    uint word = slot / 32u, carry = (uint)first;
    for (uint w = word; w > 0u; w--)
        if (x->marks.bits[w - 1u]) {
            carry = x->stage[w * 32u - 1u - clz(x->marks.bits[w - 1u])];
            break;
        }
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++) {
        uint bits = x->marks.bits[word + j], upto = bits & (lane_below() * 2u + 1u), end = (word + j) * 32u + 31u;
        row[j] = upto ? x->stage[end - clz(upto)] : carry;
        carry = bits ? x->stage[end - clz(bits)] : carry;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (few) {
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            row[j] = (uint)row_of(row_ptr, first, last + 1, base + (ofs_t)min(SLOT(j), count - 1u));
    }
}
#endif

// Order each tile of entries by column: the first runs, with their part of merge_cut's table. `rows`: row pointers, or,
// with WEFT_ROWS_GIVEN, the row of each entry.
#ifdef WEFT_ROWS_GIVEN
typedef uint rows_t;
#else
typedef ofs_t rows_t;
#endif
WEFT_KERNEL void merge_sort(__global const rows_t *rows, __global const uint *col, __global const bits_t *val,
                            __global uint *col_out, __global uint *row_out, __global bits_t *val_out,
                            __global ofs_t *col_ptr, __global long *gaps, __global ofs_t *table, idx_t m, idx_t n,
                            ofs_t nnz, ofs_t tiles, uint buckets, uint shift)
{
    __local struct tile x;
    if (get_global_id(0) == 0)
        gaps[0] = 0;
    ofs_t t = (ofs_t)get_group_id(0);
    do {
        ofs_t base = t * TILE;
        uint count = (uint)min(nnz - base, (ofs_t)TILE), value[WEFT_IPT], at[WEFT_IPT];
        tile_load(at, col + base, count, 0xffffffffu);
        uint bits = tile_reduce(&x, at);
        tile_sort(&x, at, bits);
        tile_load(value, col + base, count, 0u);
        tile_gather(&x, value, at);
#ifdef WEFT_LAST
        pointers_store(&x, col_ptr, gaps, base, count, value, -1, n);
#else
        tile_store(col_out + base, count, value);
        table_store(&x, table + (size_t)t * (buckets + 1u), 0u, buckets, shift, base, count, value);
#endif
#ifdef WEFT_ROWS_GIVEN
        tile_load(value, rows + base, count, 0u);
#else
        rows_find(&x, value, rows, m, base, count);
#endif
        tile_gather(&x, value, at);
        tile_store(row_out + base, count, value);
#if WEFT_VAL_BITS
        bits_t v[WEFT_IPT];
        uint slot = slot_first();
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
#ifdef WEFT_VAL_POSITIONS
            v[j] = (bits_t)(base + (ofs_t)SLOT(j));
#else
            v[j] = val[base + (ofs_t)min(SLOT(j), count - 1u)];
#endif
        values_store(&x, val_out + base, count, v, at);
#endif
        t += (ofs_t)get_num_groups(0);
    } while (t < tiles);
}
#endif

#ifdef WEFT_JOIN
// Groups of `runs` runs of `length` entries become one run each. cuts[t*runs + i]: where tile t begins in run i of its
// group; first[t]: its first column. `table` is that of the new runs.
WEFT_KERNEL void merge_join(__global const uint *col, __global const uint *row, __global const bits_t *val,
                            __global uint *col_out, __global uint *row_out, __global bits_t *val_out,
                            __global const ofs_t *cuts, __global const idx_t *first, __global ofs_t *col_ptr,
                            __global long *gaps, __global ofs_t *table, idx_t n, ofs_t nnz, ofs_t tiles, uint runs,
                            long length, uint buckets, uint shift)
{
    __local struct tile x;
    __local struct parts p;
    long per_group = length / TILE * runs;
    ofs_t t = (ofs_t)get_group_id(0);
    do {
        ofs_t base = t * TILE;
        long group = t / per_group * per_group;
        bool last = t + 1 == tiles || t + 1 == group + per_group;
        uint value[WEFT_IPT], at[WEFT_IPT];
        uint number,
            count = parts_find(&x, &p, &number, cuts + (size_t)t * runs, runs, group * TILE, length, nnz, last);
        parts_load(&x, &p, at, col, count, 0xffffffffu);
        uint bits = tile_reduce(&x, at);
        tile_sort(&x, at, bits);
        parts_load(&x, &p, value, col, count, 0u);
        tile_gather(&x, value, at);
#ifdef WEFT_LAST
        pointers_store(&x, col_ptr, gaps, base, count, value, t ? first[t] : -1, t + 1 < tiles ? first[t + 1] : n);
#else
        tile_store(col_out + base, count, value);
        table_store(&x, table + (size_t)(t / per_group) * (buckets + 1u),
                    t == group ? 0u : ((uint)first[t] >> shift) + 1u, last ? buckets : (uint)first[t + 1] >> shift,
                    shift, base, count, value);
#endif
        parts_load(&x, &p, value, row, count, 0u);
        tile_gather(&x, value, at);
        tile_store(row_out + base, count, value);
#if WEFT_VAL_BITS
        bits_t v[WEFT_IPT];
        uint slot = slot_first();
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            v[j] = val[part_position(&x, &p, min(SLOT(j), count - 1u))];
        values_store(&x, val_out + base, count, v, at);
#endif
        t += (ofs_t)get_num_groups(0);
    } while (t < tiles);
}
#endif
