// SPDX-License-Identifier: Apache-2.0
// Before a whole array is sorted digit by digit: how often each digit has each value, and which passes that takes.
// Source:  counts of all digits from one read, A. Adinets, D. Merrill, Onesweep, arXiv 2206.01784, section 3.
// Mapping: segsort_digits: groups stride over the keys in steps of STEP; segsort_passes: one group.
// Local:   segsort_digits: 4*DIGITS << WEFT_RADIX_BITS bytes; segsort_passes: (sizeof position)*DIGITS*wg + 4*DIGITS.
// Needs:   COUNTS of the state zero; n > 0, below 2^32 for each group.
// Gives:   the state of segsort/radix.clh; words[0 .. nwords-1] zero.
// Order:   exact.

#if WEFT_KEY_BITS == 64
typedef ulong2 load_t;
#else
typedef uint4 load_t;
#endif
#define LOADS    4 // of 16 bytes, in flight for each work-item
#define PER_LOAD (128 / WEFT_KEY_BITS)
#define STEP     (WEFT_WG * LOADS * PER_LOAD)

WEFT_INLINE void key_count(__local uint *count, key_t key)
{
#pragma unroll
    for (uint d = 0; d < DIGITS; d++)
        atomic_inc(&count[d * BINS + digit_of(key, FIRST_BIT(d), (1u << (FIRST_BIT(d + 1u) - FIRST_BIT(d))) - 1u)]);
}

// Count every digit of every key.
WEFT_KERNEL void segsort_digits(__global const key_t *key, __global uint *state, __global uint *words, long n,
                                long nwords)
{
    __local uint count[DIGITS * BINS];
    const uint lid = (uint)get_local_id(0);
    for (uint i = lid; i < DIGITS * BINS; i += WEFT_WG)
        count[i] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (long at = (long)get_group_id(0) * STEP; at < n; at += (long)get_num_groups(0) * STEP) {
        if (n - at >= STEP) {
            __global const load_t *from = (__global const load_t *)(key + at) + lid;
            load_t v[LOADS];
#pragma unroll
            for (uint j = 0; j < LOADS; j++)
                v[j] = from[j * WEFT_WG];
#pragma unroll
            for (uint j = 0; j < LOADS; j++) {
                key_count(count, v[j].x);
                key_count(count, v[j].y);
#if WEFT_KEY_BITS == 32
                key_count(count, v[j].z);
                key_count(count, v[j].w);
#endif
            }
        } else {
            for (long i = at + lid; i < n; i += WEFT_WG)
                key_count(count, key[i]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < DIGITS * BINS; i += WEFT_WG)
        if (count[i]) {
#if WEFT_OFS_BITS == 64 // the upper halves of all counts stand behind the lower ones
            uint before = atomic_add(&state[COUNTS + i], count[i]);
            if (before + count[i] < before)
                atomic_inc(&state[COUNTS + DIGITS * BINS + i]);
#else
            atomic_add(&state[COUNTS + i], count[i]);
#endif
        }
    for (long i = (long)get_global_id(0); i < nwords; i += (long)get_global_size(0))
        words[i] = 0u;
}

WEFT_INLINE pos_t count_of(__global const uint *state, uint d, uint bin)
{
    uint i = COUNTS + d * BINS + bin;
#if WEFT_OFS_BITS == 64
    return (ulong)state[i + DIGITS * BINS] << 32 | state[i];
#else
    return state[i];
#endif
}

// Number the passes, find where their bins begin, make counts zero.
WEFT_KERNEL void segsort_passes(__global uint *state, long n, uint in_place)
{
    __local pos_t sums[DIGITS * WEFT_WG];
    __local uint alone[DIGITS]; // all keys have the digit in common
    const uint lid = (uint)get_local_id(0);
    for (uint d = lid; d < DIGITS; d += WEFT_WG)
        alone[d] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 0; d < DIGITS; d++) {
        pos_t sum = 0;
        for (uint b = OWN_BIN; b < min(OWN_BIN + PER, BINS); b++) {
            pos_t count = count_of(state, d, b);
            if (count == (pos_t)n)
                atomic_xchg(&alone[d], 1u);
            sum += count;
        }
        sums[d * WEFT_WG + lid] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < WEFT_WG; step <<= 1) {
        pos_t before[DIGITS];
#pragma unroll
        for (uint d = 0; d < DIGITS; d++)
            before[d] = lid >= step ? sums[d * WEFT_WG + lid - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint d = 0; d < DIGITS; d++)
            sums[d * WEFT_WG + lid] += before[d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint passes = 0u;
    for (uint d = 0; d < DIGITS; d++) {
        __global pos_t *base = (__global pos_t *)(state + BASES(passes));
        pos_t run = lid ? sums[d * WEFT_WG + lid - 1u] : 0;
        bool needed = !alone[d];
        for (uint b = OWN_BIN; b < min(OWN_BIN + PER, BINS); b++) {
            if (needed)
                base[b] = run;
            run += count_of(state, d, b);
            state[COUNTS + d * BINS + b] = 0u;
#if WEFT_OFS_BITS == 64
            state[COUNTS + (DIGITS + d) * BINS + b] = 0u;
#endif
        }
        if (needed && lid == 0u)
            state[DIGIT(passes)] = d;
        passes += needed ? 1u : 0u;
    }
    if (in_place && passes ? (passes & 1u) != 0u : in_place != 1u && passes == 0u) {
        __global pos_t *base = (__global pos_t *)(state + BASES(passes));
        for (uint b = OWN_BIN; b < min(OWN_BIN + PER, BINS); b++)
            base[b] = 0;
        if (lid == 0u)
            state[DIGIT(passes)] = DIGITS;
        passes++;
    }
    if (lid == 0u)
        state[PASSES] = passes;
}
