// SPDX-License-Identifier: Apache-2.0
// One pass of the sort of a whole array: move its elements, in stable order, to the bins of a digit.
// Source:  A. Adinets, D. Merrill, Onesweep: a faster least significant digit radix sort for GPUs, arXiv 2206.01784: tiles
//          look back, bin by bin, at what the tiles before them have published. Different: waits end.
// Mapping: 1-D; a group moves a tile of TILE elements: it ranks them inside their bins, orders them in local memory, writes
//          each bin's run at once. Each 32 lanes own 32*ipt consecutive elements, one per lane and step.
//          WEFT_CHAINED: a tile for each group (devices begin groups in order, as a rule, and then the tiles before it are
//          done or with groups that run), and `words` holds what tiles publish; else `words` is the table of
//          segsort/count.cl, and groups take tiles grp, grp+groups, ...
// Words:   for each tile and bin one, with what a reader needs at once: a state of two bits above, below how many elements of
//          the bin the tile has (OWN), or how many there are through its end, and in the bins before (THROUGH). Passes use
//          two sets of them in turn, and clear the other.
// Waits:   no longer than SPIN looks at a tile, and the next time than SPIN_AGAIN. Then the group counts that tile itself, as
//          nothing is written here that is read, and publishes the counts for it.
// Local:   max(2*wg/32 << WEFT_RADIX_BITS, TILE*(bytes of the stage)) + (sizeof position) << WEFT_RADIX_BITS, and a few words.
// Needs:   pass k of segsort/radix.clh, else nothing is done; TILE at most 32768; chained: n < 2^30, words[0 ..
//          tiles << WEFT_RADIX_BITS] zero before the first pass.
// Order:   exact.

#if !defined(WEFT_VAL_BITS)
#error "WEFT_VAL_BITS: of a payload, 0, 32 or 64"
#endif
#if !defined(WEFT_IPT) || WEFT_IPT < 2 || WEFT_IPT > 32
#error "WEFT_IPT: elements per work-item and tile, 2..32"
#endif
#ifndef WEFT_JOINED
#error "WEFT_JOINED: 1 key and payload, of 32 bits each, are ordered as one word; 0 one after the other"
#endif
#ifndef WEFT_CHAINED
#error "WEFT_CHAINED: 1 tiles look back, 0 there is a table"
#endif
#if WEFT_CHAINED && (!defined(WEFT_LOOK) || WEFT_LOOK < 1 || WEFT_LOOK > 32)
#error "WEFT_LOOK: tiles that a work-item looks at at once, 1..32"
#endif

#define WARPS      (WEFT_WG / 32)
#define TILE       (WEFT_WG * WEFT_IPT)
#define HIST_WORDS (WARPS * BINS / 2u)
#if WEFT_JOINED || WEFT_KEY_BITS == 64 || WEFT_VAL_BITS == 64
#define STAGE_WORDS (2u * TILE)
#else
#define STAGE_WORDS TILE
#endif
#define SHARED_WORDS (HIST_WORDS > STAGE_WORDS ? HIST_WORDS : STAGE_WORDS)

// SLOT(j): slot of this work-item's element j as it is loaded; OUT(j): as it is written.
#define SLOT(j) (slot + (j)*32u)
#define OUT(j)  (lid + (j)*WEFT_WG)

// What a group keeps in local memory.
struct keep {
    uint shared[SHARED_WORDS]; // counts of the bins by 32 lanes, as ushort; then the tile in order
    pos_t base[BINS];          // where the tile's slot 0 would go, were it of the bin
    uint sums[WARPS];
#if WEFT_CHAINED
    uint count[BINS]; // of a tile that says nothing
    uint late;
#endif
};

#if WEFT_CHAINED
typedef uint word_t;
enum { NOTHING, OWN, THROUGH };
#define WORD(kind, count) ((uint)(kind) << 30 | (count))
#define KIND(word)        ((word) >> 30)
#define COUNT(word)       ((word)&0x3fffffffu)

// WEFT_STUCK, in tests: one of so many tiles publishes nothing, and waits are short.
#ifdef WEFT_STUCK
#define SPIN        3u
#define SPIN_AGAIN  2u
#define stuck(tile) ((tile) % WEFT_STUCK == 1u)
#else
#define SPIN        4096u
#define SPIN_AGAIN  16u
#define stuck(tile) false
#endif

WEFT_INLINE uint word_read(volatile __global uint *p)
{
#ifdef WEFT_LANES_PTX
    uint out;
    __asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(out) : "l"(p) : "memory");
    return out;
#else
    return atomic_or(p, 0u);
#endif
}
WEFT_INLINE void word_write(volatile __global uint *p, uint v)
{
#ifdef WEFT_LANES_PTX
    __asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
#else
    atomic_xchg(p, v);
#endif
}

