// SPDX-License-Identifier: Apache-2.0
// The moving kernels of ScanTrans: entries go, in stable order, to the bins that transpose_scan_count.cl counted.
// Source:  Wang et al., ICS 2016, section 3.1: each thread writes its entries to col_ptr + inter + intra. Here a
//          work-group moves a tile: it ranks the entries inside their bins, orders them in local memory, and writes
//          each bin's run at once; `inter` is a row of running bases, `intra` lives in registers.
// Mapping: scan_partition: group g owns part g, tile by tile. scan_bucket: group i owns chunk i of a bucket. A tile is
//          WEFT_WG*ipt consecutive entries; each group of LANES lanes owns LANES*ipt consecutive ones of them, one per
//          lane and step.
// Local:   max(2*WEFT_BINS*WEFT_WG/32, TILE*(4 or 8)) + sizeof(ofs_t)*WEFT_BINS + a few hundred bytes.
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
#ifndef WEFT_SPAN
#error "WEFT_SPAN: entries between two remembered rows"
#endif
#ifndef WEFT_KEY_BITS
#error "WEFT_KEY_BITS: 16 or 32, width of a column inside its bucket"
#endif
#if WEFT_BINS % (2 * WEFT_WG)
#error "WEFT_BINS is a multiple of 2*WEFT_WG"
#endif

#if WEFT_KEY_BITS == 16
typedef ushort key_t;
#else
typedef uint key_t;
#endif

#define WARPS        (WEFT_WG / 32)
#define TILE         (WEFT_WG * WEFT_IPT)
#define PAIRS        (WEFT_BINS / 2)   // words of a histogram row, two 16-bit counters each
#define PACKS        (PAIRS / WEFT_WG) // such words per work-item
#define HIST_WORDS   (WARPS * PAIRS)
#define STAGE_WORDS  (WEFT_VAL_BITS == 64 ? 2 * TILE : TILE)
#define SHARED_WORDS (HIST_WORDS > STAGE_WORDS ? HIST_WORDS : STAGE_WORDS)

