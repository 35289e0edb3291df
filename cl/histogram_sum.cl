// SPDX-License-Identifier: Apache-2.0
// out[b] = (add ? out[b] : 0) + rows[b] + rows[bins + b] + ...: the vertical sum of private counts.
// Source:  H. Wang, W. Liu, K. Hou, W. Feng, Parallel Transposition of Sparse Data Structures, ICS 2016, section 3.1.
// Mapping: 1-D; a group takes `width` neighbouring bins at a time; work-item l sums rows l/width, l/width + wg/width,
//          ... of bin l % width, and the first `width` work-items join these.
// Local:   wg sums.
// Needs:   width divides wg.   Gives:   out, every bin.   Order:   integers only.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_OFS_BITS
#error "WEFT_OFS_BITS: width of a count"
#endif

WEFT_KERNEL void histogram_sum(__global const uint *rows, __global ofs_t *out, uint bins, uint nrows, uint width,
                               uint add)
{
    __local ofs_t part[WEFT_WG];
    const uint lid = (uint)get_local_id(0), strands = WEFT_WG / width;
    for (ulong first = get_group_id(0) * (ulong)width; first < bins; first += get_num_groups(0) * (ulong)width) {
        ulong b = first + lid % width;
        ofs_t sum = 0;
        if (b < bins)
            for (uint r = lid / width; r < nrows; r += strands)
                sum += rows[(ulong)r * bins + b];
        part[lid] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < width && b < bins) {
            for (uint s = 1; s < strands; s++)
                sum += part[s * width + lid];
            out[b] = add ? out[b] + sum : sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
