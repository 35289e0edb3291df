// SPDX-License-Identifier: Apache-2.0
// ScanTrans on a CPU: A^T of an m x n CSR or COO matrix, in one of two forms that a probe of the columns chooses between:
// (direct) a row of counters per chunk of entries, summed down and across, then each entry goes to its place;
// (blocks) the entries are first parted by blocks of columns, so that the random access of the same steps stays inside
// one block, which fits the cache.
// Source:  Wang et al., ICS 2016, section 3.1. Direct is that method without its array `intra`: counters that advance
//          give the same ranks; and only the columns between the first and the last of a chunk have counters there, so
//          that many chunks of a band or a stencil need no more of them than one. Blocks adds the parting.
// Mapping: 1-D, work-groups of one work-item, each step one launch for either form: threads that sleep between launches
//          take long to wake. Item c owns chunk c of the entries, [nnz*c/chunks, nnz*(c+1)/chunks), and in the sums and places
//          of direct range c of the columns, if there is one; the places of blocks are item 0's. finish: item b owns block
//          b, columns b*2^shift ...
// Local:   none.
// Needs:   WEFT_WG 1; row_ptr[m] == nnz > 0, columns in 0 .. n-1, m, n > 0. WEFT_PACKED: rows and columns of a block fit one word,
//          m <= 2^(32 - shift).
// Gives:   every element of out_ptr, out_row, out_val.
// Order:   entries of a column stay in input order; exact.

// Argument `wanted`; 0: direct.
#define BLOCKS 1u
#define PROBE  2u // look at the columns

#define WINDOWS       16   // places where the probe looks
#define WINDOW        1024 // entries it looks at in each
#define RECENT        512  // lines of counters it takes for cached
#define SAMPLE_BLOCKS 512

// Words of an entry between the two steps of blocks: its place, value. The place is column and row; one word, where they fit:
// row, and below it the column in the block, of `shift` bits. A third less memory is written and read then.
#ifdef WEFT_PACKED
#define PLACE 1
#else
#define PLACE 2
#endif
#define WORDS (PLACE + WEFT_VAL_BITS / 32)

inline void mid_put(__global uint *restrict mid, pos_t to, idx_t col, idx_t row, bits_t v, uint shift)
{
    __global uint *e = mid + (size_t)to * WORDS;
#ifdef WEFT_PACKED
    e[0] = (uint)row << shift | ((uint)col & ((1u << shift) - 1u));
#else
    e[0] = (uint)col;
    e[1] = (uint)row;
#endif
#if WEFT_VAL_BITS
    e[PLACE] = (uint)v;
#endif
#if WEFT_VAL_BITS == 64
    e[PLACE + 1] = (uint)(v >> 32);
#endif
    FETCH(e + LINE / 4);
}

// Column in its block, which begins with column `first`.
inline idx_t mid_col(__global const uint *e, idx_t first, uint shift)
{
#ifdef WEFT_PACKED
    return (idx_t)(e[0] & ((1u << shift) - 1u));
#else
    return (idx_t)e[0] - first;
#endif
}

inline idx_t mid_row(__global const uint *e, uint shift)
{
#ifdef WEFT_PACKED
    return (idx_t)(e[0] >> shift);
#else
    return (idx_t)e[1];
#endif
}

inline bits_t mid_val(__global const uint *e)
{
#if WEFT_VAL_BITS == 64
    return (bits_t)e[PLACE + 1] << 32 | e[PLACE];
#elif WEFT_VAL_BITS
    return e[PLACE];
#else
    return 0;
#endif
}

// Whether blocks pay, by a sample of the columns. Direct suffers when counters and output lines are rarely in cache; blocks
// when one block holds so many entries that `units` compute units cannot share the work.
inline bool blocks_pay(__global const idx_t *restrict col, long nnz, uint sample_shift, uint units)
{
    uint recent[RECENT], block[SAMPLE_BLOCKS];
    uint missed = 0u, seen = 0u, largest = 0u;
    for (uint i = 0; i < SAMPLE_BLOCKS; i++)
        block[i] = 0u;
    for (uint w = 0; w < WINDOWS; w++) {
        pos_t first = part_first(nnz, WINDOWS, w), last = min((pos_t)nnz, first + WINDOW);
        for (uint i = 0; i < RECENT; i++)
            recent[i] = 0xffffffffu;
        for (pos_t p = first; p < last; p++) {
            uint line = (uint)col[p] >> 4, slot = line % RECENT;
            missed += recent[slot] != line ? 1u : 0u;
            recent[slot] = line;
            block[(uint)col[p] >> sample_shift]++;
        }
        seen += (uint)(last - first);
    }
    for (uint i = 0; i < SAMPLE_BLOCKS; i++)
        largest = max(largest, block[i]);
    return missed > seen / 2 && (ulong)largest * units < (ulong)seen + seen / 2;
}

