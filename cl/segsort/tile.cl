// SPDX-License-Identifier: Apache-2.0
// Sort segments, stable, with payload. segsort_tile orders tiles by (segment, key): the first runs. segsort_join merges
// up to WEFT_JOIN neighbouring runs at once; segsort/cut.cl found where each of its tiles begins in every run.
// Source:  radix sort of a tile by ranks of digits, M. Zagha, G. Blelloch, SC'91; runs merged by exact cuts as in
//          transpose/merge_tile.cl.
// Mapping: 1-D; a group takes tiles grp, grp+groups, ... of TILE elements. The positions 0..n-1 are cut in chunks of
//          `chunk`, a chunk in per_chunk tiles; no segment crosses a chunk, and runs are merged inside one.
// Local:   struct tile, struct marks; segsort_join struct pieces as well.
// Needs:   WEFT_OFFSETS: segments by offsets (size segments+1), chunk == n; else blocks of `block` elements, and a chunk is
//          one block of more than TILE elements, or as many blocks as fit in TILE.
// Gives:   runs, of one tile or of `runs` runs each. Output may be input in segsort_tile.
// Order:   exact.

#if !defined(WEFT_KEY_T) || !defined(WEFT_KEY_BITS) || !defined(WEFT_KEY_SIGNED) || !defined(WEFT_VAL_BITS)
#error                                                                                                                 \
    "WEFT_KEY_T: type of a key, of WEFT_KEY_BITS 32 or 64, WEFT_KEY_SIGNED 0 or 1; WEFT_VAL_BITS: of a payload, 0, 32 or 64"
#endif
#ifndef WEFT_OFFSETS
#error "WEFT_OFFSETS: 1 segments by offsets, 0 blocks of one length"
#endif
#if WEFT_IPT < 2 || WEFT_IPT > 32
#error "WEFT_IPT: 2..32"
#endif
#if !defined(WEFT_RADIX_BITS) || WEFT_RADIX_BITS < 1 || WEFT_RADIX_BITS > 8
#error "WEFT_RADIX_BITS: bits of one step of the sort, 1..8"
#endif

#if WEFT_KEY_BITS == 64
typedef ulong key_t; // as an unsigned number in the same order
#else
typedef uint key_t;
#endif
#define SIGN ((key_t)WEFT_KEY_SIGNED << (WEFT_KEY_BITS - 1))

#define BINS (1 << WEFT_RADIX_BITS)

// Slots where something begins.
struct marks {
    uint bits[WORDS];
    ushort before[WORDS]; // marks before the word, once they are counted
};

// Between the functions below the stage is free: whoever used it last passed a barrier.
struct tile {
    uint stage[TILE]; // exchange of one word per entry; scratch of lane operations
    struct marks marks;
    ushort count[WARPS * BINS];
    uint least, most;
};

// value[j] = what stands in slot at[j], when value[j] stands in SLOT(j).
WEFT_INLINE void tile_gather(__local struct tile *x, uint *value, const uint *at)
{
    uint slot = slot_first();
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        x->stage[SLOT(j)] = value[j];
    barrier(CLK_LOCAL_MEM_FENCE);
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        value[j] = x->stage[at[j]];
    barrier(CLK_LOCAL_MEM_FENCE);
}
// value[j] = what goes to SLOT(j), when value[j] goes to slot `to[j]`.
WEFT_INLINE void tile_scatter(__local struct tile *x, uint *value, const uint *to)
{
    uint slot = slot_first();
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        x->stage[to[j]] = value[j];
    barrier(CLK_LOCAL_MEM_FENCE);
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        value[j] = x->stage[SLOT(j)];
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Add to to[j] how many entries with the same digit, below 2^bits, stand before it among those of its lane group; all
// of them are counted in mine[digit]. `bits` is a literal.
WEFT_INLINE void slots_count(__local struct tile *x, __local ushort *mine, uint *to, uint bits)
{
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++) {
        uint digit = to[j] >> 16, same = lane_match(digit, bits, x->stage);
        uint before = popcount(same & lane_below()), sum = mine[digit];
        lane_sync();
        if (before == 0u)
            mine[digit] = (ushort)(sum + popcount(same));
        lane_sync();
        to[j] += sum + before;
    }
}

