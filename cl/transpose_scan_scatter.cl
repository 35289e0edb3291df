// SPDX-License-Identifier: Apache-2.0
// The moving kernels of ScanTrans: entries go, in stable order, to the bins that transpose_scan_count.cl counted.
// Shares:  transpose_scan.clh
// Source:  Wang et al., ICS 2016, section 3.1: each thread writes its entries to col_ptr + inter + intra. Here a
//          work-group moves a tile: it ranks the entries inside their bins, orders them in local memory, and writes
//          each bin's run at once; `inter` is a row of running bases, `intra` lives in registers.
// Mapping: scan_partition: group i owns tile i. scan_bucket: group i owns chunk i of a bucket; there may be more groups
//          than chunks, not fewer. A tile is WEFT_WG*ipt consecutive entries; each group of LANES lanes owns LANES*ipt
//          consecutive ones of them, one per lane and step.
// Local:   max(2*WEFT_BINS*WEFT_WG/32, TILE*(4 or 8), scan_bucket 4*WEFT_BINS) + sizeof(ofs_t)*WEFT_BINS + a few
//          hundred bytes; scan_partition with lane operations: 2*TILE bytes more.
// Needs:   WEFT_WG a multiple of 32, WEFT_BINS a multiple of 2*WEFT_WG, tile at most 32768.
// Gives:   stable order inside each bin, every output element written once.
// Order:   exact.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size, a multiple of 32"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: entries per work-item and tile"
#endif
#ifndef WEFT_BINS
#error "WEFT_BINS: bins that fit, a multiple of 2*WEFT_WG"
#endif
#ifndef WEFT_BIN_BITS
#error "WEFT_BIN_BITS: bits that hold 0 .. WEFT_BINS"
#endif
#ifndef WEFT_DIGIT_BITS
#error "WEFT_DIGIT_BITS: bits that hold every bin of a valid entry"
#endif
#ifndef WEFT_SPAN
#error "WEFT_SPAN: entries between two remembered rows"
#endif
#if WEFT_BINS % (2 * WEFT_WG)
#error "WEFT_BINS is a multiple of 2*WEFT_WG"
#endif

// Entries on their way between passes (partition's output, bucket's input):
//   WEFT_PAIRS   values of 32 bits travel with the row, (row, value) in a ulong
//   WEFT_PACKED  the column inside the bucket sits in the low bits of the row's word, which has room for both;
//                else it is a key_t of its own
#ifdef WEFT_PAIRS
typedef ulong moving_t;
#define PAIRS_STRIDE 2u
#else
typedef uint moving_t;
#define PAIRS_STRIDE 1u
#endif
#if defined(WEFT_PARTITION) && !defined(WEFT_MOVING)
typedef uint row_out_t; // the last pass
#else
typedef moving_t row_out_t;
#endif

#define WARPS      (WEFT_WG / 32)
#define TILE       (WEFT_WG * WEFT_IPT)
#define PAIRS      (WEFT_BINS / 2)   // words of a histogram row, two 16-bit counters each
#define PACKS      (PAIRS / WEFT_WG) // such words per work-item
#define HIST_WORDS (WARPS * PAIRS)
#if WEFT_VAL_BITS == 64 || (defined(WEFT_PARTITION) && defined(WEFT_PAIRS))
#define STAGE_WORDS (2 * TILE)
#else
#define STAGE_WORDS TILE
#endif
#ifdef WEFT_BUCKET
#define COUNT_WORDS WEFT_BINS // a bucket of several tiles is counted here first
#else
#define COUNT_WORDS 0
#endif
#define MAX(a, b)    ((a) > (b) ? (a) : (b))
#define SHARED_WORDS MAX(MAX(HIST_WORDS, STAGE_WORDS), COUNT_WORDS)

// Position of this work-item's entry k, clamped to the tile: loads need no condition, which would take registers.
#define ENTRY(k) (full ? from + (ofs_t)((k)*LANES) : tile + (ofs_t)min(lane_first + (k)*LANES, entries - 1u))

// Slots, below 65536, are kept two to a word.
#define SLOT_WORDS ((WEFT_IPT + 1) / 2)
WEFT_INLINE uint slot(const uint *slots, uint k)
{
    return (slots[k / 2] >> (k & 1u) * 16u) & 0xffffu;
}
WEFT_INLINE void slot_set(uint *slots, uint k, uint value)
{
    slots[k / 2] = (k & 1u) ? slots[k / 2] | value << 16 : value;
}
// Forget what was derived from the slots.
WEFT_INLINE void slots_forget(uint *slots)
{
    WEFT_UNROLL
    for (uint j = 0; j < SLOT_WORDS; j++)
        forget(slots[j]);
}