#define SAMPLES 64   // entries of a chunk that say which columns it has
#define TILE    1024 // entries that stay in the first-level cache between two looks at them
#define COLUMNS 1024 // columns whose sums do
#define LOOKS   8    // looks at an entry that cost as much as a counter

// Chunk c counts column j in table[c*room + j - base] and has counters of the columns low .. high-1; or it wants blocks.
typedef struct {
    idx_t base, low, high;
} span_t;
#define WANTS_BLOCKS (-1) // as base

// Direct, unless a chunk wants blocks: because they pay, or as its columns did not fit into its counters.
inline bool is_direct(__global const span_t *span, uint chunks)
{
    for (uint c = 0; c < chunks; c++)
        if (span[c].base == WANTS_BLOCKS)
            return false;
    return true;
}

// Where the counter of column 0 of a chunk would lie.
inline long counters_of(span_t span, long c, idx_t room)
{
    return c * room - span.base;
}

// The span as a sample shows it, in the middle of what `room` counters can hold.
inline span_t span_sample(__global const idx_t *col, pos_t first, pos_t last, idx_t n, idx_t room)
{
    span_t s = {0, 0, 0};
    if (first == last)
        return s;
    s.low = s.high = col[first];
    for (uint i = 1; i <= SAMPLES; i++) {
        idx_t j = col[first + part_first(last - first - 1, SAMPLES, i)];
        s.low = min(s.low, j);
        s.high = max(s.high, j);
    }
    s.base = clamp(s.low + (s.high - s.low) / 2 - room / 2, 0, n - room);
    s.high++;
    return s;
}

// Count a chunk by columns; its span. Counters come into use with the columns that are met, unless nearly all will.
inline span_t chunk_count(__global const idx_t *restrict col, __global pos_t *restrict table, long c, pos_t first,
                          pos_t last, idx_t n, idx_t room)
{
    const span_t blocks = {WANTS_BLOCKS, 0, 0};
    span_t s = span_sample(col, first, last, n, room);
    bool look = room < n || (long)(n - (s.high - s.low)) * LOOKS > last - first;
    if (!look) {
        s.low = 0;
        s.high = n;
    }
    if (s.low < s.base || s.high - s.base > room)
        return blocks;
    __global pos_t *restrict count = table + counters_of(s, c, room);
    zero_fill(count + s.low, s.high - s.low);
    for (pos_t p = first; p < last;) {
        pos_t stop = look && last - p > TILE ? p + TILE : last;
        if (look) {
            idx_t low = s.low, high = s.high;
            for (pos_t q = p; q < stop; q++) {
                low = min(low, col[q]);
                high = max(high, col[q] + 1);
            }
            if (low < s.base || high - s.base > room)
                return blocks;
            zero_fill(count + low, s.low - low);
            zero_fill(count + s.high, high - s.high);
            s.low = low;
            s.high = high;
        }
        for (; p < stop; p++)
            count[col[p]]++;
    }
    return s;
}

// Direct: entries of each chunk by columns. span says whether it is to be direct.
WEFT_KERNEL void cpu_count(__global const idx_t *restrict col, __global pos_t *restrict table,
                           __global span_t *restrict span, idx_t n, long nnz, idx_t room, uint wanted,
                           uint sample_shift, uint units)
{
    long c = (long)get_global_id(0), chunks = (long)get_global_size(0);
    // Each probes for itself; of many chunks some do, and the others may count in vain.
    if (wanted == BLOCKS || (wanted == PROBE && c < 2L * units && blocks_pay(col, nnz, sample_shift, units))) {
        span[c].base = WANTS_BLOCKS;
        span[c].low = span[c].high = 0;
    } else {
        span[c] = chunk_count(col, table, c, part_first(nnz, chunks, c), part_first(nnz, chunks, c + 1), n, room);
    }
}

// First column of range r.
inline idx_t range_first(idx_t n, long r, long ranges)
{
    return (idx_t)(n * r / ranges);
}

