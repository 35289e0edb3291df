// SPDX-License-Identifier: Apache-2.0
// counts[b] = number of i with idx[i] == b; private rows of counts, then their vertical sum.
// Source:  H. Wang, W. Liu, K. Hou, W. Feng, Parallel Transposition of Sparse Data Structures, ICS 2016, section 3.1;
//          with fewer rows than work-items, several work-items share a row and count a range of its bins each.
// Mapping: 1-D; work-item (s, r) counts slice s of the indices in range r of the bins, 2^log_ranges ranges; in the sum,
//          work-item g owns `chunk` neighbouring bins.
// Local:   none.
// Needs:   -
// Gives:   histogram_cpu_rows: rows[s*bins + b]; indices outside 0 .. bins-1 are left out.
//          histogram_cpu_sum: out[b] = (add ? out[b] : 0) + rows[b] + rows[bins + b] + ...
// Order:   integers only.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_OFS_BITS
#error "WEFT_OFS_BITS: width of a count"
#endif

// Count each slice of the indices in a row of counters of its own.
WEFT_KERNEL void histogram_cpu_rows(__global const int *idx, __global uint *rows, ulong start, ulong n, ulong slice,
                                    uint slices, uint log_ranges, uint range, uint bins)
{
    ulong job = get_global_id(0), s = job >> log_ranges, from = (job - (s << log_ranges)) * range;
    if (s >= slices || from >= bins)
        return;
    uint first = (uint)from;
    uint width = min(range, bins - first);
    __global uint *row = rows + s * bins + first;
    for (uint b = 0; b < width; b++)
        row[b] = 0u;
    ulong end = start + min((s + 1) * slice, n);
    for (ulong i = start + s * slice; i < end; i++) {
        uint key = (uint)idx[i] - first;
        if (key < width)
            row[key]++;
    }
}

// Bins summed at a time, so that their sums stay in the first cache.
#define BLOCK 1024u

// Add up the rows of counters.
WEFT_KERNEL void histogram_cpu_sum(__global const uint *rows, __global ofs_t *out, uint bins, uint nrows, uint chunk,
                                   uint add)
{
    ulong first = get_global_id(0) * chunk, last = min(first + chunk, (ulong)bins);
    for (ulong begin = first; begin < last; begin += BLOCK) {
        ulong end = min(begin + BLOCK, last);
        if (!add)
            for (ulong b = begin; b < end; b++)
                out[b] = 0;
        for (uint r = 0; r < nrows; r++) {
            __global const uint *row = rows + (ulong)r * bins;
            for (ulong b = begin; b < end; b++)
                out[b] += row[b];
        }
    }
}
