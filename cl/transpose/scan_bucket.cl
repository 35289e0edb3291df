// SPDX-License-Identifier: Apache-2.0
// Move the entries of each bucket, in stable order, to their columns, the last pass of ScanTrans, or to parts of the bucket, the
// second of three passes (WEFT_MOVING).
// Source:  as transpose/scan_partition.cl; the columns of a bucket are counted in local memory.
// Mapping: group i owns chunk i of a bucket; there may be more groups than chunks, not fewer.
// Local:   max(2*WEFT_BINS*WEFT_WG/32, STAGE*(4 or 8), 4*WEFT_BINS) + sizeof(pos_t)*WEFT_BINS + a few hundred bytes; 2*STAGE
//          more where WEFT_BINS_APART.
// Needs:   WEFT_WG a multiple of 32, WEFT_BINS a multiple of 2*WEFT_WG, tile at most 32768.
// Gives:   stable order inside each column or part, every output element written once.
// Order:   exact.

#ifndef WEFT_IPT
#error "WEFT_IPT: entries per work-item and tile"
#endif

// A bucket of several tiles is counted first.
#if defined(WEFT_PAIRS) && defined(WEFT_PACKED)
#define WEFT_JOINED 1 // row, column and value share a word
#endif

// Entries leave as moving_t where they stay on their way, with the `shift` low bits of the column: in the row's word
// (WEFT_PACKED_OUT), else on its own, in 16 bits.
typedef ushort key_out_t;
#ifdef WEFT_MOVING
typedef moving_t row_out_t;
#ifdef WEFT_PACKED_OUT
#define WORD_OUT(row, column) ((row) << shift | (column) & ((1u << shift) - 1u))
#else
#define WORD_OUT(row, column) (row)
#endif
#else
typedef uint row_out_t;
#define WORD_OUT(row, column) (row)
#endif
#if defined(WEFT_MOVING) && defined(WEFT_PAIRS)
#define PAIR_OUT(row, column, value) ((ulong)(value) << 32 | WORD_OUT(row, column))
#endif
// Columns that come on their own: the bin of each slot is in local memory beside what goes out, so that they need no turn of their
// own and no registers. In the last pass AMD's compiler for waves of 64 spills so.
#if (defined(WEFT_MOVING) || (defined(WEFT_PAIRS) && !(defined(WEFT_LANES_AMDGCN) && WEFT_WAVE == 64))) &&             \
    !defined(WEFT_PACKED)
#define WEFT_BINS_APART 1
// What goes out comes before the tile is ranked where the group has a unit to itself, else after: that takes fewer registers, which
// AMD's waves of 64 lack.
#if WEFT_STAGED != WEFT_IPT && !(defined(WEFT_LANES_AMDGCN) && WEFT_WAVE == 64)
#define READ_FIRST 1
#endif
#ifdef WEFT_PAIRS
#define PAIRS_STAGED 1 // row and value go through local memory as one word
#endif
#endif
#if WEFT_VAL_BITS && !defined(WEFT_JOINED) && !defined(PAIR_OUT) && !defined(PAIRS_STAGED)
#define VALUES_APART 1
#endif

#if WEFT_VAL_BITS == 64 || defined(WEFT_JOINED) || defined(PAIR_OUT) || defined(PAIRS_STAGED)
#define SHARED_WORDS MAX(MAX(HIST_WORDS, 2 * STAGE), WEFT_BINS)
#else
#define SHARED_WORDS MAX(MAX(HIST_WORDS, STAGE), WEFT_BINS)
#endif

// ONE_TILE: a chunk is a tile. Neighbours are then written at about the same time, and the cache still has the sectors that they
// share. LOOKS_AHEAD: the next tile of a chunk comes while this one goes; not with WEFT_WIDE, which says that mostly each
// bucket is one tile, as NLARGE tells. Nor in turns on AMD's waves of 64, where the compiler spills so.
#ifdef WEFT_ONE_TILE
#define ONE_TILE    true
#define LOOKS_AHEAD false
#elif defined(WEFT_WIDE) || (defined(WEFT_LANES_AMDGCN) && WEFT_WAVE == 64 && WEFT_STAGED != WEFT_IPT)
#define ONE_TILE    false
#define LOOKS_AHEAD false
#else
#define ONE_TILE    false
#define LOOKS_AHEAD true
#endif
// Whether a chunk has this tile. A macro: outside of one clang warns of an operand that is constant, and PoCL tells a program's user.
#define ANOTHER(tile) ((tile) == first || (ONE_TILE ? false : (tile) < last))

