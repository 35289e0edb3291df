// SPDX-License-Identifier: Apache-2.0
// MergeTrans on a CPU: each chunk of the entries becomes a CSC matrix of its own, then adjacent pieces are merged until
// one is left. Pieces hold their entries in input order, so merging a column is laying its runs end to end.
// Source:  Wang et al., ICS 2016, section 3.2. There pieces are merged in pairs; here `ways` at once, by ranges of
//          columns of equal work.
// Mapping: 1-D, work-groups of one work-item. local: item c owns chunk c of the entries. merge: item i owns range
//          i % 2^range_bits of the columns of the group of pieces i >> range_bits.
// Local:   none.
// Needs:   WEFT_WG 1; row_ptr[m] == nnz > 0, columns in 0 .. n-1, m, n > 0.
// Gives:   piece k: pointers ptr[k*(n+1) ..] (size n+1), positions in arrays that all pieces share, piece after piece.
// Order:   entries of a column stay in input order; exact.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size, 1"
#endif
#if WEFT_WG != 1
#error "WEFT_WG is 1"
#endif
#ifndef WEFT_VAL_BITS
#error "WEFT_VAL_BITS: 0, 32 or 64, width of a value"
#endif

inline ofs_t part_first(long nnz, long parts, long i)
{
    return (ofs_t)(nnz / parts * i + min(i, nnz % parts));
}

// Zeros. The offset of our launches is always 0; a plain 0 would become a memset, which Oclgrind does not take for
// writing, and what is counted there would be reported as uninitialised.
inline void zero_fill(__global ofs_t *out, long count)
{
    ofs_t zero = (ofs_t)get_global_offset(0);
    for (long j = 0; j < count; j++)
        out[j] = zero;
}

// Entry p goes to place `to`.
inline void entry_put(__global idx_t *out_row, __global bits_t *out_val, ofs_t to, idx_t row,
                      __global const bits_t *val, ofs_t p)
{
    out_row[to] = row;
#if defined(WEFT_VAL_POSITIONS)
    out_val[to] = (bits_t)p;
#elif WEFT_VAL_BITS
    out_val[to] = val[p];
#endif
}

// Each chunk of the entries becomes a CSC matrix, piece c from chunk c. Its pointers serve as its counters: they advance
// from the first place of a column to the first of the next, so moving them up by one gives the pointers back.
WEFT_KERNEL void cpu_local(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict row,
                           __global const idx_t *restrict col, __global const bits_t *restrict val,
                           __global ofs_t *restrict ptr, __global idx_t *restrict out_row,
                           __global bits_t *restrict out_val, idx_t m, idx_t n, long nnz)
{
    long c = (long)get_global_id(0), chunks = (long)get_global_size(0);
    ofs_t first = part_first(nnz, chunks, c), last = part_first(nnz, chunks, c + 1), at = first;
    __global ofs_t *restrict next = ptr + (size_t)c * ((size_t)n + 1);
    zero_fill(next, n);
    for (ofs_t p = first; p < last; p++)
        next[col[p]]++;
    for (idx_t j = 0; j < n; j++) {
        ofs_t here = next[j];
        next[j] = at;
        at += here;
    }
    ofs_t p = first;
#ifdef WEFT_ROWS_GIVEN
    for (; p < last; p++)
        entry_put(out_row, out_val, next[col[p]]++, row[p], val, p);
#else
    if (p < last)
        for (idx_t i = row_of(row_ptr, 0, m, p); p < last; i++)
            for (ofs_t end = min(last, row_ptr[i + 1]); p < end; p++)
                entry_put(out_row, out_val, next[col[p]]++, i, val, p);
#endif
    for (idx_t j = n; j > 0; j--)
        next[j] = next[j - 1];
    next[0] = first;
}

// Entries before column j in `count` pieces, and one unit of work for each pointer read on the way there.
inline long work_before(__global const ofs_t *ptr, uint count, idx_t n, idx_t j)
{
    long work = 0;
    for (uint k = 0; k < count; k++) {
        __global const ofs_t *restrict piece = ptr + (size_t)k * ((size_t)n + 1);
        work += (long)(piece[j] - piece[0]) + j;
    }
    return work;
}

// First column before which lies share/2^bits of the work (share <= 2^bits <= 2^13, work below 2^50).
inline idx_t column_at(__global const ofs_t *ptr, uint count, idx_t n, uint share, uint bits)
{
    long wanted = (work_before(ptr, count, n, n) * (long)share) >> bits;
    idx_t lo = 0, hi = n;
    while (lo < hi) {
        idx_t mid = lo + (hi - lo) / 2;
        if (work_before(ptr, count, n, mid) < wanted)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

// Merge each `ways` adjacent pieces of `pieces` into one, its columns cut into 2^range_bits ranges.
WEFT_KERNEL void cpu_merge(__global const ofs_t *restrict ptr, __global const idx_t *restrict row,
                           __global const bits_t *restrict val, __global ofs_t *restrict out_ptr,
                           __global idx_t *restrict out_row, __global bits_t *restrict out_val, idx_t n, uint pieces,
                           uint ways, uint range_bits)
{
    uint id = (uint)get_global_id(0), group = id >> range_bits, range = id - (group << range_bits);
    uint count = min(ways, pieces - group * ways);
    __global const ofs_t *restrict in = ptr + (size_t)(group * ways) * ((size_t)n + 1);
    __global ofs_t *restrict out = out_ptr + (size_t)group * ((size_t)n + 1);
    idx_t first = column_at(in, count, n, range, range_bits), last = column_at(in, count, n, range + 1, range_bits);
    ofs_t at = in[0];
    for (uint k = 0; k < count; k++) {
        __global const ofs_t *restrict piece = in + (size_t)k * ((size_t)n + 1);
        at += piece[first] - piece[0];
    }
    for (idx_t j = first; j < last; j++) {
        out[j] = at;
        for (uint k = 0; k < count; k++) {
            __global const ofs_t *restrict piece = in + (size_t)k * ((size_t)n + 1);
            for (ofs_t p = piece[j], end = piece[j + 1]; p < end; p++, at++) {
                out_row[at] = row[p];
#if WEFT_VAL_BITS
                out_val[at] = val[p];
#endif
            }
        }
    }
    if (range + 1u == 1u << range_bits)
        out[n] = at;
}