// Add to *sum what tiles before *at have published of a bin, as far as it goes; *at: the first tile that is in the sum, 0
// when all tiles and bins before are. words: of the bin in tile 0.
WEFT_INLINE void look(uint *sum, uint *at, volatile __global uint *words, uint spin)
{
    uint in_vain = 0u;
    while (*at && in_vain < spin) {
        uint w[WEFT_LOOK], now = *at;
        bool on = true;
#pragma unroll
        for (uint i = 0; i < WEFT_LOOK; i++)
            w[i] = word_read(words + (max(now, i + 1u) - i - 1u) * BINS);
#pragma unroll
        for (uint i = 0; i < WEFT_LOOK; i++) {
            on = on && KIND(w[i]) != NOTHING;
            *sum += on ? COUNT(w[i]) : 0u;
            now = on ? (KIND(w[i]) == THROUGH ? 0u : now - 1u) : now;
            on = on && KIND(w[i]) != THROUGH;
        }
        in_vain += now == *at ? 1u : 0u;
        *at = now;
    }
}

// Where the tile's elements of each bin begin, less the slots of the bins -> x->base, and their ends are published. Ends with
// a barrier.
WEFT_INLINE void look_back(__local struct keep *x, uint tile, volatile __global uint *words, const uint *total,
                           const uint *start, __global const key_t *from, __global const uint *bases, uint shift,
                           uint mask)
{
    const uint lid = (uint)get_local_id(0);
    uint sum[PER], at[PER], late, spin = SPIN;
#pragma unroll
    for (uint j = 0; j < PER; j++) {
        bool mine = OWN_BIN + j < BINS;
        sum[j] = mine && tile == 0u ? bases[OWN_BIN + j] : 0u;
        at[j] = mine ? tile : 0u;
    }
    do {
#pragma unroll
        for (uint j = 0; j < PER; j++) {
            const uint b = OWN_BIN + j;
            if (b < BINS) {
                look(&sum[j], &at[j], words + b, spin);
                if (at[j] == 0u) {
                    if (!stuck(tile) && tile)
                        word_write(words + tile * BINS + b, WORD(THROUGH, sum[j] + total[j]));
                    x->base[b] = sum[j] - start[j];
                } else
                    atomic_max(&x->late, at[j]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        late = x->late;
        if (late) { // count the last tile that somebody waits for
            __global const key_t *silent = from + (late - 1u) * TILE;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint b = lid; b < BINS; b += WEFT_WG)
                x->count[b] = 0u;
            if (lid == 0u)
                x->late = 0u;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = lid; i < TILE; i += WEFT_WG)
                atomic_inc(&x->count[digit_of(silent[i], shift, mask)]);
            barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
            for (uint j = 0; j < PER; j++) {
                const uint b = OWN_BIN + j;
                if (b < BINS) {
                    const uint counted = x->count[b] + (late == 1u ? bases[b] : 0u);
                    word_write(words + (late - 1u) * BINS + b, WORD(late == 1u ? THROUGH : OWN, counted));
                    if (at[j] == late) {
                        at[j]--;
                        sum[j] += counted;
                    }
                }
            }
            spin = SPIN_AGAIN;
        }
    } while (late);
}
#else
typedef pos_t word_t;
#endif

// Rank the elements of each 32 lanes inside their bins: x[j] gets the bin above, below how many of it are before element j;
// row[] how many there are of each.
WEFT_INLINE void lanes_rank(uint *x, const key_t *key, uint shift, uint mask, __local ushort *row, __local uint *mem)
{
    const uint below = lane_below(), above = ~(2u * below + 1u);
    for (uint i = lane_id(); i < BINS / 8u; i += LANES)
        ((__local uint4 *)row)[i] = (uint4)(0u);
    lane_sync();
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++) {
        uint bin = digit_of(key[j], shift, mask), same = lane_match(bin, WEFT_RADIX_BITS, mem);
        uint rank = row[bin] + popcount(same & below);
        lane_sync();
        if ((same & above) == 0u)
            row[bin] = (ushort)(rank + 1u);
        lane_sync();
        x[j] = bin << 16 | rank;
        forget(x[j]);
    }
}

// Move one tile of `count` elements, TILE of them where it is full.
WEFT_INLINE void move_tile(const bool full, uint tile, uint count, __global const key_t *key_from,
                           __global const bits_t *val_from, __global key_t *key_to, __global bits_t *val_to,
                           __global const uint *bases, __global word_t *words, uint tiles, uint k, uint shift,
                           uint mask, __local struct keep *x, __local uint *mem)
{
    uint lid = (uint)get_local_id(0), slot = lane_group() * (32u * WEFT_IPT) + lane_id();
    __local ushort *rows = (__local ushort *)x->shared, *row = rows + lane_group() * BINS;
    key_t key[WEFT_IPT];
    uint at[WEFT_IPT], total[PER], start[PER];
    __global const key_t *here = key_from + (size_t)tile * TILE + slot;
    forget(count);
    // What is not there ranks behind what is: in the last bin, after it.
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        key[j] = full || SLOT(j) < count ? here[j * 32u] : (key_t)-1 ^ SIGN;
    lanes_rank(at, key, shift, mask, row, mem);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0u, all;
#pragma unroll
    for (uint j = 0; j < PER; j++) {
        const uint b = OWN_BIN + j;
        total[j] = 0u;
        if (b < BINS) {
#pragma unroll
            for (uint w = 0; w < WARPS; w++)
                total[j] += rows[w * BINS + b];
#if WEFT_CHAINED
            volatile __global uint *set = words + (k & 1u) * tiles * BINS, *other = words + (~k & 1u) * tiles * BINS;
            if (!stuck(tile))
                word_write(set + tile * BINS + b, tile ? WORD(OWN, total[j]) : WORD(THROUGH, bases[b] + total[j]));
            other[tile * BINS + b] = 0u;
#endif
        }
        own += total[j];
    }
#if WEFT_VAL_BITS
    bits_t val[WEFT_IPT];
    forget(slot);
    forget(count);
    __global const bits_t *there = val_from + (size_t)tile * TILE + slot;
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        val[j] = full || SLOT(j) < count ? there[j * 32u] : 0;
#endif
    // Slots where bins begin, and where those of each 32 lanes do.
    uint run = lane_scan(own, &all, mem);
    if (lane_id() == 0u)
        x->sums[lane_group()] = all;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint w = 0; w < WARPS; w++)
        run += w < lane_group() ? x->sums[w] : 0u;
