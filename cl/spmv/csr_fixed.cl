// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n; sums by a tree that depends on the row alone, so that every device gives the
// same bits.
// Source:  pairwise summation, N. Higham, The accuracy of floating point summation, SIAM J. Sci. Comput. 14(4), 1993.
//          The tree: a row is cut into chunks of 1024 entries; in a chunk, neighbours at distance 1, then 2, 4, .. 512
//          are added where both are there; sums of chunks are added from the left.
// Mapping: 1-D; group g owns tile g of spmv/rows_tiles.cl, then strides; a work-item holds every WG-th product.
// Local:   2047 accumulators and 4 bytes: rows and entries of a tile are no more together.
// Needs:   tile_row, tile_pos of spmv/rows_tiles.cl with tile == snap == 1024; WG*IPT >= 2047; chunk has
//          2*(nnz/1024 + 1) elements.
// Gives:   y of the rows that begin and end in a tile; of the others the sum of each chunk, that of the chunk at
//          position p in chunk[2*(p/1024)], and of the first one of a row in chunk[2*(p/1024) + 1].
// Order:   as above; no product is fused with an addition (lib/weft.clh).

#if !defined(WEFT_WG) || !defined(WEFT_IPT) || !defined(WEFT_TILED)
#error "WEFT_WG: work-group size; WEFT_IPT: entries per work-item; WEFT_TILED: for products()"
#endif
#define CHUNK 1024
#define TILE  (2 * CHUNK - 1)
#if WEFT_WG * WEFT_IPT < TILE
#error "WEFT_WG*WEFT_IPT: 2047 or more"
#endif

// Rows that end at or before position k of the tile.
WEFT_INLINE int rows_ended(__local const int *ends, int rows, int k)
{
    int lo = 0, hi = rows;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (ends[mid] <= k)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

// Where the position k is in its chunk, and how many entries of the chunk follow, itself included, above 16 bits.
WEFT_INLINE uint place_of(__local const int *ends, int rows, int count, int k)
{
    int row = rows_ended(ends, rows, k), begin = row > 0 ? ends[row - 1] : 0, end = row < rows ? ends[row] : count;
    int at = (k - begin) & (CHUNK - 1);
    return (uint)at | (uint)min(end - k, CHUNK - at) << 16;
}

WEFT_KERNEL void spmv_csr_fixed(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                __global const val_t *restrict val, __global const val_t *restrict x,
                                __global val_t *restrict y, __global const idx_t *restrict tile_row,
                                __global const ofs_t *restrict tile_pos, __global acc_t *restrict chunk, uint tiles,
                                acc_t alpha, acc_t beta)
{
    __local acc_t prod[TILE];
    __local uint longest;
    const int lid = (int)get_local_id(0);
    for (uint tile = (uint)get_group_id(0); tile < tiles; tile += (uint)get_num_groups(0)) {
        const idx_t row0 = tile_row[tile];
        const ofs_t pos0 = tile_pos[tile], pos1 = tile_pos[tile + 1u];
        const int rows = tile_row[tile + 1u] - row0, count = (int)(pos1 - pos0);
        __local int *const ends = (__local int *)(prod + count); // of the rows, behind the products
        if (lid == 0)
            longest = 0u;
        products(prod, col, val, x, pos0, count);
        for (int i = lid; i < rows; i += WEFT_WG)
            ends[i] = (int)(row_ptr[row0 + i + 1] - pos0);
        barrier(CLK_LOCAL_MEM_FENCE);

        uint place[WEFT_IPT], most = 0u;
#pragma unroll
        for (int i = 0; i < WEFT_IPT; i++) {
            int k = lid + i * WEFT_WG;
            place[i] = k < count ? place_of(ends, rows, count, k) : 1u; // 1: takes no part
            most = max(most, place[i] >> 16);
        }
        atomic_max(&longest, most);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint d = 1u; d < longest; d <<= 1) {
#pragma unroll
            for (int i = 0; i < WEFT_IPT; i++)
                if ((place[i] & (2u * d - 1u)) == 0u && d < place[i] >> 16)
                    prod[lid + i * WEFT_WG] = plus(prod[lid + i * WEFT_WG], prod[lid + i * WEFT_WG + (int)d]);
            barrier(CLK_LOCAL_MEM_FENCE);
        }

        // Row `rows` is the one that goes on behind the tile.
        for (int i = lid; i <= rows; i += WEFT_WG) {
            int begin = i > 0 ? ends[i - 1] : 0, end = i < rows ? ends[i] : count;
            ofs_t row_begin = row0 + i < tile_row[tiles] ? row_ptr[row0 + i] : pos1;
            int cut = i == rows || pos0 + begin > row_begin;
            acc_t sum = begin < end ? prod[begin] : ZERO;
            for (int k = begin; k < end; k += CHUNK) {
                if (cut)
                    chunk[2 * ((pos0 + k) / CHUNK) + (pos0 + k == row_begin ? 1 : 0)] = prod[k];
                else if (k > begin)
                    sum = plus(sum, prod[k]);
            }
            if (!cut)
                put(y, row0 + i, FROM_ZERO(sum), alpha, beta);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