// The bucket of chunk i, found by all together; of the largest tiles by each alone, since that takes fewer registers.
#ifdef WEFT_WIDE
#define CHUNK_BUCKET(first, nbins, i, found) bucket_of(first, nbins, i)
#else
#define CHUNK_BUCKET(first, nbins, i, found) bucket_found(first, nbins, i, found)
#endif

// WEFT_SELF_COUNTED: of a bucket of several chunks the group of each counts all of it, and what comes before its own. That is
// for few entries, since a bucket may have them all.
#if defined(WEFT_SELF_COUNTED) && WEFT_POS_BITS != 32
#error "WEFT_SELF_COUNTED: positions are counted in 32 bits"
#endif

// Entries of a tile on their way to this work-item, all at once: whole, or the word that holds the column.
#ifdef WEFT_JOINED
typedef ulong entry_t;
#define ENTRY(e) row[e]
#else
typedef uint entry_t;
#define ENTRY(e) key_word(key, row, e)
#endif

// A tile of a bucket: `entries` entries from position `tile` on take `steps` steps of each work-item.
WEFT_INLINE uint tile_steps(uint entries)
{
    return (entries + WEFT_WG - 1u) / WEFT_WG;
}
WEFT_INLINE void entries_get(entry_t *entry, __global const key_t *key, __global const moving_t *row, pos_t tile,
                             uint entries)
{
    const uint steps = tile_steps(entries);
    uint lane_first = lane_group() * LANES * steps + lane_id();
    TILE_GET(entry, steps, ENTRY);
}

// Count entries e, e + WEFT_WG .. of the `many` from position `first` on by column: AT_ONCE of them, or, unless `full`, what
// there is of these.
#define AT_ONCE 16u
WEFT_INLINE void columns_count_some(const bool full, __global const key_t *key, __global const moving_t *row,
                                    pos_t first, uint e, uint many, uint shift, uint mask, __local uint *count)
{
    uint w[AT_ONCE];
#pragma unroll
    for (uint j = 0; j < AT_ONCE; j++)
        w[j] = key_word(key, row, first + (pos_t)(full ? e + j * WEFT_WG : min(e + j * WEFT_WG, many - 1u)));
    forget(e);
#pragma unroll
    for (uint j = 0; j < AT_ONCE; j++)
        if (full || e + j * WEFT_WG < many)
            atomic_inc(&count[(w[j] >> shift) & mask]);
}
// Count entries `start` .. many-1 from position `first` on by column.
WEFT_INLINE void columns_count(__global const key_t *key, __global const moving_t *row, pos_t first, uint start,
                               uint many, uint shift, uint mask, __local uint *count)
{
    uint e = start + (uint)get_local_id(0);
    for (; e + (AT_ONCE - 1u) * WEFT_WG < many; e += AT_ONCE * WEFT_WG)
        columns_count_some(true, key, row, first, e, many, shift, mask, count);
    if (e < many)
        columns_count_some(false, key, row, first, e, many, shift, mask, count);
}

