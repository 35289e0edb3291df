// SPDX-License-Identifier: Apache-2.0
// The hubs of a matrix, columns with many entries, and its columns with a number for each hub: what spmv/csr_flags.cl reads x by.
// Source:  as in segmenting and clustering by frequency: Y. Zhang et al., Making Caches Work for Graph Analytics, Big Data 2017;
//          here the matrix keeps its order, and what is frequent lies in local memory.
// Mapping: 1-D; work-items stride over sampled entries, columns or entries.
// Local:   hubs_bins: BINS words.
// Needs:   columns 0 .. n-1; count[n], bins[BINS] and taken[1] are 0 at first.
// Gives:   beside each kernel. What stands for a column is itself, or of the k-th hub k with the sign bit set.
// Order:   integers only; which hub is the k-th one does not matter for a product.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#define RUN  32u
#define BINS 1024u // WEFT__HUBS_BINS

// Entries of each column among `samples`, runs of 32 that begin `apart` entries from one another.
WEFT_KERNEL void hubs_count(__global const idx_t *col, __global uint *count, ulong samples, ulong apart)
{
    for (ulong i = get_global_id(0); i < samples; i += get_global_size(0))
        atomic_inc(&count[col[i / RUN * apart + i % RUN]]);
}

// Of each `side` columns side by side: how many have k entries, in bins[k], more in the last; those of none are not counted.
WEFT_KERNEL void hubs_bins(__global const uint *count, __global uint *bins, ulong side, idx_t n)
{
    __local uint own[BINS];
    for (uint b = (uint)get_local_id(0); b < BINS; b += WEFT_WG)
        own[b] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong c = get_global_id(0) * side; c < (ulong)n; c += get_global_size(0) * side) {
        uint entries = 0u;
        for (ulong i = c; i < min(c + side, (ulong)n); i++)
            entries += count[i];
        if (entries)
            atomic_inc(&own[min(entries, BINS - 1u)]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = (uint)get_local_id(0); b < BINS; b += WEFT_WG)
        if (own[b])
            atomic_add(&bins[b], own[b]);
}

// column[at + k]: the k-th hub, a column of `least` entries and more, `most` at most, in any order. count: what stands for each column.
WEFT_KERNEL void hubs_take(__global uint *count, __global uint *column, __global uint *taken, ulong at, uint least,
                           uint most, idx_t n)
{
    for (ulong c = get_global_id(0); c < (ulong)n; c += get_global_size(0)) {
        const uint k = count[c] >= least ? atomic_inc(taken) : most;
        if (k < most)
            column[at + k] = (uint)c;
        count[c] = k < most ? k | 1u << 31 : (uint)c;
    }
}

// What stands for the column of each entry.
WEFT_KERNEL void hubs_columns(__global const idx_t *col, __global const uint *count, __global uint *out, ulong nnz)
{
    for (ulong i = get_global_id(0); i < nnz; i += get_global_size(0))
        out[i] = count[col[i]];
}
