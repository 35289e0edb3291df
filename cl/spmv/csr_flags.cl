// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n; tiles of equal entries, summed up where they are read, by a bit for each entry that
// says where rows begin.
// Source:  segmented sums: G. Blelloch, M. Heroux, M. Zagha, Segmented Operations for Sparse Matrix Computation on Vector
//          Multiprocessors, CMU-CS-93-173; bits instead of row pointers: W. Liu, B. Vinter, CSR5, ICS'15. The CSR arrays
//          stay as they are: a work-item takes four entries that lie side by side.
// Mapping: 1-D; group g owns the entries of tile g, or of as many tiles before the last, then strides; each of its groups of lanes takes a
//          turn of 32*IPT entries, in IPT/4 steps of 128, all of whose loads are on their way before the first is used. Rows that end in a
//          work-item's four are summed there, others by a segmented scan of the lanes, then of the groups of lanes; each goes to y where its
//          sum is known, so that there is one barrier and the first cache has room for x.
//          WEFT_LARGE: many turns, without a barrier between them. A group then stays on its unit, whose first cache keeps what rows that
//          stand together read of x.
//          WEFT_TURNED: columns are exchanged among four lanes before x is read and what was read is exchanged back, so that
//          four lanes read x for entries side by side.
//          WEFT_STRIPED: the lanes take entries side by side instead, so that a read of x meets half as many lines where rows
//          are long. Where no row begins a work-item sums for itself; else a segmented scan of 32 entries.
//          WEFT_HUBS: x of the hubs, columns with many entries, lies in local memory; few groups read it, each with a large tile.
//          A row that tiles share: with WEFT_DEVICE_FENCE the last of them to come sums its parts, and none waits for
//          another; else spmv_flags_join does.
// Local:   2*WG/32 accumulators + 2*WG/32 words (+ WG accumulators where lanes have no shuffle) + HUBS values.
// Needs:   WG a multiple of 32; IPT a multiple of 4; col and val begin at multiples of 32 bytes; in `flags`, at 0,
//          cross_at, row_of_at and empty_at, what spmv/rows_flags.cl leaves there, for tiles == nnz/tile + 1 (0 where
//          nnz == 0), a tile being WG*IPT entries, with WEFT_LARGE WG*IPT*turns; GAPS 1 where rows are empty, else row_of
//          and empty are not read.
//          sums: part[tiles], head[tiles] and, with WEFT_DEVICE_FENCE, uint arrived[2*tiles], all 0, which is left so. These are
//          two buffers and not seven, since each buffer makes a launch take the host longer. With WEFT_HUBS: col as
//          spmv/hubs.cl writes it, and the columns of the hubs, HUBS at most, in `flags` at hubs_at. LARGE: not STRIPED, not TURNED.
// Gives:   y of the rows that begin and end in a tile, and of empty ones; without WEFT_DEVICE_FENCE part[t]: sum of the
//          row that begins in tile t and goes on behind it; head[t]: sum in tile t of the row that began before it, whether
//          it ends there or not. With it all of y.
// Order:   depends on IPT, WG, turns and STRIPED alone; repeatable. Four entries from the left; lanes at distance 1, 2, .. 16; steps and
//          groups of lanes from the left. STRIPED: each lane's entries from the left, then lanes at distance 16, 8, .. 1.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: entries of a tile per work-item"
#endif
#ifndef WEFT_GAPS
#error "WEFT_GAPS: 1 where rows are empty, else 0"
#endif
#ifndef WEFT_STRIPED
#error "WEFT_STRIPED: 1 where rows are long, else 0"
#endif
#ifndef WEFT_TURNED
#error "WEFT_TURNED: 1 where columns are exchanged for reads of x, else 0"
#endif
#ifndef WEFT_HUBS
#error "WEFT_HUBS: columns whose x local memory has room for, or 0"
#endif
#ifndef WEFT_LARGE
#error "WEFT_LARGE: 1 where groups of lanes have several turns, else 0"
#endif
#if WEFT_HUBS && !WEFT_LARGE
#error "WEFT_HUBS: in large tiles"
#endif
#if WEFT_LARGE && (WEFT_STRIPED || WEFT_TURNED)
#error "WEFT_LARGE: with entries as they are"
#endif
#if WEFT_WG % 32 || WEFT_IPT % 4
#error "WEFT_WG: a multiple of 32; WEFT_IPT: a multiple of 4"
#endif

