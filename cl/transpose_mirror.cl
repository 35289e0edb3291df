// SPDX-License-Identifier: Apache-2.0
// A^T of a square CSR matrix whose pattern is symmetric: row c of A^T has the columns of row c of A, and only values move.
// Source:  ours; a value's place is found by search in the row that its column names. With strictly ascending columns in
//          every row and an entry (j, i) for each (i, j), rows and columns of A^T are those of A; both are checked on the
//          way, for every entry, so that the result is exact or known to be none.
// Mapping: mirror_probe: one group looks at a few entries. mirror: group g owns entries g*TILE .., then strides; the group
//          searches for the rows of its tile, each row marks its first entry there.
// Local:   mirror: 4*TILE + TILE/4 bytes.
// Needs:   m == n; WG a power of two; *mirrored of mirror_probe.
// Gives:   *mirrored: nonzero when A^T is complete; else whatever was written is to be written over.
// Order:   exact.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size, a power of two"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: entries per work-item and tile"
#endif

#define TILE  (WEFT_WG * WEFT_IPT)
#define WORDS (TILE / 32)

// *mirrored = 1 when a few entries, in rows spread over the matrix, have their mirror images and stand in order. Eight
// work-items look for each image side by side.
#define LOOKERS 8
WEFT_KERNEL void mirror_probe(__global const ofs_t *row_ptr, __global const idx_t *col, __global uint *mirrored,
                              idx_t m)
{
    __local uint found, wanted;
    const uint lid = (uint)get_local_id(0), entry = lid / LOOKERS, looker = lid % LOOKERS;
    if (lid == 0u)
        found = wanted = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    const idx_t i = (idx_t)((2u * entry + 1u) * (ulong)m / (2u * WEFT_WG / LOOKERS));
    const ofs_t begin = row_ptr[i], end = row_ptr[i + 1];
    if (begin < end) {
        const ofs_t p = begin + (end - begin) / 3;
        const idx_t j = col[p];
        ofs_t from = row_ptr[j], to = row_ptr[j + 1];
        bool here = false;
        while (to - from > 64) { // where a row is long, its half that must hold the image
            const ofs_t mid = from + (to - from) / 2;
            if (col[mid] <= i)
                from = mid;
            else
                to = mid;
        }
        for (ofs_t q = from + (ofs_t)looker; q < to; q += LOOKERS)
            here |= col[q] == i;
        if (here && (p == begin || col[p - 1] < j))
            atomic_inc(&found);
        if (looker == 0u)
            atomic_inc(&wanted);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0u)
        *mirrored = found == wanted;
}

// The rows of positions a and b, found by the whole group; `at` is local memory of two.
WEFT_INLINE void rows_bracket(__local int *at, idx_t *row_a, idx_t *row_b, __global const ofs_t *row_ptr, idx_t m,
                              ofs_t a, ofs_t b)
{
    const int lid = (int)get_local_id(0);
    idx_t lo_a = 0, lo_b = 0;
    int range = m;
    do {
        const int step = (range - 1) / WEFT_WG + 1;
        if (lid < 2)
            at[lid] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        const long from_a = (long)lo_a + (long)lid * step, from_b = (long)lo_b + (long)lid * step;
        if (from_a < m && row_ptr[from_a] <= a)
            atomic_max(&at[0], lid);
        if (from_b < m && row_ptr[from_b] <= b)
            atomic_max(&at[1], lid);
        barrier(CLK_LOCAL_MEM_FENCE);
        lo_a += at[0] * step;
        lo_b += at[1] * step;
        range = step;
        barrier(CLK_LOCAL_MEM_FENCE);
    } while (range > 1);
    *row_a = lo_a;
    *row_b = lo_b;
}

