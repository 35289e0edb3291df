// SPDX-License-Identifier: Apache-2.0
// Move the entries of each bucket, in stable order, to their columns: the last pass of ScanTrans.
// Shares:  transpose_scan.clh
// Source:  as transpose_scan_partition.cl; the columns of a bucket are counted in local memory.
// Mapping: group i owns chunk i of a bucket; there may be more groups than chunks, not fewer.
// Local:   max(2*WEFT_BINS*WEFT_WG/32, TILE*(4 or 8), 4*WEFT_BINS) + sizeof(ofs_t)*WEFT_BINS + a few hundred bytes.
// Needs:   WEFT_WG a multiple of 32, WEFT_BINS a multiple of 2*WEFT_WG, tile at most 32768.
// Gives:   stable order inside each column, every output element written once.
// Order:   exact.

#ifndef WEFT_IPT
#error "WEFT_IPT: entries per work-item and tile"
#endif

// A bucket of several tiles is counted first.
#if defined(WEFT_PAIRS) && defined(WEFT_PACKED)
#define WEFT_JOINED 1 // row, column and value share a word
#endif
#if WEFT_VAL_BITS == 64 || defined(WEFT_JOINED)
#define SHARED_WORDS MAX(MAX(HIST_WORDS, 2 * TILE), WEFT_BINS)
#else
#define SHARED_WORDS MAX(MAX(HIST_WORDS, TILE), WEFT_BINS)
#endif

// Word of entry e that holds its column inside the bucket.
WEFT_INLINE uint key_word(__global const key_t *key, __global const moving_t *row, ofs_t e)
{
#ifdef WEFT_PACKED
    return ((__global const uint *)row)[(size_t)e * PAIRS_STRIDE];
#else
    return (uint)key[e];
#endif
}

// Count entries e, e + WEFT_WG .. of the `many` from position `first` on by column: 8 of them, or, unless `full`, what there
// is of these.
WEFT_INLINE void columns_count(const bool full, __global const key_t *key, __global const moving_t *row, ofs_t first,
                               uint e, uint many, uint shift, uint mask, __local uint *count)
{
    uint w[8];
#pragma unroll
    for (uint j = 0; j < 8; j++)
        w[j] = key_word(key, row, first + (ofs_t)(full ? e + j * WEFT_WG : min(e + j * WEFT_WG, many - 1u)));
    forget(e);
#pragma unroll
    for (uint j = 0; j < 8; j++)
        if (full || e + j * WEFT_WG < many)
            atomic_inc(&count[(w[j] >> shift) & mask]);
}