// From the counts of this work-item's bins, base[]: where each begins behind `from`, and `before` further; and begin_out[] of the
// first `cols`. `mem` is local memory as group_scan needs it, base[] too. A barrier at the end.
WEFT_INLINE void columns_begin(__local pos_t *base, __global begin_t *begin_out, const uint *count, const uint *before,
                               uint cols, pos_t from, __local uint *mem)
{
    uint sum = 0u, all, own = 2u * OWN;
    WEFT_UNROLL
    for (uint j = 0; j < 2 * PACKS; j++)
        sum += count[j];
    pos_t begin = from + (pos_t)group_scan(sum, &all, mem);
    WEFT_UNROLL
    for (uint j = 0; j < 2 * PACKS; j++) {
        if (own + j < cols)
            begin_out[own + j] = (begin_t)begin;
        base[own + j] = begin + (pos_t)before[j];
        begin += (pos_t)count[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// base[] of this work-item's bins -= slots (forth) or += slots (back).
WEFT_INLINE void base_shift(__local pos_t *base, const uint *slots, bool forth)
{
    base += 2u * OWN;
    WEFT_UNROLL
    for (uint j = 0; j < PACKS; j++) {
        pos_t lo = (pos_t)(slots[j] & 0xffffu), hi = (pos_t)(slots[j] >> 16);
        base[2u * j] += forth ? -lo : lo;
        base[2u * j + 1u] += forth ? -hi : hi;
    }
}

// to[k] = from[position of this work-item's entry k], of a tile of fewer entries the last one again. One path for whole and
// partial tiles takes fewer registers than TILE_GET: two groups of 256 fit a unit of NVIDIA's.
#define CLAMPED_GET(to, from)                                                                                          \
    do {                                                                                                               \
        const pos_t some = entries ? tile : 0;                                                                         \
        const uint most = max(entries, 1u) - 1u;                                                                       \
        WEFT_UNROLL                                                                                                    \
        for (uint k = 0; k < WEFT_IPT; k++) {                                                                          \
            forget(lane_first);                                                                                        \
            (to)[k] = (from)[some + (pos_t)min(lane_first + k * LANES, most)];                                         \
        }                                                                                                              \
    } while (0)

// One tile of a bucket, whose entries are here already; the `next` entries after it come while it is written.
// counted: the tile is the whole bucket, which begins at position `begin`, and says where its `cols` columns or parts begin; else
// base[] says it. whole: all buckets are counted so.
WEFT_INLINE void bucket_tile(const bool whole, bool counted, pos_t tile, uint entries, uint next, pos_t begin,
                             uint cols, entry_t *entry, __global const key_t *key, __global const moving_t *row,
                             __global const bits_t *val, __global key_out_t *key_out, __global begin_t *begin_out,
                             __global row_out_t *row_out, __global bits_t *val_out, uint shift, uint mask, uint pack,
                             __local uint *shared, __local ushort *bin_at, __local pos_t *base, __local uint *sums,
                             __local uint *mem)
{
    uint lid = (uint)get_local_id(0);
    forget(lid);
    uint steps = tile_steps(entries);
    uint lane_first = lane_group() * LANES * steps + lane_id(), starts[PACKS], after[PACKS];
    uint c[WEFT_IPT], x[WEFT_IPT];
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
        c[k] = (uint)entry[k];
#ifdef WEFT_BINS_APART
    moving_t out[WEFT_IPT]; // what goes out of an entry beside a column and a value of their own
#ifdef READ_FIRST
    CLAMPED_GET(out, row);
#endif
#endif
    if (entries < TILE)
        places_fill(c, lane_first, entries, mask << shift);
    tile_match(c, false, steps, shift, mask, x, shared, mem);
    tile_slots(false, steps, x, starts, after, shared, sums, mem);
    if (counted) {
        WEFT_UNROLL
        for (uint j = 0; j < PACKS; j++) {
            uint p = 2u * (OWN + j);
            forget(p);
            const pos_t lo = begin + (pos_t)(starts[j] & 0xffffu), hi = begin + (pos_t)(starts[j] >> 16);
#ifdef WEFT_WIDE
            if (!whole) {
                base[p] = begin;
                base[p + 1u] = begin;
            }
            if (p < cols)
                begin_out[p] = lo;
            if (p + 1u < cols)
                begin_out[p + 1u] = hi;
#else
            base[p] = lo;
            base[p + 1u] = hi;
#endif
        }
#ifndef WEFT_WIDE
        // Neighbours are written side by side: columns may be more than entries.
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint p = lid; p < cols; p += WEFT_WG)
            begin_out[p] = base[p];
        barrier(CLK_LOCAL_MEM_FENCE);
        WEFT_UNROLL
        for (uint j = 0; j < 2 * PACKS; j++)
            base[2u * OWN + j] = begin;
#endif
    } else
        base_shift(base, starts, true);
#ifdef WEFT_BINS_APART
#ifndef READ_FIRST
    CLAMPED_GET(out, row);
#endif
#ifdef WEFT_PACKED_OUT
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
#ifdef WEFT_PAIRS
        out[k] = PAIR_OUT((uint)out[k], c[k], out[k] >> 32);
#else
        out[k] = WORD_OUT(out[k], c[k]);
#endif
#endif
#elif !defined(WEFT_PACKED)
    uint moved[WEFT_IPT];
    forget_all(steps);
    TILE_GET(moved, steps, MOVED_ROW);
#endif
#ifdef VALUES_APART
    bits_t value[WEFT_IPT];
#ifndef WEFT_BINS_APART
    forget_all(steps);
    TILE_GET(value, steps, MOVED_VALUE);
#endif
#endif
    STAGE_TURNS(done, entries)
    {
        pos_t to[WEFT_STAGED];
#ifdef WEFT_BINS_APART
        __local moving_t *stage = (__local moving_t *)shared;
        barrier(CLK_LOCAL_MEM_FENCE);
        forget_all(steps);
        STAGE_PUT(bin_at, steps, (ushort)BIN_OF(x[k]));
        STAGE_PUT(stage, steps, out[k]);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (LOOKS_AHEAD && next && entries - done <= STAGE)
            entries_get(entry, key, row, tile + TILE, next);
        forget_all(entries);
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_STAGED; k++)
            if (done + TURN(k) < entries)
                to[k] = base[HERE(bin_at, k)] + (pos_t)done + PLACE(k);
#if defined(PAIRS_STAGED) && !defined(WEFT_MOVING)
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_STAGED; k++)
            if (done + TURN(k) < entries) {
                const moving_t word = HERE(stage, k);
                OUT(row_out, k, to[k]) = (uint)word;
                OUT(val_out, k, to[k]) = (bits_t)(word >> 32);
            }
#else
#ifdef VALUES_APART
        if (done == 0u)
            CLAMPED_GET(value, val);
#endif
        STAGE_WRITE(row_out, stage);
#endif
#if defined(WEFT_MOVING) && !defined(WEFT_PACKED_OUT)
        __local uint *stage_key = shared;
        barrier(CLK_LOCAL_MEM_FENCE);
        forget_all(steps);
        STAGE_PUT(stage_key, steps, c[k] & ((1u << shift) - 1u));
        barrier(CLK_LOCAL_MEM_FENCE);
        STAGE_WRITE(key_out, stage_key);
#endif
#else
        __local entry_t *stage = (__local entry_t *)shared;
        barrier(CLK_LOCAL_MEM_FENCE);
        forget_all(steps);
        STAGE_PUT(stage, steps, entry[k]);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (LOOKS_AHEAD && next && entries - done <= STAGE)
            entries_get(entry, key, row, tile + TILE, next);
        forget_all(entries);
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_STAGED; k++)
            if (done + TURN(k) < entries) {
                const entry_t word = HERE(stage, k);
                to[k] = (whole ? begin : base[((uint)word >> shift) & mask]) + (pos_t)done + PLACE(k);
#ifdef PAIR_OUT
                OUT(row_out, k, to[k]) = PAIR_OUT((uint)word >> pack, (uint)word, word >> 32);
#elif defined(WEFT_PACKED)
                OUT(row_out, k, to[k]) = WORD_OUT((uint)word >> pack, (uint)word);
#endif
#if defined(WEFT_JOINED) && !defined(PAIR_OUT)
                OUT(val_out, k, to[k]) = (uint)(word >> 32);
#endif
            }
#if !defined(WEFT_JOINED) && !defined(WEFT_PACKED)
        __local uint *stage_row = shared;
        barrier(CLK_LOCAL_MEM_FENCE);
        forget_all(steps);
        STAGE_PUT(stage_row, steps, moved[k]);
        barrier(CLK_LOCAL_MEM_FENCE);
        STAGE_WRITE(row_out, stage_row);
#endif
#endif
#ifdef VALUES_APART
        __local bits_t *stage_val = (__local bits_t *)shared;
        barrier(CLK_LOCAL_MEM_FENCE);
        forget_all(steps);
        STAGE_PUT(stage_val, steps, value[k]);
        barrier(CLK_LOCAL_MEM_FENCE);
        STAGE_WRITE(val_out, stage_val);
#endif
    }
    if (!ONE_TILE) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (!counted)
            base_shift(base, after, false);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// Chunk i of a bucket goes to its place by the digit (key >> shift) & (ncols-1) of the columns inside the bucket: a column, or
