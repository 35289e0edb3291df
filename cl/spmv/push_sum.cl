// SPDX-License-Identifier: Apache-2.0
// y[row] = alpha*(sum of the row's products) + beta*y[row]: what spmv/push.cl leaves in the buckets.
// Source:  -
// Mapping: 1-D; work-group g owns bucket slab + g, a work-item every WG-th row of it.
// Local:   BUCKET accumulators.
// Needs:   buckets[b]: first row, rows, first quad of products, quads; BUCKET entries at most. begin[row + b]: entries of the bucket
//          before a row of it, and behind its last row all of them. product[0] is that of quad base. place: where a product belongs in the bucket when
//          rows follow each other; BUCKET for one that counts for nothing.
// Gives:   y.
// Order:   entries of a row from the left. Repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_BUCKET
#error "WEFT_BUCKET: entries of a bucket, at most, 1 to 65535"
#endif

#define TOGETHER 4 // quads on their way at a time

WEFT_INLINE void keep(__local acc_t *near, uint place, acc_t product)
{
    if (place < WEFT_BUCKET)
        near[place] = product;
}

WEFT_KERNEL void spmv_push_sum(__global const uint4 *restrict buckets, __global const ushort *restrict begin,
                               __global const uint2 *restrict place, __global const acc4_t *restrict product,
                               __global val_t *restrict y, acc_t alpha, acc_t beta, uint slab, uint base)
{
    __local acc_t near[WEFT_BUCKET];
    const uint lid = (uint)get_local_id(0), b = slab + (uint)get_group_id(0);
    const uint4 bucket = buckets[b];
    for (uint q = lid; q < bucket.w; q += TOGETHER * WEFT_WG) {
        uint2 to[TOGETHER];
        acc4_t v[TOGETHER];
#pragma unroll
        for (int k = 0; k < TOGETHER; k++) {
            const uint from = bucket.z + min(q + (uint)k * WEFT_WG, bucket.w - 1u);
            to[k] = read_pair_at(place + from);
            v[k] = product[from - base];
        }
#pragma unroll
        for (int k = 0; k < TOGETHER; k++)
            if (q + (uint)k * WEFT_WG < bucket.w) {
                keep(near, to[k].x & 0xffffu, v[k].x);
                keep(near, to[k].x >> 16, v[k].y);
                keep(near, to[k].y & 0xffffu, v[k].z);
                keep(near, to[k].y >> 16, v[k].w);
            }
    }
    uint i = lid, p = 0u, end = 0u;
    if (i < bucket.y) { // on their way while the work-group waits
        p = begin[(size_t)bucket.x + b + i];
        end = begin[(size_t)bucket.x + b + i + 1u];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    while (i < bucket.y) {
        const size_t row = bucket.x + i;
        acc_t sum = ZERO;
        for (; p < end; p++)
            sum = plus(sum, near[p]);
        put(y, (idx_t)row, sum, alpha, beta);
        i += WEFT_WG;
        if (i < bucket.y) {
            p = begin[(size_t)bucket.x + b + i];
            end = begin[(size_t)bucket.x + b + i + 1u];
        }
    }
}