// Rank `mine` of `steps` entries per work-item inside their bins (c[k] >> shift) & mask: on return slot(slots, k) is the place
// of entry k in the tile ordered by bin. pack[j] gets the first slots of the two bins that this
// work-item owns at index j*WEFT_WG + lid, after[j] the slots behind them. `hist` is local memory of HIST_WORDS,
// `sums` of PACKS*WARPS, `mem` as lanes want it. Barriers at both ends.
WEFT_INLINE void tile_rank(const uint *c, const bool full, uint mine, uint steps, uint shift, uint mask, uint *slots,
                           uint *pack, uint *after, __local uint *hist, __local uint *sums, __local uint *mem)
{
    uint lid = (uint)get_local_id(0), warp = lane_group();
    forget(lid);
    forget(warp);
    for (uint i = lid; i < HIST_WORDS; i += WEFT_WG)
        hist[i] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    __local ushort *row = (__local ushort *)(hist + warp * PAIRS);
    forget(mine);
    forget_all(steps);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
        if (full || k < steps) {
            // Invalid lanes take part with a bin that no valid one has.
            bool valid = full || k < mine;
            uint bin = valid ? (c[k] >> shift) & mask : WEFT_BINS;
            uint same = lane_match(bin, full ? WEFT_DIGIT_BITS : WEFT_BIN_BITS, mem);
            uint below = popcount(same & lane_below());
            uint before = valid ? (uint)row[bin] : 0u;
            lane_sync();
            if (valid && below == 0u)
                row[bin] = (ushort)(before + popcount(same));
            lane_sync();
            slot_set(slots, k, before + below);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    // Counts of each bin over the warps, then over the bins, two to a word; tiles are too small for a carry.
    uint start[PACKS];
    WEFT_UNROLL
    for (uint j = 0; j < PACKS; j++) {
        uint run = 0u, all;
        for (uint w = 0; w < WARPS; w++) {
            uint v = hist[w * PAIRS + j * WEFT_WG + lid];
            hist[w * PAIRS + j * WEFT_WG + lid] = run;
            run += v;
        }
        after[j] = run;
        start[j] = lane_scan((run & 0xffffu) + (run >> 16), &all, mem);
        if (lane_id() == 0u)
            sums[j * WARPS + warp] = all;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = 0u;
    WEFT_UNROLL
    for (uint j = 0; j < PACKS; j++)
        for (uint w = 0; w < WARPS; w++) {
            start[j] += w == warp ? sum : 0u;
            sum += sums[j * WARPS + w];
        }
    WEFT_UNROLL
    for (uint j = 0; j < PACKS; j++) {
        pack[j] = start[j] | ((start[j] + (after[j] & 0xffffu)) << 16);
        for (uint w = 0; w < WARPS; w++)
            hist[w * PAIRS + j * WEFT_WG + lid] += pack[j];
        after[j] += pack[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    forget(mine);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
        if (full || k < mine)
            slots[k / 2] += (uint)row[(c[k] >> shift) & mask] << (k & 1u) * 16u;
    barrier(CLK_LOCAL_MEM_FENCE);
}

// base[] of this work-item's bins -= slots (forth) or += slots (back).
WEFT_INLINE void base_shift(__local ofs_t *base, const uint *slots, bool forth)
{
    uint lid = (uint)get_local_id(0);
    WEFT_UNROLL
    for (uint j = 0; j < PACKS; j++) {
        uint b = 2u * (j * WEFT_WG + lid);
        ofs_t lo = (ofs_t)(slots[j] & 0xffffu), hi = (ofs_t)(slots[j] >> 16);
        base[b] += forth ? -lo : lo;
        base[b + 1u] += forth ? -hi : hi;
    }
}

#ifdef WEFT_PARTITION
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
#endif

#if defined(WEFT_PARTITION) && defined(WEFT_LANES_APART) && !defined(WEFT_ROWS_GIVEN)
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

#ifdef WEFT_PARTITION
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
    for (uint b = lid; b < WEFT_BINS; b += WEFT_WG)
        base[b] = b < nbins ? bucket_ofs[b] + part_row[b] + (ofs_t)tile_row[b] : 0;
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
    __local ofs_t base[WEFT_BINS];
    __local uint sums[PACKS * WARPS];
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
#endif

#ifdef WEFT_BUCKET
// Word of entry e that holds its column inside the bucket.
WEFT_INLINE uint key_word(__global const key_t *key, __global const moving_t *row, ofs_t e)
{
#ifdef WEFT_PACKED
    return ((__global const uint *)row)[(size_t)e * PAIRS_STRIDE];
#else
    return (uint)key[e];
#endif
}

// One tile of a bucket: `entries` entries from position `tile` on; full: TILE of them. counted: the tile is the whole
// bucket, which begins at position `begin`, and gives its `cols` column pointers; else base[] says where columns begin.
WEFT_INLINE void bucket_tile(const bool full, bool counted, ofs_t tile, uint entries, ofs_t begin, uint cols,
                             __global const key_t *key, __global const moving_t *row, __global const bits_t *val,
                             __global key_t *col_out, __global ofs_t *col_ptr, __global uint *row_out,
                             __global bits_t *val_out, uint shift, uint mask, uint pack, __local uint *shared,
                             __local ofs_t *base, __local uint *sums, __local uint *mem)
{
    __local uint *stage = shared;
    uint lid = (uint)get_local_id(0);
    forget(lid);
    uint steps = full ? WEFT_IPT : (entries + WEFT_WG - 1u) / WEFT_WG, starts[PACKS], after[PACKS];
    uint lane_first = lane_group() * LANES * steps + lane_id();
    uint mine = lane_first < entries ? min((entries - lane_first + LANES - 1u) / LANES, steps) : 0u;
    ofs_t from = tile + (ofs_t)lane_first;
    uint c[WEFT_IPT], slots[SLOT_WORDS];
    forget_all(steps);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
        c[k] = full || k < steps ? key_word(key, row, ENTRY(k)) : 0u;
    tile_rank(c, full, mine, steps, shift, mask, slots, starts, after, shared, sums, mem);
    if (counted) {
        WEFT_UNROLL
        for (uint j = 0; j < PACKS; j++) {
            uint p = 2u * (j * WEFT_WG + lid);
            forget(p);
            base[p] = begin;
            base[p + 1u] = begin;
#ifndef WEFT_COL_OUT
            if (p < cols)
                col_ptr[p] = begin + (ofs_t)(starts[j] & 0xffffu);
            if (p + 1u < cols)
                col_ptr[p + 1u] = begin + (ofs_t)(starts[j] >> 16);
#endif
        }
    } else
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
        uint s = k * WEFT_WG + lid;
        if (full || s < entries) {
            to[k] = base[(stage[s] >> shift) & mask] + (ofs_t)s;
#ifdef WEFT_COL_OUT
            col_out[to[k]] = (key_t)stage[s];
#endif
#ifdef WEFT_PACKED
            row_out[to[k]] = stage[s] >> pack;
#endif
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#ifndef WEFT_PACKED
    slots_forget(slots);
    forget(mine);
    forget_all(steps);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
        if (full || k < steps) {
            uint word = (uint)row[ENTRY(k)];
            if (full || k < mine)
                stage[slot(slots, k)] = word;
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    forget_all(entries);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        uint s = k * WEFT_WG + lid;
        if (full || s < entries)
            row_out[to[k]] = stage[s];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if WEFT_VAL_BITS
    __local bits_t *stage_val = (__local bits_t *)shared;
    slots_forget(slots);
    forget(mine);
    forget_all(steps);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
        if (full || k < steps) {
#ifdef WEFT_PAIRS
            bits_t value = ((__global const uint *)row)[2 * (size_t)ENTRY(k) + 1];
#else
            bits_t value = val[ENTRY(k)];
#endif
            if (full || k < mine)
                stage_val[slot(slots, k)] = value;
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    forget_all(entries);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        uint s = k * WEFT_WG + lid;
        if (full || s < entries)
            val_out[to[k]] = stage_val[s];
    }
#endif
    if (!counted)
        base_shift(base, after, false);
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Chunk i of a bucket goes to its final place, by the digit (key >> shift) & (ncols-1) of the columns inside the
// bucket. A bucket of one chunk is counted here; a larger one was counted by bucket_count and bucket_vertical.
// Writes col_ptr (col_ptr[b*ncols + c], n+1 in all) unless WEFT_COL_OUT is set; then the keys, in order, instead.
WEFT_KERNEL void scan_bucket(__global const key_t *key, __global const moving_t *row, __global const bits_t *val,
                             __global const ofs_t *bucket_ofs, __global const uint *chunk_first,
                             __global const uint *large_first, __global const uint *large, __global const uint *nlarge,
                             __global const ofs_t *table, __global const ofs_t *total, __global key_t *col_out,
                             __global ofs_t *col_ptr, __global uint *row_out, __global bits_t *val_out, long n,
                             ofs_t chunk, uint nbuckets, uint shift, uint pack, uint ncols, __global const uint *failed,
                             uint run)
{
    __local uint shared[SHARED_WORDS] __attribute__((aligned(16)));
    __local ofs_t base[WEFT_BINS];
    __local uint sums[PACKS * WARPS];
    LANE_MEMORY(uint, mem);
    uint lid = (uint)get_local_id(0), mask = ncols - 1u;
    uint i = (uint)get_group_id(0);
#ifdef WEFT_MIRROR
    if (*failed != run)
        return;
#endif
    if (i >= chunk_first[nbuckets])
        return;
    uint b = bucket_of(chunk_first, nbuckets, i), nth = i - chunk_first[b];
    ofs_t from = bucket_ofs[b], first = from + (ofs_t)nth * chunk, last = min(bucket_ofs[b + 1], first + chunk);
    bool alone = chunk_first[b + 1] - chunk_first[b] == 1u;
    long first_col = (long)b * ncols;
    uint cols = (uint)clamp(n - first_col, 0L, (long)ncols); // of this bucket
    bool counted = alone && last - first <= TILE;            // the tile's own histogram is the count

    if (!counted) {
        // Column sums of the bucket: counted now, or found in total; then where each column begins.
        for (uint c = lid; c < WEFT_BINS; c += WEFT_WG)
            shared[c] = 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (alone)
            for (ofs_t e = first + (ofs_t)lid; e < last; e += 8 * WEFT_WG) {
                uint w[8];
#pragma unroll
                for (uint j = 0; j < 8; j++)
                    w[j] = key_word(key, row, min(e + (ofs_t)(j * WEFT_WG), last - 1));
                forget(e);
#pragma unroll
                for (uint j = 0; j < 8; j++)
                    if (e + (ofs_t)(j * WEFT_WG) < last)
                        atomic_inc(&shared[(w[j] >> shift) & mask]);
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k = alone ? 0u : bucket_of(large, nlarge[0], b);
        uint item = alone ? 0u : large_first[b] + nth;
        // Each work-item sums a run of columns, the runs are scanned through base[].
        uint share = (ncols + WEFT_WG - 1u) / WEFT_WG, lo = min(ncols, lid * share), hi = min(ncols, lo + share);
        ofs_t sum = 0;
        for (uint c = lo; c < hi; c++)
            sum += alone ? (ofs_t)shared[c] : total[(size_t)k * ncols + c];
        ofs_t before = sum;
        for (uint d = 1; d < WEFT_WG; d <<= 1) {
            base[lid] = before;
            barrier(CLK_LOCAL_MEM_FENCE);
            before += lid >= d ? base[lid - d] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        before += from - sum;
        for (uint c = lo; c < hi; c++) {
#ifndef WEFT_COL_OUT
            if (nth == 0u && c < cols)
                col_ptr[first_col + c] = before;
#endif
            base[c] = before + (alone ? 0 : table[(size_t)item * ncols + c]);
            before += alone ? (ofs_t)shared[c] : total[(size_t)k * ncols + c];
        }
        for (uint c = ncols + lid; c < WEFT_BINS; c += WEFT_WG)
            base[c] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#ifndef WEFT_COL_OUT
    if (i == 0u && lid == 0u)
        col_ptr[n] = bucket_ofs[nbuckets];
#endif
    for (ofs_t tile = first; tile < last || (counted && tile == first); tile += TILE) {
        uint entries = (uint)min(last - tile, (ofs_t)TILE);
#ifdef WEFT_LANES_FAST
        if (entries == TILE)
            bucket_tile(true, counted, tile, entries, from, cols, key, row, val, col_out, col_ptr + first_col, row_out,
                        val_out, shift, mask, pack, shared, base, sums, mem);
        else
#endif
            bucket_tile(false, counted, tile, entries, from, cols, key, row, val, col_out, col_ptr + first_col, row_out,
                        val_out, shift, mask, pack, shared, base, sums, mem);
    }
}
#endif
