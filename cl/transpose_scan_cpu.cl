// SPDX-License-Identifier: Apache-2.0
// ScanTrans on a CPU: A^T of an m x n CSR or COO matrix, in one of two forms that a probe of the columns chooses between:
// (direct) a row of n counters per chunk of entries, summed down and across, then each entry goes to its place;
// (blocks) the entries are first parted by blocks of columns, so that the random access of the same steps stays inside
// one block, which fits the cache.
// Source:  Wang et al., ICS 2016, section 3.1. Direct is that method without its array `intra`: counters that advance
//          give the same ranks. Blocks adds the parting.
// Mapping: 1-D, work-groups of one work-item. count, scatter, block_count, block_scatter: item c owns chunk c of the
//          entries, [nnz*c/chunks, nnz*(c+1)/chunks). sums, columns: item r owns range r of the columns. block_finish:
//          item b owns block b, columns b*2^shift ... probe, block_scan: one item.
// Local:   none.
// Needs:   WEFT_WG 1; row_ptr[m] == nnz > 0, columns in 0 .. n-1, m, n > 0.
// Gives:   every element of out_ptr, out_row, out_val.
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

// What mode[0] holds.
#define DIRECT 0u
#define BLOCKS 1u
#define PROBE  2u // only as argument `wanted`: look at the columns

#define WINDOWS       32   // places where the probe looks
#define WINDOW        2048 // entries it looks at in each
#define RECENT        512  // lines of counters it takes for cached
#define SAMPLE_BLOCKS 512

// First entry of part i of `parts`; (nnz / parts) * i alone would leave the remainder to the last.
inline ofs_t part_first(long nnz, long parts, long i)
{
    return (ofs_t)(nnz / parts * i + min(i, nnz % parts));
}

// Ask for the cache line of *p, which will be written: of more streams than the hardware follows.
#if defined(__has_builtin) && (defined(__x86_64__) || defined(__aarch64__)) // where a pointer is an address
#if __has_builtin(__builtin_prefetch)
#define FETCH(p) __builtin_prefetch((const void *)(size_t)(p), 1)
#endif
#endif
#ifndef FETCH
#define FETCH(p) (void)0
#endif
#define LINE 64 // bytes of a cache line; another size costs speed only

// Words of an entry between the two steps of blocks: column, row, value.
#define WORDS (2 + WEFT_VAL_BITS / 32)

inline void mid_put(__global uint *restrict mid, ofs_t to, idx_t col, idx_t row, bits_t v)
{
    __global uint *e = mid + (size_t)to * WORDS;
    e[0] = (uint)col;
    e[1] = (uint)row;
#if WEFT_VAL_BITS
    e[2] = (uint)v;
#endif
#if WEFT_VAL_BITS == 64
    e[3] = (uint)(v >> 32);
#endif
    FETCH(e + LINE / 4);
}

// Zeros. The offset of our launches is always 0; a plain 0 would become a memset, which Oclgrind does not take for
// writing, and what is counted there would be reported as uninitialised.
inline void zero_fill(__global ofs_t *out, long count)
{
    ofs_t zero = (ofs_t)get_global_offset(0);
    for (long j = 0; j < count; j++)
        out[j] = zero;
}

// Decide between the direct form and blocks, by a sample of the columns. Direct suffers when counters and output lines
// are rarely in cache; blocks when one block holds so many entries that `units` compute units cannot share the work.
WEFT_KERNEL void cpu_probe(__global const idx_t *restrict col, __global uint *restrict mode, long nnz, uint wanted,
                           uint sample_shift, uint units)
{
    if (wanted != PROBE) {
        mode[0] = wanted;
        return;
    }
    uint recent[RECENT], block[SAMPLE_BLOCKS];
    uint missed = 0u, seen = 0u, largest = 0u;
    for (uint i = 0; i < SAMPLE_BLOCKS; i++)
        block[i] = 0u;
    for (uint w = 0; w < WINDOWS; w++) {
        ofs_t first = part_first(nnz, WINDOWS, w), last = min((ofs_t)nnz, first + WINDOW);
        for (uint i = 0; i < RECENT; i++)
            recent[i] = 0xffffffffu;
        for (ofs_t p = first; p < last; p++) {
            uint line = (uint)col[p] >> 4, slot = line % RECENT;
            missed += recent[slot] != line ? 1u : 0u;
            recent[slot] = line;
            block[(uint)col[p] >> sample_shift]++;
        }
        seen += (uint)(last - first);
    }
    for (uint i = 0; i < SAMPLE_BLOCKS; i++)
        largest = max(largest, block[i]);
    mode[0] = missed > seen / 2 && (ulong)largest * units < (ulong)seen + seen / 2 ? BLOCKS : DIRECT;
}

