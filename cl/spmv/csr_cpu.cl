// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n; a tile of equal rows plus entries per work-item, no barriers.
// Source:  the CPU form of Merrill & Garland, SC'16, section III; cuts as in spmv/rows_tiles.cl. spmv_csr_gaps_cpu, where most
//          rows are empty, walks entries and not rows: doubly compressed rows, Buluc & Gilbert, IPDPS'08.
// Mapping: 1-D; work-item g owns tile g.
// Local:   none.
// Needs:   LPR a power of two, 1 .. 16: independent sums of a row of LONG entries or more, where additions that wait for
//          each other cost more than the loops around; 2: of blocks of eight entries, for rows that are no longer than some
//          hundreds; tile_row, tile_pos of rows_tiles; row_of[p], the row of entry p.
// Gives:   y of the rows that begin and end in a tile; head[t] of the row that ends in tile t and began before it;
//          part[t]: sum of the row that goes on behind tile t (zero when none does).
// Order:   from the left; in long rows entries p, p + LPR, ... of the LPR-fold part, then pairs at distance LPR/2 .. 1,
//          then the rest from the left; LPR == 2: blocks, each by pairs, in turn to either sum, the sum of both, then the rest;
//          depends on LPR and, in rows that are cut, on tile; repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_LPR
#error "WEFT_LPR: independent sums of a row"
#endif

#if WEFT_LPR == 2
#define LONG 16
#else
#define LONG 64
#endif

WEFT_INLINE acc_t product(__global const idx_t *col, __global const val_t *val, __global const val_t *x, ofs_t p)
{
    return times(read_val(val, p), (acc_t)x[col[p]]);
}

#if WEFT_LPR == 2
WEFT_INLINE acc_t four_sum(__global const idx_t *col, __global const val_t *val, __global const val_t *x, ofs_t p)
{
    return plus(plus(product(col, val, x, p), product(col, val, x, p + 1)),
                plus(product(col, val, x, p + 2), product(col, val, x, p + 3)));
}

// Written out: compilers make reads of vectors of a loop over eight, and gathers take longer than reads one by one.
WEFT_INLINE acc_t eight_sum(__global const idx_t *col, __global const val_t *val, __global const val_t *x, ofs_t p)
{
    return plus(four_sum(col, val, x, p), four_sum(col, val, x, p + 4));
}
#endif

#if WEFT_LPR > 2
#if WEFT_LPR == 4
#define SIDE      4 // entries side by side
#define READ_SIDE WEFT_APART_4
typedef union apart4 side_t;
#else
#define SIDE      8
#define READ_SIDE WEFT_APART_8
typedef union apart8 side_t;
#endif
// The products of SIDE entries from p.
WEFT_INLINE void side_products(acc_t *to, __global const idx_t *col, __global const val_t *val, __global const val_t *x,
                               ofs_t p)
{
    side_t b;
#define COLUMN(i) col[p + (i)]
    READ_SIDE(b, x, COLUMN);
#undef COLUMN
    WEFT_TOGETHER(SIDE)
    for (int i = 0; i < SIDE; i++)
        to[i] = times(read_val(val, p + i), b.s[i]);
}
#endif

WEFT_INLINE acc_t row_sum(__global const idx_t *col, __global const val_t *val, __global const val_t *x, ofs_t p,
                          ofs_t end)
{
    acc_t sum = ZERO;
#if WEFT_LPR == 2
    if (end - p >= LONG) {
        acc_t other = eight_sum(col, val, x, p);
        for (p += 8; end - p >= 16; p += 16) {
            sum = plus(sum, eight_sum(col, val, x, p));
            other = plus(other, eight_sum(col, val, x, p + 8));
        }
        if (end - p >= 8) {
            sum = plus(sum, eight_sum(col, val, x, p));
            p += 8;
        }
        sum = plus(sum, other);
    }
#elif WEFT_LPR > 1
    if (end - p >= LONG) {
        acc_t s[WEFT_LPR];
        for (int i = 0; i < WEFT_LPR; i += SIDE)
            side_products(s + i, col, val, x, p + i);
        for (p += WEFT_LPR; end - p >= WEFT_LPR; p += WEFT_LPR) {
            acc_t more[WEFT_LPR];
            for (int i = 0; i < WEFT_LPR; i += SIDE)
                side_products(more + i, col, val, x, p + i);
            WEFT_TOGETHER(SIDE)
            for (int i = 0; i < WEFT_LPR; i++)
                s[i] = plus(s[i], more[i]);
        }
        for (int d = WEFT_LPR / 2; d > 0; d /= 2)
            for (int i = 0; i < d; i++)
                s[i] = plus(s[i], s[i + d]);
        sum = FROM_ZERO(s[0]);
    }
#endif
    for (; p < end; p++)
        sum = plus(sum, product(col, val, x, p));
    return sum;
}