#define STEPS  (WEFT_IPT / 4)
#define GROUPS (WEFT_WG / 32)
#if WEFT_HUBS
#define X_AT(c) ((c) < 0 ? of_hubs[(c)&INT_MAX] : x[c])
#else
#define X_AT(c) x[c]
#endif
#define TURN  (LANES * WEFT_IPT) // entries
#define TURNS (WEFT_LARGE ? turns : 1u)
#define TILE  ((long)(WEFT_WG * WEFT_IPT) * TURNS)
#ifdef WEFT_LANES_APART
#define BEGINS(some, k) ((some) >> (k)&1u)
#else // lanes that exchange by local memory wait for the whole group
#define BEGINS(some, k) ((void)(some), true)
#endif

WEFT_INLINE idx_t row_at(__global const idx_t *row_of, uint k)
{
    return WEFT_GAPS ? row_of[k] : (idx_t)k;
}

// Tiles from the first of a row to its last from which on a whole group joins its parts.
#ifdef WEFT_HAS_INT64_ATOMICS
#define JOIN_SPAN 2u
#else
#define JOIN_SPAN 1u
#endif
WEFT_KERNEL void spmv_csr_flags(__global const idx_t *restrict col, __global const val_t *restrict val,
                                __global const val_t *restrict x, __global val_t *restrict y,
                                __global const uint *restrict flags, __global acc_t *restrict sums, ulong cross_at,
                                ulong row_of_at, ulong empty_at, ulong hubs_at, uint hubs, uint turns, uint tiles,
                                long nnz, uint empties, acc_t alpha, acc_t beta, uint backward)
{
    __global const uint2 *const words = (__global const uint2 *)flags;
    __global const uint2 *const cross = (__global const uint2 *)(flags + cross_at);
    __global const idx_t *const row_of = (__global const idx_t *)(flags + row_of_at);
    __global acc_t *const part = sums, *const head = sums + tiles;
    __global uint *const arrived = (__global uint *)(sums + 2 * (size_t)tiles);
    __local acc_t tails[GROUPS];
    __local uint any[GROUPS];
#ifdef WEFT_DEVICE_FENCE
    __local acc_t joined[GROUPS];
#endif
    __local int came_last[2]; // to the row that began before, to the one that goes on
    LANE_MEMORY(acc_t, mem);
    __local uint *const mem_words = (__local uint *)mem;
    const uint lid = (uint)get_local_id(0), lane = lane_id(), grp = lane_group();
#if WEFT_GAPS
    __global const idx_t *const empty = (__global const idx_t *)(flags + empty_at);
    for (uint i = (uint)get_global_id(0); i < empties; i += (uint)get_global_size(0))
        put(y, empty[i], ZERO, alpha, beta);
#endif
#if WEFT_HUBS
    __local val_t of_hubs[WEFT_HUBS];
    __global const idx_t *const hub = (__global const idx_t *)(flags + hubs_at);
    for (uint i = lid; i < hubs; i += WEFT_WG)
        of_hubs[i] = x[hub[i]];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint at = (uint)get_group_id(0); at < tiles; at += (uint)get_num_groups(0)) {
        const uint tile = WEFT_LARGE ? at : (uint)part_at(at, tiles, backward); // large tiles have no register left
#if WEFT_STRIPED
        const long begin = (long)tile * TILE + (long)(grp * TURN), last = nnz - 1;
        const uint2 word = words[(begin >> 5) + (long)min(lane, WEFT_IPT - 1u)]; // of the k-th 32 entries in lane k
#endif
#if !WEFT_LARGE
        const uint2 from = cross[tile], to = cross[tile + 1u];
        const uint row1 = words[((long)tile + 1) * (TILE / 32)].y;
#endif
        if (lid < 2u)
            came_last[lid] = 0;
#if WEFT_STRIPED
        idx_t c[WEFT_IPT];
        acc_t a[WEFT_IPT];
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++) { // past the end, the last entry again, as below
            const long at = min(begin + (long)(k * LANES + lane), last);
            c[k] = read_col(col, at);
            a[k] = read_val(val, at);
        }
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++)
            a[k] = times(a[k], (acc_t)x[c[k]]);
        acc_t sum_open = ZERO, own = ZERO; // of the row that goes on; of the one that ends with the first bit here
        uint met = 0u;                     // as below
        const uint some = lane_ballot(lane < WEFT_IPT && word.x, mem_words);
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++) {
            if (!BEGINS(some, k)) {
                sum_open = plus(sum_open, a[k]);
                continue;
            }
            const uint bits = lane_get(word.x, k, mem_words), before = lane_get(word.y, k, mem_words);
            const uint up_to = bits & (lane_below() | 1u << lane), back = up_to ? lane - (31u - clz(up_to)) : 0u;
            if (!up_to)
                sum_open = plus(sum_open, a[k]);
            const acc_t ended = lanes_plus(sum_open, LANES, mem);
            acc_t sum = a[k];
            WEFT_UNROLL
            for (uint d = 1u; d < LANES; d <<= 1) {
                const acc_t left = acc_get(sum, (lane - d) & (LANES - 1u), mem_words);
                sum = d <= back ? plus(left, sum) : sum;
            }
            if (up_to && lane + 1u < LANES && bits >> (lane + 1u) & 1u)
                put(y, row_at(row_of, before + popcount(up_to) - 1u), sum, alpha, beta);
            if (bits) {
                if (lane == 0u && met)
                    put(y, row_at(row_of, before - 1u), ended, alpha, beta);
                else if (lane == 0u) {
                    own = ended;
                    met = 2u;
                }
                met |= 1u;
                sum_open = lane == LANES - 1u ? sum : ZERO;
            }
        }
        const acc_t carry = lanes_plus(sum_open, LANES, mem);