// Entries in range r of the columns.
inline pos_t range_sum(__global const pos_t *restrict table, __global const span_t *restrict span, long r, long ranges,
                       idx_t n, uint chunks, idx_t room)
{
    idx_t first = range_first(n, r, ranges), last = range_first(n, r + 1, ranges);
    pos_t all = 0;
    for (uint c = 0; c < chunks; c++) {
        long count = counters_of(span[c], c, room);
        for (idx_t j = max(first, span[c].low), end = min(last, span[c].high); j < end; j++)
            all += table[count + j];
    }
    return all;
}

// Entries of a chunk by blocks.
inline void chunk_count_blocks(__global const idx_t *restrict col, __global pos_t *restrict count, pos_t first,
                               pos_t last, uint shift, uint blocks)
{
    zero_fill(count, blocks);
    for (pos_t p = first; p < last; p++)
        count[(uint)col[p] >> shift]++;
}

// Direct: sum[r] = entries in range r of the columns. Blocks: block_table[c*blocks + b] = entries of chunk c in block b.
WEFT_KERNEL void cpu_sums(__global const span_t *restrict span, __global const pos_t *restrict table,
                          __global pos_t *restrict sum, idx_t n, uint ranges, idx_t room,
                          __global const idx_t *restrict col, __global pos_t *restrict block_table, long nnz,
                          uint shift, uint blocks)
{
    long c = (long)get_global_id(0), chunks = (long)get_global_size(0);
    if (!is_direct(span, (uint)chunks))
        chunk_count_blocks(col, block_table + (size_t)c * blocks, part_first(nnz, chunks, c),
                           part_first(nnz, chunks, c + 1), shift, blocks);
    else if (c < ranges)
        sum[c] = range_sum(table, span, c, ranges, n, (uint)chunks, room);
}

// Direct: counts become positions, where the first entry of a chunk in a column goes; out_ptr (size n+1).
inline void range_places(__global pos_t *restrict table, __global const span_t *restrict span,
                         __global const pos_t *restrict sum, __global ofs_t *restrict out_ptr, long r, long ranges,
                         idx_t n, long nnz, uint chunks, idx_t room)
{
    idx_t first = range_first(n, r, ranges), last = range_first(n, r + 1, ranges);
    pos_t at = 0, next[COLUMNS];
    for (long i = 0; i < r; i++)
        at += sum[i];
    for (idx_t width = 0; first < last; first += width) {
        width = min(last - first, COLUMNS);
        for (idx_t j = 0; j < width; j++)
            next[j] = 0;
        for (uint c = 0; c < chunks; c++) {
            long count = counters_of(span[c], c, room) + first;
            for (idx_t j = max(0, span[c].low - first), end = min(width, span[c].high - first); j < end; j++)
                next[j] += table[count + j];
        }
        for (idx_t j = 0; j < width; j++) {
            pos_t here = next[j];
            out_ptr[first + j] = next[j] = at;
            at += here;
        }
        for (uint c = 0; c < chunks; c++) {
            long count = counters_of(span[c], c, room) + first;
            for (idx_t j = max(0, span[c].low - first), end = min(width, span[c].high - first); j < end; j++) {
                pos_t here = table[count + j];
                table[count + j] = next[j];
                next[j] += here;
            }
        }
    }
    if (r == ranges - 1)
        out_ptr[n] = (ofs_t)nnz;
}

// The same for blocks; block_ptr (size blocks+1).
inline void block_places(__global pos_t *restrict table, __global pos_t *restrict block_ptr, uint blocks, long chunks)
{
    pos_t at = 0;
    for (uint b = 0; b < blocks; b++) {
        block_ptr[b] = at;
        for (long c = 0; c < chunks; c++) {
            pos_t here = table[(size_t)c * blocks + b];
            table[(size_t)c * blocks + b] = at;
            at += here;
        }
    }
    block_ptr[blocks] = at;
}

// Counts become positions. Direct: from the sums of ranges, and out_ptr (size n+1). Blocks: sum becomes their block_ptr
// (size blocks+1).
WEFT_KERNEL void cpu_places(__global const span_t *restrict span, __global pos_t *restrict table,
                            __global pos_t *restrict sum, __global ofs_t *restrict out_ptr, idx_t n, long nnz,
                            uint ranges, idx_t room, __global pos_t *restrict block_table, uint blocks)
{
    long c = (long)get_global_id(0), chunks = (long)get_global_size(0);
    if (is_direct(span, (uint)chunks)) {
        if (c < ranges)
            range_places(table, span, sum, out_ptr, c, ranges, n, nnz, (uint)chunks, room);
    } else if (c == 0) {
        block_places(block_table, sum, blocks, chunks);
    }
}