// By rows.
WEFT_KERNEL void spmv_csr_cpu(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                              __global const val_t *restrict val, __global const val_t *restrict x,
                              __global val_t *restrict y, __global const idx_t *restrict tile_row,
                              __global const ofs_t *restrict tile_pos, __global acc_t *restrict part,
                              __global acc_t *restrict head, uint tiles, acc_t alpha, acc_t beta)
{
    uint tile = (uint)get_global_id(0);
    if (tile >= tiles)
        return;
    idx_t row = tile_row[tile], last = tile_row[tile + 1u];
    ofs_t p = tile_pos[tile], stop = tile_pos[tile + 1u];
    if (row < last && p > row_ptr[row]) {
        ofs_t end = row_ptr[row + 1];
        head[tile] = row_sum(col, val, x, p, end);
        p = end;
        row++;
    }
    for (; row < last; row++) {
        ofs_t end = row_ptr[row + 1];
        put(y, row, row_sum(col, val, x, p, end), alpha, beta);
        p = end;
    }
    part[tile] = row_sum(col, val, x, p, stop);
}

// Rows with entries whose sums wait until the rows around them are written.
#define BLOCK 256

// Sum of the entries from *p that are in `row`; *p: the first of another one.
WEFT_INLINE acc_t row_walk(__global const idx_t *row_of, __global const idx_t *col, __global const val_t *val,
                           __global const val_t *x, idx_t row, ofs_t *p, ofs_t stop)
{
    acc_t sum = ZERO;
    ofs_t q = *p;
#if WEFT_LPR > 1
    ofs_t end = q;
    while (stop - end >= LONG && row_of[end + LONG - 1] == row)
        end += LONG;
    if (end > q) {
        for (; end < stop && row_of[end] == row; end++)
            ;
        *p = end;
        return row_sum(col, val, x, q, end);
    }
#endif
    for (; q < stop && row_of[q] == row; q++)
        sum = plus(sum, times(read_val(val, q), (acc_t)x[col[q]]));
    *p = q;
    return sum;
}

// y of rows row .. end-1 as if all were empty; those that are not are written afterwards. Where y is not read one value goes everywhere.
WEFT_INLINE void nothing_put(__global val_t *y, idx_t row, idx_t end, acc_t alpha, acc_t beta)
{
    if (beta == (acc_t)0) {
        const val_t nothing = put_of(y, row, ZERO, alpha, beta);
        WEFT_TOGETHER(8)
        for (; row < end; row++)
            y[row] = nothing;
    } else {
        WEFT_TOGETHER(8)
        for (; row < end; row++)
            put(y, row, ZERO, alpha, beta);
    }
}

// By entries, where most rows are empty.
WEFT_KERNEL void spmv_csr_gaps_cpu(__global const idx_t *restrict row_of, __global const idx_t *restrict col,
                                   __global const val_t *restrict val, __global const val_t *restrict x,
                                   __global val_t *restrict y, __global const idx_t *restrict tile_row,
                                   __global const ofs_t *restrict tile_pos, __global acc_t *restrict part,
                                   __global acc_t *restrict head, uint tiles, acc_t alpha, acc_t beta)
{
    const uint tile = (uint)get_global_id(0);
    if (tile >= tiles)
        return;
    idx_t row = tile_row[tile];
    const idx_t last = tile_row[tile + 1u];
    ofs_t p = tile_pos[tile];
    const ofs_t stop = tile_pos[tile + 1u];
    if (row < last && p > 0 && row_of[p - 1] == row) {
        head[tile] = row_walk(row_of, col, val, x, row, &p, stop);
        row++;
    }
    while (row < last) {
        idx_t at[BLOCK];
        val_t put_there[BLOCK];
        int count = 0;
        for (; count < BLOCK && p < stop && row_of[p] < last; count++) {
            at[count] = row_of[p];
            const acc_t sum = row_walk(row_of, col, val, x, at[count], &p, stop);
            put_there[count] = put_of(y, at[count], sum, alpha, beta);
        }
        const idx_t end = count == BLOCK ? at[BLOCK - 1] + 1 : last;
        nothing_put(y, row, end, alpha, beta);
        row = end;
        for (int i = 0; i < count; i++)
            y[at[i]] = put_there[i];
    }
    part[tile] = row_walk(row_of, col, val, x, last, &p, stop);
}
