// SPDX-License-Identifier: Apache-2.0
// Move entries, in stable order, to the bins of columns that transpose_scan_count.cl counted.
// Shares:  transpose_scan.clh
// Source:  Wang et al., ICS 2016, section 3.1: each thread writes its entries to col_ptr + inter + intra. Here a
//          work-group moves a tile: it ranks the entries inside their bins, orders them in local memory, and writes
//          each bin's run at once; `inter` is a row of running bases, `intra` lives in registers.
// Mapping: group i owns tile i.
// Local:   max(2*WEFT_BINS*WEFT_WG/32, TILE*(4 or 8)) + sizeof(ofs_t)*WEFT_BINS + a few hundred bytes; with lane
//          operations, or WEFT_PAIRS and WEFT_PACKED, 2*TILE bytes more.
// Needs:   WEFT_WG a multiple of 32, WEFT_BINS a multiple of 2*WEFT_WG, tile at most 32768.
// Gives:   stable order inside each bin, every output element written once.
// Order:   exact.

#ifndef WEFT_IPT
#error "WEFT_IPT: entries per work-item and tile"
#endif

#ifdef WEFT_MOVING
typedef moving_t row_out_t;
#else
typedef uint row_out_t; // the last pass
#endif
#if WEFT_VAL_BITS == 64 || defined(WEFT_PAIRS)
#define SHARED_WORDS MAX(HIST_WORDS, 2 * TILE)
#else
#define SHARED_WORDS MAX(HIST_WORDS, TILE)
#endif

#if defined(WEFT_PAIRS) && defined(WEFT_PACKED)
#define WEFT_JOINED 1 // row, column and value share a word
#endif
// What the row's word holds.
WEFT_INLINE uint row_word(uint row, uint c, uint pack, uint key_mask)
{
#ifdef WEFT_PACKED
    return row << pack | (c & key_mask);
#else
    return row;
#endif
}

#if defined(WEFT_LANES_APART) && !defined(WEFT_ROWS_GIVEN)
#define WEFT_ROWS_MARKED 1
#define ROWS_MARKED      512 // most rows of WEFT_SPAN entries that are marked rather than searched
// Mark what begins here of the rows r .. r + batch*LANES-1 before `hi`, whose ends are read at once. Gives `found` and their
// number.
WEFT_INLINE uint rows_mark(const uint batch, __global const ofs_t *row_ptr, idx_t r, idx_t lo, idx_t hi,
                           ofs_t span_first, uint found, __local uint *marks, __local ushort *met)
{
    ofs_t begin[4], end[4];
    WEFT_UNROLL
    for (uint j = 0; j < batch; j++) {
        idx_t at = min(r + (idx_t)(j * LANES + lane_id()), hi - 1);
        begin[j] = row_ptr[at];
        end[j] = row_ptr[at + 1];
    }
    WEFT_UNROLL
    for (uint j = 0; j < batch; j++) {
        idx_t at = r + (idx_t)(j * LANES + lane_id());
        ofs_t first = max(begin[j], span_first) - span_first, last = end[j] - span_first;
        bool some = at < hi && first < last && first < (ofs_t)WEFT_SPAN;
        uint all = lane_ballot(some, 0);
        if (some) {
            met[found + popcount(all & lane_below())] = (ushort)(at - lo);
            atomic_or(&marks[(uint)first / LANES], 1u << ((uint)first & (LANES - 1u)));
        }
        found += popcount(all);
    }
    return found;
}

// Rows of the WEFT_SPAN entries from span_first on, which lie in rows lo .. hi-1: each row that begins here sets a bit at
// its first entry and is listed, so that the bits before an entry count up to its row. One group of lanes; c[k] becomes
// the row's word; `marks` is local memory of WARPS*WEFT_IPT uints, `met` of TILE ushorts.
WEFT_INLINE void rows_marked(const bool full, __global const ofs_t *row_ptr, idx_t lo, idx_t hi, ofs_t span_first,
                             uint mine, uint *c, uint pack, uint key_mask, __local uint *marks, __local ushort *met)
{
    uint lane = lane_id(), found = 0u;
    marks += lane_group() * WEFT_IPT;
    met += lane_group() * WEFT_SPAN;
    for (uint k = lane; k < WEFT_IPT; k += LANES)
        marks[k] = 0u;
    lane_sync();
    idx_t r = lo;
    for (; hi - r > (idx_t)(2 * LANES); r += (idx_t)(4 * LANES))
        found = rows_mark(4, row_ptr, r, lo, hi, span_first, found, marks, met);
    if (r < hi)
        rows_mark(2, row_ptr, r, lo, hi, span_first, found, marks, met);
    lane_sync();
    uint before = 0u, up_to = lane_below() | 1u << lane;
    forget(mine);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        uint word = marks[k];
        if (full || k < mine)
            c[k] = row_word((uint)lo + (uint)met[before + popcount(word & up_to) - 1u], c[k], pack, key_mask);
        before += popcount(word);
    }
}
#endif

