// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n many of whose rows are empty; a block of rows per work-group, whose sums lie in local memory.
// Source:  -
// Mapping: 1-D; work-group g owns rows g*WG*IPT .. +WG*IPT-1, then strides. It takes their entries WG*EACH at a time: first all products,
//          then the first entry of each row there sums up the products of its row. y is written once, side by side.
// Local:   WG*IPT + WG*EACH accumulators + WG*EACH words of 16 bits.
// Needs:   row_of[p]: the row of entry p; WG*IPT at most 65536; row_ptr[m] == nnz; any row length, though one work-item sums up a row.
// Gives:   y.
// Order:   depends on WG and IPT; repeatable. Entries of a row from the left, those taken at a time by themselves, then these sums.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: rows of a block for each work-item"
#endif
#if WEFT_WG * WEFT_IPT > 65536
#error "WEFT_WG * WEFT_IPT: rows of a block have numbers of 16 bits"
#endif

#define ROWS (WEFT_WG * WEFT_IPT)
#define EACH 4
#define PART (WEFT_WG * EACH) // entries taken at a time

WEFT_KERNEL void spmv_csr_gaps(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict row_of,
                               __global const idx_t *restrict col, __global const val_t *restrict val,
                               __global const val_t *restrict x, __global val_t *restrict y, idx_t m, acc_t alpha,
                               acc_t beta)
{
    __local acc_t sums[ROWS], products[PART];
    __local ushort rows[PART];
    const int lid = (int)get_local_id(0);
    for (long base = (long)get_group_id(0) * ROWS; base < m; base += (long)get_num_groups(0) * ROWS) {
        const int count = (int)min((long)ROWS, (long)m - base);
        const pos_t end = row_ptr[base + count];
        for (int i = lid; i < count; i += WEFT_WG) // which the same work-item puts into y
            sums[i] = ZERO;
        for (pos_t first = row_ptr[base]; first < end; first += PART) {
            const int taken = (int)min((pos_t)PART, end - first);
            idx_t c[EACH], row[EACH];
            acc_t a[EACH];
#pragma unroll
            for (int k = 0; k < EACH; k++) {
                const int i = lid + k * WEFT_WG;
                if (i < taken) {
                    c[k] = read_col(col, first + i);
                    a[k] = read_val(val, first + i);
                    row[k] = row_of[first + i];
                }
            }
#pragma unroll
            for (int k = 0; k < EACH; k++) {
                const int i = lid + k * WEFT_WG;
                if (i < taken) {
                    products[i] = times(a[k], (acc_t)x[c[k]]);
                    rows[i] = (ushort)(row[k] - base);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int i = lid; i < taken; i += WEFT_WG) {
                const ushort at = rows[i];
                if (i > 0 && rows[i - 1] == at)
                    continue;
                acc_t sum = products[i];
                for (int j = i + 1; j < taken && rows[j] == at; j++)
                    sum = plus(sum, products[j]);
                sums[at] = plus(sums[at], sum);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        for (int i = lid; i < count; i += WEFT_WG)
            put(y, (idx_t)(base + i), sums[i], alpha, beta);
    }
}