#pragma unroll
    for (uint j = 0; j < PER; j++) {
        const uint b = OWN_BIN + j;
        start[j] = run;
        if (b < BINS) {
#pragma unroll
            for (uint w = 0; w < WARPS; w++) {
                const uint here_too = rows[w * BINS + b];
                rows[w * BINS + b] = (ushort)run;
                run += here_too;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++) {
        forget(at[j]);
        at[j] = (at[j] & 0xffffu) + row[at[j] >> 16];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if WEFT_JOINED
    __local ulong *stage = (__local ulong *)x->shared;
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        stage[at[j]] = (ulong)val[j] << 32 | key[j];
#else
    __local key_t *stage = (__local key_t *)x->shared;
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        stage[at[j]] = key[j];
#endif
#if WEFT_CHAINED
    look_back(x, tile, words + (k & 1u) * tiles * BINS, total, start, key_from, bases, shift, mask);
#else
#pragma unroll
    for (uint j = 0; j < PER; j++)
        if (OWN_BIN + j < BINS)
            x->base[OWN_BIN + j] = words[(size_t)(OWN_BIN + j) * tiles + tile] - start[j];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    forget(lid);
    forget(count);
#if WEFT_JOINED
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        if (full || OUT(j) < count) {
            const ulong both = (stage + lid)[j * WEFT_WG];
            const pos_t to = x->base[digit_of((uint)both, shift, mask)] + OUT(j);
            key_to[to] = (uint)both;
            val_to[to] = (uint)(both >> 32);
        }
#else
    pos_t to[WEFT_IPT];
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        if (full || OUT(j) < count) {
            const key_t moved = (stage + lid)[j * WEFT_WG];
            to[j] = x->base[digit_of(moved, shift, mask)] + OUT(j);
            key_to[to[j]] = moved;
        }
#if WEFT_VAL_BITS
    barrier(CLK_LOCAL_MEM_FENCE);
    __local bits_t *stage_val = (__local bits_t *)x->shared;
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        stage_val[at[j]] = val[j];
    barrier(CLK_LOCAL_MEM_FENCE);
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT; j++)
        if (full || OUT(j) < count)
            val_to[to[j]] = (stage_val + lid)[j * WEFT_WG];
#endif
#endif
}

WEFT_KERNEL void segsort_move(__global const key_t *key, __global const bits_t *val, __global key_t *key_out,
                              __global bits_t *val_out, __global key_t *key_tmp, __global bits_t *val_tmp,
                              __global uint *state, __global word_t *words, long n, uint k, uint tiles)
{
    __local struct keep x __attribute__((aligned(16)));
    LANE_MEMORY(uint, mem);
    if (k < state[PASSES]) {
        const struct pass p = pass_of(state, k);
        __global const key_t *key_from = k == 0u ? key : p.from_tmp ? key_tmp : key_out;
        __global const bits_t *val_from = k == 0u ? val : p.from_tmp ? val_tmp : val_out;
        __global key_t *key_to = p.to_tmp ? key_tmp : key_out;
        __global bits_t *val_to = p.to_tmp ? val_tmp : val_out;
        __global const uint *bases = state + BASES(k);
#if WEFT_CHAINED
        const uint tile = (uint)get_group_id(0);
        if (get_local_id(0) == 0)
            x.late = 0u; // barriers come before anyone looks
#else
        for (uint tile = (uint)get_group_id(0); tile < tiles; tile += (uint)get_num_groups(0))
#endif
        {
            uint count = (uint)min(n - (long)tile * TILE, (long)TILE);
#ifdef WEFT_LANES_FAST // else barriers make two copies of the tile expensive to compile
            if (count == TILE)
                move_tile(true, tile, count, key_from, val_from, key_to, val_to, bases, words, tiles, k, p.shift,
                          p.mask, &x, mem);
            else
#endif
                move_tile(false, tile, count, key_from, val_from, key_to, val_to, bases, words, tiles, k, p.shift,
                          p.mask, &x, mem);
#if !WEFT_CHAINED
            barrier(CLK_LOCAL_MEM_FENCE);
#endif
        }
    }
}