// table[c*n + j] = entries of chunk c in column j.
WEFT_KERNEL void cpu_count(__global const uint *restrict mode, __global const idx_t *restrict col,
                           __global ofs_t *restrict table, idx_t n, long nnz)
{
    if (mode[0] != DIRECT)
        return;
    long c = (long)get_global_id(0), chunks = (long)get_global_size(0);
    ofs_t first = part_first(nnz, chunks, c), last = part_first(nnz, chunks, c + 1);
    __global ofs_t *restrict count = table + (size_t)c * (size_t)n;
    zero_fill(count, n);
    for (ofs_t p = first; p < last; p++)
        count[col[p]]++;
}

// sum[r] = entries in range r of the columns.
WEFT_KERNEL void cpu_sums(__global const uint *restrict mode, __global const ofs_t *restrict table,
                          __global ofs_t *restrict sum, idx_t n, uint chunks)
{
    if (mode[0] != DIRECT)
        return;
    long r = (long)get_global_id(0), ranges = (long)get_global_size(0);
    idx_t first = (idx_t)(n * r / ranges), last = (idx_t)(n * (r + 1) / ranges);
    ofs_t all = 0;
    for (uint c = 0; c < chunks; c++) {
        __global const ofs_t *restrict count = table + (size_t)c * (size_t)n;
        for (idx_t j = first; j < last; j++)
            all += count[j];
    }
    sum[r] = all;
}

// Counts become positions: table[c*n + j] = where the first entry of chunk c in column j goes; out_ptr (size n+1).
WEFT_KERNEL void cpu_columns(__global const uint *restrict mode, __global ofs_t *restrict table,
                             __global const ofs_t *restrict sum, __global ofs_t *restrict out_ptr, idx_t n, long nnz,
                             uint chunks)
{
    if (mode[0] != DIRECT)
        return;
    long r = (long)get_global_id(0), ranges = (long)get_global_size(0);
    idx_t first = (idx_t)(n * r / ranges), last = (idx_t)(n * (r + 1) / ranges);
    ofs_t at = 0;
    for (long i = 0; i < r; i++)
        at += sum[i];
    for (idx_t j = first; j < last; j++) {
        out_ptr[j] = at;
        for (uint c = 0; c < chunks; c++) {
            __global ofs_t *count = table + (size_t)c * (size_t)n + j;
            ofs_t here = *count;
            *count = at;
            at += here;
        }
    }
    if (r == ranges - 1)
        out_ptr[n] = (ofs_t)nnz;
}

// Value of entry p.
inline bits_t val_of(__global const bits_t *val, ofs_t p)
{
#if defined(WEFT_VAL_POSITIONS)
    return (bits_t)p;
#elif WEFT_VAL_BITS
    return val[p];
#else
    return 0;
#endif
}

inline void entry_put(__global idx_t *out_row, __global bits_t *out_val, ofs_t to, idx_t row, bits_t v)
{
    out_row[to] = row;
#if WEFT_VAL_BITS
    out_val[to] = v;
#endif
}

inline void place_fetch(__global idx_t *out_row, __global bits_t *out_val, ofs_t to)
{
    FETCH(out_row + to);
#if WEFT_VAL_BITS
    FETCH(out_val + to);
#endif
}

// Entries between the one that is moved and the one whose place is asked for.
#define AHEAD 16

// Move the entries of each chunk, row by row; with row indices given, entry by entry.
WEFT_KERNEL void cpu_scatter(__global const uint *restrict mode, __global const ofs_t *restrict row_ptr,
                             __global const idx_t *restrict row, __global const idx_t *restrict col,
                             __global const bits_t *restrict val, __global ofs_t *restrict table,
                             __global idx_t *restrict out_row, __global bits_t *restrict out_val, idx_t m, idx_t n,
                             long nnz)
{
    if (mode[0] != DIRECT)
        return;
    long c = (long)get_global_id(0), chunks = (long)get_global_size(0);
    ofs_t p = part_first(nnz, chunks, c), last = part_first(nnz, chunks, c + 1);
    __global ofs_t *restrict next = table + (size_t)c * (size_t)n;
#ifdef WEFT_ROWS_GIVEN
    for (; p < last; p++) {
        place_fetch(out_row, out_val, next[col[min(p + AHEAD, last - 1)]]);
        entry_put(out_row, out_val, next[col[p]]++, row[p], val_of(val, p));
    }
#else
    if (p < last)
        for (idx_t i = row_of(row_ptr, 0, m, p); p < last; i++)
            for (ofs_t end = min(last, row_ptr[i + 1]); p < end; p++) {
                place_fetch(out_row, out_val, next[col[min(p + AHEAD, last - 1)]]);
                entry_put(out_row, out_val, next[col[p]]++, i, val_of(val, p));
            }
#endif
}