#else
        const uint first_bit = lane * 4u & 31u;
        acc_t carry = ZERO, own = ZERO; // own: of the row that ends with the first bit of the group of lanes
        uint met = 0u;                  // 1: a bit was there; 2: this lane has `own`
        for (uint turn = 0u; turn < TURNS; turn++) {
            const long first = (long)tile * TILE + ((long)grp * TURNS + turn) * TURN, begin = first + lane * 4u,
                       last = nnz - 1;
            uint2 word[STEPS];
#pragma unroll
            for (int s = 0; s < STEPS; s++)
                word[s] = words[(begin + s * 128) >> 5];
            idx_t c[STEPS][4];
            acc_t a[STEPS][4], of_x[STEPS][4];
            if (WEFT_LARGE ? first + TURN <= nnz : tile + 1u < tiles) {
#pragma unroll
                for (int s = 0; s < STEPS; s++)
                    read_four(c[s], a[s], col, val, begin + s * 128);
            } else { // past the end, the last entry again: what stands behind the last bit counts for no row
#pragma unroll
                for (int s = 0; s < STEPS; s++)
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        c[s][i] = read_col(col, min(begin + s * 128 + i, last));
                        a[s][i] = read_val(val, min(begin + s * 128 + i, last));
                    }
            }
#pragma unroll
            for (int s = 0; s < STEPS; s++) {
#if WEFT_TURNED
                turn_cols(c[s], mem_words);
#endif
#pragma unroll
                for (int i = 0; i < 4; i++)
                    of_x[s][i] = (acc_t)X_AT(c[s][i]);
            }
#pragma unroll
            for (int s = 0; s < STEPS; s++) {
#if WEFT_TURNED
                turn_accs(of_x[s], mem_words);
#endif
#pragma unroll
                for (int i = 0; i < 4; i++)
                    a[s][i] = times(a[s][i], of_x[s][i]);
            }