// In to[j]: a digit below 2^bits in the upper half. Out: the place of entry j when the tile is ordered by digit, stable.
WEFT_INLINE void slots_rank(__local struct tile *x, uint *to, uint bits)
{
    uint lid = (uint)get_local_id(0), bins = 1u << bits;
    __local ushort *mine = x->count + lane_group() * BINS;
    for (uint i = lid; i < WARPS * BINS / 2; i += WEFT_WG)
        ((__local uint *)x->count)[i] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef WEFT_LANES_FAST
    // A copy for each width that saves ballots.
    if (bits <= 5u)
        slots_count(x, mine, to, 5u);
    else if (bits == 6u)
        slots_count(x, mine, to, 6u);
    else if (bits == 7u)
        slots_count(x, mine, to, 7u);
    else
#endif
        slots_count(x, mine, to, WEFT_RADIX_BITS);
    barrier(CLK_LOCAL_MEM_FENCE);
    // Counts become places: by digit, then by lane group.
    uint carry = 0u, b = lid;
    do {
        uint sum = 0u, all;
        if (b < bins)
            for (uint w = 0; w < WARPS; w++)
                sum += x->count[w * BINS + b];
        uint run = carry + group_scan(sum, &all, x->stage);
        if (b < bins)
            for (uint w = 0; w < WARPS; w++) {
                uint here = x->count[w * BINS + b];
                x->count[w * BINS + b] = (ushort)run;
                run += here;
            }
        carry += all;
        b += WEFT_WG;
    } while (b - lid < bins);
    barrier(CLK_LOCAL_MEM_FENCE);
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        to[j] = (to[j] & 0xffffu) + mine[to[j] >> 16];
}

WEFT_INLINE void marks_clear(__local struct marks *m)
{
    for (uint i = (uint)get_local_id(0); i < WORDS; i += WEFT_WG)
        m->bits[i] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
}
WEFT_INLINE void mark(__local struct marks *m, uint slot)
{
    atomic_or(&m->bits[slot >> 5], 1u << (slot & 31u));
}
// After the last mark: count them. Returns how many there are.
WEFT_INLINE uint marks_count(__local struct tile *x, __local struct marks *m)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    uint lid = (uint)get_local_id(0), all;
    uint before = group_scan(lid < WORDS ? popcount(m->bits[lid]) : 0u, &all, x->stage);
    if (lid < WORDS)
        m->before[lid] = (ushort)before;
    barrier(CLK_LOCAL_MEM_FENCE);
    return all;
}
// Marks at or before a slot.
WEFT_INLINE uint marks_upto(const __local struct marks *m, uint slot)
{
    return m->before[slot >> 5] + popcount(m->bits[slot >> 5] & ((2u << (slot & 31u)) - 1u));
}

#if WEFT_VAL_BITS
// The values val[j], which stand in SLOT(j), go to out in the order of `at`.
WEFT_INLINE void values_store(__local struct tile *x, __global bits_t *out, uint count, const bits_t *val,
                              const uint *at)
{
    uint low[WEFT_IPT];
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        low[j] = (uint)val[j];
    tile_gather(x, low, at);
#if WEFT_VAL_BITS == 64
    uint high[WEFT_IPT];
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        high[j] = (uint)(val[j] >> 32);
    tile_gather(x, high, at);
    uint slot = slot_first();
    out += slot;
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        if (SLOT(j) < count)
            out[j * 32u] = (ulong)high[j] << 32 | low[j];
#else
    tile_store(out, count, low);
#endif
}
#endif