// table[c*blocks + b] = entries of chunk c in block b.
WEFT_KERNEL void cpu_block_count(__global const uint *restrict mode, __global const idx_t *restrict col,
                                 __global ofs_t *restrict table, long nnz, uint shift, uint blocks)
{
    if (mode[0] != BLOCKS)
        return;
    long c = (long)get_global_id(0), chunks = (long)get_global_size(0);
    ofs_t first = part_first(nnz, chunks, c), last = part_first(nnz, chunks, c + 1);
    __global ofs_t *restrict count = table + (size_t)c * blocks;
    zero_fill(count, blocks);
    for (ofs_t p = first; p < last; p++)
        count[(uint)col[p] >> shift]++;
}

// Counts become positions, as cpu_columns does; block_ptr (size blocks+1).
WEFT_KERNEL void cpu_block_scan(__global const uint *restrict mode, __global ofs_t *restrict table,
                                __global ofs_t *restrict block_ptr, uint blocks, uint chunks)
{
    if (mode[0] != BLOCKS)
        return;
    ofs_t at = 0;
    for (uint b = 0; b < blocks; b++) {
        block_ptr[b] = at;
        for (uint c = 0; c < chunks; c++) {
            ofs_t here = table[(size_t)c * blocks + b];
            table[(size_t)c * blocks + b] = at;
            at += here;
        }
    }
    block_ptr[blocks] = at;
}

// Part the entries by blocks: mid (size WORDS*nnz).
WEFT_KERNEL void cpu_block_scatter(__global const uint *restrict mode, __global const ofs_t *restrict row_ptr,
                                   __global const idx_t *restrict row, __global const idx_t *restrict col,
                                   __global const bits_t *restrict val, __global ofs_t *restrict table,
                                   __global uint *restrict mid, idx_t m, long nnz, uint shift, uint blocks)
{
    if (mode[0] != BLOCKS)
        return;
    long c = (long)get_global_id(0), chunks = (long)get_global_size(0);
    ofs_t p = part_first(nnz, chunks, c), last = part_first(nnz, chunks, c + 1);
    __global ofs_t *restrict next = table + (size_t)c * blocks;
#ifdef WEFT_ROWS_GIVEN
    for (; p < last; p++) {
        idx_t j = col[p];
        mid_put(mid, next[(uint)j >> shift]++, j, row[p], val_of(val, p));
    }
#else
    if (p < last)
        for (idx_t i = row_of(row_ptr, 0, m, p); p < last; i++)
            for (ofs_t end = min(last, row_ptr[i + 1]); p < end; p++) {
                idx_t j = col[p];
                mid_put(mid, next[(uint)j >> shift]++, j, i, val_of(val, p));
            }
#endif
}

// Order each block by column. Its part of out_ptr serves as its counters: they advance from the first place of a
// column to the first of the next, so moving them up by one gives the pointers back.
WEFT_KERNEL void cpu_block_finish(__global const uint *restrict mode, __global const ofs_t *restrict block_ptr,
                                  __global const uint *restrict mid, __global ofs_t *restrict out_ptr,
                                  __global idx_t *restrict out_row, __global bits_t *restrict out_val, idx_t n,
                                  uint shift, uint blocks)
{
    if (mode[0] != BLOCKS)
        return;
    uint b = (uint)get_global_id(0);
    ofs_t first = block_ptr[b], last = block_ptr[b + 1], at = first;
    long col_first = (long)b << shift, width = min((long)n - col_first, 1L << shift);
    __global ofs_t *restrict next = out_ptr + col_first;
    zero_fill(next, width);
    for (ofs_t p = first; p < last; p++) { // meanwhile the lines come that the entries will fill
        next[(idx_t)mid[(size_t)p * WORDS] - col_first]++;
        if (p % (LINE / 4) == 0)
            FETCH(out_row + p);
#if WEFT_VAL_BITS
        if (p % (LINE * 8 / WEFT_VAL_BITS) == 0)
            FETCH(out_val + p);
#endif
    }
    for (long j = 0; j < width; j++) {
        ofs_t here = next[j];
        next[j] = at;
        at += here;
    }
    for (ofs_t p = first; p < last; p++) {
        __global const uint *e = mid + (size_t)p * WORDS;
#if WEFT_VAL_BITS == 64
        bits_t v = (bits_t)e[3] << 32 | e[2];
#elif WEFT_VAL_BITS
        bits_t v = e[2];
#else
        bits_t v = 0;
#endif
        entry_put(out_row, out_val, next[(idx_t)e[0] - col_first]++, (idx_t)e[1], v);
    }
    for (long j = width - 1; j > 0; j--)
        next[j] = next[j - 1];
    next[0] = first;
    if (b == blocks - 1)
        out_ptr[n] = last;
}
