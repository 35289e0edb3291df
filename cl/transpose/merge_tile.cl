// SPDX-License-Identifier: Apache-2.0
// The moving kernels of MergeTrans. merge_sort orders tiles of entries by column: the first runs. merge_join merges up
// to WEFT_JOIN neighbouring runs at once; transpose/merge_cut.cl found where each of its tiles begins in every run.
// Source:  Wang et al., ICS 2016, section 3.2: sort blocks of entries, then merge pairs of blocks in rounds. Here many
//          runs are merged in one round, and a merged tile is ordered by a stable radix sort of the few bits in which
//          its columns differ (its parts lie in local memory one behind the other, so stable means: by run).
// Mapping: 1-D; group i owns tile i of TILE entries.
// Local:   struct tile.
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

#ifdef WEFT_LAST
// Column pointers of the columns after `before` up to `until` (-1 for the first tile, n for the last): where the first
// entry of that column or a later one is.
WEFT_INLINE void pointers_store(const __local struct tile *x, struct columns columns, __global ofs_t *col_ptr,
                                __global long *gaps, pos_t base, uint count, long before, long until)
{
    if (until - before <= 8L * TILE) {
        for (long c = before + 1 + (long)get_local_id(0); c <= until; c += WEFT_WG)
            col_ptr[c] = base + (pos_t)bound_find(x, columns, count, (uint)c);
    } else {
        // Far between: the columns before each entry, and after the last one.
        uint first = lane_group() * (32u * WEFT_IPT), last = min(first + 32u * WEFT_IPT, count);
        if (first < count)
            for (uint s = first; s < last + (last == count); s++) {
                long from = s ? (long)column_at(x, columns, s - 1u) : before;
                long to = s < count ? (long)column_at(x, columns, s) : until;
                if (to - from < WEFT_GAP) {
                    for (long c = from + 1 + (long)lane_id(); c <= to; c += LANES)
                        col_ptr[c] = base + (pos_t)s;
                } else if (lane_id() == 0u) {
                    // gaps[0] counts; then from, to and the pointer of each.
                    uint i = atomic_inc((__global uint *)gaps);
                    gaps[1 + 3 * i] = from;
                    gaps[2 + 3 * i] = to;
                    gaps[3 + 3 * i] = (long)base + s;
                }
            }
    }
}
// The same for columns after the tile's least up to `most`, where digits are keys: their starts are known.
WEFT_INLINE void starts_store(__global ofs_t *col_ptr, pos_t base, uint least, uint most, const uint *starts)
{
    col_ptr += least;
    WEFT_UNROLL
    for (uint j = 0; j < 2 * PACKS; j++) {
        uint key = 2u * OWN + j;
        if (key != 0u && key <= most - least)
            col_ptr[key] = base + (pos_t)(starts[j / 2] >> j % 2 * 16u & 0xffffu);
    }
}
#else
// What a run puts in merge_cut's table: at line b, column[b*runs], where its first entry with the line's column or a later
// one is. Here those of the columns after `before`, or all, up to `until`: such an entry is in this tile, `count` entries
// at `base`, or at its end; no entry is beyond column `most`.
WEFT_INLINE void lines_store(const __local struct tile *x, struct columns columns, __global pos_t *column, uint runs,
                             struct grid grid, uint lines, bool all, uint before, uint until, pos_t base, uint count,
                             uint most)
{
    uint from = all || before < grid.base ? 1u : ((before - grid.base) >> grid.shift) + 1u;
    uint to = until < grid.base ? 0u : min((until - grid.base) >> grid.shift, lines - 1u);
    for (uint b = from + (uint)get_local_id(0); b <= to; b += WEFT_WG) {
        uint line = grid.base + (b << grid.shift);
        column[(size_t)b * runs] = base + (pos_t)(line > most ? count : bound_find(x, columns, count, line));
    }
}
// The same for columns after the tile's least up to `most`, where digits are keys.
WEFT_INLINE void starts_store(__global pos_t *column, uint runs, struct grid grid, uint lines, pos_t base, uint least,
                              uint most, const uint *starts)
{
    WEFT_UNROLL
    for (uint j = 0; j < 2 * PACKS; j++) {
        uint key = 2u * OWN + j, at = least + key - grid.base, b = at >> grid.shift;
        if (key != 0u && key <= most - least && least + key > grid.base && b << grid.shift == at && b < lines)
            column[(size_t)b * runs] = base + (pos_t)(starts[j / 2] >> j % 2 * 16u & 0xffffu);
    }
}
#endif

