// SPDX-License-Identifier: Apache-2.0
// Prefix sums of integers in one launch: out[i] = in[0] + ... + in[i-1] (exclusive) or + in[i] (inclusive); each tile looks
// back at what the tiles before it have published.
// Source:  D. Merrill, M. Garland, Single-pass parallel prefix scan with decoupled look-back, NVIDIA NVR-2016-002, section 4.
//          Different: words keep the number of their run, so that none need be cleared; waits end.
// Shares:  scan_tile.clh
// Mapping: 1-D; a group draws the next tile from a counter, so that the tiles before it are done or with groups that run;
//          with fewer groups than tiles it draws until there are none left. Its first 32 work-items look at a tile each.
// Words:   OpenCL C 1.2 orders no two words of memory between work-groups, so what a reader needs at once is in one word:
//          a tag above, 32 bits of the sum below. A sum of 64 bits takes two words that bear the same tag; a tile
//          publishes its own sum, then the sum through its end, once each, so equal tags belong to one sum.
//          A tag is the number of the run, plus one, and whether the sum goes back to the start; a word of another run
//          says nothing. The number is in the upper half of the counter. Who draws last sets the counter to the next
//          run, and when the numbers begin again clears the words that this run did not write.
// Waits:   no longer than SPIN looks at a word. Then the group sums that tile up itself: `in` is never written here.
// Local:   as scan_tile.clh; 32 sums and 34 words more.
// Needs:   64-bit atomics; in and out apart; words[0 .. HEAD + room*WORDS - 1] zero before the first run, afterwards left to
//          the kernel; tiles <= room, tiles + groups < 2^32; runs one after the other.
// Gives:   out, and with `total` out[n].
// Order:   integers, whose sums do not depend on it.

#ifndef WEFT_HAS_INT64_ATOMICS
#error "WEFT_HAS_INT64_ATOMICS is needed to publish a sum with its tag"
#endif
#ifdef WEFT_SUM_IS_F32
#error "WEFT_SUM_IS_F32: these sums would depend on which tile was there first"
#endif

// WEFT_STUCK, in tests: one of so many tiles publishes nothing; waits are short, and the numbers of runs soon begin again.
#ifdef WEFT_STUCK
#define SPIN               3u
#define RUNS               3u
#define stuck(tile, tiles) (((tile) + (tiles)) % WEFT_STUCK == 1u)
#else
#define SPIN               4096u
#define RUNS               (1u << 30)
#define stuck(tile, tiles) false
#endif

#define HEAD  16u // words before those of the tiles: the counter has a cache line to itself
#define WORDS (WEFT_SUM_BITS / 32)

enum { NOTHING, OWN, THROUGH }; // what a tile has published: its own sum, the sum through its end

// What the 32 tiles before some tile have published, the nearest first.
struct window {
    sum_t sum[LANES];
    uint kind[LANES];
};

static inline ulong word_read(volatile __global ulong *p)
{
#ifdef WEFT_LANES_PTX
    ulong word;
    __asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(p) : "memory");
    return word;
#else
    return atom_add(p, 0ul);
#endif
}

static inline void word_write(volatile __global ulong *p, ulong word)
{
#ifdef WEFT_LANES_PTX
    __asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(word) : "memory");
#else
    atom_xchg(p, word);
#endif
}

static inline void publish(volatile __global ulong *words, uint tile, uint run, sum_t sum, bool through)
{
    const ulong tag = (ulong)((run + 1u) << 1 | through) << 32;
    words += HEAD + (size_t)tile * WORDS;
    word_write(words, tag | (uint)sum);
#if WORDS == 2
    word_write(words + 1, tag | (uint)((ulong)sum >> 32));
#endif
}

// What a tile has published in this run, and the sum.
static inline uint published(sum_t *sum, volatile __global ulong *words, uint tile, uint run)
{
    words += HEAD + (size_t)tile * WORDS;
    const ulong low = word_read(words);
    const uint tag = (uint)(low >> 32);
#if WORDS == 2
    const ulong high = word_read(words + 1);
    if ((uint)(high >> 32) != tag)
        return NOTHING;
#else
    const ulong high = 0ul;
#endif
    if (tag >> 1 != run + 1u)
        return NOTHING;
    *sum = (sum_t)(high << 32 | (uint)low);
    return tag & 1u ? THROUGH : OWN;
}

