// SPDX-License-Identifier: Apache-2.0
// Entries of one row and column, which are neighbours, become one: heads of their runs as bits, then sums at the heads'
// ranks. A head's rank: heads in the words of 32 positions before its own, and in its word before it.
// Source:  -
// Mapping: 1-D. canonical_heads: tiles or chunks of positions (MATRIX_CHUNKED), cut at words; canonical_sum: a run of
//          entries is added up by the work-item of its head; canonical_rows: a work-item a row.
// Local:   16 bytes; wg uints where lanes exchange through local memory (MATRIX_CHUNKED 0).
// Needs:   columns ascend inside each row; row_ptr ascends from 0 to nnz; val and out_val are not touched in a pattern.
// Gives:   canonical_heads: bits and count of each word; canonical_sum: out_col, out_val; canonical_rows: out_ptr.
// Order:   the entries of a run from the left.

#ifndef WEFT_VAL_BITS
#error "WEFT_VAL_BITS: 0, 32 or 64"
#endif
#ifdef WEFT_VAL_IS_I32
typedef uint sum_t; // wraps around
#elif WEFT_VAL_BITS
typedef val_t sum_t;
#else
typedef uint sum_t;
#endif

#if MATRIX_CHUNKED
#define CHUNK(count) (((count) + get_global_size(0) - 1) / get_global_size(0))
#define FROM(count)  min((ulong)(count), get_global_id(0) * CHUNK(count))
#define UPTO(count)  min((ulong)(count), FROM(count) + CHUNK(count))
#define STEP         1
#else
#define FROM(count) get_global_id(0)
#define UPTO(count) (count)
#define STEP        get_global_size(0)
#endif

// bits[w] has bit b set where position 32*w + b is the first of its row and column; count[w]: how many are.
WEFT_KERNEL void canonical_heads(__global const ofs_t *row_ptr, __global const idx_t *col, __global uint *bits,
                                 __global int *count, idx_t m, ulong nnz)
{
#if MATRIX_CHUNKED
    const ulong words = (nnz + 31) / 32, end = UPTO(words);
    ulong w = FROM(words);
    if (w >= end)
        return;
    struct rows rows = rows_from(row_ptr, m, (ofs_t)(w * 32));
    for (; w < end; w++) {
        uint word = 0u, many = (uint)min(nnz - w * 32, (ulong)32);
        for (uint b = 0; b < many; b++) {
            ulong p = w * 32 + b;
            if (p == 0 || col[p - 1] != col[p] || begins(row_ptr, &rows, (ofs_t)p))
                word |= 1u << b;
        }
        bits[w] = word;
        count[w] = (int)popcount(word);
    }
#else
    __local idx_t ends[2];
    LANE_MEMORY(uint, mem);
    for (ulong tile = get_group_id(0) * TILE; tile < nnz; tile += get_num_groups(0) * TILE) {
        struct rows rows = rows_between(row_ptr, m, (ofs_t)tile, (ofs_t)(min(tile + TILE, nnz) - 1), ends);
        for (uint j = 0; j < WEFT_IPT; j++) {
            ulong p = tile + j * WEFT_WG + get_local_id(0);
            bool head = p < nnz && (p == 0 || col[p - 1] != col[p] || begins(row_ptr, &rows, (ofs_t)p));
            uint word = lane_ballot(head, mem);
            if (lane_id() == 0u && p < nnz) {
                bits[p / 32] = word;
                count[p / 32] = (int)popcount(word);
            }
        }
    }
#endif
}

// Heads before position p.
WEFT_INLINE ofs_t rank(__global const uint *bits, __global const ofs_t *before, ulong p)
{
    return before[p / 32] + (ofs_t)popcount(bits[p / 32] & ((1u << (p & 31)) - 1u));
}

// The first entry of each run takes its place, with the sum of the run.
WEFT_KERNEL void canonical_sum(__global const uint *bits, __global const ofs_t *before, __global const idx_t *col,
                               __global const sum_t *val, __global idx_t *out_col, __global sum_t *out_val, ulong nnz)
{
    for (ulong p = FROM(nnz), end = UPTO(nnz); p < end; p += STEP) {
        if (!(bits[p / 32] >> (p & 31) & 1u))
            continue;
        ofs_t to = rank(bits, before, p);
        out_col[to] = col[p];
#if WEFT_VAL_BITS
        sum_t sum = val[p];
        for (ulong q = p + 1; q < nnz && !(bits[q / 32] >> (q & 31) & 1u); q++)
            sum += val[q];
        out_val[to] = sum;
#endif
    }
}

// Row pointers of what is left; out_ptr may be row_ptr.
WEFT_KERNEL void canonical_rows(__global const uint *bits, __global const ofs_t *before, __global const ofs_t *row_ptr,
                                __global ofs_t *out_ptr, ulong m, ulong nnz)
{
    for (ulong i = FROM(m + 1), end = UPTO(m + 1); i < end; i += STEP) {
        ulong p = (ulong)row_ptr[i];
        out_ptr[i] = p < nnz ? rank(bits, before, p) : before[(nnz + 31) / 32];
    }
}
