// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n; tiles of equal rows plus entries, each in local memory.
// Source:  tiles: D. Merrill, M. Garland, Merge-Based Parallel Sparse Matrix-Vector Multiplication, SC'16, section III;
//          cuts moved to row begins where that is near (spmv/rows_tiles.cl), so that most matrices need no fix-up pass. Inside
//          a tile: J. Greathouse, M. Daga, Efficient Sparse Matrix-Vector Multiplication on GPUs using the CSR Storage
//          Format, SC'14, section III (CSR-Stream), with as many lanes to a row as there are work-items to spare, and
//          long rows apart.
// Mapping: 1-D; group g owns tile g, then strides; its work-items load products, four entries at once, then sum rows out
//          of local memory.
//          A row that tiles share: with WEFT_CUT, where work-groups can hand over memory, the last of them to come sums its
//          parts, and none waits for another; else spmv_join does.
// Local:   WG*IPT accumulators + WG*IPT/16 + 3 words (+ WG accumulators where lanes have no shuffle).
// Needs:   WG a multiple of 32; IPT a multiple of 4; col and val begin at multiples of 32 bytes; whole == nnz rounded
//          down to a multiple of four; tile_row, tile_pos of rows_tiles, cut with ITEMS and SNAP, where
//          ITEMS + SNAP + 8 <= WG*IPT. WEFT_CUT: arrived[0 .. 2*tiles-1] == 0, which is left so.
// Gives:   y of the rows that begin and end in a tile; head[t] of the row that ends in tile t and began before it;
//          part[t]: sum of the row that goes on behind tile t (zero when none does). WEFT_CUT: all of y.
// Order:   depends on ITEMS, IPT and WG alone; repeatable. Parts of a row: work-item l takes l, l + WG, ...; then pairs of
//          work-items at distance 16 .. 1; then groups of lanes, and the head, one after the other.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: rows plus entries of a tile per work-item"
#endif
#if WEFT_WG % 32 || WEFT_IPT % 4
#error "WEFT_WG: a multiple of 32; WEFT_IPT: a multiple of 4"
#endif

#ifndef WEFT_DEVICE_FENCE
#undef WEFT_CUT
#endif

#define FOURS     (WEFT_IPT / 4)
#define LOG_LANES 5
// A row of more than SHORT entries for each of its lanes is left to a whole group of lanes.
#define SHORT 16

#ifdef WEFT_CUT
#if !defined(WEFT_ITEMS) || !defined(WEFT_SNAP)
#error "WEFT_ITEMS, WEFT_SNAP: how rows_tiles cut"
#endif
// First tile of a row, as spmv_join finds it; the last is where the step of the row's end is.
#if WEFT_OFS_BITS == 64 || defined(WEFT_FAR)
typedef ulong step_t;
#else
typedef uint step_t; // rows plus entries stay below 2^32
#endif
WEFT_INLINE uint first_tile(__global const ofs_t *row_ptr, idx_t row)
{
    return (uint)(((step_t)row_ptr[row] + (step_t)row + WEFT_SNAP + WEFT_ITEMS - 1u) / WEFT_ITEMS) - 1u;
}
WEFT_INLINE uint last_tile(__global const ofs_t *row_ptr, idx_t row)
{
    return (uint)(((step_t)row_ptr[row + 1] + (step_t)row + WEFT_ITEMS) / WEFT_ITEMS) - 1u;
}
// Leave a part of a row that goes on or ends here.
WEFT_INLINE int row_give(__global acc_t *to, acc_t sum, __global const ofs_t *row_ptr, __global uint *arrived,
                         __global val_t *y, idx_t row, uint tile, bool goes_on, acc_t alpha, acc_t beta)
{
    const uint last = goes_on ? last_tile(row_ptr, row) : tile, first = first_tile(row_ptr, row);
    return part_give(to, sum, arrived, y, row, (uint2)(first, last), goes_on, ACC_WORDS == 1, alpha, beta);
}
#endif

