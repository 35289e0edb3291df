// SPDX-License-Identifier: Apache-2.0
// The moving kernels of MergeTrans. merge_sort orders tiles of entries by column: the first runs. merge_join merges up
// to WEFT_JOIN neighbouring runs at once; transpose_merge_cut.cl found where each of its tiles begins in every run.
// Source:  Wang et al., ICS 2016, section 3.2: sort blocks of entries, then merge pairs of blocks in rounds. Here many
//          runs are merged in one round, and a merged tile is ordered by a stable radix sort of the few bits in which
//          its columns differ (its parts lie in local memory one behind the other, so stable means: by run).
// Mapping: 1-D; a group takes tiles grp, grp+groups, ... of TILE = wg*ipt entries. Each LANES lanes own LANES*ipt
//          consecutive places of the tile ("slots"), one per lane and step.
// Local:   4*TILE + TILE/8 + 2*BINS*wg/32 bytes; merge_join 2 + TILE/16 + (sizeof ofs)*WEFT_JOIN more.
// Needs:   wg a multiple of 32; ipt 2..32; WEFT_TILE_BITS bits hold TILE-1; WEFT_RADIX_BITS 1..8. Columns below
//          2^(32 - WEFT_TILE_BITS + WEFT_RADIX_BITS), or WEFT_WIDE.
// Gives:   runs (col, row, val) ordered by column, stable. With WEFT_LAST: rows, values and column pointers; columns
//          are dropped, and gaps of WEFT_GAP empty columns or more are left to merge_gaps.
// Order:   exact.

#if !defined(WEFT_WG) || WEFT_WG % 32
#error "WEFT_WG: work-group size, a multiple of 32"
#endif
#if !defined(WEFT_IPT) || WEFT_IPT < 2 || WEFT_IPT > 32
#error "WEFT_IPT: entries per work-item and tile, 2..32"
#endif
#ifndef WEFT_TILE_BITS
#error "WEFT_TILE_BITS: bits that hold 0 .. WEFT_WG*WEFT_IPT-1"
#endif
#if !defined(WEFT_RADIX_BITS) || WEFT_RADIX_BITS < 1 || WEFT_RADIX_BITS > 8
#error "WEFT_RADIX_BITS: bits of one step of the sort, 1..8"
#endif
#if !defined(WEFT_SORT) && !defined(WEFT_JOIN)
#error "WEFT_SORT: this is merge_sort, or WEFT_JOIN: this is merge_join, room for so many runs"
#endif
#ifndef WEFT_GAP
#error "WEFT_GAP: empty columns that make a gap, more than 8*WEFT_WG*WEFT_IPT"
#endif

#define TILE  (WEFT_WG * WEFT_IPT)
#define WARPS (WEFT_WG / 32)
#define BINS  (1 << WEFT_RADIX_BITS)
#define WORDS (TILE / 32) // of a bitmap over the slots
#define POS   ((1u << WEFT_TILE_BITS) - 1u)

// Between the functions below the stage is free: whoever used it last passed a barrier.
struct tile {
    uint stage[TILE]; // exchange of one word per entry; scratch of lane operations
    uint bits[WORDS]; // marks over the slots
    ushort count[WARPS * BINS];
    int least, most;
};

// SLOT(j): slot of this work-item's entry j, in functions that begin with `slot`. What derives from it is not worth a
// register for long.
#define SLOT(j) (slot + (j)*32u)
WEFT_INLINE uint slot_first(void)
{
    uint slot = lane_group() * (32u * WEFT_IPT) + lane_id();
    forget(slot);
    return slot;
}

// value[j] = in[SLOT(j)], or `fill` from slot `count` on.
WEFT_INLINE void tile_load(uint *value, __global const uint *in, uint count, uint fill)
{
    forget(count);
    uint slot = slot_first();
    in += slot;
    if (count == TILE) {
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            value[j] = in[j * 32u];
    } else {
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            value[j] = SLOT(j) < count ? in[j * 32u] : fill;
    }
}
WEFT_INLINE void tile_store(__global uint *out, uint count, const uint *value)
{
    forget(count);
    uint slot = slot_first();
    out += slot;
    if (count == TILE) {
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            out[j * 32u] = value[j];
    } else {
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            if (SLOT(j) < count)
                out[j * 32u] = value[j];
    }
}

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

