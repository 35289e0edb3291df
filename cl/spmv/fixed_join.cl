// SPDX-License-Identifier: Apache-2.0
// Finish the rows that spmv/rows_tiles.cl cut: y[row] = alpha*(sum of its chunks, from the left) + beta*y[row].
// Source:  -
// Mapping: 1-D; a work-group per element of `split`, then strides; its work-items load chunks side by side, the first
//          one adds them.
// Local:   WG accumulators.
// Needs:   chunk of spmv/csr_fixed.cl.
// Gives:   y of the rows of split.
// Order:   chunks from the left.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#define CHUNK 1024

WEFT_KERNEL void spmv_fixed_join(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict tile_row,
                                 __global const acc_t *restrict chunk, __global const uint *restrict split, uint nsplit,
                                 __global val_t *restrict y, acc_t alpha, acc_t beta)
{
    __local acc_t some[WEFT_WG];
    const long lid = (long)get_local_id(0);
    for (uint s = (uint)get_group_id(0); s < nsplit; s += (uint)get_num_groups(0)) {
        const idx_t row = tile_row[split[s]];
        const long begin = row_ptr[row], chunks = (row_ptr[row + 1] - begin + CHUNK - 1) / CHUNK;
        acc_t sum = ZERO;
        for (long first = 0; first < chunks; first += WEFT_WG) {
            if (first + lid < chunks)
                some[lid] = chunk[2 * (begin / CHUNK + first + lid) + (first + lid == 0 ? 1 : 0)];
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lid == 0)
                for (long i = 0; i < min(chunks - first, (long)WEFT_WG); i++)
                    sum = first + i == 0 ? some[0] : plus(sum, some[i]);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (lid == 0)
            put(y, row, FROM_ZERO(sum), alpha, beta);
    }
}
