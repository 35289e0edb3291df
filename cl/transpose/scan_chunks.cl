// SPDX-License-Identifier: Apache-2.0
// Chunks of buckets, for the later passes of ScanTrans: where they begin, and how many entries of each chunk of the large buckets
// fall in each bin. transpose/scan_bucket.cl moves them; transpose/scan_count.cl counts for the first pass.
// Source:  as transpose/scan_count.cl, for each bucket by itself.
// Mapping: count, vertical: groups stride over the chunks of large buckets, whose sums with WEFT_CHUNKS_JOINED the groups of
//          bucket_count find that come last, of a segment of chunks and of a bucket; chunks: a group owns neighbouring buckets.
// Local:   count: 4*WEFT_BINS bytes; vertical: sizeof(pos_t)*WEFT_WG; chunks: 4*(WEFT_WG + WEFT_WG/32).
// Needs:   WEFT_WG a multiple of 32; ncols <= WEFT_BINS, a power of two.
// Gives:   table rows are exclusive prefixes over the chunks of a bucket, or of a segment of them; the chunk index of scan.clh.
// Order:   integer sums, exact.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size, a multiple of 32"
#endif
#ifndef WEFT_BINS
#error "WEFT_BINS: bins that fit, at least the ncols argument"
#endif

#if defined(WEFT_CHUNKS_JOINED) && defined(WEFT_DEVICE_FENCE)
#define CHUNKS_JOINED 1 // the host asks for it only where there is a fence
#endif

#ifdef CHUNKS_JOINED
// Sums over chunk `nth` of the `chunks` of a large bucket, whose first is number `first`, and over the others, once all are in the
// table: the group that comes last to a segment of chunks adds these up, the last to the bucket its segments (LARGE_ROW).
WEFT_INLINE void chunk_join(__global pos_t *table, uint large_rows, __global uint *arrived, uint first, uint chunks,
                            uint nth, uint ncols, __local int *came_last)
{
    const uint lid = (uint)get_local_id(0), row = LARGE_ROW(large_rows, first), each = segment_of(chunks),
               segments = (chunks + each - 1u) / each, segment = nth / each, from = segment * each,
               rows = min(each, chunks - from), at = row + (segments > 1u ? 1u + segment : 0u);
    pos_t sum[JOINED];
    bool last = group_comes_last(true, &arrived[at - large_rows], rows, came_last);
    if (last)
        for (uint c = lid; c < ncols; c += JOINED * WEFT_WG) {
            rows_join(table + (size_t)(first + from) * ncols, rows, ncols, c, ncols, sum);
            WEFT_UNROLL
            for (uint q = 0; q < JOINED; q++)
                if (c + q * WEFT_WG < ncols)
                    pos_give(&table[(size_t)at * ncols + c + q * WEFT_WG], sum[q]);
        }
    if (segments > 1u) {
        last = group_comes_last(last, &arrived[row - large_rows], segments, came_last);
        if (last)
            for (uint c = lid; c < ncols; c += JOINED * WEFT_WG) {
                rows_join(table + (size_t)(row + 1u) * ncols, segments, ncols, c, ncols, sum);
                WEFT_UNROLL
                for (uint q = 0; q < JOINED; q++)
                    if (c + q * WEFT_WG < ncols)
                        table[(size_t)row * ncols + c + q * WEFT_WG] = sum[q];
            }
    }
}
#endif

