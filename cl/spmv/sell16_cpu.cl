// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A in sliced ELL with columns in 16 bits (spmv/sell16.cl); BLOCK rows together.
// Source:  as spmv/sell16.cl; rows side by side in the registers of one work-item.
// Mapping: 1-D; work-item g owns places g*chunk .. (g+1)*chunk-1, by blocks of BLOCK.
// Local:   none.
// Needs:   BLOCK 1 .. 32 divides height and chunk; arrays as for spmv/sell16.cl.
// Gives:   y.
// Order:   entries of a row from the left; repeatable, the bits of spmv/ell.cl.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_BLOCK
#error "WEFT_BLOCK: rows together"
#endif
#ifndef WEFT_SORTED
#error "WEFT_SORTED: 0 or 1"
#endif
#ifndef WEFT_PAD
#error "WEFT_PAD: 65535, the distance that stands for padding"
#endif

WEFT_KERNEL void spmv_sell16_cpu(__global const long *restrict slice_ptr, __global const idx_t *restrict base,
                                 __global const ushort *restrict col, __global const val_t *restrict val,
                                 __global const idx_t *restrict perm, __global const val_t *restrict x,
                                 __global val_t *restrict y, idx_t m, uint height, uint chunk, acc_t alpha, acc_t beta)
{
    const long begin = (long)get_global_id(0) * chunk, last = min(begin + (long)chunk, (long)m);
    for (long place = begin; place < last; place += WEFT_BLOCK) {
        const uint slice = (uint)place / height;
        const long first = slice_ptr[slice], end = slice_ptr[slice + 1u];
        long step = first / height;
        acc_t sum[WEFT_BLOCK];
        for (int r = 0; r < WEFT_BLOCK; r++)
            sum[r] = ZERO;
        for (long p = first + ((uint)place - slice * height); p < end; p += height) {
            __global const val_t *near = x + base[step++];
            for (int r = 0; r < WEFT_BLOCK; r++) {
                const idx_t c = (idx_t)col[p + r];
                acc_t next = plus(sum[r], times(read_val_at(val, p + r), (acc_t)near[c == WEFT_PAD ? 0 : c]));
                sum[r] = c == WEFT_PAD ? sum[r] : next;
            }
        }
        for (int r = 0; r < WEFT_BLOCK && place + r < last; r++)
            put(y, WEFT_SORTED ? perm[place + r] : (idx_t)(place + r), sum[r], alpha, beta);
    }
}
