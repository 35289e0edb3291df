// SPDX-License-Identifier: Apache-2.0
// Where the rows of a CSR matrix begin, as a bit for each entry: what spmv/csr_flags.cl sums by.
// Source:  bit flags as in W. Liu, B. Vinter, CSR5: An Efficient Storage Format for Cross-Platform Sparse Matrix-Vector
//          Multiplication, ICS'15, section 3; here beside CSR arrays that stay as they are.
// Mapping: 1-D; work-items stride over rows, words or tiles.
// Local:   none.
// Needs:   row_ptr[m] == nnz. A word is 32 positions; flags has two uints for each word, and behind them, in uints from its
//          begin, cross at cross_at, row_of at row_of_at, empty at empty_at.
// Gives:   flags[2*w]: bit b is set where a row that is not empty begins at position 32*w + b, and at nnz;
//          flags[2*w + 1]: bits set before word w. The row of the k-th bit is k, or where rows are empty row_of[k].
// Order:   integers only.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif

// Set the bits. Needs flags[..] == 0.
WEFT_KERNEL void rows_flags(__global const ofs_t *row_ptr, __global uint *flags, idx_t m)
{
    for (ulong row = get_global_id(0); row <= (ulong)m; row += get_global_size(0)) {
        const ofs_t begin = row_ptr[row];
        if (row == (ulong)m || begin < row_ptr[row + 1])
            atomic_or(&flags[2 * (begin / 32)], 1u << (uint)(begin % 32));
    }
}

// Bits of each word; flags[2*w + 1] is set when the prefix sums of these are there.
WEFT_KERNEL void rows_flags_count(__global const uint *flags, __global uint *count, ulong words)
{
    for (ulong w = get_global_id(0); w < words; w += get_global_size(0))
        count[w] = popcount(flags[2 * w]);
}

// Put the prefix sums beside the bits: flags[2*w + 1] = how many bits are set before word w.
WEFT_KERNEL void rows_flags_before(__global const uint *before, __global uint *flags, ulong words)
{
    for (ulong w = get_global_id(0); w < words; w += get_global_size(0))
        flags[2 * w + 1] = before[w];
}

// Rows that are not empty, and the others unless empties is 0, both ascending.
WEFT_KERNEL void rows_flags_rows(__global const ofs_t *row_ptr, __global uint *flags, ulong row_of_at, ulong empty_at,
                                 uint empties, idx_t m)
{
    __global idx_t *const row_of = (__global idx_t *)(flags + row_of_at);
    __global idx_t *const empty = (__global idx_t *)(flags + empty_at);
    for (ulong row = get_global_id(0); row < (ulong)m; row += get_global_size(0)) {
        const ofs_t begin = row_ptr[row], word = begin / 32;
        const uint below = flags[2 * word] & ((1u << (uint)(begin % 32)) - 1u);
        const uint before = flags[2 * word + 1] + popcount(below);
        if (begin < row_ptr[row + 1])
            row_of[before] = (idx_t)row;
        else if (empties > 0u)
            empty[row - before] = (idx_t)row;
    }
}

// cross[t]: the tiles, of `tile` entries, in which the row begins and ends that goes on from tile t-1 to tile t; (t, t)
// where a row begins with tile t. Needs tile % 32 == 0.
WEFT_KERNEL void rows_flags_cross(__global const ofs_t *row_ptr, __global uint *flags, ulong cross_at, ulong row_of_at,
                                  uint tile, uint tiles, uint gaps)
{
    __global uint2 *const cross = (__global uint2 *)(flags + cross_at);
    __global const idx_t *const row_of = (__global const idx_t *)(flags + row_of_at);
    for (ulong t = get_global_id(0); t <= tiles; t += get_global_size(0)) {
        const ulong word = t * (tile / 32u);
        uint2 out = (uint2)((uint)t, (uint)t);
        if (t > 0 && t < tiles && !(flags[2 * word] & 1u)) {
            const uint before = flags[2 * word + 1] - 1u;
            const idx_t row = gaps ? row_of[before] : (idx_t)before;
            out = (uint2)((uint)(row_ptr[row] / (ofs_t)tile), (uint)((row_ptr[row + 1] - 1) / (ofs_t)tile));
        }
        cross[t] = out;
    }
}
