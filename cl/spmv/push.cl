// SPDX-License-Identifier: Apache-2.0
// Products of A and x, each written to the bucket of its row; spmv/push_sum.cl sums them up. For rows that have less than about an
// entry in each panel of columns.
// Source:  S. Beamer, K. Asanovic, D. Patterson, Reducing Pagerank Communication via Propagation Blocking, IPDPS 2017, for
//          products that wait in buckets.
// Mapping: 1-D; work-group g takes pieces first[team+g] .. first[team+g+1]-1; a work-item takes every WG-th quad of a piece, two at a time.
// Local:   COLS values.
// Needs:   panels of COLS columns at most, up to 32768; pieces[i]: first column of the panel, first quad, quad behind the last, 0;
//          none is empty. A quad is four entries of one panel and one bucket. to[q]: place of its products, in quads.
// Gives:   product: by bucket, then panel. Entries that only fill up a quad have a product as well, which nobody reads.
// Order:   none.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_COLS
#error "WEFT_COLS: columns of a panel, at most, 1 to 32768"
#endif

#define TOGETHER 2 // quads on their way at a time

WEFT_KERNEL void spmv_push(__global const uint4 *restrict pieces, __global const uint *restrict first,
                           __global const uint2 *restrict col, __global const val_t *restrict val,
                           __global const uint *restrict to, __global const val_t *restrict x,
                           __global acc4_t *restrict product, idx_t n, uint team)
{
    __local val_t near[WEFT_COLS];
    const uint lid = (uint)get_local_id(0), g = team + (uint)get_group_id(0), begin = first[g], end = first[g + 1u];
    for (uint i = begin; i < end; i++) {
        const uint4 piece = pieces[i];
        const uint columns = min((uint)WEFT_COLS, (uint)n - piece.x);
        if (i > begin)
            barrier(CLK_LOCAL_MEM_FENCE);
        for (uint c = lid; c < columns; c += WEFT_WG)
            near[c] = x[piece.x + c];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint q = (piece.y & ~31u) + lid; q < piece.z; q += TOGETHER * WEFT_WG) {
            uint2 word[TOGETHER];
            uint at[TOGETHER];
            acc_t a[TOGETHER][4];
#pragma unroll
            for (int k = 0; k < TOGETHER; k++) { // behind the end, the last one again: no branch around a load
                const uint from = min(q + (uint)k * WEFT_WG, piece.z - 1u);
                word[k] = read_pair_at(col + from);
                at[k] = (uint)read_col_at((__global const idx_t *)to, (long)from);
                read_val4_at(a[k], val, (long)from * 4);
            }
#pragma unroll
            for (int k = 0; k < TOGETHER; k++)
                if (q + (uint)k * WEFT_WG >= piece.y && q + (uint)k * WEFT_WG < piece.z)
                    product[at[k]] = (acc4_t)(times(a[k][0], (acc_t)near[word[k].x & 0xffffu]),
                                              times(a[k][1], (acc_t)near[word[k].x >> 16]),
                                              times(a[k][2], (acc_t)near[word[k].y & 0xffffu]),
                                              times(a[k][3], (acc_t)near[word[k].y >> 16]));
        }
    }
}