#ifdef WEFT_JOIN
// The pieces of the runs that make a tile, one behind the other in its slots. x->marks has where they begin; those that
// are not empty are numbered.
struct pieces {
    ofs_t from[WEFT_JOIN]; // piece: position of its slot 0, were it that long
};

// Piece i lies from cuts[i] to cuts[runs + i], or, in the `last` tile of its group, to the end of the run: the runs have
// `length` entries from `start` on, and end at `stop`. Returns the entries of the tile; *number: of pieces.
WEFT_INLINE uint pieces_find(__local struct tile *x, __local struct pieces *p, uint *number, __global const ofs_t *cuts,
                             uint runs, long start, long length, long stop, bool last)
{
    uint i = (uint)get_local_id(0), carry = 0u, all;
    marks_clear(&x->marks);
    do {
        uint size = 0u;
        ofs_t from = 0;
        if (i < runs) {
            from = cuts[i];
            ofs_t to = last ? (ofs_t)min(start + (long)(i + 1u) * length, stop) : cuts[runs + i];
            size = (uint)max(to - from, (ofs_t)0);
        }
        // One scan for both: slots and pieces that are not empty.
        uint place = carry + group_scan(size << 12 | (size != 0u), &all, x->stage);
        if (size) {
            mark(&x->marks, place >> 12);
            p->from[place & 0xfffu] = from - (ofs_t)(place >> 12);
        }
        carry += all;
        i += WEFT_WG;
    } while (i - (uint)get_local_id(0) < runs);
    *number = marks_count(x, &x->marks);
    return carry >> 12;
}

// Position of the entry in a slot.
WEFT_INLINE ofs_t piece_position(const __local struct tile *x, const __local struct pieces *p, uint slot)
{
    return p->from[marks_upto(&x->marks, slot) - 1u] + (ofs_t)slot;
}
#endif

// Which tile this is: positions base .. base+count-1 of the chunk that ends at `stop`; `nth` counts tiles in the chunk.
struct where {
    long base, start, stop, nth;
    uint count;
};
WEFT_INLINE struct where where_of(long t, long n, long chunk, long per_chunk)
{
    struct where w;
    long c = t / per_chunk;
    w.start = c * chunk;
    w.nth = t - c * per_chunk; // not %: beside / it becomes an instruction that memory checkers do not know
    w.stop = min(w.start + chunk, n);
    w.base = w.start + w.nth * TILE;
    w.count = (uint)clamp(w.stop - w.base, 0L, (long)TILE);
    return w;
}

// Mark where segments begin after `base`; returns how many do.
WEFT_INLINE uint segments_mark(__local struct tile *x, __local struct marks *segs, __global const ofs_t *offsets,
                               long segments, long block, long base, uint count)
{
    uint lid = (uint)get_local_id(0);
#if WEFT_OFFSETS
    idx_t first, last;
    rows_bracket(&first, &last, offsets, (idx_t)segments, (ofs_t)base, (ofs_t)base + (ofs_t)max(count, 1u) - 1,
                 x->stage, x->stage);
    marks_clear(segs);
    if (last - first > 4 * TILE) { // mostly empty: a search for each slot
        for (uint s = 1u + lid; s < count; s += WEFT_WG) {
            idx_t r = row_of(offsets, first, last + 1, (ofs_t)base + (ofs_t)s);
            if (offsets[r] == (ofs_t)base + (ofs_t)s)
                mark(segs, s);
        }
    } else {
        for (uint r = (uint)first + 1u + lid; r <= (uint)last; r += WEFT_WG)
            if (offsets[r] > (ofs_t)base)
                mark(segs, (uint)(offsets[r] - (ofs_t)base));
    }
#else
    marks_clear(segs);
    if (block <= TILE)
        for (uint s = (uint)block * (1u + lid); s < count; s += (uint)block * WEFT_WG)
            mark(segs, s);
#endif
    return marks_count(x, segs);
}

