// SPDX-License-Identifier: Apache-2.0
// CSR into panels of columns, for spmv/panels.cl. Part k*m + row is what row has in panel k; it has one entry at least, which
// counts for nothing where the row has none there.
// Source:  -
// Mapping: 1-D; a row, a panel, a work-group of the SpMV, a part or a chunk per work-item, then strides by the global size; a long part
//          per group.
// Local:   32*WG bytes.
// Needs:   cols columns of a panel, 1 to 32766. at[p]: entries before part p, with at[parts] all of them; origin[g] = (first part of
//          work-group g, what is added to `at` of its parts to have their place in col and val), first parts ascending.
// Gives:   col and val in chunks of 32*IPT entries; heads.
// Order:   entries of a part as in the row; integers else.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: entries of a lane in a chunk"
#endif

#define CHUNK   (32 * WEFT_IPT)
#define HEAD    0x8000u
#define NOTHING 0x7fffu

// The first entry from lo on, or hi, of a row in order whose column is `column` or more.
WEFT_INLINE ofs_t entry_from(__global const idx_t *col, ofs_t lo, ofs_t hi, long column)
{
    while (lo < hi) {
        const ofs_t mid = lo + (hi - lo) / 2;
        if (col[mid] < column)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

// Parts of more entries are walked by a whole group: a group has the parts p with p / WEFT_WG alike, then strides.
#define LONG_PART 256
struct walked {
    long from, size; // entries; size 0: a part that its work-item walks by itself
    long place, column;
};

// size[p]: entries of part p. *unfit is 1 where the panels of a row's entries do not ascend, and the sizes are of no use.
WEFT_KERNEL void panels_count(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                              __global long *restrict size, __global int *restrict unfit, idx_t m, ulong parts,
                              idx_t cols)
{
    __local struct walked walked[WEFT_WG];
    const uint lid = (uint)get_local_id(0);
    for (ulong first = (ulong)get_group_id(0) * WEFT_WG; first < parts; first += get_global_size(0)) {
        const ulong p = first + lid;
        bool fits = true;
        walked[lid].size = 0;
        if (p < parts) {
            const long panel = (long)(p / (ulong)m), row = (long)p - panel * m, column = panel * cols;
            // Both ends are searched in the whole row, so that a part begins where the one before ends, whatever the order.
            const ofs_t begin = row_ptr[row], end = row_ptr[row + 1], from = entry_from(col, begin, end, column),
                        to = entry_from(col, begin, end, column + cols);
            if (to - from > LONG_PART) {
                walked[lid].from = (long)from;
                walked[lid].size = (long)(to - from);
                walked[lid].column = column;
            } else
                for (ofs_t i = from; i < to; i++)
                    fits = fits && col[i] >= column && col[i] < column + cols;
            fits = fits && !(column == 0 && from > begin) && !(p + (ulong)m >= parts && to < end);
            size[p] = max((long)(to - from), 1l);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0u; k < WEFT_WG; k++) {
            if (!walked[k].size)
                continue;
            const long from = walked[k].from, size = walked[k].size, column = walked[k].column;
            int apart = 0; // no branch between the reads of a work-item
#pragma unroll 4
            for (long i = lid; i < size; i += WEFT_WG)
                apart |= (int)(col[from + i] < column) | (int)(col[from + i] >= column + cols);
            fits = fits && !apart;
        }
        if (!fits)
            atomic_or(unfit, 1);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// size[p], whatever the order of a row.
WEFT_KERNEL void panels_count_rows(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                   __global long *restrict size, idx_t m, uint panels, idx_t cols)
{
    for (long row = (long)get_global_id(0); row < m; row += (long)get_global_size(0)) {
        for (uint k = 0u; k < panels; k++)
            size[(long)k * m + row] = 0;
        const ofs_t end = row_ptr[row + 1];
        for (ofs_t p = row_ptr[row]; p < end; p++)
            size[(long)(col[p] / cols) * m + row]++;
        for (uint k = 0u; k < panels; k++)
            size[(long)k * m + row] = max(size[(long)k * m + row], 1l);
    }
}

// begin[k] = at[k*m], for k = 0 .. panels.
WEFT_KERNEL void panels_begins(__global const long *restrict at, __global long *restrict begin, idx_t m, uint panels)
{
    for (ulong k = get_global_id(0); k <= panels; k += get_global_size(0))
        begin[k] = at[(long)k * m];
}

// The first part from `lo` on, or `hi`, with at[part] >= entry.
WEFT_INLINE long part_from(__global const long *at, long lo, long hi, long entry)
{
    while (lo < hi) {
        const long mid = (lo + hi) / 2;
        if (at[mid] < entry)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

// cut[2*g]: the first part of which at least wanted[g] entries lie before; cut[2*g + 1]: how many do.
WEFT_KERNEL void panels_cut(__global const long *restrict at, __global const long *restrict wanted,
                            __global long *restrict cut, ulong parts, uint count)
{
    for (ulong g = get_global_id(0); g < count; g += get_global_size(0)) {
        const long part = part_from(at, 0, (long)parts, wanted[g]);
        cut[2 * g] = part;
        cut[2 * g + 1] = at[part];
    }
}

// The last g with origin[g].x <= part.
WEFT_INLINE uint group_of(__global const long2 *origin, uint count, long part)
{
    uint lo = 0u, hi = count - 1u;
    while (lo < hi) {
        const uint mid = (lo + hi + 1u) / 2u;
        if (origin[mid].x <= part)
            lo = mid;
        else
            hi = mid - 1u;
    }
    return lo;
}

// heads[c], by the work-group that has chunk c.
WEFT_KERNEL void panels_lines(__global const long *restrict at, __global const long2 *restrict origin,
                              __global const uint4 *restrict table, __global uint *restrict heads, uint count)
{
    for (ulong g = get_global_id(0) / LANES; g < count; g += get_global_size(0) / LANES) {
        const uint4 job = table[g];
        const long2 from = origin[g];
        for (uint c = lane_id(); c < job.z; c += LANES)
            heads[job.y + c] = (uint)part_from(at, from.x, (long)job.w + 1, ((long)job.y + c) * CHUNK - from.y);
    }
}

// The entries of a part, which are `from` .., to their places: those from `first` on, `step` apart.
WEFT_INLINE void part_fill(__global const idx_t *col, __global const bits_t *val, __global ushort *to_col,
                           __global bits_t *to_val, long from, long place, long size, long column, uint first,
                           uint step)
{
#pragma unroll 4
    for (long i = first; i < size; i += step) {
        to_col[place + i] = (ushort)((i ? 0u : HEAD) | (uint)(col[from + i] - column));
#if WEFT_VAL_BITS
        to_val[place + i] = val[from + i];
#endif
    }
}

// Entries to their places, where the panels of each row's entries ascend.
WEFT_KERNEL void panels_fill(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                             __global const bits_t *restrict val, __global const long *restrict at,
                             __global const long2 *restrict origin, __global ushort *restrict to_col,
                             __global bits_t *restrict to_val, idx_t m, ulong parts, uint count, idx_t cols)
{
    __local struct walked walked[WEFT_WG];
    const uint lid = (uint)get_local_id(0);
    for (ulong first = (ulong)get_group_id(0) * WEFT_WG; first < parts; first += get_global_size(0)) {
        const ulong p = first + lid;
        walked[lid].size = 0;
        if (p < parts) {
            const long panel = (long)(p / (ulong)m), row = (long)p - panel * m, column = panel * cols;
            const ofs_t from = entry_from(col, row_ptr[row], row_ptr[row + 1], column);
            const long size = at[p + 1] - at[p], place = at[p] + origin[group_of(origin, count, (long)p)].y;
            if (from >= row_ptr[row + 1] || col[from] >= column + cols) {
                to_col[place] = (ushort)(HEAD | NOTHING);
#if WEFT_VAL_BITS
                to_val[place] = (bits_t)0;
#endif
            } else if (size > LONG_PART) {
                walked[lid].from = (long)from;
                walked[lid].size = size;
                walked[lid].place = place;
                walked[lid].column = column;
            } else
                part_fill(col, val, to_col, to_val, (long)from, place, size, column, 0u, 1u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0u; k < WEFT_WG; k++)
            if (walked[k].size)
                part_fill(col, val, to_col, to_val, walked[k].from, walked[k].place, walked[k].size, walked[k].column,
                          lid, WEFT_WG);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// The first entry of each part, which counts for nothing yet: what panels_fill_rows begins with.
WEFT_KERNEL void panels_heads(__global const long *restrict at, __global const long2 *restrict origin,
                              __global ushort *restrict to_col, ulong parts, uint count)
{
    for (ulong p = get_global_id(0); p < parts; p += get_global_size(0))
        to_col[at[p] + origin[group_of(origin, count, (long)p)].y] = (ushort)(HEAD | NOTHING);
}

// Entries to their places, whatever the order of a row. Needs: `at` as each part begins; leaves there where it ends.
WEFT_KERNEL void panels_fill_rows(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                  __global const bits_t *restrict val, __global long *restrict at,
                                  __global const long2 *restrict origin, __global ushort *restrict to_col,
                                  __global bits_t *restrict to_val, idx_t m, uint count, idx_t cols)
{
    for (long row = (long)get_global_id(0); row < m; row += (long)get_global_size(0)) {
        const ofs_t end = row_ptr[row + 1];
        for (ofs_t p = row_ptr[row]; p < end; p++) {
            const idx_t panel = col[p] / cols;
            const long part = (long)panel * m + row, to = at[part]++ + origin[group_of(origin, count, part)].y;
            to_col[to] = (ushort)((to_col[to] & HEAD) | (uint)(col[p] - panel * cols));
#if WEFT_VAL_BITS
            to_val[to] = val[p];
#endif
        }
    }
}