// Rows and values of the tile at `base` in order; value[j]: those of 64 bits, of SLOT(j).
WEFT_INLINE void moved_store(__local struct tile *x, __global uint *row_out, __global bits_t *val_out, uint count,
                             const word_t *word, const bits_t *value)
{
    uint slot = slot_first();
    row_out += slot;
#if WEFT_VAL_BITS
    val_out += slot;
#endif
    forget(count);
    if (count == TILE) {
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++) {
            moved_t moved = x->moved[FROM(word[j])];
            row_out[j * 32u] = (uint)moved;
#if WEFT_VAL_BITS == 32
            val_out[j * 32u] = (uint)(moved >> 32);
#endif
        }
    } else {
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            if (SLOT(j) < count) {
                moved_t moved = x->moved[FROM(word[j])];
                row_out[j * 32u] = (uint)moved;
#if WEFT_VAL_BITS == 32
                val_out[j * 32u] = (uint)(moved >> 32);
#endif
            }
    }
#if WEFT_VAL_BITS == 64
    __local ulong *stage = (__local ulong *)x->work;
    barrier(CLK_LOCAL_MEM_FENCE);
    forget(slot);
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        stage[SLOT(j)] = value[j];
    barrier(CLK_LOCAL_MEM_FENCE);
    forget(slot);
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        if (SLOT(j) < count)
            val_out[j * 32u] = stage[FROM(word[j])];
#endif
}

#ifdef WEFT_SORT
#if WEFT_VAL_BITS
// value[j] = value of the entry in SLOT(j) of the tile at `base`, or of the last one.
WEFT_INLINE void values_load(bits_t *value, __global const bits_t *val, pos_t base, uint count)
{
    uint slot = slot_first();
#ifdef WEFT_VAL_POSITIONS
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        value[j] = (bits_t)(base + (pos_t)SLOT(j));
#else
    val += base;
    forget(count);
    if (count == TILE) {
        val += slot;
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            value[j] = val[j * 32u];
    } else {
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            value[j] = val[min(SLOT(j), count - 1u)];
    }
#endif
}
#endif