// Part entries first .. last-1 by blocks: mid (size WORDS*nnz).
inline void entries_part(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict row,
                         __global const idx_t *restrict col, __global const bits_t *restrict val,
                         __global pos_t *restrict next, __global uint *restrict mid, idx_t m, pos_t first, pos_t last,
                         uint shift)
{
    pos_t p = first;
#ifdef WEFT_ROWS_GIVEN
    for (; p < last; p++) {
        idx_t j = col[p];
        mid_put(mid, next[(uint)j >> shift]++, j, row[p], val_of(val, p), shift);
    }
#else
    if (p < last)
        for (idx_t i = row_of(row_ptr, 0, m, (ofs_t)p); p < last; i++)
            for (pos_t end = min(last, (pos_t)row_ptr[i + 1]); p < end; p++) {
                idx_t j = col[p];
                mid_put(mid, next[(uint)j >> shift]++, j, i, val_of(val, p), shift);
            }
#endif
}

// Move the entries of each chunk, row by row; with row indices given, entry by entry. Direct: to A^T. Blocks: to mid.
WEFT_KERNEL void cpu_move(__global const span_t *restrict span, __global const ofs_t *restrict row_ptr,
                          __global const idx_t *restrict row, __global const idx_t *restrict col,
                          __global const bits_t *restrict val, __global pos_t *restrict table,
                          __global idx_t *restrict out_row, __global bits_t *restrict out_val, idx_t m, long nnz,
                          idx_t room, __global pos_t *restrict block_table, __global uint *restrict mid, uint shift,
                          uint blocks)
{
    long c = (long)get_global_id(0), chunks = (long)get_global_size(0);
    pos_t first = part_first(nnz, chunks, c), last = part_first(nnz, chunks, c + 1);
    if (is_direct(span, (uint)chunks))
        entries_move(row_ptr, row, col, val, table + counters_of(span[c], c, room), out_row, out_val, m, first, last);
    else
        entries_part(row_ptr, row, col, val, block_table + (size_t)c * blocks, mid, m, first, last, shift);
}

// Blocks alone: order each by column. Its part of out_ptr serves as its counters: they advance from the first place of a
// column to the first of the next, so moving them up by one gives the pointers back.
WEFT_KERNEL void cpu_finish(__global const span_t *restrict span, __global const pos_t *restrict block_ptr,
                            __global const uint *restrict mid, __global ofs_t *restrict out_ptr,
                            __global idx_t *restrict out_row, __global bits_t *restrict out_val, idx_t n, uint chunks,
                            uint shift, uint blocks)
{
    if (is_direct(span, chunks))
        return;
    uint b = (uint)get_global_id(0);
    pos_t first = block_ptr[b], last = block_ptr[b + 1], at = first;
    long col_first = (long)b << shift, width = min((long)n - col_first, 1L << shift);
    __global ofs_t *restrict next = out_ptr + col_first;
    const ofs_t zero = (ofs_t)get_global_offset(0); // as in zero_fill
    for (long j = 0; j < width; j++)
        next[j] = zero;
    for (pos_t p = first; p < last; p++) { // meanwhile the lines come that the entries will fill
        next[mid_col(mid + (size_t)p * WORDS, (idx_t)col_first, shift)]++;
        if (p % (LINE / 4) == 0)
            FETCH(out_row + p);
#if WEFT_VAL_BITS
        if (p % (LINE * 8 / WEFT_VAL_BITS) == 0)
            FETCH(out_val + p);
#endif
    }
    for (long j = 0; j < width; j++) {
        pos_t here = (pos_t)next[j];
        next[j] = at;
        at += here;
    }
    for (pos_t p = first; p < last; p++) {
        __global const uint *e = mid + (size_t)p * WORDS;
        entry_put(out_row, out_val, (pos_t)next[mid_col(e, (idx_t)col_first, shift)]++, mid_row(e, shift), mid_val(e));
    }
    for (long j = width - 1; j > 0; j--)
        next[j] = next[j - 1];
    next[0] = first;
    if (b == blocks - 1)
        out_ptr[n] = last;
}
