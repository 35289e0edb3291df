// SPDX-License-Identifier: Apache-2.0
// Move entries, in stable order, to the bins of columns that transpose/scan_count.cl counted.
// Source:  Wang et al., ICS 2016, section 3.1: each thread writes its entries to col_ptr + inter + intra. Here a
//          work-group moves a tile: it ranks the entries inside their bins, orders them in local memory, and writes
//          each bin's run at once; `inter` is a row of running bases, `intra` lives in registers.
// Mapping: group i owns tile i.
// Local:   max(2*WEFT_BINS*WEFT_WG/32, STAGE*(4 or 8)) + sizeof(pos_t)*WEFT_BINS + 2*STAGE + a few hundred bytes.
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
#define SHARED_WORDS MAX(HIST_WORDS, 2 * STAGE)
#else
#define SHARED_WORDS MAX(HIST_WORDS, STAGE)
#endif
#if defined(WEFT_MOVING) && !defined(WEFT_PACKED)
#define WEFT_KEY_OUT 1 // the column inside the bucket goes on its own
// It goes last. Large tiles leave AMD's waves of 64 too few registers to keep it so long: then it is read again.
#if !(defined(WEFT_LANES_AMDGCN) && WEFT_WAVE == 64 && WEFT_STAGED != WEFT_IPT)
#define WEFT_KEYS_KEPT 1
#endif
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
// Most rows of WEFT_SPAN entries that are marked rather than searched. Those with entries are listed in ROWS_MET ushorts: where only a
// part of the tile is staged, these may be fewer than the entries, and no more rows are marked.
#define ROWS_MET    (STAGE / WARPS)
#define ROWS_MARKED (WEFT_STAGED == WEFT_IPT ? 2048 : ROWS_MET)
#if WEFT_OFS_BITS == 64
typedef long4 ofs4_t;
#else
typedef int4 ofs4_t;
#endif
// Mark what begins here of the rows r .. r + batch*LANES-1 before `hi`, whose ends are read at once. Gives `found` and their
// number.
WEFT_INLINE uint rows_mark(const uint batch, __global const ofs_t *row_ptr, idx_t r, idx_t lo, idx_t hi,
                           pos_t span_first, uint found, __local uint *marks, __local ushort *met)
{
    pos_t begin[4], end[4];
    WEFT_UNROLL
    for (uint j = 0; j < batch; j++) {
        idx_t at = min(r + (idx_t)(j * LANES + lane_id()), hi - 1);
        begin[j] = (pos_t)row_ptr[at];
        end[j] = (pos_t)row_ptr[at + 1];
    }
    WEFT_UNROLL
    for (uint j = 0; j < batch; j++) {
        idx_t at = r + (idx_t)(j * LANES + lane_id());
        pos_t first = max(begin[j], span_first) - span_first, last = end[j] - span_first;
        bool some = at < hi && first < last && first < (pos_t)WEFT_SPAN;
        uint all = lane_ballot(some, 0);
        if (some) {
            met[found + popcount(all & lane_below())] = (ushort)(at - lo);
            atomic_or(&marks[(uint)first / LANES], 1u << ((uint)first & (LANES - 1u)));
        }
        found += popcount(all);
    }
    return found;
}

// The same of the 16*LANES rows from r on, a multiple of 4, where many are empty: each work-item reads four side by side, four times at
// once. Rows outside of lo .. hi-1 have no entries here. row_ptr, of m + 1 places, is aligned to ofs4_t.
WEFT_INLINE uint rows_mark_fours(__global const ofs_t *row_ptr, idx_t r, idx_t lo, idx_t m, pos_t span_first,
                                 uint found, __local uint *marks, __local ushort *met)
{
    pos_t begin[4][5];
    WEFT_UNROLL
    for (uint j = 0; j < 4u; j++) {
        const uint at = (uint)r + 4u * (j * LANES + lane_id());
        if (at + 4u <= (uint)m) {
            const ofs4_t four = *(__global const ofs4_t *)(row_ptr + at);
            begin[j][0] = (pos_t)four.x;
            begin[j][1] = (pos_t)four.y;
            begin[j][2] = (pos_t)four.z;
            begin[j][3] = (pos_t)four.w;
            begin[j][4] = (pos_t)row_ptr[at + 4u];
        } else {
            WEFT_UNROLL
            for (uint i = 0; i < 5u; i++)
                begin[j][i] = (pos_t)row_ptr[min(at + i, (uint)m)];
        }
    }
    WEFT_UNROLL
    for (uint j = 0; j < 4u; j++) {
        const uint nth = (uint)(r - lo) + 4u * (j * LANES + lane_id());
        uint all[4], at = found;
        WEFT_UNROLL
        for (uint i = 0; i < 4u; i++) {
            const pos_t first = max(begin[j][i], span_first) - span_first;
            all[i] = lane_ballot(first < begin[j][i + 1u] - span_first && first < (pos_t)WEFT_SPAN, 0);
            at += popcount(all[i] & lane_below());
            found += popcount(all[i]);
        }
        WEFT_UNROLL
        for (uint i = 0; i < 4u; i++)
            if (all[i] >> lane_id() & 1u) {
                const uint first = (uint)(max(begin[j][i], span_first) - span_first);
                met[at++] = (ushort)(nth + i);
                atomic_or(&marks[first / LANES], 1u << (first & (LANES - 1u)));
            }
    }
    return found;
}

