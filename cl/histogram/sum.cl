// SPDX-License-Identifier: Apache-2.0
// out[b] = (add ? out[b] : 0) + rows[b] + rows[bins + b] + ...: the vertical sum of private counts.
// Source:  H. Wang, W. Liu, K. Hou, W. Feng, Parallel Transposition of Sparse Data Structures, ICS 2016, section 3.1.
// Mapping: 1-D; with `spread` a group takes 32 neighbouring bins at a time and its lane groups share their rows, for few
//          bins and many rows; else it takes a bin for each work-item.
// Local:   wg sums.
// Needs:   wg a multiple of 32.   Gives:   out, every bin.   Order:   integers only.

#if !defined(WEFT_WG) || WEFT_WG % 32
#error "WEFT_WG: work-group size, a multiple of 32"
#endif
#ifndef WEFT_OFS_BITS
#error "WEFT_OFS_BITS: width of a count"
#endif

WEFT_KERNEL void histogram_sum(__global const uint *rows, __global ofs_t *out, uint bins, uint nrows, uint spread,
                               uint add)
{
    __local ofs_t part[WEFT_WG];
    const uint lid = (uint)get_local_id(0), width = spread ? LANES : WEFT_WG, strands = spread ? WEFT_WG / LANES : 1u;
    const uint mine = spread ? lane_id() : lid, strand = spread ? lane_group() : 0u;
    for (ulong first = get_group_id(0) * (ulong)width; first < bins; first += get_num_groups(0) * (ulong)width) {
        ulong b = first + mine;
        ofs_t sum = 0;
        if (b < bins)
            for (uint r = strand; r < nrows; r += strands)
                sum += rows[(ulong)r * bins + b];
        part[lid] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (strand == 0u && b < bins) {
            for (uint s = 1; s < strands; s++)
                sum += part[s * LANES + lid];
            out[b] = add ? out[b] + sum : sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