// Segment of the element at a position, counted from that of the tile's first slot. Elements of the tile come from the
// segments that it covers; where one crosses its ends, from outside as well.
WEFT_INLINE uint segment_of(const __local struct marks *segs, uint number, long base, uint count, long position)
{
    return position < base ? 0u : position >= base + count ? number : marks_upto(segs, (uint)(position - base));
}

// Elements of a tile in registers: SLOT(j) has the key's words, as an unsigned number, and the segment.
struct element {
    uint low[WEFT_IPT];
#if WEFT_KEY_BITS == 64
    uint high[WEFT_IPT];
#endif
    uint segment[WEFT_IPT];
};

// Bits of a word in which the tile's first `count` elements differ: the lowest one in the low half of the result, behind
// the highest one in the upper half; 0 when there are none.
WEFT_INLINE uint word_range(__local struct tile *x, const uint *word, uint count)
{
    uint slot = slot_first(), ones = 0u, zeros = 0u;
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        if (SLOT(j) < count) {
            ones |= word[j];
            zeros |= ~word[j];
        }
    if (get_local_id(0) == 0)
        x->least = x->most = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef WEFT_LANES_FAST
    WEFT_UNROLL
    for (uint d = LANES / 2u; d; d >>= 1) {
        ones |= lane_get(ones, lane_id() ^ d, x->stage);
        zeros |= lane_get(zeros, lane_id() ^ d, x->stage);
    }
    if (lane_id() == 0u)
#endif
    {
        atomic_or(&x->least, ones);
        atomic_or(&x->most, zeros);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint differ = x->least & x->most;
    barrier(CLK_LOCAL_MEM_FENCE);
    return differ ? popcount(~differ & (differ - 1u)) | (32u - clz(differ)) << 16 : 0u;
}

// at[j] = slot whose element comes to SLOT(j) when the first `count` elements are ordered, stable, by segment (0 .. last)
// and key. Later slots stay behind them. Nothing moves when the tile is known to be sorted.
WEFT_INLINE void tile_order(__local struct tile *x, uint *at, const struct element *e, uint count, uint last,
                            bool sorted)
{
    // Digits are taken from the low word, the high word, the segment, where they are not the same in all elements.
    uint slot = slot_first(), word = 0u;
    uint low = word_range(x, e->low, sorted ? 0u : count), high = 0u;
#if WEFT_KEY_BITS == 64
    high = word_range(x, e->high, sorted ? 0u : count);
#endif
    uint segment = sorted ? 0u : (32u - clz(last)) << 16, from = low & 0xffffu, end = low >> 16;
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        at[j] = SLOT(j);
    do {
        while (from == end && word < 2u) {
            uint range = ++word == 1u ? high : segment;
            from = range & 0xffffu;
            end = range >> 16;
        }
        uint step = min(end - from, (uint)WEFT_RADIX_BITS), mask = (1u << step) - 1u, to[WEFT_IPT];
        forget(slot);
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++) {
            uint value = word == 0u ? e->low[j] : e->segment[j];
#if WEFT_KEY_BITS == 64
            value = word == 1u ? e->high[j] : value;
#endif
            to[j] = SLOT(j) < count ? (value >> from & mask) << 16 : mask << 16;
        }
        tile_gather(x, to, at);
        slots_rank(x, to, step);
        tile_scatter(x, at, to);
        from += step;
    } while (from < end || (word < 1u && high) || (word < 2u && segment));
}

WEFT_INLINE void element_set(struct element *e, uint j, key_t key, uint segment)
{
    key ^= SIGN;
    e->low[j] = (uint)key;
#if WEFT_KEY_BITS == 64
    e->high[j] = (uint)(key >> 32);
#endif
    e->segment[j] = segment;
}

