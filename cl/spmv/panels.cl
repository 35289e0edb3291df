// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A cut into panels of columns: the part of x that a panel needs lies in local memory, and the columns
// of its entries have 16 bits. Sums of a row in each panel first; spmv/panels_join.cl adds them up.
// Source:  column blocks, as in R. Nishtala, R. Vuduc, J. Demmel, K. Yelick, When Cache Blocking of Sparse Matrix Vector
//          Multiply Works and Why, AAECC 18, 2007; segmented sums by bits as in spmv/csr_flags.cl.
// Mapping: 1-D; work-group g takes the chunks of table[g], then strides; each of its groups of lanes as many chunks side by
//          side. A chunk is 32*IPT entries, IPT that lie side by side for each lane. A part (a row in one panel) that ends
//          in those of a lane is summed there, others by a segmented scan of the lanes, then of the groups of lanes.
// Local:   COLS values; WG/16 accumulators and words (+ WG accumulators where lanes have no shuffle).
// Needs:   WG a multiple of 32; panels of COLS columns at most, below 32767; table[g]: first column of the panel, first chunk,
//          chunks, last part.
//          The parts of a work-group begin and end with it; each has an entry. col: column in the panel, or 32767 for an entry
//          that counts for nothing; bit 15 is set in the first entry of a part. heads[c]: parts that begin before chunk c.
// Gives:   part[p]: sum of part p.
// Order:   depends on WG, IPT and how the parts are laid out; repeatable. Entries of a lane from the left; lanes at distance 1, 2, .. 16;
//          chunks and groups of lanes from the left.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_COLS
#error "WEFT_COLS: columns of a panel, at most, 1 to 32766"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: entries side by side of a work-item, 4 or 8"
#endif
#if WEFT_WG % 32 || (WEFT_IPT != 4 && WEFT_IPT != 8)
#error "WEFT_WG: a multiple of 32; WEFT_IPT: 4 or 8"
#endif

#define GROUPS  (WEFT_WG / 32)
#define NOTHING 0x7fffu

// IPT columns, two in a word, and values from entry p on, a multiple of IPT.
WEFT_INLINE void entries_read(uint *word, acc_t *a, __global const ushort *col, __global const val_t *val, long p)
{
#if WEFT_IPT == 8
    const int4 four = read_words_at((__global const int *)(col + p));
    word[2] = as_uint(four.z);
    word[3] = as_uint(four.w);
    read_val4_at(a + 4, val, p + 4);
#else
    const int2 four = *(__global const int2 *)(col + p);
#endif
    word[0] = as_uint(four.x);
    word[1] = as_uint(four.y);
    read_val4_at(a, val, p);
}