WEFT_KERNEL void spmv_csr_merge(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                __global const val_t *restrict val, __global const val_t *restrict x,
                                __global val_t *restrict y, __global const idx_t *restrict tile_row,
                                __global const ofs_t *restrict tile_pos, __global acc_t *restrict part,
                                __global acc_t *restrict head, __global uint *restrict arrived, uint tiles, long whole,
                                acc_t alpha, acc_t beta)
{
    __local acc4_t fours[WEFT_WG * FOURS];
    LANE_MEMORY(acc_t, mem);
    __local int long_rows[WEFT_WG * WEFT_IPT / SHORT + 1], nlong;
#ifdef WEFT_CUT
    __local int came_last[2]; // to the row that ends here, to the one that goes on
#endif
    __local acc_t *prod = (__local acc_t *)fours;
    const int lid = (int)get_local_id(0);
    for (uint tile = (uint)get_group_id(0); tile < tiles; tile += (uint)get_num_groups(0)) {
        const idx_t row0 = tile_row[tile];
        const ofs_t pos0 = tile_pos[tile];
        const int rows = tile_row[tile + 1u] - row0, skip = (int)(pos0 & 3);
        const int used = skip + (int)(tile_pos[tile + 1u] - pos0);
        const long base = (long)pos0 - skip; // entry k of the tile, from skip on, is entry base + k of the matrix
        const int count = (int)((min(base + used, whole) - base + 3) / 4), tail = 4 * count;
        const int began = pos0 > row_ptr[row0]; // row 0 began before the tile; row `rows` goes on behind it
        __local int *ends = (__local int *)(prod + (used + 3) / 4 * 4); // those of the rows, behind the products
        idx_t c[FOURS][4];
        acc_t a[FOURS][4];
        if (count > 0)
            for (int u = 0; u < FOURS; u++) // past the end, the last four again: no branch around a load
                read_four(c[u], a[u], col, val, base + 4 * min(lid + u * WEFT_WG, count - 1));
#pragma unroll 1
        for (int i = lid; i < rows; i += WEFT_WG)
            ends[i] = (int)(row_ptr[row0 + i + 1] - base);
        if (lid == 0)
            nlong = 0;
#ifdef WEFT_CUT
        if (lid < 2)
            came_last[lid] = 0;
#endif
        for (int u = 0; u < FOURS; u++)
            if (lid + u * WEFT_WG < count)
                fours[lid + u * WEFT_WG] =
                    (acc4_t)(times(a[u][0], (acc_t)x[c[u][0]]), times(a[u][1], (acc_t)x[c[u][1]]),
                             times(a[u][2], (acc_t)x[c[u][2]]), times(a[u][3], (acc_t)x[c[u][3]]));
#pragma unroll 1
        for (int k = tail + lid; k < used; k += WEFT_WG)
            prod[k] = times(read_val(val, base + k), (acc_t)x[read_col(col, base + k)]);
        barrier(CLK_LOCAL_MEM_FENCE);

        int log_lanes = 0;
        while (1 << log_lanes < (int)LANES && (rows + 1) << (log_lanes + 1) <= WEFT_WG)
            log_lanes++;                       // as many to a row as there are to spare
        for (int pass = 0; pass < 2; pass++) { // short rows, then the long ones that were met
            const int log = pass ? LOG_LANES : log_lanes, width = 1 << log, lane = lid & (width - 1);
            const int todo = pass ? nlong : rows + 1;
            for (int first = 0; first < todo; first += WEFT_WG >> log) {
                const int at = first + (lid >> log), row = at >= todo ? INT_MAX : pass ? long_rows[at] : at;
                int from = 0, to = 0;
                if (at < todo) {
                    from = row > 0 ? ends[row - 1] : skip;
                    to = row < rows ? ends[row] : used;
                }
                const int later = !pass && to - from > SHORT * width;
                acc_t sum = ZERO;
                if (later && lane == 0)
                    long_rows[atomic_inc(&nlong)] = row;
                for (int k = from + lane; k < to && !later; k += width)
                    sum = plus(sum, prod[k]);
                sum = lanes_plus(sum, (uint)width, mem);
                if (at >= todo || lane != 0 || later)
                    continue;
#ifdef WEFT_CUT
                if (row == rows) {
                    if (tile_pos[tile + 1u] > row_ptr[row0 + rows]) // it goes on
                        came_last[1] =
                            row_give(&part[tile], sum, row_ptr, arrived, y, row0 + rows, tile, true, alpha, beta);
                } else if (row == 0 && began)
                    came_last[0] = row_give(&head[tile], sum, row_ptr, arrived, y, row0, tile, false, alpha, beta);
#else
                if (row == rows)
                    part[tile] = sum;
                else if (row == 0 && began)
                    head[tile] = sum;
#endif
                else
                    put(y, row0 + row, sum, alpha, beta);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
#ifdef WEFT_CUT
#pragma unroll 1
        for (int b = 0; b < 2; b++) // one copy of the join: registers
            if (came_last[b]) {
                const idx_t row = b ? row0 + rows : row0;
                row_join(y, row, part, head, (uint2)(first_tile(row_ptr, row), b ? last_tile(row_ptr, row) : tile),
                         false, alpha, beta, prod, mem);
            }
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
}