// a part of the bucket. A bucket of one chunk is counted here, or ranked by bucket_few; a larger one was counted by bucket_count and
// bucket_vertical, unless WEFT_SELF_COUNTED.
// Writes begin_out (begin_out[b*ncols + c], n+1 in all): the column pointers, or where parts begin.
WEFT_KERNEL void scan_bucket(__global const key_t *key, __global const moving_t *row, __global const bits_t *val,
                             __global const pos_t *bucket_ofs, __global const uint *chunk_index,
                             __global const pos_t *table, __global key_out_t *key_out, __global begin_t *begin_out,
                             __global row_out_t *row_out, __global bits_t *val_out, long n, pos_t chunk, uint nbuckets,
                             uint shift, uint pack, uint ncols, uint large_rows, __global const uint *failed, uint run)
{
    __local uint shared[SHARED_WORDS] __attribute__((aligned(16)));
    __local pos_t base[WEFT_BINS] __attribute__((aligned(16)));
#ifdef WEFT_BINS_APART
    __local ushort bin_at[STAGE];
#else
    __local ushort *bin_at = 0;
#endif
    __local uint sums[WARPS];
    LANE_MEMORY(uint, mem);
    uint lid = (uint)get_local_id(0), mask = ncols - 1u;
    uint i = (uint)get_group_id(0);
#ifdef WEFT_MIRROR
    if (run != 0u && *failed != run)
        return;
#endif
    __global const uint *chunk_first = CHUNK_FIRST(chunk_index);
#ifdef WEFT_WIDE
    const bool whole = NLARGE(chunk_index, nbuckets)[1] != 0u;
#else
    const bool whole = false;
#endif
#ifdef WEFT_SPARSE
    // All that tells of a bucket of one chunk is read together, as if no bucket before it had more.
    uint found_in = min(i, nbuckets - 1u);
    pos_t few_from = bucket_ofs[found_in], few_end = bucket_ofs[found_in + 1u];
    uint first_chunk = chunk_first[found_in], next_chunk = chunk_first[found_in + 1u];
    if (first_chunk > i || next_chunk <= i) {
        if (i >= chunk_first[nbuckets])
            return;
        found_in = bucket_found(chunk_first, nbuckets, i, shared);
        few_from = bucket_ofs[found_in];
        few_end = bucket_ofs[found_in + 1u];
        first_chunk = chunk_first[found_in];
        next_chunk = chunk_first[found_in + 1u];
    }
    if (next_chunk - first_chunk == 1u && few_end - few_from <= WEFT_SPARSE) {
        const long column = (long)found_in * ncols;
        bucket_few((uint)(few_end - few_from), few_from, (uint)clamp(n - column, 0L, (long)ncols), key, row, val,
                   begin_out + column, row_out, val_out, shift, mask, pack, shared, (__local uint *)base);
        if (i == 0u && lid == 0u)
            begin_out[n] = bucket_ofs[nbuckets];
        return;
    }
#endif
    if (i >= chunk_first[nbuckets])
        return;
    // Mostly no bucket before it has more than one chunk.
    uint b = whole || (i < nbuckets && chunk_first[i] == i) ? i : CHUNK_BUCKET(chunk_first, nbuckets, i, shared);
    uint nth = whole ? 0u : i - chunk_first[b];
    pos_t from = bucket_ofs[b], first = from + (pos_t)nth * chunk, last = min(bucket_ofs[b + 1], first + chunk);
    bool alone = whole || chunk_first[b + 1] - chunk_first[b] == 1u;
    long first_col = (long)b * ncols;
    uint cols = (uint)clamp(n - first_col, 0L, (long)ncols); // of this bucket
    bool counted = whole || (alone && last - first <= TILE); // the tile's own histogram is the count

    entry_t entry[WEFT_IPT]; // of the tile to come
    if (first < last)
        entries_get(entry, key, row, first, (uint)min(last - first, (pos_t)TILE));

#ifdef WEFT_SELF_COUNTED
    if (!counted) {
        // What of the bucket comes before this chunk is counted in base[], the rest in shared[].
        __local uint *prior = (__local uint *)base;
        for (uint c = lid; c < WEFT_BINS; c += WEFT_WG)
            prior[c] = shared[c] = 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        columns_count(key, row, from, 0u, (uint)(first - from), shift, mask, prior);
        columns_count(key, row, from, (uint)(first - from), (uint)(bucket_ofs[b + 1] - from), shift, mask, shared);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint before[2 * PACKS], count[2 * PACKS], own = 2u * OWN;
        WEFT_UNROLL
        for (uint j = 0; j < 2 * PACKS; j++) {
            before[j] = prior[own + j];
            count[j] = before[j] + shared[own + j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        columns_begin(base, begin_out + first_col, count, before, nth == 0u ? cols : 0u, from, shared);
    }
#else
    if (!ONE_TILE && alone && !counted) {
        // The columns of the bucket, TILE of which are here, are counted; then each work-item tells where its own begin.
        for (uint c = lid; c < WEFT_BINS; c += WEFT_WG)
            shared[c] = 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++)
            atomic_inc(&shared[((uint)entry[k] >> shift) & mask]);
        columns_count(key, row, first, TILE, (uint)(last - first), shift, mask, shared);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint before[2 * PACKS], count[2 * PACKS], own = 2u * OWN;
        WEFT_UNROLL
        for (uint j = 0; j < 2 * PACKS; j++) {
            before[j] = 0u;
            count[j] = shared[own + j];
        }
        columns_begin(base, begin_out + first_col, count, before, cols, from, (__local uint *)base);
    } else if (!alone) {
        // Column sums of the bucket, found in its row of sums; then where each column begins.
        __global const uint *large_first = LARGE_FIRST(chunk_index, nbuckets);
        const uint item = large_first[b] + nth, all = LARGE_ROW(large_rows, item - nth);
#ifdef WEFT_CHUNKS_JOINED
        const uint chunks = large_first[b + 1u] - large_first[b], each = segment_of(chunks),
                   behind = chunks > each ? all + 1u + nth / each : ~0u; // the row of what comes before the segment
#endif
        // Each work-item sums a run of columns, the runs are scanned through base[].
        uint share = (ncols + WEFT_WG - 1u) / WEFT_WG, lo = min(ncols, lid * share), hi = min(ncols, lo + share);
        pos_t sum = 0;
        for (uint c = lo; c < hi; c++)
            sum += table[(size_t)all * ncols + c];
        pos_t before = from + pos_before(sum, (__local sum_t *)base);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint c = lo; c < hi; c++) {
            if (nth == 0u && c < cols)
                begin_out[first_col + c] = before;
            pos_t at = before + table[(size_t)item * ncols + c];
#ifdef WEFT_CHUNKS_JOINED
            if (behind != ~0u)
                at += table[(size_t)behind * ncols + c];
#endif
            base[c] = at;
            before += table[(size_t)all * ncols + c];
        }
        for (uint c = ncols + lid; c < WEFT_BINS; c += WEFT_WG)
            base[c] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#endif
    if (i == 0u && lid == 0u)
        begin_out[n] = bucket_ofs[nbuckets];
    for (pos_t tile = first; ANOTHER(tile); tile += TILE) {
        uint entries = (uint)min(last - tile, (pos_t)TILE);
        if (!LOOKS_AHEAD && tile != first)
            entries_get(entry, key, row, tile, entries);
        uint next = last - tile > TILE ? (uint)min(last - tile - TILE, (pos_t)TILE) : 0u;
        bucket_tile(whole, counted, tile, entries, next, from, cols, entry, key, row, val, key_out,
                    begin_out + first_col, row_out, val_out, shift, mask, pack, shared, bin_at, base, sums, mem);
    }
}
