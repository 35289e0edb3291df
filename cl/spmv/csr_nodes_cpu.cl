// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n by nodes, rows that follow each other and have the same columns, on a processor.
// Source:  as spmv/csr_nodes.cl.
// Mapping: 1-D; work-item g owns nodes g*chunk .. (g+1)*chunk-1.
// Local:   none.
// Needs:   ROWS 1 .. 4, the most of a node; node of spmv/nodes_find.cl.
// Gives:   y.
// Order:   with sums of 4 bytes entries p, p + 8, ... of the part of a row that eights fill, then pairs at distance 4 .. 1, with sums of 8 bytes
//          fours and distance 2, 1; the rest of the row from the left is added to that. Repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_ROWS
#error "WEFT_ROWS: rows of a node, at most"
#endif
#if WEFT_ROWS < 1 || WEFT_ROWS > 4
#error "WEFT_ROWS: 1 to 4"
#endif
// Columns side by side: a vector of sums.
#if ACC_WORDS == 2
#define SIDE      4
#define READ_SIDE WEFT_APART_4
typedef union apart4 side_t;
#else
#define SIDE      8
#define READ_SIDE WEFT_APART_8
typedef union apart8 side_t;
#endif

// y of `rows` rows, a constant, of `width` entries from `at` on.
WEFT_INLINE void node_put(__global const idx_t *col, __global const val_t *val, __global const val_t *x,
                          __global val_t *y, idx_t row, long at, int width, const int rows, acc_t alpha, acc_t beta)
{
    side_t side[WEFT_ROWS];
    acc_t sum[WEFT_ROWS];
    __global const val_t *a[WEFT_ROWS];
    __global const idx_t *c = col + at;
    int k = 0;
    for (int r = 0; r < rows; r++) {
        sum[r] = ZERO;
        a[r] = val + at + (long)r * width;
        for (int i = 0; i < SIDE; i++)
            side[r].s[i] = ZERO;
    }
    for (; width - k >= SIDE; k += SIDE) {
        side_t b;
#define COLUMN(i) c[k + (i)]
        READ_SIDE(b, x, COLUMN);
#undef COLUMN
        for (int r = 0; r < rows; r++) {
            WEFT_TOGETHER(SIDE)
            for (int i = 0; i < SIDE; i++)
                side[r].s[i] = plus(side[r].s[i], times(read_val_at(a[r], k + i), b.s[i]));
        }
    }
    for (; k < width; k++) {
        const acc_t b = (acc_t)x[c[k]];
        for (int r = 0; r < rows; r++)
            sum[r] = plus(sum[r], times(read_val_at(a[r], k), b));
    }
    for (int r = 0; r < rows; r++) {
        for (int d = SIDE / 2; d > 0; d /= 2)
            for (int i = 0; i < d; i++)
                side[r].s[i] = plus(side[r].s[i], side[r].s[i + d]);
        put(y, row + r, plus(side[r].s[0], sum[r]), alpha, beta);
    }
}

WEFT_KERNEL void spmv_csr_nodes_cpu(__global const idx_t *restrict col, __global const val_t *restrict val,
                                    __global const uint4 *restrict node, __global const val_t *restrict x,
                                    __global val_t *restrict y, idx_t nodes, uint chunk, acc_t alpha, acc_t beta)
{
    const long first = (long)get_global_id(0) * chunk, last = min(first + (long)chunk, (long)nodes);
    for (long i = first; i < last; i++) {
        const uint4 n = node[i];
        const long at = (long)((ulong)(n.y & 0xfffffffu) << 32 | n.x);
        const int width = (int)n.z;
        const idx_t row = (idx_t)n.w;
        switch (n.y >> 28) {
#if WEFT_ROWS > 3
        case 4:
            node_put(col, val, x, y, row, at, width, 4, alpha, beta);
            break;
#endif
#if WEFT_ROWS > 2
        case 3:
            node_put(col, val, x, y, row, at, width, 3, alpha, beta);
            break;
#endif
#if WEFT_ROWS > 1
        case 2:
            node_put(col, val, x, y, row, at, width, 2, alpha, beta);
            break;
#endif
        default:
            node_put(col, val, x, y, row, at, width, 1, alpha, beta);
        }
    }
}
