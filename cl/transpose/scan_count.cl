// SPDX-License-Identifier: Apache-2.0
// The counting kernels of ScanTrans: how many entries of each part of the matrix fall in each bin of columns, and where
// the bins begin. transpose/scan_partition.cl moves them; transpose/scan_chunks.cl counts for later passes.
// Source:  Wang et al., ICS 2016, section 3.1: a histogram row per thread over all n columns, a vertical scan, a scan of
//          the column sums. Here a row belongs to a work-group, and covers bins of columns: the digit
//          (col >> shift) & mask.
// Mapping: count: group g owns entries g*part .., tile by tile; vertical: a group owns LANES bins, each lane group a share
//          of the rows; offsets: one group, which with WEFT_DEVICE_FENCE is the last of vertical, or, of few counts, of
//          count_offsets.
// Local:   count: 4*WEFT_BINS bytes; vertical: sizeof(pos_t)*(WEFT_WG + WEFT_BINS) + 8*WEFT_WG; offsets:
//          sizeof(pos_t)*WEFT_BINS + 8*WEFT_WG; count_offsets: count's and offsets'.
// Needs:   WEFT_WG a multiple of 32; nbins <= WEFT_BINS; part a multiple of WEFT_SPAN.
// Gives:   table rows are exclusive prefixes over the parts; bucket_ofs the positions where bins begin.
// Order:   integer sums, exact.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size, a multiple of 32"
#endif
#ifndef WEFT_BINS
#error "WEFT_BINS: bins that fit, at least the nbins argument"
#endif
#ifndef WEFT_SPAN
#error "WEFT_SPAN: entries between two remembered rows"
#endif

WEFT_INLINE void count_four(__local uint *count, int4 c, uint shift, uint mask)
{
    atomic_inc(&count[((uint)c.x >> shift) & mask]);
    atomic_inc(&count[((uint)c.y >> shift) & mask]);
    atomic_inc(&count[((uint)c.z >> shift) & mask]);
    atomic_inc(&count[((uint)c.w >> shift) & mask]);
}

// Columns of the four entries at `at`, and of those WEFT_WG * 4 further each time.
WEFT_INLINE void columns_get(int4 *c, __global const int4 *at)
{
#pragma unroll
    for (uint j = 0; j < 4; j++)
        c[j] = at[j * WEFT_WG];
}

// Does this group find rows? The first `finders` groups of a launch do.
WEFT_INLINE bool group_finds(uint finders)
{
    return (uint)get_group_id(0) < finders;
}