// Entry by entry: its mirror image's value at its place. `mirrored` is cleared when an entry has none or stands out of order.
WEFT_KERNEL void mirror(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                        __global const bits_t *restrict val, __global ofs_t *restrict row_ptr_out,
                        __global idx_t *restrict col_out, __global bits_t *restrict val_out,
                        volatile __global uint *mirrored, idx_t m, ofs_t nnz)
{
    __local uint first_of[TILE]; // slot where a row begins: the row
    __local uint bits[WORDS], carry[WORDS];
    __local int at[2];
    __local uint on;
    const uint lid = (uint)get_local_id(0);
    for (long r = (long)get_global_id(0); r <= m; r += (long)get_global_size(0))
        row_ptr_out[r] = row_ptr[r];
    for (ofs_t tile = (ofs_t)get_group_id(0) * TILE; tile < nnz; tile += (ofs_t)get_num_groups(0) * TILE) {
        const uint entries = (uint)min(nnz - tile, (ofs_t)TILE);
        if (lid == 0u)
            on = atomic_or(mirrored, 0u);
        for (uint w = lid; w < WORDS; w += WEFT_WG)
            bits[w] = 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (!on)
            return;
        idx_t lo, hi;
        rows_bracket(at, &lo, &hi, row_ptr, m, tile, tile + (ofs_t)(entries - 1u));
        for (long r = (long)lo + lid; r <= hi; r += WEFT_WG) {
            const ofs_t begin = max(row_ptr[r], tile), end = row_ptr[r + 1];
            if (begin < end) {
                const uint slot = (uint)(begin - tile);
                first_of[slot] = (uint)r;
                atomic_or(&bits[slot / 32u], 1u << (slot & 31u));
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        // Last marked slot before each word; slot 0 is always marked.
        for (uint w = lid; w < WORDS; w += WEFT_WG) {
            uint v = w;
            while (v > 0u && bits[v - 1u] == 0u)
                v--;
            carry[w] = v > 0u ? v * 32u - 1u - clz(bits[v - 1u]) : 0u;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const ofs_t lo_begin = row_ptr[lo];
        bool bad = false;
        for (uint s = lid; s < entries; s += 4 * WEFT_WG) {
            idx_t i[4], j[4];
            ofs_t begin[4], end[4], q[4];
#pragma unroll
            for (uint u = 0; u < 4; u++) {
                const uint t = min(s + u * WEFT_WG, entries - 1u);
                j[u] = col[tile + (ofs_t)t];
            }
#pragma unroll
            for (uint u = 0; u < 4; u++) {
                begin[u] = row_ptr[j[u]];
                end[u] = row_ptr[j[u] + 1];
            }
#pragma unroll
            for (uint u = 0; u < 4; u++) { // in a row like its own, turned round, the image stands as far from the end
                const uint t = min(s + u * WEFT_WG, entries - 1u);
                const uint before = bits[t / 32u] & (2u << (t & 31u)) - 1u;
                const uint slot = before ? (t | 31u) - clz(before) : carry[t / 32u];
                const ofs_t p = tile + (ofs_t)t, row_begin = slot ? tile + (ofs_t)slot : lo_begin;
                i[u] = (idx_t)first_of[slot];
                bad |= p > row_begin && col[p - 1] >= j[u];
                bad |= begin[u] == end[u];
                q[u] = clamp(end[u] - 1 - (p - row_begin), min(begin[u], nnz - 1), max(end[u] - 1, (ofs_t)0));
            }
            for (bool more = true; more;) { // binary searches, side by side
                idx_t c[4];
                more = false;
#pragma unroll
                for (uint u = 0; u < 4; u++)
                    c[u] = col[q[u]];
#pragma unroll
                for (uint u = 0; u < 4; u++) {
                    const bool lower = c[u] < i[u];
                    begin[u] = c[u] == i[u] ? q[u] : lower ? q[u] + 1 : begin[u];
                    end[u] = c[u] == i[u] ? q[u] : lower ? end[u] : q[u];
                    bad |= c[u] != i[u] && begin[u] >= end[u];
                    if (begin[u] < end[u]) {
                        q[u] = begin[u] + (end[u] - begin[u]) / 2;
                        more = true;
                    }
                }
            }
#pragma unroll
            for (uint u = 0; u < 4; u++)
                if (s + u * WEFT_WG < entries) {
                    const ofs_t p = tile + (ofs_t)(s + u * WEFT_WG);
                    col_out[p] = j[u];
#if defined(WEFT_VAL_POSITIONS)
                    val_out[p] = (bits_t)q[u];
#elif WEFT_VAL_BITS
                    val_out[p] = val[q[u]];
#endif
                }
        }
        if (bad)
            atomic_xchg(mirrored, 0u);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
