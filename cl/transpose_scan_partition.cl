// SPDX-License-Identifier: Apache-2.0
// Move entries, in stable order, to the bins of columns that transpose_scan_count.cl counted.
// Shares:  transpose_scan.clh
// Source:  Wang et al., ICS 2016, section 3.1: each thread writes its entries to col_ptr + inter + intra. Here a
//          work-group moves a tile: it ranks the entries inside their bins, orders them in local memory, and writes
//          each bin's run at once; `inter` is a row of running bases, `intra` lives in registers.
// Mapping: group i owns tile i.
// Local:   max(2*WEFT_BINS*WEFT_WG/32, TILE*(4 or 8)) + sizeof(ofs_t)*WEFT_BINS + a few hundred bytes; with lane
//          operations 2*TILE bytes more.
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

#ifdef WEFT_PAIRS
#define STAGE_AT(s) (2u * (s))
#else
#define STAGE_AT(s) (s)
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
#define ROWS_MARKED      8192 // most rows of WEFT_SPAN entries that are marked rather than searched
// Rows of the WEFT_SPAN entries from span_first on, which lie in rows lo .. hi-1: each row that begins here sets a bit at
// its first entry and is listed, so that the bits before an entry count up to its row. One group of lanes; `marks` is
// local memory of WARPS*WEFT_IPT uints, `met` of TILE ushorts.
WEFT_INLINE void rows_marked(__global const ofs_t *row_ptr, idx_t lo, idx_t hi, ofs_t span_first, uint mine,
                             const uint *c, const uint *slots, uint pack, uint key_mask, __local uint *stage,
                             __local uint *marks, __local ushort *met)
{
    uint lane = lane_id(), found = 0u;
    marks += lane_group() * WEFT_IPT;
    met += lane_group() * WEFT_SPAN;
    for (uint k = lane; k < WEFT_IPT; k += LANES)
        marks[k] = 0u;
    lane_sync();
    for (idx_t r = lo; r < hi; r += (idx_t)LANES) {
        idx_t mine_r = min(r + (idx_t)lane, hi - 1);
        ofs_t first = max(row_ptr[mine_r], span_first) - span_first, last = row_ptr[mine_r + 1] - span_first;
        bool some = r + (idx_t)lane < hi && first < last && first < (ofs_t)WEFT_SPAN;
        uint all = lane_ballot(some, 0);
        if (some) {
            met[found + popcount(all & lane_below())] = (ushort)(mine_r - lo);
            atomic_or(&marks[(uint)first / LANES], 1u << ((uint)first & (LANES - 1u)));
        }
        found += popcount(all);
    }
    lane_sync();
    uint before = 0u, up_to = lane_below() | 1u << lane;
    forget(mine);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        uint word = marks[k];
        if (k < mine)
            stage[STAGE_AT(slot(slots, k))] =
                row_word((uint)lo + (uint)met[before + popcount(word & up_to) - 1u], c[k], pack, key_mask);
        before += popcount(word);
    }
    lane_sync();
}
#endif

#ifdef WEFT_VAL_POSITIONS
#define VALUE(e) ((bits_t)(e))
#else
#define VALUE(e) val[e]
#endif

