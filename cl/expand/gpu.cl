// SPDX-License-Identifier: Apache-2.0
// row[p] = i where row_ptr[i] <= p < row_ptr[i+1].
// Source:  cuts as D. Merrill, M. Garland, Merge-Based Parallel Sparse Matrix-Vector Multiplication, SC'16, section
//          III: equal steps on the path that merges row ends and positions; inside a tile each row marks where it
//          begins, and a scan of maxima carries the marks on.
// Mapping: 1-D; expand_cuts: work-items stride over the cuts. expand_tiles: a group takes tiles grp, grp + groups, ...
//          of wg*ipt steps. In the scan each 32 lanes own 32*ipt neighbours, in rows of 128, 4 to a lane.
// Local:   wg*ipt + wg/32 uints; wg uints more where lanes exchange through local memory.
// Needs:   wg a multiple of 32; ipt a multiple of 4; row_ptr[0] == 0, ascending, row_ptr[m] == nnz.
// Gives:   expand_cuts: cuts[t] = rows that end within the first t*tile steps.  expand_tiles: row.
// Order:   integers only.

#if !defined(WEFT_WG) || WEFT_WG % 32
#error "WEFT_WG: work-group size, a multiple of 32"
#endif
#if !defined(WEFT_IPT) || WEFT_IPT % 4
#error "WEFT_IPT: steps per work-item, a multiple of 4"
#endif
#ifndef WEFT_OFS_BITS
#error "WEFT_OFS_BITS: width of row_ptr"
#endif

#define TILE   ((uint)WEFT_WG * WEFT_IPT)
#define ROWS   (WEFT_IPT / 4)
#define GROUPS (WEFT_WG / 32)

// Rows that end within the first d steps: the largest i with row_ptr[i] + i <= d.
static inline idx_t rows_before(__global const ofs_t *row_ptr, idx_t m, long d)
{
    idx_t lo = 0, hi = m;
    while (lo < hi) {
        idx_t mid = hi - (hi - lo) / 2;
        if ((long)row_ptr[mid] + mid <= d)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

// Where each tile begins: the rows that end before it.
WEFT_KERNEL void expand_cuts(__global const ofs_t *row_ptr, __global idx_t *cuts, idx_t m, long nnz, ulong tiles)
{
    for (ulong t = get_global_id(0); t <= tiles; t += get_global_size(0))
        cuts[t] = rows_before(row_ptr, m, min((long)(t * TILE), m + nnz));
}

// Each element becomes the largest of those up to itself; 0 is the least.
WEFT_INLINE_LOCAL void tile_max(__local uint *mark, __local uint *maxima, __local uint *mem)
{
    uint at = lane_group() * (32u * WEFT_IPT) + lane_id() * 4u, before[ROWS], running = 0u;
    WEFT_UNROLL
    for (uint j = 0; j < ROWS; j++) {
        uint i = at + j * 128u, most = max(max(mark[i], mark[i + 1]), max(mark[i + 2], mark[i + 3]));
        for (uint d = 1; d < LANES; d <<= 1)
            most = max(most, lane_get(most, lane_id() < d ? lane_id() : lane_id() - d, mem));
        uint left = lane_get(most, lane_id() ? lane_id() - 1u : 0u, mem);
        before[j] = lane_id() ? max(running, left) : running;
        running = max(running, lane_get(most, LANES - 1u, mem));
    }
    if (lane_id() == 0u)
        maxima[lane_group()] = running;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint base = 0u;
    for (uint g = 0; g < lane_group(); g++)
        base = max(base, maxima[g]);
    WEFT_UNROLL
    for (uint j = 0; j < ROWS; j++) {
        uint most = max(base, before[j]);
        for (uint k = 0; k < 4; k++) {
            most = max(most, mark[at + j * 128u + k]);
            mark[at + j * 128u + k] = most;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// The row of each position of a tile.
WEFT_KERNEL void expand_tiles(__global const ofs_t *row_ptr, __global const idx_t *cuts, __global idx_t *row, idx_t m,
                              long nnz, ulong tiles, uint has_cuts)
{
    __local uint mark[TILE], maxima[GROUPS];
    LANE_MEMORY(uint, mem);
    const uint lid = (uint)get_local_id(0);
    for (ulong t = get_group_id(0); t < tiles; t += get_num_groups(0)) {
        // Row `first` holds the tile's first position or ends right before it; the rows behind it up to `last` begin in
        // the tile. The empty ones among them leave no mark.
        idx_t first = has_cuts ? cuts[t] : 0, last = has_cuts ? cuts[t + 1] : m;
        ofs_t begin = (ofs_t)((long)(t * TILE) - first), end = (ofs_t)(min((long)((t + 1) * TILE), m + nnz) - last);
        for (uint i = lid; i < TILE; i += WEFT_WG)
            mark[i] = 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = lid + 1u; k <= (uint)(last - first) && k < (uint)(m - first); k += WEFT_WG) {
            ofs_t p = row_ptr[first + (idx_t)k];
            if (p < end && p < row_ptr[first + (idx_t)k + 1])
                mark[p - begin] = k;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        tile_max(mark, maxima, mem);
        for (uint i = lid; i < (uint)(end - begin); i += WEFT_WG)
            row[begin + i] = first + (idx_t)mark[i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
