// SPDX-License-Identifier: Apache-2.0
// MergeTrans on a CPU: each chunk of the entries becomes a CSC matrix of its own, then adjacent pieces are merged until
// one is left. Pieces hold their entries in input order, so merging a column is laying its runs end to end.
// Source:  Wang et al., ICS 2016, section 3.2. There pieces are merged in pairs; here `ways` at once, by ranges of
//          columns of equal work; and a piece has pointers of the columns between its first and its last alone.
// Mapping: 1-D, work-groups of one work-item. local: item c owns chunk c of the entries. merge: item i owns range
//          i % 2^range_bits of the columns of the group of pieces i >> range_bits.
// Local:   none.
// Needs:   WEFT_WG 1; row_ptr[m] == nnz > 0, columns in 0 .. n-1, m, n > 0.
// Gives:   piece k: pointers ptr[k*(n+1) + j], positions in arrays that all pieces share, piece after piece; those of
//          columns j = span[k].low .. span[k].high, the last one the end. The one piece that is left has all columns.
// Order:   entries of a column stay in input order; exact.

#define MOST_WAYS 1024

typedef struct {
    idx_t low, high;
} span_t;

// Each chunk of the entries becomes a CSC matrix, piece c from chunk c. Its pointers serve as its counters: they advance
// from the first place of a column to the first of the next, so moving them up by one gives the pointers back.
WEFT_KERNEL void cpu_local(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict row,
                           __global const idx_t *restrict col, __global const bits_t *restrict val,
                           __global ofs_t *restrict ptr, __global span_t *restrict span,
                           __global idx_t *restrict out_row, __global bits_t *restrict out_val, idx_t m, idx_t n,
                           long nnz)
{
    long c = (long)get_global_id(0), chunks = (long)get_global_size(0);
    ofs_t first = part_first(nnz, chunks, c), last = part_first(nnz, chunks, c + 1), at = first;
    __global ofs_t *restrict next = ptr + (size_t)c * ((size_t)n + 1);
    idx_t low = chunks > 1 && first < last ? n : 0, high = chunks > 1 ? 0 : n;
    for (ofs_t p = first; p < last; p++) {
        low = min(low, col[p]);
        high = max(high, col[p] + 1);
    }
    span[c].low = low;
    span[c].high = high;
    zero_fill(next + low, high - low);
    for (ofs_t p = first; p < last; p++)
        next[col[p]]++;
    for (idx_t j = low; j < high; j++) {
        ofs_t here = next[j];
        next[j] = at;
        at += here;
    }
    entries_move(row_ptr, row, col, val, next, out_row, out_val, m, first, last);
    for (idx_t j = high; j > low; j--)
        next[j] = next[j - 1];
    next[low] = first;
}

// Entries before column j in `count` pieces, and one unit of work for each pointer read or written on the way there from
// column `low`.
inline long work_before(__global const ofs_t *ptr, __global const span_t *span, uint count, idx_t n, idx_t low, idx_t j)
{
    long work = j - low;
    for (uint k = 0; k < count; k++) {
        __global const ofs_t *restrict piece = ptr + (size_t)k * ((size_t)n + 1);
        idx_t to = clamp(j, span[k].low, span[k].high);
        work += (long)(piece[to] - piece[span[k].low]) + (to - span[k].low);
    }
    return work;
}

// First of the columns of `all` before which lies share/2^bits of the work (share <= 2^bits <= 2^13, work below 2^50).
inline idx_t column_at(__global const ofs_t *ptr, __global const span_t *span, uint count, idx_t n, span_t all,
                       uint share, uint bits)
{
    long wanted = (work_before(ptr, span, count, n, all.low, all.high) * (long)share) >> bits;
    idx_t lo = all.low, hi = all.high;
    while (lo < hi) {
        idx_t mid = lo + (hi - lo) / 2;
        if (work_before(ptr, span, count, n, all.low, mid) < wanted)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

inline void entries_copy(__global idx_t *restrict out_row, __global bits_t *restrict out_val, ofs_t at,
                         __global const idx_t *restrict row, __global const bits_t *restrict val, ofs_t p, ofs_t count)
{
    for (ofs_t i = 0; i < count; i++)
        out_row[at + i] = row[p + i];
#if WEFT_VAL_BITS
    for (ofs_t i = 0; i < count; i++)
        out_val[at + i] = val[p + i];
#endif
}

// Merge each `ways` adjacent pieces of `pieces` into one, its columns cut into 2^range_bits ranges.
WEFT_KERNEL void cpu_merge(__global const ofs_t *restrict ptr, __global const span_t *restrict span,
                           __global const idx_t *restrict row, __global const bits_t *restrict val,
                           __global ofs_t *restrict out_ptr, __global span_t *restrict out_span,
                           __global idx_t *restrict out_row, __global bits_t *restrict out_val, idx_t n, uint pieces,
                           uint ways, uint range_bits)
{
    uint id = (uint)get_global_id(0), group = id >> range_bits, range = id - (group << range_bits);
    uint count = min(ways, pieces - group * ways);
    __global const ofs_t *restrict in = ptr + (size_t)(group * ways) * ((size_t)n + 1);
    __global const span_t *restrict has = span + group * ways;
    __global ofs_t *restrict out = out_ptr + (size_t)group * ((size_t)n + 1);
    span_t all = has[0];
    for (uint k = 1; k < count; k++) {
        all.low = min(all.low, has[k].low);
        all.high = max(all.high, has[k].high);
    }
    if (pieces <= ways) {
        all.low = 0;
        all.high = n;
    }
    if (range == 0u)
        out_span[group] = all;
    idx_t first = column_at(in, has, count, n, all, range, range_bits),
          last = column_at(in, has, count, n, all, range + 1, range_bits);
    ofs_t at = in[has[0].low];
    for (uint k = 0; k < count; k++) {
        __global const ofs_t *restrict piece = in + (size_t)k * ((size_t)n + 1);
        at += piece[clamp(first, has[k].low, has[k].high)] - piece[has[k].low];
    }
    __global const ofs_t *piece[MOST_WAYS]; // pieces that have column `first`, and where it begins there
    ofs_t next[MOST_WAYS];
    while (first < last) { // a stretch of columns that the same pieces have
        idx_t stop = last;
        uint many = 0u;
        for (uint k = 0; k < count; k++)
            if (has[k].low > first)
                stop = min(stop, has[k].low);
            else if (has[k].high > first) {
                stop = min(stop, has[k].high);
                piece[many] = in + (size_t)k * ((size_t)n + 1);
                next[many] = piece[many][first];
                many++;
            }
        if (many == 1u) {
            ofs_t length = piece[0][stop] - next[0];
            entries_copy(out_row, out_val, at, row, val, next[0], length);
            for (; first < stop; first++)
                out[first] = at + (piece[0][first] - next[0]);
            at += length;
        }
        for (; first < stop; first++) {
            out[first] = at;
            for (uint i = 0; i < many; i++) {
                ofs_t p = next[i], end = piece[i][first + 1];
                next[i] = end;
                for (; p < end; p++, at++) {
                    out_row[at] = row[p];
#if WEFT_VAL_BITS
                    out_val[at] = val[p];
#endif
                }
            }
        }
    }
    if (range + 1u == 1u << range_bits)
        out[all.high] = at;
}