// Rank `steps` entries per work-item inside their bins: on return slot[k] is the place of entry k in the tile ordered
// by bin; valid entries have bin < WEFT_BINS, others WEFT_BINS. pack[j] gets the first slots of the two bins that this
// work-item owns at index j*WEFT_WG + lid, after[j] the slots behind them. `hist` is local memory of HIST_WORDS,
// `sums` of PACKS*WARPS, `mem` of LANE_MEM uints. Barriers at both ends.
inline void tile_rank(const uint *bin, uint steps, uint *slot, uint *pack, uint *after, __local uint *hist,
                      __local uint *sums, __local uint *mem)
{
    uint lid = (uint)get_local_id(0), warp = lane_group();
    for (uint i = lid; i < HIST_WORDS; i += WEFT_WG)
        hist[i] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    __local ushort *row = (__local ushort *)(hist + warp * PAIRS);
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
        if (k < steps) {
            uint same = lane_match(bin[k], WEFT_BIN_BITS, mem);
            uint below = popcount(same & lane_below());
            bool valid = bin[k] < WEFT_BINS;
            uint before = valid ? (uint)row[bin[k]] : 0u;
            lane_sync();
            if (valid && below == 0u)
                row[bin[k]] = (ushort)(before + popcount(same));
            lane_sync();
            slot[k] = before + below;
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
    WEFT_UNROLL
    for (uint k = 0; k < WEFT_IPT; k++)
        if (k < steps && bin[k] < WEFT_BINS)
            slot[k] += (uint)row[bin[k]];
    barrier(CLK_LOCAL_MEM_FENCE);
}

// base[] of this work-item's bins -= slots (forth) or += slots (back).
inline void base_shift(__local ofs_t *base, const uint *slots, bool forth)
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

// Entry e of part g goes to bin (col >> shift) & mask; the bins begin at bucket_ofs, part g's share at table row g.
// Written at its place: the row, the value, and, where WEFT_KEY_OUT is set, the column & key_mask.
#ifdef WEFT_PARTITION
// `rows` holds row_at of scan_count, or, where WEFT_ROWS_GIVEN is set, the row of each entry (row_ptr is not read).
// val is read unless WEFT_VAL_POSITIONS is set: then positions take its place.
WEFT_KERNEL void scan_partition(__global const ofs_t *row_ptr, __global const idx_t *rows, __global const idx_t *col,
                                __global const bits_t *val, __global const ofs_t *bucket_ofs,
                                __global const ofs_t *table, __global key_t *key_out, __global idx_t *row_out,
                                __global bits_t *val_out, idx_t m, ofs_t nnz, ofs_t part, uint shift, uint mask,
                                uint key_mask, uint nbins)
{
    __local uint shared[SHARED_WORDS] __attribute__((aligned(16)));
    __local ofs_t base[WEFT_BINS];
    __local uint sums[PACKS * WARPS];
    __local uint mem[LANE_MEM];
    __local idx_t *stage = (__local idx_t *)shared;
    uint lid = (uint)get_local_id(0);
    ofs_t g = (ofs_t)get_group_id(0), first = g * part, last = min(nnz, first + part);
    for (uint b = lid; b < WEFT_BINS; b += WEFT_WG)
        base[b] = b < nbins ? bucket_ofs[b] + table[g * (ofs_t)nbins + (ofs_t)b] : 0;

    for (ofs_t tile = first; tile < last; tile += TILE) {
        uint entries = (uint)min(last - tile, (ofs_t)TILE);
        ofs_t mine = tile + (ofs_t)(lane_group() * LANES * WEFT_IPT + lane_id());
        uint bin[WEFT_IPT], slot[WEFT_IPT], pack[PACKS], after[PACKS];
        idx_t c[WEFT_IPT];
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++) {
            ofs_t e = mine + (ofs_t)(k * LANES);
            c[k] = e < last ? col[e] : 0;
            bin[k] = e < last ? ((uint)c[k] >> shift) & mask : WEFT_BINS;
        }
        tile_rank(bin, WEFT_IPT, slot, pack, after, shared, sums, mem);
        base_shift(base, pack, true);
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++)
            if (bin[k] < WEFT_BINS)
                stage[slot[k]] = c[k];
        barrier(CLK_LOCAL_MEM_FENCE);
        ofs_t to[WEFT_IPT];
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++) {
            uint i = k * WEFT_WG + lid;
            if (i < entries) {
                uint key = (uint)stage[i];
                to[k] = base[(key >> shift) & mask] + (ofs_t)i;
#ifdef WEFT_KEY_OUT
                key_out[to[k]] = (key_t)(key & key_mask);
#endif
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#ifdef WEFT_ROWS_GIVEN
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++)
            if (bin[k] < WEFT_BINS)
                stage[slot[k]] = rows[mine + (ofs_t)(k * LANES)];
#else
        if (mine - (ofs_t)lane_id() < last) {
            // The rows of this warp's entries lie between the remembered rows around them.
            ofs_t span = (mine - (ofs_t)lane_id()) / WEFT_SPAN, end = span + (LANES * WEFT_IPT / WEFT_SPAN);
            idx_t lo = rows[span], hi = end * WEFT_SPAN < last ? rows[end] + 1 : m;
            WEFT_UNROLL
            for (uint k = 0; k < WEFT_IPT; k++)
                if (bin[k] < WEFT_BINS) {
                    lo = row_of(row_ptr, lo, hi, mine + (ofs_t)(k * LANES));
                    stage[slot[k]] = lo;
                }
        }
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++) {
            uint i = k * WEFT_WG + lid;
            if (i < entries)
                row_out[to[k]] = stage[i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#if WEFT_VAL_BITS
        __local bits_t *stage_val = (__local bits_t *)shared;
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++)
            if (bin[k] < WEFT_BINS) {
#ifdef WEFT_VAL_POSITIONS
                stage_val[slot[k]] = (bits_t)(mine + (ofs_t)(k * LANES));
#else
                stage_val[slot[k]] = val[mine + (ofs_t)(k * LANES)];
#endif
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++) {
            uint i = k * WEFT_WG + lid;
            if (i < entries)
                val_out[to[k]] = stage_val[i];
        }
#endif
        base_shift(base, after, false);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif

#ifdef WEFT_BUCKET
// Largest b in 0 .. nbins-1 with first[b] <= i.
inline uint bucket_of(__global const uint *first, uint nbins, uint i)
{
    uint lo = 0, hi = nbins;
    while (hi - lo > 1) {
        uint mid = (lo + hi) / 2;
        if (first[mid] <= i)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

// Chunk i of a bucket goes to its final place, by the digit (key >> shift) & (ncols-1) of the columns inside the
// bucket. A bucket of one chunk is counted here; a larger one was counted by bucket_count and bucket_vertical.
// Writes col_ptr (col_ptr[b*ncols + c], n+1 in all) unless WEFT_COL_OUT is set; then the keys, in order, instead.
WEFT_KERNEL void scan_bucket(__global const key_t *key, __global const idx_t *row, __global const bits_t *val,
                             __global const ofs_t *bucket_ofs, __global const uint *chunk_first,
                             __global const uint *large_first, __global const uint *large, __global const uint *nlarge,
                             __global const ofs_t *table, __global const ofs_t *total, __global key_t *col_out,
                             __global ofs_t *col_ptr, __global idx_t *row_out, __global bits_t *val_out, long n,
                             ofs_t chunk, uint nbuckets, uint shift, uint ncols)
{
    __local uint shared[SHARED_WORDS] __attribute__((aligned(16)));
    __local ofs_t base[WEFT_BINS];
    __local uint sums[PACKS * WARPS];
    __local uint mem[LANE_MEM];
    __local idx_t *stage = (__local idx_t *)shared;
    uint lid = (uint)get_local_id(0), mask = ncols - 1u;
    uint chunks = chunk_first[nbuckets];
    for (uint i = (uint)get_group_id(0); i < chunks; i += (uint)get_num_groups(0)) {
        uint b = bucket_of(chunk_first, nbuckets, i), nth = i - chunk_first[b];
        ofs_t from = bucket_ofs[b], first = from + (ofs_t)nth * chunk, last = min(bucket_ofs[b + 1], first + chunk);
        bool alone = chunk_first[b + 1] - chunk_first[b] == 1u;
        bool counted = alone && last - first <= TILE; // the tile's own histogram is the count
        uint pack[PACKS], after[PACKS];

        if (!counted) {
            // Column sums of the bucket: counted now, or found in total; then where each column begins.
            for (uint c = lid; c < WEFT_BINS; c += WEFT_WG)
                shared[c] = 0u;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (alone)
                for (ofs_t e = first + (ofs_t)lid; e < last; e += WEFT_WG)
                    atomic_inc(&shared[((uint)key[e] >> shift) & mask]);
            barrier(CLK_LOCAL_MEM_FENCE);
            uint k = alone ? 0u : bucket_of(large, nlarge[0], b);
            uint at = alone ? 0u : large_first[b] + nth;
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
                if (nth == 0u && (long)b * ncols + c < n)
                    col_ptr[(long)b * ncols + c] = before;
#endif
                base[c] = before + (alone ? 0 : table[(size_t)at * ncols + c]);
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
            uint entries = (uint)min(last - tile, (ofs_t)TILE), steps = (entries + WEFT_WG - 1u) / WEFT_WG;
            ofs_t mine = tile + (ofs_t)(lane_group() * LANES * steps + lane_id());
            uint bin[WEFT_IPT], slot[WEFT_IPT];
            key_t c[WEFT_IPT];
            WEFT_UNROLL
            for (uint k = 0; k < WEFT_IPT; k++) {
                ofs_t e = mine + (ofs_t)(k * LANES);
                bool valid = k < steps && e < last && e < tile + TILE;
                c[k] = valid ? key[e] : (key_t)0;
                bin[k] = valid ? ((uint)c[k] >> shift) & mask : WEFT_BINS;
            }
            tile_rank(bin, steps, slot, pack, after, shared, sums, mem);
            if (counted) {
                WEFT_UNROLL
                for (uint j = 0; j < PACKS; j++) {
                    uint p = 2u * (j * WEFT_WG + lid);
                    base[p] = from;
                    base[p + 1u] = from;
#ifndef WEFT_COL_OUT
                    if (p < ncols && (long)b * ncols + p < n)
                        col_ptr[(long)b * ncols + p] = from + (ofs_t)(pack[j] & 0xffffu);
                    if (p + 1u < ncols && (long)b * ncols + p + 1 < n)
                        col_ptr[(long)b * ncols + p + 1] = from + (ofs_t)(pack[j] >> 16);
#endif
                }
            } else
                base_shift(base, pack, true);
            WEFT_UNROLL
            for (uint k = 0; k < WEFT_IPT; k++)
                if (bin[k] < WEFT_BINS)
                    stage[slot[k]] = (idx_t)c[k];
            barrier(CLK_LOCAL_MEM_FENCE);
            ofs_t to[WEFT_IPT];
            WEFT_UNROLL
            for (uint k = 0; k < WEFT_IPT; k++) {
                uint s = k * WEFT_WG + lid;
                if (s < entries) {
                    to[k] = base[((uint)stage[s] >> shift) & mask] + (ofs_t)s;
#ifdef WEFT_COL_OUT
                    col_out[to[k]] = (key_t)stage[s];
#endif
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            WEFT_UNROLL
            for (uint k = 0; k < WEFT_IPT; k++)
                if (bin[k] < WEFT_BINS)
                    stage[slot[k]] = row[mine + (ofs_t)(k * LANES)];
            barrier(CLK_LOCAL_MEM_FENCE);
            WEFT_UNROLL
            for (uint k = 0; k < WEFT_IPT; k++) {
                uint s = k * WEFT_WG + lid;
                if (s < entries)
                    row_out[to[k]] = stage[s];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
#if WEFT_VAL_BITS
            __local bits_t *stage_val = (__local bits_t *)shared;
            WEFT_UNROLL
            for (uint k = 0; k < WEFT_IPT; k++)
                if (bin[k] < WEFT_BINS)
                    stage_val[slot[k]] = val[mine + (ofs_t)(k * LANES)];
            barrier(CLK_LOCAL_MEM_FENCE);
            WEFT_UNROLL
            for (uint k = 0; k < WEFT_IPT; k++) {
                uint s = k * WEFT_WG + lid;
                if (s < entries)
                    val_out[to[k]] = stage_val[s];
            }
#endif
            if (!counted)
                base_shift(base, after, false);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}
#endif