// One tile of a bucket: `entries` entries from position `tile` on; full: TILE of them. counted: the tile is the whole
// bucket, which begins at position `begin`, and gives its `cols` column pointers; else base[] says where columns begin.
WEFT_INLINE void bucket_tile(const bool full, bool counted, ofs_t tile, uint entries, ofs_t begin, uint cols,
                             __global const key_t *key, __global const moving_t *row, __global const bits_t *val,
                             __global key_t *col_out, __global ofs_t *col_ptr, __global uint *row_out,
                             __global bits_t *val_out, uint shift, uint mask, uint pack, __local uint *shared,
                             __local ofs_t *base, __local uint *sums, __local uint *mem)
{
    uint lid = (uint)get_local_id(0);
    forget(lid);
    uint steps = full ? WEFT_IPT : (entries + WEFT_WG - 1u) / WEFT_WG, starts[PACKS], after[PACKS];
    uint lane_first = lane_group() * LANES * steps + lane_id();
    uint mine = lane_first < entries ? min((entries - lane_first + LANES - 1u) / LANES, steps) : 0u;
    ofs_t from = tile + (ofs_t)lane_first;
    uint c[WEFT_IPT], x[WEFT_IPT];
#ifdef WEFT_JOINED
    ulong entry[WEFT_IPT];
#endif
    forget_all(steps);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
#ifdef WEFT_JOINED
    {
        entry[k] = full || k < steps ? row[ENTRY(k)] : 0u;
        c[k] = (uint)entry[k];
    }
#else
        c[k] = full || k < steps ? key_word(key, row, ENTRY(k)) : 0u;
#endif
    tile_rank(c, full, mine, steps, shift, mask, x, starts, after, shared, sums, mem);
    if (counted) {
        WEFT_UNROLL
        for (uint j = 0; j < PACKS; j++) {
            uint p = 2u * (OWN + j);
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
#ifdef WEFT_JOINED
    __local ulong *stage = (__local ulong *)shared;
    forget(mine);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
        if (full || k < mine)
            stage[SLOT_OF(x[k])] = entry[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    forget_all(entries);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        if (full || SLOT(k) < entries) {
            ulong word = HERE(stage, k);
            ofs_t to = base[((uint)word >> shift) & mask] + PLACE(k);
            OUT(row_out, k, to) = (uint)word >> pack;
            OUT(val_out, k, to) = (uint)(word >> 32);
        }
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
            uint word = HERE(stage, k);
            to[k] = base[(word >> shift) & mask] + PLACE(k);
#ifdef WEFT_COL_OUT
            OUT(col_out, k, to[k]) = (key_t)word;
#endif
#ifdef WEFT_PACKED
            OUT(row_out, k, to[k]) = word >> pack;
#endif
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#ifndef WEFT_PACKED
    slots_forget(x);
    forget(mine);
    forget(lane_first);
    forget_all(steps);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
        if (full || k < steps) {
            uint word = (uint)row[ENTRY(k)];
            if (full || k < mine)
                stage[SLOT_OF(x[k])] = word;
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    forget_all(entries);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++) {
        if (full || SLOT(k) < entries)
            OUT(row_out, k, to[k]) = HERE(stage, k);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if WEFT_VAL_BITS
    __local bits_t *stage_val = (__local bits_t *)shared;
    slots_forget(x);
    forget(mine);
    forget(lane_first);
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
    if (!counted) {
#ifdef WEFT_JOINED
        barrier(CLK_LOCAL_MEM_FENCE); // base[] was read
#endif
        base_shift(base, after, false);
    }
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
    __local ofs_t base[WEFT_BINS] __attribute__((aligned(16)));
    __local uint sums[WARPS];
    LANE_MEMORY(uint, mem);
    uint lid = (uint)get_local_id(0), mask = ncols - 1u;
    uint i = (uint)get_group_id(0);
#ifdef WEFT_MIRROR
    if (*failed != run)
        return;
#endif
    if (i >= chunk_first[nbuckets])
        return;
    // Mostly no bucket before it has more than one chunk.
    uint b = i < nbuckets && chunk_first[i] == i ? i : bucket_of(chunk_first, nbuckets, i), nth = i - chunk_first[b];
    ofs_t from = bucket_ofs[b], first = from + (ofs_t)nth * chunk, last = min(bucket_ofs[b + 1], first + chunk);
    bool alone = chunk_first[b + 1] - chunk_first[b] == 1u;
    long first_col = (long)b * ncols;
    uint cols = (uint)clamp(n - first_col, 0L, (long)ncols); // of this bucket
    bool counted = alone && last - first <= TILE;            // the tile's own histogram is the count

    if (alone && !counted) {
        // The columns of the bucket are counted; then each work-item tells where its own begin.
        for (uint c = lid; c < WEFT_BINS; c += WEFT_WG)
            shared[c] = 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint e = lid, many = (uint)(last - first);
        for (; e + 7u * WEFT_WG < many; e += 8u * WEFT_WG)
            columns_count(true, key, row, first, e, many, shift, mask, shared);
        if (e < many)
            columns_count(false, key, row, first, e, many, shift, mask, shared);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint count[2 * PACKS], sum = 0u, all, own = 2u * OWN;
        WEFT_UNROLL
        for (uint j = 0; j < 2 * PACKS; j++) {
            count[j] = shared[own + j];
            sum += count[j];
        }
        ofs_t before = from + (ofs_t)group_scan(sum, &all, (__local uint *)base);
        WEFT_UNROLL
        for (uint j = 0; j < 2 * PACKS; j++) {
#ifndef WEFT_COL_OUT
            if (own + j < cols)
                col_ptr[first_col + (long)(own + j)] = before;
#endif
            base[own + j] = before;
            before += (ofs_t)count[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    } else if (!alone) {
        // Column sums of the bucket, found in total; then where each column begins.
        uint k = bucket_of(large, nlarge[0], b), item = large_first[b] + nth;
        // Each work-item sums a run of columns, the runs are scanned through base[].
        uint share = (ncols + WEFT_WG - 1u) / WEFT_WG, lo = min(ncols, lid * share), hi = min(ncols, lo + share);
        ofs_t sum = 0;
        for (uint c = lo; c < hi; c++)
            sum += total[(size_t)k * ncols + c];
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
            base[c] = before + table[(size_t)item * ncols + c];
            before += total[(size_t)k * ncols + c];
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
