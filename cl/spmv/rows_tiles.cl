// SPDX-License-Identifier: Apache-2.0
// Cut a CSR matrix into tiles of equal work, rows plus entries.
// Source:  D. Merrill, M. Garland, Merge-Based Parallel Sparse Matrix-Vector Multiplication, SC'16, section III: equal
//          steps on the merge path of row ends and entries. Ours: a cut that falls into a row moves back to a multiple
//          of `snap` entries from the row's begin, so that rows of less than `snap` entries are never cut in two.
// Mapping: 1-D; work-items stride over the cuts; cut t is at step t*tile of the merge path.
// Local:   none.
// Needs:   tile > 0, snap > 0; row_ptr[m] == nnz; tiles == ceil((m + nnz)/tile); *nsplit == 0.
// Gives:   tile t holds entries tile_pos[t] .. tile_pos[t+1]-1 and the ends of rows tile_row[t] .. tile_row[t+1]-1,
//          tile + snap - 1 rows and entries at most; split[0 .. *nsplit-1], in any order: tiles in which a row ends
//          that began in an earlier tile.
// Order:   integers only; the order of `split` varies from run to run and nothing depends on it.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif

// Rows that end at or before step d of the merge path.
WEFT_INLINE idx_t rows_before(__global const ofs_t *row_ptr, idx_t m, long d)
{
    idx_t lo = 0, hi = m; // row_ptr[lo] + lo <= d
    while (lo < hi) {
        idx_t mid = hi - (hi - lo) / 2;
        if ((long)row_ptr[mid] + mid <= d)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

WEFT_INLINE ofs_t cut_of(__global const ofs_t *row_ptr, idx_t m, idx_t row, long d, uint snap)
{
    ofs_t begin = row_ptr[row];
    return row == m ? begin : begin + (ofs_t)((ulong)(d - row - begin) / snap * snap);
}

WEFT_KERNEL void rows_tiles(__global const ofs_t *row_ptr, __global idx_t *tile_row, __global ofs_t *tile_pos,
                            __global uint *split, __global uint *nsplit, idx_t m, uint tile, uint snap, uint tiles)
{
    long total = (long)row_ptr[m] + m;
    for (ulong t = get_global_id(0); t <= tiles; t += get_global_size(0)) {
        long d = min((long)t * tile, total);
        idx_t row = rows_before(row_ptr, m, d);
        ofs_t pos = cut_of(row_ptr, m, row, d, snap);
        tile_row[t] = row;
        tile_pos[t] = pos;
        if (t < tiles && row < m && pos > row_ptr[row] && rows_before(row_ptr, m, min(d + tile, total)) > row)
            split[atomic_inc(nsplit)] = (uint)t;
    }
}