// Count the entries of a part of the matrix by bin, into count[]. Four reads of 16 bytes are in flight for each work-item; where
// they make a tile, those of the next one while this one is counted.
// A part is a run of tiles. before[t*width + b] = entries of bin b in the tiles of its part that come before tile t; width =
// ROW_OF_BINS(nbins). Groups that find rows do so in its stead: row_at[s] = row of entry s*WEFT_SPAN, and one more at the end for
// the last entry. A barrier at the end.
WEFT_INLINE void part_count(__global const ofs_t *row_ptr, __global idx_t *row_at, __global const idx_t *col,
                            __global uint *before, idx_t m, pos_t nnz, pos_t part, uint tile, uint shift, uint mask,
                            uint nbins, uint finders, __local uint *count)
{
    const uint lid = (uint)get_local_id(0);
    const bool finds = group_finds(finders);
    const pos_t g = (pos_t)get_group_id(0) - (pos_t)finders;
#ifndef WEFT_ROWS_GIVEN
    const pos_t spans = (nnz - 1) / WEFT_SPAN + 1, i = (pos_t)get_group_id(0) * WEFT_WG + (pos_t)lid;
    if (finds)
        for (pos_t at = i; at <= spans; at += (pos_t)finders * WEFT_WG)
            row_at[at] = row_found(row_ptr, m, (ofs_t)(at < spans ? at * WEFT_SPAN : nnz - 1));
#endif
    const pos_t first = finds ? nnz : g * part, last = finds ? nnz : first + min(nnz - first, part);
    const uint share = lid * 4u, width = ROW_OF_BINS(nbins); // the bin past the last one counts nothing
    for (uint b = lid; b < width; b += WEFT_WG)
        count[b] = 0u;
    bool there = tile == 16u * WEFT_WG && last - first >= (pos_t)tile; // c holds the tile
    int4 c[4];
    if (there)
        columns_get(c, (__global const int4 *)(col + first + share));
    for (pos_t start = first; start < last; start += (pos_t)tile) {
        barrier(CLK_LOCAL_MEM_FENCE);
        size_t row = (size_t)(start / (pos_t)tile) * width;
        for (uint b = lid; b < width; b += WEFT_WG)
            before[row + b] = count[b];
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint many = (uint)min(last - start, (pos_t)tile);
        if (there) {
            int4 now[4];
#pragma unroll
            for (uint j = 0; j < 4; j++)
                now[j] = c[j];
            there = last - start >= 2 * (pos_t)tile;
            if (there)
                columns_get(c, (__global const int4 *)(col + start + (pos_t)(tile + share)));
#pragma unroll
            for (uint j = 0; j < 4; j++)
                count_four(count, now[j], shift, mask);
        } else {
            __global const idx_t *here = col + start;
            uint e = share;
            for (; e + 12u * WEFT_WG + 3u < many; e += 16u * WEFT_WG) {
                columns_get(c, (__global const int4 *)(here + e));
#pragma unroll
                for (uint j = 0; j < 4; j++)
                    count_four(count, c[j], shift, mask);
            }
            for (; e + 3u < many; e += 4u * WEFT_WG)
                count_four(count, *(__global const int4 *)(here + e), shift, mask);
            for (; e < many; e++)
                atomic_inc(&count[((uint)here[e] >> shift) & mask]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// table[g*width + b] = entries of bin b in part g; the row behind those of all parts, of sums, is made zero.
WEFT_KERNEL void scan_count(__global const ofs_t *row_ptr, __global idx_t *row_at, __global const idx_t *col,
                            __global pos_t *table, idx_t m, pos_t nnz, pos_t part, uint tile, uint shift, uint mask,
                            uint nbins, uint finders, uint table_rows, __global const uint *failed, uint run)
{
    __local uint count[WEFT_BINS];
    UNLESS_MIRRORED(failed, run)
    {
        const pos_t g = (pos_t)get_group_id(0) - (pos_t)finders, width = (pos_t)ROW_OF_BINS(nbins);
        part_count(row_ptr, row_at, col, BEFORE(table, table_rows, width), m, nnz, part, tile, shift, mask, nbins,
                   finders, count);
        if (!group_finds(finders))
            for (uint b = (uint)get_local_id(0); b < (uint)width; b += WEFT_WG) {
                table[g * width + (pos_t)b] = (pos_t)count[b];
                if (g == 0)
                    table[(size_t)(get_num_groups(0) - finders) * (uint)width + b] = 0;
            }
    }
}

// Where buckets begin: bucket_ofs (size nbins+1), and the chunk index. Each bucket is one chunk, or several of `chunk` entries when
// it is larger; NLARGE's second word is set when all have at most `wide` entries.
// total[b] = entries of bucket b, which the group has put there.
WEFT_INLINE void offsets_find(__local const pos_t *total, __global begin_t *bucket_ofs, __global uint *chunk_index,
                              pos_t chunk, uint wide, uint nbins, __local sum_t *mem)
{
    __global uint *chunk_first = CHUNK_FIRST(chunk_index), *large_first = LARGE_FIRST(chunk_index, nbins),
                  *large = LARGE(chunk_index, nbins), *nlarge = NLARGE(chunk_index, nbins);
    uint lid = (uint)get_local_id(0), share = (nbins + WEFT_WG - 1u) / WEFT_WG;
    uint from = min(nbins, lid * share), to = min(nbins, from + share);
    pos_t entries = 0;
    uint chunks = 0u, many = 0u, buckets = 0u, all;
    bool fits = true;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = from; b < to; b++) {
        pos_t c = (total[b] + chunk - 1) / chunk;
        fits &= total[b] <= (pos_t)wide;
        entries += total[b];
        chunks += (uint)max(c, (pos_t)1);
        many += c > 1 ? (uint)c : 0u;
        buckets += c > 1 ? 1u : 0u;
    }
    entries = pos_before(entries, mem);
    chunks = group_scan(chunks, &all, (__local uint *)mem);
    many = group_scan(many, &all, (__local uint *)mem);
    buckets = group_scan(buckets, &all, (__local uint *)mem);
    uint misfits;
    group_scan(fits ? 0u : 1u, &misfits, (__local uint *)mem);
    for (uint b = from; b < to; b++) {
        pos_t c = (total[b] + chunk - 1) / chunk;
        bucket_ofs[b] = entries;
        chunk_first[b] = chunks;
        large_first[b] = many;
        if (c > 1)
            large[buckets++] = b;
        entries += total[b];
        chunks += (uint)max(c, (pos_t)1);
        many += c > 1 ? (uint)c : 0u;
    }
    if (to == nbins && from < to) {
        bucket_ofs[nbins] = entries;
        chunk_first[nbins] = chunks;
        large_first[nbins] = many;
        nlarge[0] = buckets;
        nlarge[1] = misfits == 0u;
    }
}

// Counts of a bin become its counts in the parts before; the row behind those of all parts, zero before, gets the sums. With
// WEFT_DEVICE_FENCE the last group to come also finds the offsets, and the word `arrived_at` of the index, zero, is left so; else
// scan_offsets does, and from `bucket_ofs` to `wide` nothing is touched.
WEFT_KERNEL void scan_vertical(__global pos_t *table, uint parts, __global begin_t *bucket_ofs,
                               __global uint *chunk_index, uint arrived_at, pos_t chunk, uint wide, uint nbins,
                               __global const uint *failed, uint run)
{
    __local pos_t part[WEFT_WG];
#ifdef WEFT_DEVICE_FENCE
    __local pos_t totals[WEFT_BINS];
    __local sum_t mem[SUMS];
    __local int came_last[1];
#endif
    UNLESS_MIRRORED(failed, run)
    {
        const uint b = (uint)get_group_id(0) * LANES + lane_id();
        __global pos_t *total = table + (size_t)parts * ROW_OF_BINS(nbins);
        pos_t sum = vertical_scan(table, parts, ROW_OF_BINS(nbins), b, b < nbins, part);
        if (lane_group() == 0u && b < nbins)
#ifndef WEFT_DEVICE_FENCE
            total[b] = sum;
#else
            pos_give(&total[b], sum);
        const uint lid = (uint)get_local_id(0);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (lid == 0u)
            came_last[0] = comes_last(chunk_index + arrived_at, (uint)get_num_groups(0));
        barrier(CLK_LOCAL_MEM_FENCE);
        if (came_last[0]) {
            for (uint i = lid; i < nbins; i += WEFT_WG)
                totals[i] = pos_take(&total[i]);
            offsets_find(totals, bucket_ofs, chunk_index, chunk, wide, nbins, mem);
        }
#endif
    }
}

// The offsets on devices where one group of a launch cannot see what others wrote.
WEFT_KERNEL void scan_offsets(__global const pos_t *table, uint parts, __global begin_t *bucket_ofs,
                              __global uint *chunk_index, pos_t chunk, uint wide, uint nbins,
                              __global const uint *failed, uint run)
{
    __local pos_t totals[WEFT_BINS];
    __local sum_t mem[SUMS];
    UNLESS_MIRRORED(failed, run)
    {
        for (uint i = (uint)get_local_id(0); i < nbins; i += WEFT_WG)
            totals[i] = table[(size_t)parts * ROW_OF_BINS(nbins) + i];
        offsets_find(totals, bucket_ofs, chunk_index, chunk, wide, nbins, mem);
    }
}

// scan_count, scan_vertical and the offsets in one launch. The group that comes last to a segment of `segment` parts adds these up,
// into a row of the table behind those of all parts; the last of the segments adds up these and finds the offsets. A part's row then
// says what comes before it in its segment, the segment's what comes before that.
// Only with WEFT_DEVICE_FENCE; from word `arrived_at` of the index on, a word and one for each segment are zero before and after.
WEFT_KERNEL void scan_count_offsets(__global const ofs_t *row_ptr, __global idx_t *row_at, __global const idx_t *col,
                                    __global pos_t *table, __global begin_t *bucket_ofs, __global uint *chunk_index,
                                    uint arrived_at, idx_t m, pos_t nnz, pos_t part, pos_t chunk, uint wide, uint tile,
                                    uint shift, uint mask, uint nbins, uint finders, uint segment, uint table_rows,
                                    __global const uint *failed, uint run)
{
    __local uint count[WEFT_BINS];
#ifdef WEFT_DEVICE_FENCE
    __local pos_t totals[WEFT_BINS];
    __local sum_t mem[SUMS];
    __local int came_last[1];
#endif
    UNLESS_MIRRORED(failed, run)
    {
        const uint width = ROW_OF_BINS(nbins);
        part_count(row_ptr, row_at, col, BEFORE(table, table_rows, width), m, nnz, part, tile, shift, mask, nbins,
                   finders, count);
#ifdef WEFT_DEVICE_FENCE
        __global uint *arrived = chunk_index + arrived_at;
        const uint lid = (uint)get_local_id(0), parts = (uint)get_num_groups(0) - finders;
        const bool finds = group_finds(finders);
        // Of a group that finds rows these are not used.
        const uint g = (uint)get_group_id(0) - finders, own = g / segment, from = own * segment,
                   rows = min(segment, parts - from), segments = (parts + segment - 1u) / segment;
        pos_t sum[JOINED];
        if (!finds)
            for (uint b = lid; b < width; b += WEFT_WG)
                pos_give(&table[(size_t)g * width + b], (pos_t)count[b]);
        bool last = group_comes_last(!finds, &arrived[1u + own], rows, came_last);
        if (segments > 1u) {
            if (last)
                for (uint b = lid; b < width; b += JOINED * WEFT_WG) {
                    rows_join(table + (size_t)from * width, rows, width, b, width, sum);
                    WEFT_UNROLL
                    for (uint q = 0; q < JOINED; q++)
                        if (b + q * WEFT_WG < width)
                            pos_give(&table[(size_t)(parts + own) * width + b + q * WEFT_WG], sum[q]);
                }
            last = group_comes_last(last, arrived, segments, came_last);
        }
        if (last) {
            const bool one = segments == 1u;
            for (uint b = lid; b < nbins; b += JOINED * WEFT_WG) {
                rows_join(table + (one ? 0 : (size_t)parts * width), one ? parts : segments, width, b, nbins, sum);
                WEFT_UNROLL
                for (uint q = 0; q < JOINED; q++)
                    if (b + q * WEFT_WG < nbins) {
                        totals[b + q * WEFT_WG] = sum[q];
                        if (one)
                            table[(size_t)parts * width + b + q * WEFT_WG] = 0;
                    }
            }
            offsets_find(totals, bucket_ofs, chunk_index, chunk, wide, nbins, mem);
        }
#endif
    }
}