// Rows of the WEFT_SPAN entries from span_first on, which lie in rows lo .. hi-1 of m: each row that begins here sets a bit at
// its first entry and is listed. One group of lanes; `marks` is local memory of WARPS*WEFT_IPT uints, `met` of STAGE ushorts.
WEFT_INLINE void rows_list(__global const ofs_t *row_ptr, idx_t lo, idx_t hi, idx_t m, pos_t span_first,
                           __local uint *marks, __local ushort *met)
{
    uint found = 0u;
    marks += lane_group() * WEFT_IPT;
    met += lane_group() * ROWS_MET;
    for (uint k = lane_id(); k < WEFT_IPT; k += LANES)
        marks[k] = 0u;
    lane_sync();
    idx_t r = lo;
    if (ROWS_MARKED > ROWS_MET && hi - lo > (idx_t)(8 * LANES))
        for (r &= ~3; hi - r > (idx_t)(4 * LANES); r += (idx_t)(16 * LANES))
            found = rows_mark_fours(row_ptr, r, lo, m, span_first, found, marks, met);
    for (; hi - r > (idx_t)(2 * LANES); r += (idx_t)(4 * LANES))
        found = rows_mark(4, row_ptr, r, lo, hi, span_first, found, marks, met);
    if (r < hi)
        rows_mark(2, row_ptr, r, lo, hi, span_first, found, marks, met);
    lane_sync();
}

// c[k] becomes the word of the row of entry k, which the bits up to it count.
WEFT_INLINE void rows_counted(idx_t lo, uint *c, uint pack, uint key_mask, __local const uint *marks,
                              __local const ushort *met)
{
    marks += lane_group() * WEFT_IPT;
    met += lane_group() * ROWS_MET;
    uint before = 0u, up_to = lane_below() | 1u << lane_id();
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        uint word = marks[k];
        c[k] = row_word((uint)lo + (uint)met[before + popcount(word & up_to) - 1u], c[k], pack, key_mask);
        before += popcount(word);
    }
}
#endif

// c[k] becomes the word of the row of entry from + k*LANES, which lies in rows lo .. hi-1: searches side by side.
WEFT_INLINE void rows_searched(__global const ofs_t *row_ptr, idx_t lo, idx_t hi, pos_t from, uint *c, uint pack,
                               uint key_mask)
{
    WEFT_UNROLL
    for (uint some = 0; some < WEFT_IPT; some += 4) {
        idx_t row[4] = {lo, lo, lo, lo};
        for (idx_t left = hi - lo; left > 1;) {
            const idx_t step = left / 2;
            WEFT_UNROLL
            for (uint j = 0; j < 4; j++)
                row[j] += (pos_t)row_ptr[row[j] + step] <= from + (pos_t)((some + j) * LANES) ? step : 0;
            left -= step;
        }
        WEFT_UNROLL
        for (uint j = 0; j < 4; j++)
            if (some + j < WEFT_IPT)
                c[some + j] = row_word((uint)row[j], c[some + j], pack, key_mask);
    }
}

// c[k] becomes the word of entry k's row, one of lo .. hi-1, which rows_list listed where they are not many.
WEFT_INLINE void rows_get(__global const ofs_t *row_ptr, idx_t lo, idx_t hi, pos_t from, uint *c, uint pack,
                          uint key_mask, __local const uint *marks, __local const ushort *met)
{
#ifdef WEFT_ROWS_MARKED
    if (hi - lo <= ROWS_MARKED)
        rows_counted(lo, c, pack, key_mask, marks, met);
    else
#endif
        rows_searched(row_ptr, lo, hi, from, c, pack, key_mask);
}

