// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n by nodes: rows that follow each other and have the same columns. The columns of a node and what it
// multiplies of x are read once, as the first of its rows has them.
// Source:  the "inodes" of PETSc (S. Balay et al., PETSc/TAO Users Manual, ANL-21/39); lanes as in spmv/csr_lanes.cl; ours: on a GPU, with
//          the arrays as they are.
// Mapping: 1-D; group g owns WG/LPR nodes, those of part g or of as many parts before the last, then strides; lane l of a node takes
//          entries l, l + LPR, ... of each of its rows.
// Local:   WG accumulators where lanes have no shuffle, else none.
// Needs:   LPR a power of two, 2 .. 32; WG a multiple of 32; IPT 1 .. 4; ROWS 1 .. 8, the most of a node; node of spmv/nodes_find.cl.
// Gives:   y.
// Order:   each lane from the left, then pairs of lanes at distance 1 .. LPR/2; repeatable for one LPR.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_LPR
#error "WEFT_LPR: lanes per node"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: columns of one lane read together"
#endif
#ifndef WEFT_ROWS
#error "WEFT_ROWS: rows of a node, at most"
#endif
#if WEFT_ROWS < 1 || WEFT_ROWS > 8 || WEFT_IPT < 1 || WEFT_IPT > 4
#error "WEFT_ROWS: 1 to 8; WEFT_IPT: 1 to 4"
#endif
#if WEFT_LPR < 2 || WEFT_LPR > 32 || (WEFT_LPR & (WEFT_LPR - 1)) || WEFT_WG % 32
#error "WEFT_LPR: a power of two, 2 to 32; WEFT_WG: a multiple of 32"
#endif

// What a lane reads of a step.
struct step {
    idx_t c[WEFT_IPT];
    acc_t a[WEFT_IPT][WEFT_ROWS];
};

// Columns k, k + LPR, ... of `width`, and the values of the rows that begin at off[r].
WEFT_INLINE void step_read(struct step *s, __global const idx_t *col, __global const val_t *val, const uint *off,
                           uint k, uint width)
{
#pragma unroll
    for (int u = 0; u < WEFT_IPT; u++) { // past the end, the last one again: no branch around a load
        const uint at = min(k + u * WEFT_LPR, width - 1u);
        s->c[u] = read_col_at(col, at);
#pragma unroll
        for (int r = 0; r < WEFT_ROWS; r++)
            s->a[u][r] = read_val_at(val, off[r] + at);
    }
}

// The sums of `have` rows, a constant, of lanes at distance d: the lanes of which bit d is set keep every second one, the others the rest. *row: its bit
// d says which; where one row is left, all have it. Returns how many each lane has now.
WEFT_INLINE int lanes_fold(acc_t *sum, int have, uint d, uint lane, uint *row, __local acc_t *mem)
{
    const uint upper = (lane & d) != 0u;
#pragma unroll
    for (int i = 0; i < WEFT_ROWS / 2; i++)
        if (i < have / 2) {
            const acc_t even = sum[2 * i], odd = sum[2 * i + 1];
            sum[i] = plus(upper ? odd : even, acc_get(upper ? even : odd, lane_id() ^ d, (__local uint *)mem));
        }
    if (have % 2)
        sum[have / 2] = plus(sum[have - 1], acc_get(sum[have - 1], lane_id() ^ d, (__local uint *)mem));
    // Of the lanes that have one row alone the first writes it.
    *row |= have > 1 ? lane & d : upper ? WEFT_ROWS : 0u;
    return (have + 1) / 2;
}

WEFT_KERNEL void spmv_csr_nodes(__global const idx_t *restrict col, __global const val_t *restrict val,
                                __global const uint4 *restrict node, __global const val_t *restrict x,
                                __global val_t *restrict y, idx_t nodes, acc_t alpha, acc_t beta, uint backward)
{
    LANE_MEMORY(acc_t, mem);
    const uint lid = (uint)get_local_id(0), lane = lid % WEFT_LPR;
    const long part = WEFT_WG / WEFT_LPR, parts = ((long)nodes + part - 1) / part;
    for (long at = (long)get_group_id(0); at < parts; at += (long)get_num_groups(0)) {
        const long own = part_at(at, parts, backward) * part + lid / WEFT_LPR;
        const uint4 n = own < nodes ? node[own] : (uint4)(0u, 0u, 0u, 0u);
        const uint width = n.z, rows = n.y >> 28;
        const long begin = (long)((ulong)(n.y & 0xfffffffu) << 32 | n.x);
        acc_t sum[WEFT_ROWS];
        uint off[WEFT_ROWS];
#pragma unroll
        for (int r = 0; r < WEFT_ROWS; r++) {
            sum[r] = ZERO;
            off[r] = min((uint)r, rows - 1u) * width;
        }
        if (lane < width) {
            struct step now;
            step_read(&now, col + begin, val + begin, off, lane, width);
            for (uint k = lane; k < width; k += WEFT_LPR * WEFT_IPT) {
                acc_t b[WEFT_IPT];
#pragma unroll
                for (int u = 0; u < WEFT_IPT; u++)
                    b[u] = (acc_t)x[now.c[u]];
#pragma unroll
                for (int u = 0; u < WEFT_IPT; u++)
#pragma unroll
                    for (int r = 0; r < WEFT_ROWS; r++)
                        sum[r] = !u || k + u * WEFT_LPR < width ? plus(sum[r], times(now.a[u][r], b[u])) : sum[r];
                if (k + WEFT_LPR * WEFT_IPT < width)
                    step_read(&now, col + begin, val + begin, off, k + WEFT_LPR * WEFT_IPT, width);
            }
        }
        uint row = 0u; // in the node
        int have = WEFT_ROWS;
        have = lanes_fold(sum, have, 1u, lane, &row, mem);
#if WEFT_LPR > 2
        have = lanes_fold(sum, have, 2u, lane, &row, mem);
#endif
#if WEFT_LPR > 4
        have = lanes_fold(sum, have, 4u, lane, &row, mem);
#endif
#if WEFT_LPR > 8
        have = lanes_fold(sum, have, 8u, lane, &row, mem);
#endif
#if WEFT_LPR > 16
        have = lanes_fold(sum, have, 16u, lane, &row, mem);
#endif
#pragma unroll
        for (int i = 0; i < (WEFT_ROWS + WEFT_LPR - 1) / WEFT_LPR; i++) // several where a node has more rows than lanes
            if ((uint)(i * WEFT_LPR) + row < rows)
                put(y, (idx_t)(n.w + (uint)(i * WEFT_LPR) + row), sum[i], alpha, beta);
    }
}