#pragma unroll
            for (int s = 0; s < STEPS; s++) {
                const uint bits = word[s].x >> first_bit & 15u;
                uint row =
                    word[s].y + popcount(word[s].x & ((1u << first_bit) - 1u)) - 1u; // that goes on from the left
                const uint row_left = row;
                acc_t sum = a[s][0], ahead = ZERO;
                row += bits & 1u;
#pragma unroll
                for (int i = 1; i < 4; i++) {
                    const bool begins = bits >> i & 1u, begun = (bits & ((1u << i) - 1u)) != 0u;
                    if (begins && begun)
                        put(y, row_at(row_of, row), sum, alpha, beta);
                    ahead = begins && !begun ? sum : ahead;
                    sum = begins ? a[s][i] : plus(sum, a[s][i]);
                    row += begins ? 1u : 0u;
                }
                const uint ends = lane_ballot(bits != 0u, mem_words), below = ends & lane_below();
                // Lanes back that have part of the row that goes on behind this one.
                const uint back = bits ? 0u : below ? lane - (31u - clz(below)) : lane;
#pragma unroll
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
                    if (met & 1u || below)
                        put(y, row_at(row_of, row_left), ahead, alpha, beta);
                    else {
                        own = ahead;
                        met = 2u;
                    }
                }
                met |= ends ? 1u : 0u;
            }
        }
#endif
#if WEFT_LARGE // behind the turns, which have no registers to spare
        const uint2 from = cross[tile], to = cross[tile + 1u];
        const uint row1 = words[((long)tile + 1) * (TILE / 32)].y;
#endif
        if (lane == 0u) {
            tails[grp] = carry;
            any[grp] = met & 1u;
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        if (met & 2u || lid == 0u) {
            // Sum that comes from the groups of lanes before this one; for work-item 0 once more, from all of them.
            acc_t sum = ZERO, left = ZERO;
            uint seen = 0u, left_seen = 0u;
#pragma unroll 16 // all 32 of them make ptxas spill
            for (uint g = 0u; g < GROUPS; g++) {
                left = g == grp ? sum : left;
                left_seen = g == grp ? seen : left_seen;
                sum = any[g] ? tails[g] : plus(sum, tails[g]);
                seen |= any[g];
            }
            if (met & 2u) {
                const uint own_row = words[(long)tile * (TILE / 32) + (long)grp * TURNS * (TURN / 32)].y - 1u;
                left = plus(left, own);
                if (left_seen)
                    put(y, row_at(row_of, own_row), left, alpha, beta);
                else if (from.x < tile)
                    came_last[0] = part_give(&head[tile], left, arrived, y, row_at(row_of, own_row), from, false, true,
                                             alpha, beta);
            }
            if (lid == 0u) {
                const bool goes_on = to.x <= tile;
                const uint2 span = goes_on ? to : from;
                const bool begins = tile == span.x;
                if (goes_on || !seen)
                    came_last[1] = part_give(begins ? &part[tile] : &head[tile], sum, arrived, y,
                                             row_at(row_of, row1 - 1u), span, begins, true, alpha, beta);
                else if (tile + 1u < tiles)
                    put(y, row_at(row_of, row1 - 1u), sum, alpha, beta);
            }
        }
#ifdef WEFT_DEVICE_FENCE
        if (from.y >= from.x + JOIN_SPAN || to.y >= to.x + JOIN_SPAN) {
            barrier(CLK_LOCAL_MEM_FENCE);
            const uint row0 = words[(long)tile * (TILE / 32)].y;
#pragma unroll 1
            for (int b = 0; b < 2; b++) // one copy of the join: registers
                if (came_last[b])
                    row_join(y, row_at(row_of, b ? row1 - 1u : row0 - 1u), part, head, b && to.x <= tile ? to : from,
                             true, alpha, beta, joined, mem);
        }
#endif
        if (at + (uint)get_num_groups(0) < tiles)
            barrier(CLK_LOCAL_MEM_FENCE);
    }
}