// c[k] becomes the word of the row of entry from + k*LANES, which lies in rows lo .. hi-1: searches side by side.
WEFT_INLINE void rows_searched(const bool full, __global const ofs_t *row_ptr, idx_t lo, idx_t hi, ofs_t from,
                               uint mine, uint *c, uint pack, uint key_mask)
{
    WEFT_UNROLL
    for (uint some = 0; some < WEFT_IPT; some += 4) {
        idx_t row[4] = {lo, lo, lo, lo};
        for (idx_t left = hi - lo; left > 1;) {
            const idx_t step = left / 2;
            WEFT_UNROLL
            for (uint j = 0; j < 4; j++)
                row[j] += row_ptr[row[j] + step] <= from + (ofs_t)((some + j) * LANES) ? step : 0;
            left -= step;
        }
        WEFT_UNROLL
        for (uint j = 0; j < 4; j++)
            if (some + j < WEFT_IPT && (full || some + j < mine))
                c[some + j] = row_word((uint)row[j], c[some + j], pack, key_mask);
    }
}

#ifdef WEFT_VAL_POSITIONS
#define VALUE(e) ((bits_t)(e))
#else
#define VALUE(e) val[e]
#endif

// c[k] becomes the word of entry k's row.
WEFT_INLINE void tile_rows(const bool full, ofs_t tile, uint entries, uint lane_first, uint mine, uint *c,
                           __global const ofs_t *row_ptr, __global const idx_t *rows, uint pack, uint key_mask,
                           __local uint *marks, __local ushort *met)
{
    ofs_t from = tile + (ofs_t)lane_first;
    forget(mine);
    forget(lane_first);
#ifdef WEFT_ROWS_GIVEN
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
        c[k] = row_word((uint)rows[ENTRY(k)], c[k], pack, key_mask);
#else
    if (full || lane_first - lane_id() < entries) {
        // The rows of these lanes' entries lie between the remembered rows around them.
        ofs_t span_first = from - (ofs_t)lane_id(), span = span_first / WEFT_SPAN, end = span + 1;
        idx_t lo = rows[span], hi = rows[end] + 1;
#ifdef WEFT_ROWS_MARKED
        if (hi - lo <= ROWS_MARKED)
            rows_marked(full, row_ptr, lo, hi, span_first, mine, c, pack, key_mask, marks, met);
        else
#endif
            rows_searched(full, row_ptr, lo, hi, from, mine, c, pack, key_mask);
    }
#endif
}

// One tile: `entries` entries from position `tile` on; full: TILE of them.
WEFT_INLINE void partition_tile(const bool full, ofs_t tile, uint entries, __global const ofs_t *row_ptr,
                                __global const idx_t *rows, __global const idx_t *col, __global const bits_t *val,
                                __global const ofs_t *bucket_ofs, __global const ofs_t *part_row,
                                __global const uint *tile_row, __global key_t *key_out, __global row_out_t *row_out,
                                __global bits_t *val_out, uint shift, uint mask, uint pack, uint key_mask, uint nbins,
                                __local uint *shared, __local ofs_t *base, __local uint *sums, __local uint *mem,
                                __local uint *marks, __local ushort *per_slot)
{
    uint lid = (uint)get_local_id(0);
    forget(lid);
    uint lane_first = lid / LANES * LANES * WEFT_IPT + (lid & (LANES - 1u));
    uint mine = lane_first < entries ? min((entries - lane_first + LANES - 1u) / LANES, (uint)WEFT_IPT) : 0u;
    ofs_t from = tile + (ofs_t)lane_first;
    uint c[WEFT_IPT], x[WEFT_IPT], starts[PACKS], after[PACKS];
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
        c[k] = (uint)col[ENTRY(k)];
    bucket_ofs += lid;
    part_row += lid;
    tile_row += lid;
    WEFT_UNROLL
    for (uint b = 0; b < WEFT_BINS; b += WEFT_WG)
        base[b + lid] = b + lid < nbins ? bucket_ofs[b] + part_row[b] + (ofs_t)tile_row[b] : 0;
    tile_rank(c, full, mine, WEFT_IPT, shift, mask, x, starts, after, shared, sums, mem);
    base_shift(base, starts, true);
#ifdef WEFT_JOINED
    // Row, column and value of an entry move as one word; its bin goes along.
    __local ulong *stage = (__local ulong *)shared;
    tile_rows(full, tile, entries, lane_first, mine, c, row_ptr, rows, pack, key_mask, marks, per_slot);
    barrier(CLK_LOCAL_MEM_FENCE);
    forget(mine);
    forget(lane_first);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        ulong value = VALUE(ENTRY(k));
        if (full || k < mine) {
            stage[SLOT_OF(x[k])] = value << 32 | c[k];
            per_slot[SLOT_OF(x[k])] = (ushort)BIN_OF(x[k]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    forget_all(entries);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        if (full || SLOT(k) < entries)
            OUT(row_out, k, base[HERE(per_slot, k)] + PLACE(k)) = HERE(stage, k);
    }
#else
    __local uint *stage = shared;
    forget(mine);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
        if (full || k < mine)
            stage[SLOT_OF(x[k])] = c[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    ofs_t to[WEFT_IPT];
    forget_all(entries);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        if (full || SLOT(k) < entries) {
            uint key = HERE(stage, k);
            to[k] = base[(key >> shift) & mask] + PLACE(k);
#if defined(WEFT_MOVING) && !defined(WEFT_PACKED)
            OUT(key_out, k, to[k]) = (key_t)(key & key_mask);
#endif
        }
    }
    tile_rows(full, tile, entries, lane_first, mine, c, row_ptr, rows, pack, key_mask, marks, per_slot);
    barrier(CLK_LOCAL_MEM_FENCE);
    slots_forget(x);
    forget(mine);
    forget(lane_first);
    __local row_out_t *stage_row = (__local row_out_t *)shared;
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
#ifdef WEFT_PAIRS
        ulong word = (ulong)VALUE(ENTRY(k)) << 32 | c[k];
#else
        uint word = c[k];
#endif
        if (full || k < mine)
            stage_row[SLOT_OF(x[k])] = word;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    forget_all(entries);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        if (full || SLOT(k) < entries)
            OUT(row_out, k, to[k]) = HERE(stage_row, k);
    }
#if WEFT_VAL_BITS && !defined(WEFT_PAIRS)
    barrier(CLK_LOCAL_MEM_FENCE);
    __local bits_t *stage_val = (__local bits_t *)shared;
    slots_forget(x);
    forget(mine);
    forget(lane_first);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        bits_t value = VALUE(ENTRY(k));
        if (full || k < mine)
            stage_val[SLOT_OF(x[k])] = value;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    forget_all(entries);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        if (full || SLOT(k) < entries)
            OUT(val_out, k, to[k]) = HERE(stage_val, k);
    }
