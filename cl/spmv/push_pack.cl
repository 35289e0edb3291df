// SPDX-License-Identifier: Apache-2.0
// CSR into quads of entries by panel of columns and bucket of rows, for spmv/push.cl and spmv/push_sum.cl. A run is what a bucket has
// in one panel, filled up to whole quads.
// Source:  -
// Mapping: 1-D; a bucket per work-item (push_cut) or per work-group, then strides.
// Local:   PANELS words, where a work-group has a bucket.
// Needs:   `panels` panels of cols columns, PANELS at most; cut[b]: first row of bucket b, and behind the last bucket m; rows of a bucket have BUCKET entries
//          at most. A slab is `slab` buckets that follow each other; count is a multiple of it. from[run_at(k, b)] and
//          to[b*panels + k]: quads before the run of panel k and bucket b, by slab, then panel, then bucket, and by bucket, then panel.
// Gives:   see each kernel.
// Order:   entries of a run stand in any order, which their places make up for.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_PANELS
#error "WEFT_PANELS: panels of columns, at most, 1 to 1024"
#endif
#ifndef WEFT_BUCKET
#error "WEFT_BUCKET: entries of a bucket, at most, 1 to 65535"
#endif

// Place of the run of panel k and bucket b among those by slab, then panel, then bucket.
WEFT_INLINE ulong run_at(uint k, ulong b, uint slab, uint panels)
{
    return b + (b / slab * (panels - 1u) + k) * slab;
}

// cut[b]: the first row with at least b*share before it, where `light` rows count as an entry.
WEFT_KERNEL void push_cut(__global const ofs_t *restrict row_ptr, __global int *restrict cut, idx_t m, uint count,
                          long share, int light)
{
    for (ulong b = get_global_id(0); b <= count; b += get_global_size(0)) {
        idx_t lo = 0, hi = m;
        while (lo < hi) {
            const idx_t mid = lo + (hi - lo) / 2;
            if (b == count || (long)row_ptr[mid] + mid / light < (long)b * share)
                lo = mid + 1;
            else
                hi = mid;
        }
        cut[b] = min(lo, m);
    }
}

// Entries of a bucket in each panel. For the whole work-group.
WEFT_INLINE void runs_count(__local uint *entries, __global const idx_t *col, ofs_t begin, ofs_t end, idx_t cols,
                            uint panels)
{
    const uint lid = (uint)get_local_id(0);
    for (uint k = lid; k < panels; k += WEFT_WG)
        entries[k] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (long p = (long)begin + lid; p < end; p += WEFT_WG)
        atomic_inc(&entries[col[p] / cols]);
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Quads of each run, at its place in `from` and in `to`.
WEFT_KERNEL void push_count(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                            __global const int *restrict cut, __global long *restrict from, __global long *restrict to,
                            uint count, uint slab, uint panels, idx_t cols)
{
    __local uint entries[WEFT_PANELS];
    for (ulong b = get_group_id(0); b < count; b += get_num_groups(0)) {
        runs_count(entries, col, row_ptr[cut[b]], row_ptr[cut[b + 1]], cols, panels);
        for (uint k = (uint)get_local_id(0); k < panels; k += WEFT_WG) { // the work-item that clears it
            const long quads = (entries[k] + 3u) / 4u;
            from[run_at(k, b, slab, panels)] = quads;
            to[b * panels + k] = quads;
        }
    }
}

// begin[i]: quads before panel i % panels of slab i / panels, and behind the last all of them.
WEFT_KERNEL void push_begins(__global const long *restrict from, __global long *restrict begin, uint count, uint slab,
                             uint panels)
{
    const ulong all = (ulong)(count / slab) * panels;
    for (ulong i = get_global_id(0); i <= all; i += get_global_size(0))
        begin[i] = from[i * slab];
}

// buckets[b] and what spmv_push_sum wants of rows.
WEFT_KERNEL void push_rows(__global const ofs_t *restrict row_ptr, __global const int *restrict cut,
                           __global const long *restrict to, __global uint4 *restrict buckets,
                           __global ushort *restrict begin, uint count, uint panels)
{
    for (ulong b = get_group_id(0); b < count; b += get_num_groups(0)) {
        const int row = cut[b], rows = cut[b + 1] - row;
        const long first = to[b * panels];
        if (get_local_id(0) == 0)
            buckets[b] = (uint4)((uint)row, (uint)rows, (uint)first, (uint)(to[(b + 1) * panels] - first));
        for (long i = (long)get_local_id(0); i <= rows; i += WEFT_WG)
            begin[row + (long)b + i] = (ushort)(row_ptr[row + i] - row_ptr[row]);
    }
}

// Entries, places, and where products go, counted from the slab's first. Columns and values that fill up a run were zeros before.
WEFT_KERNEL void push_fill(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                           __global const bits_t *restrict val, __global const int *restrict cut,
                           __global const long *restrict from, __global const long *restrict to,
                           __global ushort *restrict to_col, __global bits_t *restrict to_val,
                           __global uint *restrict to_quad, __global ushort *restrict place, uint count, uint slab,
                           uint panels, idx_t cols)
{
    __local uint entries[WEFT_PANELS];
    const uint lid = (uint)get_local_id(0);
    const ulong slab_runs = (ulong)slab * panels;
    for (ulong b = get_group_id(0); b < count; b += get_num_groups(0)) {
        const ofs_t begin = row_ptr[cut[b]], end = row_ptr[cut[b + 1]];
        runs_count(entries, col, begin, end, cols, panels);
        const long base = to[b / slab * slab_runs];
        for (uint k = lid; k < panels; k += WEFT_WG) {
            const long first = from[run_at(k, b, slab, panels)], quad = to[b * panels + k];
            const uint quads = (entries[k] + 3u) / 4u;
            for (uint q = 0u; q < quads; q++)
                to_quad[first + q] = (uint)(quad - base) + q;
            for (uint i = entries[k]; i < 4u * quads; i++)
                place[quad * 4 + i] = (ushort)WEFT_BUCKET;
            entries[k] = 0u;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (long p = (long)begin + lid; p < end; p += WEFT_WG) {
            const uint k = (uint)(col[p] / cols);
            const long i = (long)atomic_inc(&entries[k]), at = from[run_at(k, b, slab, panels)] * 4 + i;
            to_col[at] = (ushort)(col[p] - (idx_t)k * cols);
#if WEFT_VAL_BITS
            to_val[at] = val[p];
#endif
            place[to[b * panels + k] * 4 + i] = (ushort)(p - begin);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
