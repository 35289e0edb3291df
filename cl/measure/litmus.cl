// SPDX-License-Identifier: Apache-2.0
// Do two work-groups of one launch hand words to each other as the kernels count on? Each protocol in its own shape, and
// mutants of it, which can fail.
// Source:  J. Alglave et al., GPU concurrency: weak behaviours and programming assumptions, ASPLOS 2015: message passing.
// Mapping: groups 2*p and 2*p + 1 are a pair; work-item l of one and of the other meet at slot (p*rounds + r)*WG + l, r ascending.
//          They wait for each other before a slot, but never for long: a group may have to end before the other begins.
// WEFT_LITMUS: what is tried, and who uses it
//   1 chained  words of 64 bits, a tag above half a sum: scan/chained.cl. A side says, the other looks, in turn.
//   2 sort     a word of kind and count: segsort/move.cl. The same.
//   3 last     both leave a part, the last to come sums them: spmv/share.clh, transpose/scan_count.cl.
//   4 pair     both exchange their part with one word, the second finds the first's: spmv/share.clh.
//   5 flag     one side sets a flag of the launch, the other looks at it: transpose/mirror.cl.
//   6 group    all work-items of both leave a part, one of them tells, all of the last to come sum: transpose/scan_sums.clh.
// WEFT_MUTANT: 0 none; 1 an order is swapped, or a step is not atomic; 2 plain stores and loads, without a fence; of 6 words are not
//              settled before the one tells.
// Local:   an int for 6.
// Needs:   WEFT_DEVICE_FENCE; 64-bit atomics for 1 and 4; words zero at first, 2 at each slot; *_met zero; `run` another in each
//          launch, not 0.
// Gives:   out[slot] of 3, 4 and 6: the sum; of 5 words[2*slot] is `run`. totals: slots where a side saw what the other said; of these
//          those that it waited for; those where it saw something else.
// Order:   none.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#if !defined(WEFT_LITMUS) || !defined(WEFT_MUTANT) || !defined(WEFT_SPIN)
#error "WEFT_LITMUS, WEFT_MUTANT: what is tried, and how it is changed; WEFT_SPIN: most looks at a word, at least 16"
#endif

// Looks at a word of the other side: half as many after each in vain, since it does not run then, and twice as many again.
#define SPIN       ((uint)WEFT_SPIN)
#define SPIN_LEAST 16u

// What the sides say at a slot: never zero, and another in each run.
WEFT_INLINE uint message(uint slot, uint run, uint side)
{
    return ((slot * 2u + side + 1u) * 2654435761u ^ run * 40503u) >> 2 | 1u;
}