WEFT_KERNEL void spmv_panels(__global const uint4 *restrict table, __global const uint *restrict heads,
                             __global const ushort *restrict col, __global const val_t *restrict val,
                             __global const val_t *restrict x, __global acc_t *restrict part, uint count, idx_t n)
{
    __local val_t near[WEFT_COLS];
    __local acc_t tails[GROUPS];
    __local uint any[GROUPS];
    __local acc_t own[GROUPS];
    __local uint own_part[GROUPS];
    LANE_MEMORY(acc_t, mem);
    __local uint *const mem_words = (__local uint *)mem;
    const uint lid = (uint)get_local_id(0), lane = lane_id(), grp = lane_group();
    for (uint g = (uint)get_group_id(0); g < count; g += (uint)get_num_groups(0)) {
        const uint4 job = table[g];
        const uint share = (job.z + GROUPS - 1u) / GROUPS, first = min(grp * share, job.z);
#ifdef WEFT_LANES_APART
        const uint rounds = min(share, job.z - first);
#else
        const uint rounds = share;
#endif
        const uint columns = min((uint)WEFT_COLS, (uint)n - job.x);
        for (uint c = lid; c < columns; c += WEFT_WG)
            near[c] = x[job.x + c];
        if (columns == 0u && lid == 0u)
            near[0] = (val_t)0; // what entries that count for nothing read
        barrier(CLK_LOCAL_MEM_FENCE);
        acc_t carry = ZERO;
        uint met = 0u;
        for (uint r = 0u; r < rounds; r++) {
#ifdef WEFT_LANES_APART
            const bool here = true;
#else
            const bool here = first + r < job.z;
#endif
            const uint chunk = job.y + (here ? first + r : 0u);
            uint word[WEFT_IPT / 2], bits = 0u;
            acc_t a[WEFT_IPT];
            entries_read(word, a, col, val, ((long)chunk * LANES + lane) * WEFT_IPT);
#pragma unroll
            for (int i = 0; i < WEFT_IPT; i++) {
                const uint code = word[i / 2] >> (16 * (i & 1)), c = code & NOTHING;
                bits |= (code >> 15 & 1u) << i;
                const acc_t term = times(a[i], (acc_t)near[c == NOTHING ? 0u : c]);
                a[i] = c == NOTHING || !here ? ZERO : term;
            }
            bits = here ? bits : 0u;
            uint begun = popcount(bits); // parts that begin up to this lane
            WEFT_UNROLL
            for (uint d = 1u; d < LANES; d <<= 1) {
                const uint left = lane_get(begun, (lane - d) & (LANES - 1u), mem_words);
                begun += lane >= d ? left : 0u;
            }
            uint p = heads[chunk] + begun - popcount(bits) - 1u; // that goes on from the left
            const uint part_left = p;
            acc_t sum = a[0], ahead = ZERO;
            p += bits & 1u;
#pragma unroll
            for (int i = 1; i < WEFT_IPT; i++) {
                const bool begins = bits >> i & 1u, before = (bits & ((1u << i) - 1u)) != 0u;
                if (begins && before)
                    part[p] = sum;
                ahead = begins && !before ? sum : ahead;
                sum = begins ? a[i] : plus(sum, a[i]);
                p += begins ? 1u : 0u;
            }
            const uint ends = lane_ballot(bits != 0u, mem_words), below = ends & lane_below();
            // Lanes back that have a share of the part that goes on behind this one.
            const uint back = bits ? 0u : below ? lane - (31u - clz(below)) : lane;
            WEFT_UNROLL
            for (uint d = 1u; d < LANES; d <<= 1) {
                const acc_t left = acc_get(sum, (lane - d) & (LANES - 1u), mem_words);
                sum = d <= back ? plus(left, sum) : sum;
            }
            acc_t left = acc_get(sum, (lane - 1u) & (LANES - 1u), mem_words);
            const acc_t all = acc_get(sum, LANES - 1u, mem_words);
            left = below ? left : lane == 0u ? carry : plus(carry, left);
            carry = ends ? all : plus(carry, all);
            if (bits) {
                ahead = bits & 1u ? left : plus(left, ahead);
                if (met | below) {
                    part[part_left] = ahead;
                } else { // with the first bit of the group of lanes
                    own[grp] = ahead;
                    own_part[grp] = part_left;
                }
            }
            met |= ends;
        }
        if (lane == 0u) {
            tails[grp] = carry;
            any[grp] = met;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        // The part that ends with the first bit of group of lanes `lid` came from those before it; no part comes from before
        // the first one of the work-group. One more for what is open at the end.
        if (lid <= GROUPS) {
            acc_t sum = ZERO;
            uint seen = 0u;
#pragma unroll 1
            for (uint i = 0u; i < lid; i++) {
                sum = any[i] ? tails[i] : plus(sum, tails[i]);
                seen |= any[i];
            }
            if (lid == GROUPS)
                part[job.w] = sum;
            else if (seen && any[lid])
                part[own_part[lid]] = plus(sum, own[lid]);
        }
        if (g + (uint)get_num_groups(0) < count)
            barrier(CLK_LOCAL_MEM_FENCE);
    }
}