#ifndef WEFT_ROWS_GIVEN
// row[j] = row of the entry in SLOT(j) of the tile at `base`.
WEFT_INLINE void rows_find(__local struct tile *x, uint *row, __global const ofs_t *row_ptr, idx_t m, pos_t base,
                           uint count, __local uint *mem)
{
    uint slot = slot_first(), lid = (uint)get_local_id(0), lane = lane_id();
    idx_t first, last;
    for (uint w = lid; w < WORDS; w += WEFT_WG)
        x->marks[2u * w] = 0u;
    rows_bracket(&first, &last, row_ptr, m, base, base + (pos_t)count - 1, x->sums, mem);
    if (last - first > 4 * TILE) { // mostly empty rows: a search for each entry
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            row[j] = (uint)row_of(row_ptr, first, last + 1, (ofs_t)(base + (pos_t)min(SLOT(j), count - 1u)));
        return;
    }
    for (idx_t r = first + 1 + (idx_t)lid; r <= last; r += WEFT_WG) {
        pos_t from = (pos_t)row_ptr[r];
        if (from < (pos_t)row_ptr[r + 1]) {
            uint s = (uint)(from - base);
            atomic_or(&x->marks[2u * (s / 32u)], 1u << s % 32u);
            x->work[s] = (uint)r;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // The row at a slot stands at the nearest mark at or before it; `near` is the one before the word, none: ones.
    uint word = slot / 32u, near = 0xffffffffu;
    WEFT_UNROLL
    for (uint w = 0; w < WORDS; w += LANES) {
        uint bits = w + lane < word ? x->marks[2u * (w + lane)] : 0u, some = lane_ballot(bits != 0u, mem);
        if (some) {
            uint at = w + 31u - clz(some);
            near = at * 32u + 31u - clz(x->marks[2u * at]);
        }
    }
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++) {
        uint bits = x->marks[2u * (word + j)], upto = bits & (lane_below() * 2u + 1u), end = (word + j) * 32u + 31u;
        uint at = upto ? end - clz(upto) : near;
        row[j] = at == 0xffffffffu ? (uint)first : x->work[at];
        near = bits ? end - clz(bits) : near;
    }
}
#endif

// Order each tile of entries by column: the first runs, with their part of merge_cut's table and its grid: `runs` of them
// will be merged. `rows`: row pointers, or, with WEFT_ROWS_GIVEN, the row of each entry.
#ifdef WEFT_ROWS_GIVEN
typedef uint rows_t;
#else
typedef ofs_t rows_t;
#endif
WEFT_KERNEL void merge_sort(__global const rows_t *rows, __global const uint *col, __global const bits_t *val,
                            __global uint *col_out, __global uint *row_out, __global bits_t *val_out,
                            __global ofs_t *col_ptr, __global long *gaps, __global pos_t *table, __global uint *grids,
                            idx_t m, idx_t n, pos_t nnz, uint runs, uint lines)
{
    __local struct tile x __attribute__((aligned(16)));
    LANE_MEMORY(uint, mem);
    if (get_global_id(0) == 0)
        gaps[0] = 0;
#ifdef WEFT_LAST
    if (n >= WEFT_GAP) // the others of this group count in it
        barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    pos_t t = (pos_t)get_group_id(0);
    pos_t base = t * TILE;
    uint count = (uint)min(nnz - base, (pos_t)TILE), column[WEFT_IPT], row[WEFT_IPT], starts[PACKS];
    bits_t value[WEFT_IPT];
    word_t word[WEFT_IPT];
    tile_load(column, col + base, count);
#if WEFT_VAL_BITS == 32
    values_load(value, val, base, count);
#endif
#ifdef WEFT_ROWS_GIVEN
    tile_load(row, rows + base, count);
#else
    rows_find(&x, row, rows, m, base, count, mem);
#endif
    moved_put(&x, row, value);
#ifndef WEFT_LAST
    uint group = (uint)t / runs;
    long from = (long)group * runs * TILE;
    grid_sample(&x, col, from, min(from + (long)runs * TILE, (long)nnz), mem);
#endif
    tile_range(&x, column, mem);
    uint least = x.least, most = x.most, bits = bits_of(most - least);
    keys_of(word, column, least, bits, count);
    struct columns columns = {WEFT_TILE_BITS, least};
    if (tile_sort(&x, word, bits, false, starts, mem)) {
        tile_load(column, col + base, count);
        columns_order(&x, column, word);
        columns.shift = columns.least = 0u;
    } else {
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            column[j] = (uint)(word[j] >> WEFT_TILE_BITS) + least;
    }
#ifdef WEFT_LAST
    pointers_store(&x, columns, col_ptr, gaps, base, count, -1, n);
#else
    tile_store(col_out + base, count, column);
    struct grid grid = grid_find(&x, lines);
    lines_store(&x, columns, table + (size_t)group * lines * runs + ((uint)t - group * runs), runs, grid, lines, true,
                0u, 0xffffffffu, base, count, most);
    if ((uint)t == group * runs && get_local_id(0) == 0) {
        grids[2u * group] = grid.base;
        grids[2u * group + 1u] = grid.shift;
    }
#endif
#if WEFT_VAL_BITS == 64
    values_load(value, val, base, count);
#endif
    moved_store(&x, row_out + base, val_out + base, count, word, value);
}
#endif

#ifdef WEFT_JOIN
// Part i of the runs that make a tile lies from cuts[i] to cuts[runs + i], or, in the `last` tile of its group, to the end
// of the run: the runs have `length` entries from `start` on, and end at `stop`. The parts come one behind the other in the
// slots, with marks where they begin; those that are not empty are numbered. Returns the entries of the tile.
WEFT_INLINE uint parts_find(__local struct tile *x, __global const pos_t *cuts, uint runs, long start, long length,
                            long stop, bool last, __local uint *mem)
{
    uint lid = (uint)get_local_id(0), i = lid, carry = 0u, all, lane = lane_id(), own = lane_group() * WEFT_IPT;
    for (uint w = lid; w < WORDS; w += WEFT_WG)
        x->marks[2u * w] = 0u;
    do {
        uint size = 0u;
        pos_t from = 0;
        if (i < runs) {
            from = cuts[i];
            pos_t to = last ? (pos_t)min(start + (long)(i + 1u) * length, stop) : cuts[runs + i];
            size = (uint)max(to - from, (pos_t)0);
        }
        // One scan for both: slots and parts that are not empty.
        uint place = carry + tile_scan(size << 12 | (size != 0u), &all, lane_group(), x->sums, mem),
             first = place >> 12;
        if (size) {
            atomic_or(&x->marks[2u * (first / 32u)], 1u << first % 32u);
            x->from[place & 0xfffu] = from - (pos_t)first;
        }
        carry += all;
        i += WEFT_WG;
        barrier(CLK_LOCAL_MEM_FENCE);
    } while (i - lid < runs);
    // Each group of lanes counts the marks before its words.
    uint before = 0u;
    for (uint w = lane; w < own; w += LANES)
        before += popcount(x->marks[2u * w]);
    before = lane_scan(before << 16 | (lane < WEFT_IPT ? popcount(x->marks[2u * (own + lane)]) : 0u), &all, mem);
    if (lane < WEFT_IPT)
        x->marks[2u * (own + lane) + 1u] = (all >> 16) + (before & 0xffffu);
    lane_sync();
    return carry >> 12;
}

// at[j] = position of the entry in SLOT(j), or of the last one.
WEFT_INLINE void parts_places(const __local struct tile *x, pos_t *at, uint count)
{
    uint slot = slot_first(), upto = lane_below() * 2u + 1u;
    const __local uint2 *marks = (const __local uint2 *)x->marks + lane_group() * WEFT_IPT;
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++) {
        uint2 here = marks[j];
        at[j] = x->from[here.y + popcount(here.x & upto) - 1u] + (pos_t)min(SLOT(j), count - 1u);
    }
}