#ifdef WEFT_SELF_COUNTED
#if WEFT_POS_BITS != 32 || WEFT_WG < 64
#error "WEFT_SELF_COUNTED: positions of 32 bits, work-groups of 64 or more"
#endif
// Count entries from .. to-1 by bin.
#define AT_ONCE 16u
WEFT_INLINE void bins_count(__global const idx_t *col, uint from, uint to, uint shift, uint mask, __local uint *count)
{
    for (uint e = from + (uint)get_local_id(0); e < to; e += AT_ONCE * WEFT_WG) {
        uint c[AT_ONCE];
        WEFT_UNROLL
        for (uint j = 0; j < AT_ONCE; j++)
            c[j] = (uint)col[min(e + j * WEFT_WG, to - 1u)];
        WEFT_UNROLL
        for (uint j = 0; j < AT_ONCE; j++)
            if (e + j * WEFT_WG < to)
                atomic_inc(&count[(c[j] >> shift) & mask]);
    }
}

// What begin_get gives, of counts of all entries, the `tile` first of which come before the tile. The group of the first tile also
// says where bins begin, and which chunk is the first of each bucket. `prior` and `rest` are local memory of WEFT_BINS uints each.
WEFT_INLINE void begin_count(int2 *begin, __global const idx_t *col, uint nnz, uint tile, __global begin_t *bucket_ofs,
                             __global uint *chunk_first, uint chunk, uint shift, uint mask, uint nbins,
                             __local uint *prior, __local uint *rest)
{
    for (uint b = (uint)get_local_id(0); b < WEFT_BINS; b += WEFT_WG)
        prior[b] = rest[b] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    bins_count(col, 0u, tile, shift, mask, prior);
    bins_count(col, tile, nnz, shift, mask, rest);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before[2 * PACKS], count[2 * PACKS], own = 2u * OWN, sum = 0u, chunks = 0u, all;
    WEFT_UNROLL_ALWAYS
    for (uint j = 0; j < 2 * PACKS; j++) {
        before[j] = prior[own + j];
        count[j] = before[j] + rest[own + j];
        sum += count[j];
        chunks += max((count[j] + chunk - 1u) / chunk, 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = group_scan(sum, &all, prior);
#ifdef WEFT_MOVING
    chunks = group_scan(chunks, &all, prior);
#else
    (void)chunks; // one pass has no chunks
#endif
    WEFT_UNROLL_ALWAYS
    for (uint j = 0; j < 2 * PACKS; j++) {
        if (j % 2u)
            begin[j / 2u].y = (int)(sum + before[j]);
        else
            begin[j / 2u].x = (int)(sum + before[j]);
        if (tile == 0u && own + j <= nbins) { // behind the last bin: the ends
            bucket_ofs[own + j] = (begin_t)sum;
#ifdef WEFT_MOVING
            chunk_first[own + j] = chunks;
#endif
        }
        sum += count[j];
        chunks += max((count[j] + chunk - 1u) / chunk, 1u);
    }
    if (tile == 0u && own + 2u * PACKS == WEFT_BINS && nbins == WEFT_BINS) {
        bucket_ofs[nbins] = (begin_t)sum;
#ifdef WEFT_MOVING
        chunk_first[nbins] = chunks;
#endif
    }
}
#endif

#define COLUMN(e) ((uint)col[e])
#define ROW(e)    ((uint)rows[e])
#ifdef WEFT_VAL_POSITIONS
#define VALUE(e) ((bits_t)(e))
#else
#define VALUE(e) val[e]
#endif

#if WEFT_POS_BITS == 64
typedef long2 pos2_t;
#define AS_POS2(x) convert_long2(x)
#else
typedef int2 pos2_t;
#define AS_POS2(x) convert_int2(x)
#endif
#if WEFT_BEGIN_BITS == 64
typedef long2 begin2_t;
#else
typedef int2 begin2_t;
#endif
// begin[j]: where the two bins of this work-item's word j begin for a tile, behind what comes before it in its part, before the part
// and, with WEFT_SEGMENTS, before the part's segment.
WEFT_INLINE void begin_get(pos2_t *begin, __global const begin_t *bucket_ofs, __global const pos_t *segment_row,
                           __global const pos_t *part_row, __global const uint *tile_row, uint nbins)
{
    WEFT_UNROLL
    for (uint j = 0; j < PACKS; j++) {
        uint bin = 2u * (OWN + j);
        begin[j] = (pos2_t)(0);
        if (bin < nbins) {
            uint2 of_tile = *(__global const uint2 *)(tile_row + bin);
            begin[j] = AS_POS2(*(__global const begin2_t *)(bucket_ofs + bin)) +
                       *(__global const pos2_t *)(part_row + bin) + (pos2_t)((pos_t)of_tile.x, (pos_t)of_tile.y);
#ifdef WEFT_SEGMENTS
            begin[j] += *(__global const pos2_t *)(segment_row + bin);
#endif
        }
    }
}

// Entry e goes to bin (col >> shift) & mask. Bins begin at bucket_ofs, each part's share at its row of table, each tile's
// share of that at its row behind the table. Tiles are taken in order, so that runs of neighbouring tiles meet in the cache.
// Written at its place: the row and the value, in the last pass (WEFT_MOVING not set); else the entry on its way, with
// the column & key_mask.
// `rows` holds row_at of scan_count, or, where WEFT_ROWS_GIVEN is set, the row of each entry (row_ptr is not read).
// WEFT_SELF_COUNTED, for few tiles: nothing was counted, and the group of each tile counts all entries and finds its rows. Then `rows` and
// `table` are not read, and bucket_ofs and chunk_index written; else chunk_index is not touched.
// val is read unless WEFT_VAL_POSITIONS is set: then positions take its place.
WEFT_KERNEL void scan_partition(__global const ofs_t *row_ptr, __global const idx_t *rows, __global const idx_t *col,
                                __global const bits_t *val, __global begin_t *bucket_ofs, __global const pos_t *table,
                                __global uint *chunk_index, __global key_t *key_out, __global row_out_t *row_out,
                                __global bits_t *val_out, idx_t m, pos_t nnz, pos_t chunk, uint part_tiles, uint parts,
                                uint segment, uint table_rows, uint shift, uint mask, uint pack, uint key_mask,
                                uint nbins, __global const uint *failed, uint run)
{
    __local uint shared[SHARED_WORDS] __attribute__((aligned(16)));
    __local pos_t base[WEFT_BINS] __attribute__((aligned(16)));
    __local uint sums[WARPS];
    LANE_MEMORY(uint, mem);
#ifdef WEFT_ROWS_MARKED
    __local uint marks[WARPS * WEFT_IPT];
#elif !defined(WEFT_ROWS_GIVEN)
    __local uint *marks = 0;
#endif
    __local ushort per_slot[STAGE]; // bins; before that, rows met
#ifdef WEFT_SELF_COUNTED
    __local idx_t span_rows[WARPS + 1]; // the row of the first entry of each group of lanes, and of the tile's last one
#endif
    UNLESS_MIRRORED(failed, run)
    {
        const uint t = (uint)get_group_id(0);
        const pos_t tile = (pos_t)t * TILE;
        uint entries = (uint)min(nnz - tile, (pos_t)TILE);
        uint lid = (uint)get_local_id(0);
        forget(lid);
        uint lane_first = lid / LANES * LANES * WEFT_IPT + (lid & (LANES - 1u));
        uint c[WEFT_IPT], x[WEFT_IPT], starts[PACKS], after[PACKS];
        pos2_t begin[PACKS];
#ifdef WEFT_SELF_COUNTED
#ifndef WEFT_ROWS_GIVEN
        if (lid <= WARPS)
            span_rows[lid] = row_found(row_ptr, m, (ofs_t)min(tile + (pos_t)(lid * WEFT_SPAN), nnz - 1));
#endif
        begin_count(begin, col, (uint)nnz, (uint)tile, bucket_ofs, CHUNK_FIRST(chunk_index), (uint)chunk, shift, mask,
                    nbins, shared, (__local uint *)base);
#endif
        // What is read comes long before it is needed: few work-groups fit on a compute unit.
        TILE_GET(c, WEFT_IPT, COLUMN);
        if (entries < TILE)
            places_fill(c, lane_first, entries, (nbins - 1u) << shift);
#ifndef WEFT_SELF_COUNTED
        const uint part = t / part_tiles, width = ROW_OF_BINS(nbins);
        __global const pos_t *segment_row = table;
#ifdef WEFT_SEGMENTS
        segment_row += (size_t)(parts + part / segment) * width;
#endif
        __global const uint *before = (__global const uint *)(table + (size_t)table_rows * width);
        begin_get(begin, bucket_ofs, segment_row, table + (size_t)part * width, before + (size_t)t * width, nbins);
#endif
#ifndef WEFT_ROWS_GIVEN
        const bool some = lane_first - lane_id() < entries; // of these lanes
        idx_t lo = 0, hi = 0;
        if (some) {
            const pos_t span_first = tile + (pos_t)(lane_first - lane_id());
#ifdef WEFT_SELF_COUNTED
            (void)span_first; // read where rows are marked
            lo = span_rows[lane_group()];
            hi = span_rows[lane_group() + 1u] + 1;
#else
            lo = rows[span_first / WEFT_SPAN];
            hi = rows[span_first / WEFT_SPAN + 1] + 1;
#endif
#ifdef WEFT_ROWS_MARKED
            if (hi - lo <= ROWS_MARKED)
                rows_list(row_ptr, lo, hi, m, span_first, marks, per_slot);
#endif
        }
#endif
        tile_match(c, true, WEFT_IPT, shift, mask, x, shared, mem);
#if WEFT_VAL_BITS
        bits_t value[WEFT_IPT];
        TILE_GET(value, WEFT_IPT, VALUE);
#endif
        tile_slots(true, WEFT_IPT, x, starts, after, shared, sums, mem);
        WEFT_UNROLL
        for (uint j = 0; j < PACKS; j++)
            *(__local pos2_t *)(base + 2u * (OWN + j)) =
                begin[j] - (pos2_t)((pos_t)(starts[j] & 0xffffu), (pos_t)(starts[j] >> 16));
#ifdef WEFT_KEYS_KEPT
        uint key[WEFT_IPT];
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++)
            key[k] = c[k] & key_mask;
#endif
#ifdef WEFT_ROWS_GIVEN
        uint row[WEFT_IPT];
        TILE_GET(row, WEFT_IPT, ROW);
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++)
            c[k] = row_word(row[k], c[k], pack, key_mask);
#else
        if (some)
            rows_get(row_ptr, lo, hi, tile + (pos_t)lane_first, c, pack, key_mask, marks, per_slot);
#endif
        STAGE_TURNS(done, entries)
        {
            pos_t to[WEFT_STAGED];
            barrier(CLK_LOCAL_MEM_FENCE);
            STAGE_PUT(per_slot, WEFT_IPT, (ushort)BIN_OF(x[k]));
#ifdef WEFT_PAIRS
            __local ulong *stage = (__local ulong *)shared;
            STAGE_PUT(stage, WEFT_IPT, (ulong)value[k] << 32 | c[k]);
#else
            __local uint *stage = shared;
            STAGE_PUT(stage, WEFT_IPT, c[k]);
#endif
            barrier(CLK_LOCAL_MEM_FENCE);
            WEFT_UNROLL
            for (uint k = 0; k < WEFT_STAGED; k++)
                if (done + TURN(k) < entries)
                    to[k] = base[HERE(per_slot, k)] + (pos_t)done + PLACE(k);
            STAGE_WRITE(row_out, stage);
#ifdef WEFT_KEY_OUT
            __local uint *stage_key = shared;
            barrier(CLK_LOCAL_MEM_FENCE);
#ifdef WEFT_KEYS_KEPT
            STAGE_PUT(stage_key, WEFT_IPT, key[k]);
#else
            STAGE_PUT(stage_key, WEFT_IPT, COLUMN(tile + (pos_t)min(lane_first + k * LANES, entries - 1u)) & key_mask);
#endif
            barrier(CLK_LOCAL_MEM_FENCE);
            STAGE_WRITE(key_out, stage_key);
#endif
#if WEFT_VAL_BITS && !defined(WEFT_PAIRS)
            __local bits_t *stage_val = (__local bits_t *)shared;
            barrier(CLK_LOCAL_MEM_FENCE);
            STAGE_PUT(stage_val, WEFT_IPT, value[k]);
            barrier(CLK_LOCAL_MEM_FENCE);
            STAGE_WRITE(val_out, stage_val);
#endif
        }
    }
}