// Take the smallest key of the tile off each key; returns the bits that hold what is left, at least 1. Keys of slots
// without an entry are all ones before and after.
WEFT_INLINE uint tile_reduce(__local struct tile *x, uint *key)
{
    int least = 0x7fffffff, most = -1;
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++) {
        least = (int)min((uint)least, key[j]);
        most = max(most, (int)key[j]);
    }
    if (get_local_id(0) == 0) {
        x->least = 0x7fffffff;
        x->most = -1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef WEFT_LANES_FAST
    WEFT_UNROLL
    for (uint d = LANES / 2u; d; d >>= 1) {
        least = min(least, (int)lane_get((uint)least, lane_id() ^ d, x->stage));
        most = max(most, (int)lane_get((uint)most, lane_id() ^ d, x->stage));
    }
    if (lane_id() == 0u)
#endif
    {
        atomic_min(&x->least, least);
        atomic_max(&x->most, most);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    least = x->least;
    uint bits = max(32u - clz((uint)(x->most - least)), 1u);
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        key[j] = min(key[j] - (uint)least, (1u << bits) - 1u);
    return bits;
}

// In to[j]: a digit below 2^bits in the upper half. Out: the place of entry j when the tile is ordered by digit, stable.
WEFT_INLINE void tile_rank(__local struct tile *x, uint *to, uint bits)
{
    uint lid = (uint)get_local_id(0), bins = 1u << bits;
    __local ushort *mine = x->count + lane_group() * BINS;
    for (uint i = lid; i < WARPS * BINS / 2; i += WEFT_WG)
        ((__local uint *)x->count)[i] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++) {
        uint digit = to[j] >> 16, same = lane_match(digit, WEFT_RADIX_BITS, x->stage);
        uint before = popcount(same & lane_below()), sum = mine[digit];
        lane_sync();
        if (before == 0u)
            mine[digit] = (ushort)(sum + popcount(same));
        lane_sync();
        to[j] += sum + before;
    }
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
        uint step = min(bits, (uint)WEFT_RADIX_BITS);
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
        uint step = min(bits, (uint)WEFT_RADIX_BITS);
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

// Marks of the slots where something begins: bits and, in the stage, its number. What is in force at a slot is the
// number at the nearest mark at or before it, or `first`.
WEFT_INLINE void marks_clear(__local struct tile *x)
{
    for (uint i = (uint)get_local_id(0); i < WORDS; i += WEFT_WG)
        x->bits[i] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
}
WEFT_INLINE void mark(__local struct tile *x, uint slot, uint number)
{
    x->stage[slot] = number;
    atomic_or(&x->bits[slot >> 5], 1u << (slot & 31u));
}
WEFT_INLINE void marks_read(__local struct tile *x, uint *number, uint first)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    uint word = lane_group() * WEFT_IPT, carry = first;
    for (uint w = word; w > 0u; w--)
        if (x->bits[w - 1u]) {
            carry = x->stage[w * 32u - 1u - clz(x->bits[w - 1u])];
            break;
        }
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++) {
        uint bits = x->bits[word + j], upto = bits & (lane_below() * 2u + 1u), end = (word + j) * 32u + 31u;
        number[j] = upto ? x->stage[end - clz(upto)] : carry;
        carry = bits ? x->stage[end - clz(bits)] : carry;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

#if WEFT_VAL_BITS
// The values val[j], which stand in SLOT(j), go to out in the order of `at`.
WEFT_INLINE void values_store(__local struct tile *x, __global bits_t *out, uint count, const bits_t *val,
                              const uint *at)
{
    uint slot = slot_first();
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

#ifdef WEFT_LAST
// Column pointers of the columns after `before` up to `until` (-1 for the first tile, n for the last): where the first
// entry of that column or a later one is. col[j] are the tile's columns in order.
WEFT_INLINE void pointers_store(__local struct tile *x, __global ofs_t *col_ptr, __global long *gaps, ofs_t base,
                                uint count, const uint *col, long before, long until)
{
    uint slot = slot_first();
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        x->stage[SLOT(j)] = col[j];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (until - before <= 8L * TILE) {
        for (long c = before + 1 + (long)get_local_id(0); c <= until; c += WEFT_WG) {
            uint lo = 0u, hi = count;
            while (lo < hi) {
                uint mid = (lo + hi) / 2u;
                if (x->stage[mid] < (uint)c)
                    lo = mid + 1u;
                else
                    hi = mid;
            }
            col_ptr[c] = base + (ofs_t)lo;
        }
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
#endif

#ifdef WEFT_SORT
#ifndef WEFT_ROWS_GIVEN
// The rows of entries a and b, a <= b, found by the whole group.
WEFT_INLINE void rows_bracket(__local struct tile *x, idx_t *row_a, idx_t *row_b, __global const ofs_t *row_ptr,
                              idx_t m, ofs_t a, ofs_t b)
{
    uint lid = (uint)get_local_id(0);
    uint lo_a = 0u, lo_b = 0u, len_a = (uint)m, len_b = (uint)m;
    do {
        uint step_a = (len_a - 1u) / WEFT_WG + 1u, step_b = (len_b - 1u) / WEFT_WG + 1u;
        ulong at_a = (ulong)lid * step_a, at_b = (ulong)lid * step_b;
        bool in_a = at_a < len_a && row_ptr[lo_a + at_a] <= a, in_b = at_b < len_b && row_ptr[lo_b + at_b] <= b;
        uint sum, found = popcount(lane_ballot(in_a, x->stage)) | popcount(lane_ballot(in_b, x->stage)) << 16;
        if (lane_id() == 0u)
            x->stage[lane_group()] = found;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum = 0u;
        for (uint w = 0; w < WARPS; w++)
            sum += x->stage[w];
        barrier(CLK_LOCAL_MEM_FENCE);
        uint to_a = ((sum & 0xffffu) - 1u) * step_a, to_b = ((sum >> 16) - 1u) * step_b;
        lo_a += to_a;
        lo_b += to_b;
        len_a = min(step_a, len_a - to_a);
        len_b = min(step_b, len_b - to_b);
    } while (max(len_a, len_b) > 1u);
    *row_a = (idx_t)lo_a;
    *row_b = (idx_t)lo_b;
}

// row[j] = row of the entry in SLOT(j) of the tile at `base`.
WEFT_INLINE void rows_find(__local struct tile *x, uint *row, __global const ofs_t *row_ptr, idx_t m, ofs_t base,
                           uint count)
{
    uint slot = slot_first();
    idx_t first, last;
    rows_bracket(x, &first, &last, row_ptr, m, base, base + (ofs_t)count - 1);
    bool few = last - first > 4 * TILE; // mostly empty rows: no marks, a search for each entry
    idx_t stop = few ? first : last;
    marks_clear(x);
    for (idx_t r = first + 1 + (idx_t)get_local_id(0); r <= stop; r += WEFT_WG) {
        ofs_t from = row_ptr[r];
        if (from < row_ptr[r + 1])
            mark(x, (uint)(from - base), (uint)r);
    }
    marks_read(x, row, (uint)first);
    if (few) {
        WEFT_UNROLL
        for (uint j = 0; j < WEFT_IPT; j++)
            row[j] = (uint)row_of(row_ptr, first, last + 1, base + (ofs_t)min(SLOT(j), count - 1u));
    }
}
#endif

// Tiles of the matrix become runs. `rows`: row pointers, or, with WEFT_ROWS_GIVEN, the row of each entry.
#ifdef WEFT_ROWS_GIVEN
typedef uint rows_t;
#else
typedef ofs_t rows_t;
#endif
WEFT_KERNEL void merge_sort(__global const rows_t *rows, __global const uint *col, __global const bits_t *val,
                            __global uint *col_out, __global uint *row_out, __global bits_t *val_out,
                            __global ofs_t *col_ptr, __global long *gaps, idx_t m, idx_t n, ofs_t nnz, ofs_t tiles)
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
// The parts of the runs that make a tile, one behind the other in its slots: bit s of tile.bits is set where a part
// begins; the parts that are not empty are numbered.
struct parts {
    ofs_t from[WEFT_JOIN]; // part: position of its slot 0, were it that long
    ushort before[WORDS];  // word of the bitmap: parts that begin before it
};

// Returns the entries of the tile.
WEFT_INLINE uint parts_find(__local struct tile *x, __local struct parts *p, __global const ofs_t *cuts, uint runs,
                            long start, long length, ofs_t nnz, bool last)
{
    uint lid = (uint)get_local_id(0), carry = 0u, all;
    marks_clear(x);
    uint i = lid;
    do {
        uint size = 0u;
        ofs_t from = 0;
        if (i < runs) {
            from = cuts[i];
            ofs_t to = last ? (ofs_t)min(start + (long)(i + 1u) * length, (long)nnz) : cuts[runs + i];
            size = (uint)max(to - from, (ofs_t)0);
        }
        // One scan for both: slots and parts that are not empty.
        uint place = carry + group_scan(size << 12 | (size != 0u), &all, x->stage);
        if (size) {
            uint slot = place >> 12;
            atomic_or(&x->bits[slot >> 5], 1u << (slot & 31u));
            p->from[place & 0xfffu] = from - (ofs_t)slot;
        }
        carry += all;
        i += WEFT_WG;
    } while (i - lid < runs);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = group_scan(lid < WORDS ? popcount(x->bits[lid]) : 0u, &all, x->stage);
    if (lid < WORDS)
        p->before[lid] = (ushort)before;
    barrier(CLK_LOCAL_MEM_FENCE);
    return carry >> 12;
}

// Position of the entry in a slot.
WEFT_INLINE ofs_t part_position(const __local struct tile *x, const __local struct parts *p, uint slot)
{
    uint word = slot >> 5, upto = x->bits[word] & (2u << (slot & 31u)) - 1u;
    return p->from[p->before[word] + popcount(upto) - 1u] + (ofs_t)slot;
}
// value[j] = the entry in SLOT(j), or `fill` from slot `count` on.
WEFT_INLINE void parts_load(const __local struct tile *x, const __local struct parts *p, uint *value,
                            __global const uint *in, uint count, uint fill)
{
    uint slot = slot_first();
    forget(count);
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++) {
        uint found = in[part_position(x, p, min(SLOT(j), count - 1u))];
        value[j] = SLOT(j) < count ? found : fill;
    }
}

// Groups of `runs` runs of `length` entries become one run each. cuts[t*runs + i]: where tile t begins in run i of its
// group; first[t]: its first column.
WEFT_KERNEL void merge_join(__global const uint *col, __global const uint *row, __global const bits_t *val,
                            __global uint *col_out, __global uint *row_out, __global bits_t *val_out,
                            __global const ofs_t *cuts, __global const idx_t *first, __global ofs_t *col_ptr,
                            __global long *gaps, idx_t n, ofs_t nnz, ofs_t tiles, uint runs, long length)
{
    __local struct tile x;
    __local struct parts p;
    long per_group = length / TILE * runs;
    ofs_t t = (ofs_t)get_group_id(0);
    do {
        ofs_t base = t * TILE;
        bool last = t + 1 == tiles || (t + 1) % per_group == 0;
        uint value[WEFT_IPT], at[WEFT_IPT];
        uint count =
            parts_find(&x, &p, cuts + (size_t)t * runs, runs, t / per_group * per_group * TILE, length, nnz, last);
        parts_load(&x, &p, at, col, count, 0xffffffffu);
        uint bits = tile_reduce(&x, at);
        tile_sort(&x, at, bits);
        parts_load(&x, &p, value, col, count, 0u);
        tile_gather(&x, value, at);
#ifdef WEFT_LAST
        pointers_store(&x, col_ptr, gaps, base, count, value, t ? first[t] : -1, t + 1 < tiles ? first[t + 1] : n);
#else
        tile_store(col_out + base, count, value);
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