// One tile: `entries` entries from position `tile` on; full: TILE of them.
WEFT_INLINE void partition_tile(const bool full, ofs_t tile, uint entries, __global const ofs_t *row_ptr,
                                __global const idx_t *rows, __global const idx_t *col, __global const bits_t *val,
                                __global const ofs_t *bucket_ofs, __global const ofs_t *part_row,
                                __global const uint *tile_row, __global key_t *key_out, __global row_out_t *row_out,
                                __global bits_t *val_out, uint shift, uint mask, uint pack, uint key_mask, uint nbins,
                                __local uint *shared, __local ofs_t *base, __local uint *sums, __local uint *mem,
                                __local uint *marks, __local ushort *rows_met)
{
    __local uint *stage = shared;
    uint lid = (uint)get_local_id(0);
    uint lane_first = lane_group() * LANES * WEFT_IPT + lane_id();
    uint mine = lane_first < entries ? min((entries - lane_first + LANES - 1u) / LANES, (uint)WEFT_IPT) : 0u;
    ofs_t from = tile + (ofs_t)lane_first;
    uint c[WEFT_IPT], slots[SLOT_WORDS], starts[PACKS], after[PACKS];
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
        c[k] = (uint)col[ENTRY(k)];
    bucket_ofs += lid;
    part_row += lid;
    tile_row += lid;
    WEFT_UNROLL
    for (uint b = 0; b < WEFT_BINS; b += WEFT_WG)
        base[b + lid] = b + lid < nbins ? bucket_ofs[b] + part_row[b] + (ofs_t)tile_row[b] : 0;
    tile_rank(c, full, mine, WEFT_IPT, shift, mask, slots, starts, after, shared, sums, mem);
    base_shift(base, starts, true);
    forget(mine);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
        if (full || k < mine)
            stage[slot(slots, k)] = c[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    ofs_t to[WEFT_IPT];
    forget_all(entries);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        uint i = k * WEFT_WG + lid;
        if (full || i < entries) {
            uint key = stage[i];
            to[k] = base[(key >> shift) & mask] + (ofs_t)i;
#if defined(WEFT_MOVING) && !defined(WEFT_PACKED)
            key_out[to[k]] = (key_t)(key & key_mask);
#endif
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    slots_forget(slots);
#ifdef WEFT_ROWS_GIVEN
    forget(mine);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        uint row = (uint)rows[ENTRY(k)];
        if (full || k < mine)
            stage[STAGE_AT(slot(slots, k))] = row_word(row, c[k], pack, key_mask);
    }
#else
    if (full || lane_first - lane_id() < entries) {
        // The rows of these lanes' entries lie between the remembered rows around them.
        ofs_t span_first = from - (ofs_t)lane_id(), span = span_first / WEFT_SPAN, end = span + 1;
        idx_t lo = rows[span], hi = rows[end] + 1;
#ifdef WEFT_ROWS_MARKED
        if (hi - lo <= ROWS_MARKED)
            rows_marked(row_ptr, lo, hi, span_first, mine, c, slots, pack, key_mask, stage, marks, rows_met);
        else
#endif
        {
            forget(mine);
            WEFT_UNROLL
            for (uint k = 0; k < WEFT_IPT; k++)
                if (full || k < mine) {
                    lo = row_of(row_ptr, lo, hi, from + (ofs_t)(k * LANES));
                    stage[STAGE_AT(slot(slots, k))] = row_word((uint)lo, c[k], pack, key_mask);
                }
        }
    }
#endif
#ifdef WEFT_PAIRS
    forget(mine);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        bits_t value = VALUE(ENTRY(k));
        if (full || k < mine)
            stage[2u * slot(slots, k) + 1u] = value;
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    __local const row_out_t *stage_row = (__local const row_out_t *)shared;
    forget_all(entries);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        uint i = k * WEFT_WG + lid;
        if (full || i < entries)
            row_out[to[k]] = stage_row[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if WEFT_VAL_BITS && !defined(WEFT_PAIRS)
    __local bits_t *stage_val = (__local bits_t *)shared;
    slots_forget(slots);
    forget(mine);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        bits_t value = VALUE(ENTRY(k));
        if (full || k < mine)
            stage_val[slot(slots, k)] = value;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    forget_all(entries);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        uint i = k * WEFT_WG + lid;
        if (full || i < entries)
            val_out[to[k]] = stage_val[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
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
    __local ushort rows_met[TILE];
#else
    __local uint *marks = 0;
    __local ushort *rows_met = 0;
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
                           rows_met);
        else
#endif
            partition_tile(false, tile, entries, row_ptr, rows, col, val, bucket_ofs, part_row, tile_row, key_out,
                           row_out, val_out, shift, mask, pack, key_mask, nbins, shared, base, sums, mem, marks,
                           rows_met);
    }
}