// Sum of a whole tile, in few registers.
static inline sum_t tile_sum(__global const in_t *in, __local sum_t *sums, __local uint *mem)
{
    sum_t sum = 0, all;
#pragma unroll 1
    for (uint i = (uint)get_local_id(0); i < TILE; i += WEFT_WG)
        sum += (sum_t)in[i];
    groups_scan(lanes_sum(sum, mem), &all, sums);
    return all;
}

// Sum of the tiles before `tile`, by the whole work-group.
static inline sum_t look_back(volatile __global ulong *words, __global const in_t *in, uint tile, uint run,
                              __local struct window *w, __local sum_t *sums, __local uint *mem)
{
    const uint lid = (uint)get_local_id(0);
    sum_t before = 0;
    while (tile) {
        if (lid < LANES) {
            sum_t sum = 0;
            uint kind = lid < tile ? NOTHING : THROUGH; // before the first tile
#pragma unroll 1
            for (uint i = 0; i < SPIN && kind == NOTHING; i++)
                kind = published(&sum, words, tile - 1u - lid, run);
            w->sum[lid] = sum;
            w->kind[lid] = kind;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        // Up to the nearest tile that has published something else than its own sum.
        const uint ends = lane_ballot(w->kind[lane_id()] != OWN, mem), end = popcount((ends & -ends) - 1u);
        const uint kind = ends ? w->kind[end] : OWN;
        before += lanes_sum(lane_id() <= end ? w->sum[lane_id()] : 0, mem);
        barrier(CLK_LOCAL_MEM_FENCE);
        tile = kind == THROUGH ? 0u : kind == OWN ? tile - LANES : tile - 1u - end;
        if (kind == NOTHING)
            before += tile_sum(in + (size_t)tile * TILE, sums, mem);
    }
    return before;
}

// Draw a tile: its number below, that of the run above.
static inline ulong draw(volatile __global ulong *words, __local ulong *drawn)
{
    if (get_local_id(0) == 0)
        *drawn = atom_add(words, 1ul);
    barrier(CLK_LOCAL_MEM_FENCE);
    return *drawn;
}

// Prefix sums of each tile, from what the tiles before it have published.
WEFT_KERNEL void scan_chained(__global const WEFT_IN_T *restrict in, __global WEFT_SUM_T *restrict out,
                              __global ulong *words, ulong n, uint tiles, uint room, uint total)
{
    __local sum_t group_sums[GROUPS];
    __local struct window window;
    __local ulong drawn;
    LANE_MEMORY(uint, mem);
    const uint groups = (uint)get_num_groups(0), last = groups < tiles ? tiles + groups - 1u : tiles - 1u;
    ulong ticket = draw(words, &drawn);
    while ((uint)ticket < tiles) {
        const uint run = (uint)(ticket >> 32);
        uint tile = (uint)ticket, left = tile_left(tile, n);
        sum_t x[WEFT_IPT];
        tile_load(x, in + (size_t)tile * TILE, left);
        sum_t sum = 0, all;
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++)
            sum += x[k];
        groups_scan(lanes_sum(sum, mem), &all, group_sums);
        const bool speaks = get_local_id(0) == 0 && !stuck(tile, tiles);
        if (speaks)
            publish(words, tile, run, all, tile == 0u);
        const sum_t before = look_back(words, in, tile, run, &window, group_sums, mem);
        if (speaks && tile)
            publish(words, tile, run, before + all, true);
        forget_all(tile); // what derives from it is not worth registers while the group looks back
        left = tile_left(tile, n);
        tile_scan(x, before, WEFT_INCLUSIVE, group_sums, mem);
        tile_store(out + (size_t)tile * TILE, x, left);
        if (total && tile == tiles - 1u && get_local_id(0) == 0)
            out[n] = before + all;
        if (groups >= tiles)
            break;
        ticket = draw(words, &drawn);
    }
    if ((uint)ticket == last) {
        const uint next = (uint)(ticket >> 32) + 1u;
        if (next == RUNS)
            for (size_t i = (size_t)tiles * WORDS + get_local_id(0); i < (size_t)room * WORDS; i += WEFT_WG)
                words[HEAD + i] = 0ul;
        if (get_local_id(0) == 0)
            atom_xchg((volatile __global ulong *)words, next == RUNS ? 0ul : (ulong)next << 32);
    }
}