// out[0 .. count-1] = keys in the order of `at`.
WEFT_INLINE void keys_store(__local struct tile *x, __global key_t *out, uint count, struct element *e, const uint *at)
{
    uint slot = slot_first();
    tile_gather(x, e->low, at);
#if WEFT_KEY_BITS == 64
    tile_gather(x, e->high, at);
#endif
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        if (SLOT(j) < count)
#if WEFT_KEY_BITS == 64
            out[SLOT(j)] = ((ulong)e->high[j] << 32 | e->low[j]) ^ SIGN;
#else
            out[SLOT(j)] = e->low[j] ^ SIGN;
#endif
}

#ifdef WEFT_SORT
// Order each tile by segment and key: the first runs.
WEFT_KERNEL void segsort_tile(__global const key_t *key, __global const bits_t *val, __global key_t *key_out,
                              __global bits_t *val_out, __global const ofs_t *offsets, long segments, long n,
                              long chunk, long per_chunk, long block, long tiles)
{
    __local struct tile x;
    __local struct marks segs;
    long t = (long)get_group_id(0);
    do {
        struct where w = where_of(t, n, chunk, per_chunk);
        uint last = segments_mark(&x, &segs, offsets, segments, block, w.base, w.count), at[WEFT_IPT];
        uint slot = slot_first(), end = max(w.count, 1u) - 1u;
        struct element e;
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            element_set(&e, j, w.count ? key[w.base + min(SLOT(j), end)] : 0, marks_upto(&segs, SLOT(j)));
#if WEFT_VAL_BITS
        bits_t v[WEFT_IPT];
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            v[j] = w.count ? val[w.base + min(SLOT(j), end)] : 0;
#endif
        tile_order(&x, at, &e, w.count, last, false);
        if (key_out == key) // in place: all was read
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        keys_store(&x, key_out + w.base, w.count, &e, at);
#if WEFT_VAL_BITS
        values_store(&x, val_out + w.base, w.count, v, at);
#endif
        t += (long)get_num_groups(0);
    } while (t < tiles);
}
#endif

#ifdef WEFT_JOIN
// Groups of `runs` runs of `length` elements become one run each. cuts[t*runs + i]: where tile t begins in run i of its
// group.
WEFT_KERNEL void segsort_join(__global const key_t *key, __global const bits_t *val, __global key_t *key_out,
                              __global bits_t *val_out, __global const ofs_t *offsets, __global const ofs_t *cuts,
                              long segments, long n, long chunk, long per_chunk, long block, long tiles, uint runs,
                              long length)
{
    __local struct tile x;
    __local struct pieces p;
    __local struct marks segs;
    long per_group = length / TILE * runs, t = (long)get_group_id(0);
    do {
        struct where w = where_of(t, n, chunk, per_chunk);
        uint number, last = segments_mark(&x, &segs, offsets, segments, block, w.base, w.count), at[WEFT_IPT];
        long group = w.nth / per_group * per_group, start = w.start + group * TILE;
        bool final = w.nth + 1 == per_chunk || w.nth + 1 == group + per_group;
        pieces_find(&x, &p, &number, cuts + (size_t)t * runs, runs, start, length, w.stop, final);
        uint slot = slot_first(), end = max(w.count, 1u) - 1u;
        struct element e;
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++) {
            long from = w.count ? (long)piece_position(&x, &p, min(SLOT(j), end)) : 0;
            element_set(&e, j, w.count ? key[from] : 0, segment_of(&segs, last, w.base, w.count, from));
        }
        tile_order(&x, at, &e, w.count, last, number <= 1u);
        keys_store(&x, key_out + w.base, w.count, &e, at);
#if WEFT_VAL_BITS
        bits_t v[WEFT_IPT];
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            v[j] = w.count ? val[piece_position(&x, &p, min(SLOT(j), end))] : 0;
        values_store(&x, val_out + w.base, w.count, v, at);
#endif
        t += (long)get_num_groups(0);
    } while (t < tiles);
}
#endif
