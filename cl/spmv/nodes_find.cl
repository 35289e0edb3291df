// SPDX-License-Identifier: Apache-2.0
// Nodes: rows that follow each other and have the same columns, at most `rows` of them, within blocks of BLOCK rows.
// Source:  the "inodes" of PETSc (S. Balay et al., PETSc/TAO Users Manual, ANL-21/39); the passes are ours.
// Mapping: nodes_alike: 1-D; a block per work-group, then strides by the number of groups; LPR work-items compare a row. The others: a
//          block per work-item, then strides by the global size.
// Local:   nodes_alike: 28*WG/LPR + 4 bytes.
// Needs:   LPR divides WG; blocks of m rows.
// Gives:   nodes_alike: alike[i]: 1 where row i has the columns of the row before, of its block; figures[3*g ..]: such rows that
//          work-group g saw, their entries, and how many of them follow a row that is none.
//          nodes_count: size[b]: nodes of block b. nodes_write, with the sums of those before in `size`: node[k].
// Order:   integers only.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_LPR
#error "WEFT_LPR: work-items that compare a row"
#endif
#if WEFT_WG % WEFT_LPR
#error "WEFT_LPR: it divides WEFT_WG"
#endif
#define BLOCK   120       // a multiple of the sizes of nodes that are usual: a node of such a size lies in one block
#define LONGEST (1 << 28) // entries of a row alike, at most, so that those of a node are counted in 32 bits
#define TEAMS   (WEFT_WG / WEFT_LPR)

// Whether no column is another, of those that this lane compares. Nothing is read where these are no positions.
WEFT_INLINE bool row_alike(__global const ofs_t *row_ptr, __global const idx_t *col, long row, ofs_t nnz, uint lane)
{
    const ofs_t before = row_ptr[row - 1], begin = row_ptr[row], end = row_ptr[row + 1];
    if (before < 0 || end > nnz || begin < before || end < begin || end - begin != begin - before ||
        end - begin > LONGEST)
        return false;
    for (long k = lane; k < (long)(end - begin); k += WEFT_LPR)
        if (col[begin + k] != col[before + k])
            return false;
    return true;
}

// Rows that have the columns of the row before, and figures of them.
WEFT_KERNEL void nodes_alike(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                             __global uchar *restrict alike, __global long *restrict figures, idx_t m, ofs_t nnz)
{
    __local uint same[TEAMS + 1]; // of the row before, then of the rows of the teams
    __local long all[3 * TEAMS];
    const uint lid = (uint)get_local_id(0), lane = lid % WEFT_LPR, team = lid / WEFT_LPR;
    long rows = 0, entries = 0, runs = 0;
    for (long block = (long)get_group_id(0) * BLOCK; block < m; block += (long)get_num_groups(0) * BLOCK)
        for (long first = block; first < block + BLOCK; first += TEAMS) {
            const long row = first + team;
            const bool there = row < min(block + BLOCK, (long)m);
            if (lid == 0u)
                same[0] = first > block ? same[TEAMS] : 0u;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane == 0u)
                same[team + 1u] = there && row > block;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (there && row > block && !row_alike(row_ptr, col, row, nnz, lane))
                same[team + 1u] = 0u;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane == 0u && there) {
                alike[row] = (uchar)same[team + 1u];
                if (same[team + 1u]) {
                    rows++;
                    entries += (long)(row_ptr[row + 1] - row_ptr[row]);
                    runs += same[team] == 0u;
                }
            }
        }
    if (lane == 0u) {
        all[3u * team] = rows;
        all[3u * team + 1u] = entries;
        all[3u * team + 2u] = runs;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < 3u; i += WEFT_WG) {
        long sum = 0;
        for (uint t = 0; t < TEAMS; t++)
            sum += all[3u * t + i];
        figures[3 * get_group_id(0) + i] = sum;
    }
}

// Nodes of each block.
WEFT_KERNEL void nodes_count(__global const uchar *restrict alike, __global long *restrict size, idx_t m, uint blocks,
                             uint rows)
{
    for (ulong b = get_global_id(0); b < blocks; b += get_global_size(0)) {
        const long last = min((long)(b + 1) * BLOCK, (long)m);
        uint run = 0u;
        long count = 0;
        for (long row = (long)b * BLOCK; row < last; row++) {
            run = alike[row] && run < rows ? run + 1u : 1u;
            count += run == 1u;
        }
        size[b] = count;
    }
}

// Words 4*k .. of node k: where its first row begins, of 60 bits, and above them its rows; entries of a row; the first row.
WEFT_KERNEL void nodes_write(__global const ofs_t *restrict row_ptr, __global const uchar *restrict alike,
                             __global const long *restrict size, __global uint *restrict node, idx_t m, uint blocks,
                             uint rows)
{
    for (ulong b = get_global_id(0); b < blocks; b += get_global_size(0)) {
        const long last = min((long)(b + 1) * BLOCK, (long)m);
        __global uint *to = node + 4 * size[b];
        for (long row = (long)b * BLOCK; row < last; to += 4) {
            uint run = 1u;
            while (run < rows && row + run < last && alike[row + run])
                run++;
            const ulong begin = ((ulong)row_ptr[row] & ((1ul << 60) - 1ul)) | (ulong)run << 60;
            to[0] = (uint)begin;
            to[1] = (uint)(begin >> 32);
            to[2] = (uint)(row_ptr[row + 1] - row_ptr[row]);
            to[3] = (uint)row;
            row += run;
        }
    }
}