// Groups of `runs` runs of `length` entries become one run each, of per_group tiles, or all of them one. cuts[t*runs + i]:
// where tile t begins in run i of its group; first[t]: its first column. `table` and
// `grids` are those of the new runs, of which next_runs will be merged.
WEFT_KERNEL void merge_join(__global const uint *col, __global const uint *row, __global const bits_t *val,
                            __global uint *col_out, __global uint *row_out, __global bits_t *val_out,
                            __global const pos_t *cuts, __global const idx_t *first, __global ofs_t *col_ptr,
                            __global long *gaps, __global pos_t *table, __global uint *grids, idx_t n, pos_t nnz,
                            pos_t tiles, uint per_group, uint runs, long length, uint next_runs, uint lines)
{
    __local struct tile x __attribute__((aligned(16)));
    LANE_MEMORY(uint, mem);
    pos_t t = (pos_t)get_group_id(0);
    pos_t base = t * TILE, at[WEFT_IPT];
#ifdef WEFT_LAST
    uint nth = 0u;
    bool last = t + 1 == tiles;
#else
    uint nth = (uint)t / per_group; // group
    bool last = t + 1 == tiles || (uint)t + 1u == (nth + 1u) * per_group, begin = (uint)t == nth * per_group;
    uint next = nth / next_runs; // group of the next round
    long from = (long)next * next_runs * per_group * TILE;
    grid_sample(&x, col, from, min(from + (long)next_runs * per_group * TILE, (long)nnz), mem);
#endif
    uint column[WEFT_IPT], rows[WEFT_IPT], starts[PACKS];
    bits_t value[WEFT_IPT];
    word_t word[WEFT_IPT];
    uint count = parts_find(&x, cuts + (size_t)t * runs, runs, (long)nth * per_group * TILE, length, nnz, last, mem);
    uint least = (uint)first[t], most = last ? 0u : (uint)first[t + 1];
    parts_places(&x, at, count);
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        column[j] = col[at[j]];
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        rows[j] = row[at[j]];
#if WEFT_VAL_BITS == 32
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        value[j] = val[at[j]];
#endif
    moved_put(&x, rows, value);
    if (last) {
        tile_range(&x, column, mem);
        most = x.most;
    }
    uint bits = bits_of(most - least);
    bool direct = bits <= WEFT_RADIX_BITS; // then digits are keys
    keys_of(word, column, least, bits, count);
    struct columns columns = {WEFT_TILE_BITS, least};
    if (tile_sort(&x, word, bits, direct, starts, mem)) {
        parts_places(&x, at, count);
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            column[j] = col[at[j]];
        columns_order(&x, column, word);
        columns.shift = columns.least = 0u;
    } else {
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            column[j] = (uint)(word[j] >> WEFT_TILE_BITS) + least;
    }
#ifdef WEFT_LAST
    if (direct && t && t + 1 < tiles)
        starts_store(col_ptr, base, least, most, starts);
    else
        pointers_store(&x, columns, col_ptr, gaps, base, count, t ? (long)least : -1, t + 1 < tiles ? most : n);
#else
    tile_store(col_out + base, count, column);
    struct grid grid = grid_find(&x, lines);
    __global pos_t *table_column = table + (size_t)next * lines * next_runs + (nth - next * next_runs);
    if (direct && !begin && !last)
        starts_store(table_column, next_runs, grid, lines, base, least, most, starts);
    else
        lines_store(&x, columns, table_column, next_runs, grid, lines, begin, least, last ? 0xffffffffu : most, base,
                    count, most);
    if (begin && nth == next * next_runs && get_local_id(0) == 0) {
        grids[2u * next] = grid.base;
        grids[2u * next + 1u] = grid.shift;
    }
#endif
#if WEFT_VAL_BITS == 64
    parts_places(&x, at, count);
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        value[j] = val[at[j]];
#endif
    moved_store(&x, row_out + base, val_out + base, count, word, value);
}
#endif
