// SPDX-License-Identifier: Apache-2.0
// Rows by falling length within windows of SIGMA rows; equal lengths keep their order: the places of spmv/ell_sort.cl.
// Source:  counting sort: H. Seward, MIT R-232, 1954; of rows as long as the bins or longer D. Shell, A high-speed sorting
//          procedure, CACM 2(7), 1959.
// Mapping: 1-D; a window per work-item, then strides by the global size.
// Local:   12*SIGMA bytes.
// Needs:   SIGMA 2 or more.
// Gives:   perm[0 .. m-1]: the row at each place.
// Order:   unique: keys differ by the row.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_SIGMA
#error "WEFT_SIGMA: rows of a window"
#endif
#if WEFT_WG != 1
#error "WEFT_WG: 1"
#endif

#define BINS WEFT_SIGMA // the last one has all longer rows too

WEFT_INLINE uint bin_of(long length)
{
    return (uint)clamp(length, 0L, BINS - 1L);
}

WEFT_INLINE void keys_sort(__local ulong *keys, int count)
{
    for (int gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (int i = gap; i < count; i++) {
            ulong key = keys[i];
            int at = i;
            for (; at >= gap && keys[at - gap] > key; at -= gap)
                keys[at] = keys[at - gap];
            keys[at] = key;
        }
}

WEFT_KERNEL void ell_sort_cpu(__global const ofs_t *restrict row_ptr, __global idx_t *restrict perm, idx_t m)
{
    __local ulong keys[WEFT_SIGMA];
    __local uint begin[BINS];
    for (long first = (long)get_global_id(0) * WEFT_SIGMA; first < m; first += (long)get_global_size(0) * WEFT_SIGMA) {
        const int rows = (int)min((long)WEFT_SIGMA, m - first);
        long longest = 0;
        for (int i = 0; i < rows; i++)
            longest = max(longest, (long)(row_ptr[first + i + 1] - row_ptr[first + i]));
        const int last = (int)bin_of(longest);
        for (int k = 0; k <= last; k++)
            begin[k] = 0u;
        for (int i = 0; i < rows; i++)
            begin[bin_of((long)(row_ptr[first + i + 1] - row_ptr[first + i]))]++;
        uint before = 0u;
        for (int k = last; k >= 0; k--) {
            const uint count = begin[k];
            begin[k] = before;
            before += count;
        }
        for (int i = 0; i < rows; i++)
            perm[first + begin[bin_of((long)(row_ptr[first + i + 1] - row_ptr[first + i]))]++] = (idx_t)(first + i);
        const int beyond = last == BINS - 1 ? (int)begin[last] : 0; // rows of the last bin, which stand first
        for (int i = 0; i < beyond; i++) {
            const long row = perm[first + i], length = (long)(row_ptr[row + 1] - row_ptr[row]);
            keys[i] = (min(0xfffffffful - (ulong)length, 0xfffffffful) << 32) | (ulong)(row - first);
        }
        keys_sort(keys, beyond);
        for (int i = 0; i < beyond; i++)
            perm[first + i] = (idx_t)(first + (uint)keys[i]);
    }
}