#if WEFT_LITMUS <= 2
#if WEFT_LITMUS == 1
WEFT_INLINE void say(volatile __global ulong *words, uint slot, uint run)
{
    const ulong sum = (ulong)message(slot, run, 1u) << 32 | message(slot, run, 0u);
#if WEFT_MUTANT == 2
    const ulong tag = (ulong)((run + 1u) << 1) << 32;
    words[2 * (size_t)slot] = tag | (uint)sum;
    words[2 * (size_t)slot + 1] = tag | (uint)(sum >> 32);
#else
    publish(words, slot, run, sum, false);
#endif
}
// 0: nothing yet; 1: what was said; 2: something else.
WEFT_INLINE uint hear(volatile __global ulong *words, uint slot, uint run)
{
    const ulong sum = (ulong)message(slot, run, 1u) << 32 | message(slot, run, 0u);
    ulong seen = 0;
#if WEFT_MUTANT == 1 // the tag of the second word is not looked at
    const struct words w = words_read(words + 2 * (size_t)slot);
    if ((uint)(w.low >> 33) != run + 1u)
        return 0u;
    seen = w.high << 32 | (uint)w.low;
#elif WEFT_MUTANT == 2
    const ulong low = words[2 * (size_t)slot], high = words[2 * (size_t)slot + 1];
    if ((uint)(low >> 33) != run + 1u || high >> 32 != low >> 32)
        return 0u;
    seen = high << 32 | (uint)low;
#else
    if (published(&seen, words, slot, run) == NOTHING)
        return 0u;
#endif
    return seen == sum ? 1u : 2u;
}
#else
// Kind: 2 bits of the run, so that words of the run before say nothing.
WEFT_INLINE void say(volatile __global ulong *words, uint slot, uint run)
{
    volatile __global uint *word = (volatile __global uint *)(words + 2 * (size_t)slot);
    const uint count = message(slot, run, 0u) & 0x3fffffffu, kind = run % 3u + 1u;
#if WEFT_MUTANT == 1 // kind and count apart, the kind first
    word_give(word, kind << 30);
    word_give(word + 1, count);
#elif WEFT_MUTANT == 2
    word[1] = count;
    word[0] = kind << 30;
#else
    word_give(word, kind << 30 | count);
#endif
}
WEFT_INLINE uint hear(volatile __global ulong *words, uint slot, uint run)
{
    volatile __global uint *word = (volatile __global uint *)(words + 2 * (size_t)slot);
#if WEFT_MUTANT == 2
    uint seen = word[0];
#else
    uint seen = word_take(word);
#endif
    if (seen >> 30 != run % 3u + 1u)
        return 0u;
#if WEFT_MUTANT == 1
    seen = word_take(word + 1);
#elif WEFT_MUTANT == 2
    seen = word[1];
#endif
    return (seen & 0x3fffffffu) == (message(slot, run, 0u) & 0x3fffffffu) ? 1u : 2u;
}
#endif
#elif WEFT_LITMUS == 3
WEFT_INLINE void join(volatile __global ulong *words, __global uint *out, uint slot, uint run, uint side)
{
    volatile __global uint *part = (volatile __global uint *)(words + 2 * (size_t)slot), *count = part + 2;
    const uint own = message(slot, run, side);
#if WEFT_MUTANT == 1 // comes first, leaves the part behind
    const bool last = comes_last(count, 2u);
    word_give(part + side, own);
    if (last)
        out[slot] = word_take(part) + word_take(part + 1);
#elif WEFT_MUTANT == 2
    part[side] = own;
    if (atomic_inc(count) == 1u) {
        atomic_xchg(count, 0u);
        out[slot] = part[0] + part[1];
    }
#else
    word_give(part + side, own);
    if (comes_last(count, 2u))
        out[slot] = word_take(part) + word_take(part + 1);
#endif
}
#elif WEFT_LITMUS == 4
WEFT_INLINE void join(volatile __global ulong *words, __global uint *out, uint slot, uint run, uint side)
{
    volatile __global ulong *pair = words + 2 * (size_t)slot;
    const uint own = message(slot, run, side);
#if WEFT_MUTANT == 1 // looks, then leaves its part
    const ulong other = atom_add(pair, 0ul);
    atom_xchg(pair, 1ul << 32 | own);
#elif WEFT_MUTANT == 2
    const ulong other = *pair;
    *pair = 1ul << 32 | own;
#else
    const ulong other = atom_xchg(pair, 1ul << 32 | own);
#endif
    if (other) {
        atom_xchg(pair, 0ul);
        out[slot] = (uint)other + own;
    }
}
#elif WEFT_LITMUS == 6
#define PART(slot) ((volatile __global uint *)(words + 2 * (size_t)(slot)))
WEFT_INLINE void group_join(volatile __global ulong *words, __global uint *out, uint slot, uint run, uint side,
                            __local int *came_last)
{
    const uint lid = (uint)get_local_id(0), own = message(slot, run, side),
               other = slot - lid + (WEFT_WG - 1u - lid); // what another wave left
    volatile __global uint *count = PART(slot - lid) + 2;
#if WEFT_MUTANT == 1
    if (lid == 0u)
        came_last[0] = comes_last(count, 2u);
    word_give(PART(slot) + side, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool last = came_last[0];
    barrier(CLK_LOCAL_MEM_FENCE);
#else
    word_give(PART(slot) + side, own);
#if WEFT_MUTANT == 2
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0u)
        came_last[0] = comes_last(count, 2u);
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool last = came_last[0];
#else
    const bool last = group_comes_last(true, count, 2u, came_last);
#endif
#endif
    if (last)
        out[other] = word_take(PART(other)) + word_take(PART(other) + 1);
}
#else
WEFT_INLINE void join(volatile __global ulong *words, __global uint *out, uint slot, uint run, uint side)
{
    volatile __global uint *failed = (volatile __global uint *)(words + 2 * (size_t)slot);
    if (side == 0u)
        atomic_xchg(failed, run);
#if WEFT_MUTANT // what was seen is written back
    else {
        const uint seen = *failed;
        *failed = seen;
    }
#else
    else
        out[slot] = atomic_or(failed, 0u) == run;
#endif
}
#endif

// met: of each slot, how many sides are there.
WEFT_KERNEL void litmus(volatile __global ulong *words, __global uint *out, volatile __global uint *met,
                        volatile __global uint *totals, uint rounds, uint run)
{
    const uint side = (uint)get_group_id(0) & 1u, pair = (uint)get_group_id(0) / 2u;
    uint seen = 0u, waited = 0u, wrong = 0u, spin = SPIN;
#if WEFT_LITMUS == 6
    __local int came_last[1];
#endif
    for (uint r = 0; r < rounds; r++) {
        const uint slot = (pair * rounds + r) * WEFT_WG + (uint)get_local_id(0);
        uint looks = 0u;
#if WEFT_LITMUS <= 2
        if (((side + r) & 1u) == 0u) {
            say(words, slot, run);
            continue;
        }
        uint heard = hear(words, slot, run);
        for (; !heard && looks < spin; looks++)
            heard = hear(words, slot, run);
        seen += heard != 0u;
        waited += heard && looks;
        wrong += heard == 2u;
        spin = heard ? min(2u * spin, SPIN) : max(spin / 2u, SPIN_LEAST);
#else
        const uint first = atomic_inc(met + slot);
        while (!(first & 1u) && looks < spin && atomic_or(met + slot, 0u) == first + 1u)
            looks++;
        const bool both = (first & 1u) || looks < spin;
        seen += both;
        waited += both && looks;
        spin = both ? min(2u * spin, SPIN) : max(spin / 2u, SPIN_LEAST);
#if WEFT_LITMUS == 6
        group_join(words, out, slot, run, side, came_last);
#else
        join(words, out, slot, run, side);
#endif
#endif
    }
    atomic_add(totals, seen);
    atomic_add(totals + 1, waited);
    atomic_add(totals + 2, wrong);
}
