// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n; tiles of equal rows plus entries, each in local memory.
// Source:  D. Merrill, M. Garland, Merge-Based Parallel Sparse Matrix-Vector Multiplication, SC'16, section III; cuts
//          moved to row begins where that is near (rows_tiles.cl), so that most matrices need no fix-up pass.
// Mapping: 1-D; group g owns tile g, then strides; its work-items load the products side by side, then walk IPT steps
//          of the tile's merge path of row ends and entries each, and join rows that cross work-items by a scan.
// Local:   WG*IPT accumulators + 2*(WG/32) accumulators + WG/32 words (+ WG words where lanes have no shuffle).
// Needs:   WG a multiple of 32; tile_row, tile_pos of rows_tiles with tile + snap <= WG*IPT.
// Gives:   y of the rows that begin and end in a tile; head[t] of the row that ends in tile t and began before it;
//          part[t]: sum of the row that goes on behind tile t (zero when none does).
// Order:   depends on tile, IPT and WG alone; repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: steps of the merge path per work-item"
#endif
#if WEFT_WG % 32
#error "WEFT_WG: a multiple of 32"
#endif

#define GROUPS (WEFT_WG / 32)

// Carry of the work-items before this one: the sum of their `v` back to the one, included, that last had `cut` set.
// *all gets what the next tile would get. Uniform control flow over the work-group.
inline acc_t carry_before(acc_t v, uint cut, acc_t *all, __local acc_t *sums, __local uint *cuts, __local uint *mem)
{
    const uint lane = lane_id(), grp = lane_group();
    for (uint d = 1u; d < LANES; d <<= 1) {
        uint from = lane < d ? lane : lane - d;
        acc_t before = acc_get(v, from, mem);
        uint before_cut = lane_get(cut, from, mem);
        if (lane >= d && !cut) {
            v = plus(before, v);
            cut = before_cut;
        }
    }
    if (lane == LANES - 1u) {
        sums[grp] = v;
        cuts[grp] = cut;
    }
    acc_t left = acc_get(v, lane == 0u ? 0u : lane - 1u, mem);
    uint left_cut = lane_get(cut, lane == 0u ? 0u : lane - 1u, mem);
    barrier(CLK_LOCAL_MEM_FENCE);
    acc_t base = ZERO, sum = ZERO;
    for (uint g = 0u; g < GROUPS; g++) {
        base = g == grp ? sum : base;
        sum = cuts[g] ? sums[g] : plus(sum, sums[g]);
    }
    *all = sum;
    return lane == 0u ? base : left_cut ? left : plus(base, left);
}

// Products of entries pos .. pos+count-1, side by side.
inline void products(__local acc_t *prod, __global const idx_t *restrict col, __global const val_t *restrict val,
                     __global const val_t *restrict x, ofs_t pos, int count)
{
    const int lid = (int)get_local_id(0);
    idx_t c[WEFT_IPT];
    acc_t a[WEFT_IPT], b[WEFT_IPT];
    if (count == 0)
        return;
    for (int i = 0; i < WEFT_IPT; i++) { // past the end, the last entry again: no branch around a load
        int k = min(lid + i * WEFT_WG, count - 1);
        c[i] = read_col(col, pos + k);
        a[i] = read_val(val, pos + k);
    }
    for (int i = 0; i < WEFT_IPT; i++)
        b[i] = (acc_t)x[c[i]];
    for (int i = 0; i < WEFT_IPT; i++)
        if (lid + i * WEFT_WG < count)
            prod[lid + i * WEFT_WG] = times(a[i], b[i]);
}

// Row ends at or before step d of the tile's merge path.
inline int ends_before(__local const int *ends, int rows, int count, int d)
{
    int lo = max(0, d - count), hi = min(d, rows);
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (ends[mid] <= d - mid - 1)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

WEFT_KERNEL void spmv_csr_merge(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                __global const val_t *restrict val, __global const val_t *restrict x,
                                __global val_t *restrict y, __global const idx_t *restrict tile_row,
                                __global const ofs_t *restrict tile_pos, __global acc_t *restrict part,
                                __global acc_t *restrict head, uint tiles, acc_t alpha, acc_t beta)
{
    __local acc_t prod[WEFT_WG * WEFT_IPT], sums[GROUPS];
    __local uint cuts[GROUPS], mem[LANE_MEM];
    const int lid = (int)get_local_id(0);
    for (uint tile = (uint)get_group_id(0); tile < tiles; tile += (uint)get_num_groups(0)) {
        const idx_t row0 = tile_row[tile];
        const ofs_t pos0 = tile_pos[tile];
        const int rows = tile_row[tile + 1u] - row0, count = (int)(tile_pos[tile + 1u] - pos0);
        __local int *ends = (__local int *)(prod + count); // rows + count <= WG*IPT
        products(prod, col, val, x, pos0, count);
        for (int i = lid; i < rows; i += WEFT_WG)
            ends[i] = (int)(row_ptr[row0 + i + 1] - pos0);
        barrier(CLK_LOCAL_MEM_FENCE);

        const int steps = rows + count, d = min(lid * WEFT_IPT, steps), stop = min(d + WEFT_IPT, steps);
        int row = ends_before(ends, rows, count, d), at = d - row, first = -1;
        int end = row < rows ? ends[row] : INT_MAX;
        acc_t sum = ZERO, first_sum = ZERO;
        while (row + at < stop) {
            if (at < end) {
                sum = plus(sum, prod[at++]);
                continue;
            }
            if (first < 0) {
                first = row;
                first_sum = sum;
            } else {
                put(y, row0 + row, sum, alpha, beta);
            }
            sum = ZERO;
            row++;
            end = row < rows ? ends[row] : INT_MAX;
        }
        acc_t all, before = carry_before(sum, first >= 0 ? 1u : 0u, &all, sums, cuts, mem);
        if (first >= 0) {
            first_sum = plus(before, first_sum);
            if (first == 0 && pos0 > row_ptr[row0])
                head[tile] = first_sum;
            else
                put(y, row0 + first, first_sum, alpha, beta);
        }
        if (lid == 0)
            part[tile] = all;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
