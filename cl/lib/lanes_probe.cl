// SPDX-License-Identifier: Apache-2.0
// right[i] = 1 where work-item i saw what lane operations promise, else 0. It looks at values and ballots of
// its own group of LANES work-items, local memory ordered among them, in loops, and with as many rounds as each group likes.
// Source:  -
// Mapping: 1-D; work-items by themselves and in groups of LANES.
// Local:   WG words (+ WG words without shuffle).
// Needs:   WEFT_WG, a multiple of 64.   Gives: one word a work-item.   Order: none.

#if !defined(WEFT_WG) || WEFT_WG % 64
#error "WEFT_WG: work-group size, a multiple of 64"
#endif

// Round r in its lane: a value of each lane through registers, then through local memory, and one bit of each.
WEFT_INLINE bool round_right(uint r, __local uint *word, __local uint *mem)
{
    uint lid = (uint)get_local_id(0), first = lid - lane_id(), next = (lane_id() + r + 1u) % LANES, expected = 0u;
    uint rest = first % (r + 2u); // of the lane that the loop has come to: a division for each lane spills on gfx12
    for (uint i = 0u; i < LANES; i++) {
        expected |= (rest == 0u ? 1u : 0u) << i;
        rest = rest == r + 1u ? 0u : rest + 1u;
    }
    bool right = lane_get(lid * 3u + r, next, mem) == (first + next) * 3u + r;
    right &= lane_ballot(lid % (r + 2u) == 0u, mem) == expected;
    word[lid] = lid + r;
    lane_sync();
    right &= word[first + next] == first + next + r;
    lane_sync();
    return right;
}

WEFT_KERNEL void lanes_probe(__global uint *right, uint rounds)
{
    __local uint word[WEFT_WG];
    LANE_MEMORY(uint, mem);
    bool all = true;
#ifdef WEFT_LANES_SUBGROUPS
    all = get_sub_group_size() == WEFT_WAVE && get_sub_group_local_id() == (uint)get_local_id(0) % WEFT_WAVE;
#endif
    for (uint r = 0u; r < rounds; r++)
        all &= round_right(r, word, mem);
#ifdef WEFT_LANES_APART
    for (uint r = 0u; r < rounds + lane_group(); r++)
        all &= round_right(r, word, mem);
#endif
    right[get_global_id(0)] = all ? 1u : 0u;
}