#endif
#endif
}

// Entry e goes to bin (col >> shift) & mask. Bins begin at bucket_ofs, each part's share at its row of table, each tile's
// share of that at its row of `before`. Tiles are taken in order, so that runs of neighbouring tiles meet in the cache.
// Written at its place: the row and the value, in the last pass (WEFT_MOVING not set); else the entry on its way, with
// the column & key_mask.
// `rows` holds row_at of scan_count, or, where WEFT_ROWS_GIVEN is set, the row of each entry (row_ptr is not read).
// val is read unless WEFT_VAL_POSITIONS is set: then positions take its place.
WEFT_KERNEL void scan_partition(__global const ofs_t *row_ptr, __global const idx_t *rows, __global const idx_t *col,
                                __global const bits_t *val, __global const ofs_t *bucket_ofs,
                                __global const ofs_t *table, __global const uint *before, __global key_t *key_out,
                                __global row_out_t *row_out, __global bits_t *val_out, ofs_t nnz, uint part_tiles,
                                uint shift, uint mask, uint pack, uint key_mask, uint nbins,
                                __global const uint *failed, uint run)
{
    __local uint shared[SHARED_WORDS] __attribute__((aligned(16)));
    __local ofs_t base[WEFT_BINS] __attribute__((aligned(16)));
    __local uint sums[WARPS];
    LANE_MEMORY(uint, mem);
#ifdef WEFT_ROWS_MARKED
    __local uint marks[WARPS * WEFT_IPT];
#else
    __local uint *marks = 0;
#endif
#if defined(WEFT_ROWS_MARKED) || defined(WEFT_JOINED)
    __local ushort per_slot[TILE];
#else
    __local ushort *per_slot = 0;
#endif
    UNLESS_MIRRORED(failed, run)
    {
        uint t = (uint)get_group_id(0);
        ofs_t tile = (ofs_t)t * TILE;
        uint entries = (uint)min(nnz - tile, (ofs_t)TILE);
        __global const ofs_t *part_row = table + (size_t)(t / part_tiles) * nbins;
        __global const uint *tile_row = before + (size_t)t * nbins;
#ifdef WEFT_LANES_FAST // else barriers make two copies of the tile expensive to compile
        if (entries == TILE)
            partition_tile(true, tile, entries, row_ptr, rows, col, val, bucket_ofs, part_row, tile_row, key_out,
                           row_out, val_out, shift, mask, pack, key_mask, nbins, shared, base, sums, mem, marks,
                           per_slot);
        else
#endif
            partition_tile(false, tile, entries, row_ptr, rows, col, val, bucket_ofs, part_row, tile_row, key_out,
                           row_out, val_out, shift, mask, pack, key_mask, nbins, shared, base, sums, mem, marks,
                           per_slot);
    }
}