// Count the entries of each chunk of the large buckets by bin.
// table[i*ncols + c] = entries of chunk i (of the large buckets) in bin c = (key >> shift) & (ncols-1); the keys stand
// `stride` key_t apart. With WEFT_CHUNKS_JOINED the row becomes what comes before the chunk in its segment, sums are as LARGE_ROW
// says, and the index from word `arrived_at` on is zero before and after; else neither of the two is touched, and
// bucket_vertical adds up.
WEFT_KERNEL void bucket_count(__global const key_t *key, __global const pos_t *bucket_ofs, __global uint *chunk_index,
                              __global pos_t *table, uint arrived_at, pos_t chunk, uint nbuckets, uint stride,
                              uint shift, uint ncols, uint large_rows, __global const uint *failed, uint run)
{
    __local uint count[WEFT_BINS];
#ifdef CHUNKS_JOINED
    __local int came_last[1];
#endif
    UNLESS_MIRRORED(failed, run)
    {
        __global const uint *large_first = LARGE_FIRST(chunk_index, nbuckets);
        uint lid = (uint)get_local_id(0), chunks = large_first[nbuckets];
        for (uint i = (uint)get_group_id(0); i < chunks; i += (uint)get_num_groups(0)) {
            const uint b = bucket_of(large_first, nbuckets, i), first_chunk = large_first[b];
            pos_t first = bucket_ofs[b] + (pos_t)(i - first_chunk) * chunk;
            pos_t last = min(bucket_ofs[b + 1], first + chunk);
            for (uint c = lid; c < ncols; c += WEFT_WG)
                count[c] = 0u;
            barrier(CLK_LOCAL_MEM_FENCE);
            pos_t e = first + (pos_t)lid;
            for (; e + (AHEAD - 1) * WEFT_WG < last; e += AHEAD * WEFT_WG) {
                uint c[AHEAD];
#pragma unroll
                for (uint j = 0; j < AHEAD; j++)
                    c[j] = (uint)key[(size_t)(e + (pos_t)(j * WEFT_WG)) * stride];
#pragma unroll
                for (uint j = 0; j < AHEAD; j++)
                    atomic_inc(&count[(c[j] >> shift) & (ncols - 1u)]);
            }
            for (; e < last; e += WEFT_WG)
                atomic_inc(&count[((uint)key[(size_t)e * stride] >> shift) & (ncols - 1u)]);
            barrier(CLK_LOCAL_MEM_FENCE);
#ifdef CHUNKS_JOINED
            for (uint c = lid; c < ncols; c += WEFT_WG)
                pos_give(&table[(size_t)i * ncols + c], (pos_t)count[c]);
            chunk_join(table, large_rows, chunk_index + arrived_at, first_chunk, large_first[b + 1u] - first_chunk,
                       i - first_chunk, ncols, came_last);
#else
            for (uint c = lid; c < ncols; c += WEFT_WG)
                table[(size_t)i * ncols + c] = (pos_t)count[c];
#endif
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}

// Vertical scan of the chunks of each large bucket, without WEFT_CHUNKS_JOINED; column sums
// go to row LARGE_ROW. Where buckets have few chunks, a column is one work-item's.
WEFT_KERNEL void bucket_vertical(__global pos_t *table, __global const uint *chunk_index, uint nbuckets, uint ncols,
                                 uint large_rows, __global const uint *failed, uint run)
{
    __local pos_t part[WEFT_WG];
    UNLESS_MIRRORED(failed, run)
    {
        __global const uint *large_first = LARGE_FIRST(chunk_index, nbuckets), *large = LARGE(chunk_index, nbuckets);
        const uint buckets = NLARGE(chunk_index, nbuckets)[0], lid = (uint)get_local_id(0);
        const bool few = buckets && large_first[large[buckets - 1u] + 1u] <= AHEAD * buckets;
        const uint wide = few ? WEFT_WG : LANES, strips = (ncols + wide - 1u) / wide, units = buckets * strips;
        for (uint u = (uint)get_group_id(0); u < units; u += (uint)get_num_groups(0)) {
            uint k = u / strips, b = large[k], c = (u - k * strips) * wide + (few ? lid : lane_id());
            uint from = large_first[b], rows = large_first[b + 1] - from;
            __global pos_t *counts = table + (size_t)from * ncols;
            if (few) {
                if (c < ncols)
                    table[(size_t)LARGE_ROW(large_rows, from) * ncols + c] =
                        rows_prefix(counts + c, 0u, rows, ncols, 0);
                continue;
            }
            pos_t sum = vertical_scan(counts, rows, ncols, c, c < ncols, part);
            if (lane_group() == 0u && c < ncols)
                table[(size_t)LARGE_ROW(large_rows, from) * ncols + c] = sum;
        }
    }
}

// Chunks of a bucket of entries from .. to-1.
WEFT_INLINE uint chunks_of(pos_t from, pos_t to, pos_t chunk)
{
    return (uint)((to - from + chunk - 1) / chunk);
}

// The chunks of buckets that begin at bucket_ofs, as offsets_find tells them. Each group owns as many neighbouring buckets, and
// adds up those before them by itself.
WEFT_KERNEL void bucket_chunks(__global const pos_t *bucket_ofs, __global uint *chunk_index, pos_t chunk, uint nbuckets,
                               __global const uint *failed, uint run)
{
    __local uint mem[WEFT_WG + WEFT_WG / 32];
    __global uint *chunk_first = CHUNK_FIRST(chunk_index), *large_first = LARGE_FIRST(chunk_index, nbuckets),
                  *large = LARGE(chunk_index, nbuckets), *nlarge = NLARGE(chunk_index, nbuckets);
    UNLESS_MIRRORED(failed, run)
    {
        const uint lid = (uint)get_local_id(0), groups = (uint)get_num_groups(0);
        const uint share = (nbuckets + groups - 1u) / groups, first = min(nbuckets, (uint)get_group_id(0) * share),
                   last = min(nbuckets, first + share);
        uint chunks = 0u, many = 0u, buckets = 0u, all;
        for (uint at = lid; at < first; at += AHEAD * WEFT_WG) {
            pos_t from[AHEAD], to[AHEAD];
#pragma unroll
            for (uint j = 0; j < AHEAD; j++) {
                const uint b = min(at + j * WEFT_WG, first - 1u);
                from[j] = bucket_ofs[b];
                to[j] = bucket_ofs[b + 1u];
            }
#pragma unroll
            for (uint j = 0; j < AHEAD; j++)
                if (at + j * WEFT_WG < first) {
                    const uint c = chunks_of(from[j], to[j], chunk);
                    chunks += max(c, 1u);
                    many += c > 1u ? c : 0u;
                    buckets += c > 1u ? 1u : 0u;
                }
        }
        group_scan(chunks, &all, mem);
        chunks = all;
        group_scan(many, &all, mem);
        many = all;
        group_scan(buckets, &all, mem);
        buckets = all;
        for (uint start = first; start < last; start += WEFT_WG) {
            const uint b = start + lid;
            const uint c = b < last ? chunks_of(bucket_ofs[b], bucket_ofs[b + 1u], chunk) : 0u;
            const uint before = group_scan(b < last ? max(c, 1u) : 0u, &all, mem) + chunks;
            chunks += all;
            const uint many_before = group_scan(c > 1u ? c : 0u, &all, mem) + many;
            many += all;
            const uint at = group_scan(c > 1u ? 1u : 0u, &all, mem) + buckets;
            buckets += all;
            if (b < last) {
                chunk_first[b] = before;
                large_first[b] = many_before;
                if (c > 1u)
                    large[at] = b;
            }
        }
        if (last == nbuckets && first < last && lid == 0u) {
            chunk_first[nbuckets] = chunks;
            large_first[nbuckets] = many;
            nlarge[0] = buckets;
            nlarge[1] = 0u;
        }
    }
}
