// SPDX-License-Identifier: Apache-2.0
// A^T of a square CSR matrix whose pattern is symmetric: row c of A^T has the columns of row c of A, and only values move.
// Source:  ours; a value's place is found by search in the row that its column names. With strictly ascending columns in
//          every row and an entry (j, i) for each (i, j), rows and columns of A^T are those of A; both are checked on the
//          way, for every entry, so that the result is exact or known to be none. A group gives up when its searches have
//          taken more steps than ScanTrans is worth.
// Mapping: group g owns entries g*TILE .., then strides; the group searches for the rows of its tile, each row marks its
//          first entry there.
// Local:   4*TILE + TILE/4 bytes.
// Needs:   m == n; WG a power of two; *failed != run.
// Gives:   A^T, or *failed == run: then what was written is to be written over.
// Order:   exact.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size, a power of two"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: entries per work-item and tile"
#endif

#ifndef WEFT_GUESS
#error "WEFT_GUESS: 1 where rows are long: images are guessed before they are searched for; else 0"
#endif

#define TILE   (WEFT_WG * WEFT_IPT)
#define WORDS  (TILE / 32)
#define UNROLL 8 // entries of a work-item in flight

// A search takes a memory access of its own for each step but the last ones, which stay within one sector of NEAR entries.
// On an H200 an entry took 9 to 13 ps with its image guessed (band, stencil27:120), a step about 7, ScanTrans 25.
#define NEAR 8
#define LONG (4 * NEAR) // a row where steps are counted
// Steps that so many entries may take: 2.5 each, with which the whole takes 1.3 times as long as ScanTrans.
#define STEPS_MOST(entries) ((ulong)(entries)*5u / 2u)
// The guesses cost registers (on an H200 stencil27:120 took 0.71 ms with them and 0.60 without), so that short rows do without.

// Steps in a row of n entries: log2(n / NEAR).
WEFT_INLINE uint far_steps(ofs_t n)
{
    return (uint)max(28 - (int)clz((uint)min(n, (ofs_t)INT_MAX)), 0);
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

// What is left of a row, *begin .. *end - 1, where position q with column c is not that of column i, and columns ascend.
WEFT_INLINE void narrow(ofs_t *begin, ofs_t *end, ofs_t q, idx_t c, idx_t i)
{
    *begin = c < i ? q + 1 : *begin;
    *end = c < i ? *end : q;
}

// q + d, which an ofs_t may not hold: then it wraps. What is taken is brought between two places of the row, so that a guess is lost and
// nothing else. Steps brought there before they are added take 76 registers on sm_90, these 64 (docs/log/mirror.md).
WEFT_INLINE ofs_t moved(ofs_t q, ofs_t d)
{
    return (ofs_t)((ulong)q + (ulong)d);
}

// Where column i stands in a long row, by two guesses: in a row without gaps it is as far from position *q, which has column
// *c, as the columns are, in any other nearer; where gaps are alike, it is on the line through both. *begin .. *end - 1, *q and
// *c as a search goes on from them. Gives the steps taken, and those that a search still takes.
WEFT_INLINE uint guess(__global const idx_t *col, idx_t i, ofs_t *begin, ofs_t *end, ofs_t *q, idx_t *c)
{
    const ofs_t was = *q, far = was + min(max((ofs_t)(i - *c), *begin - was), *end - 1 - was);
    const idx_t had = *c;
    narrow(begin, end, was, had, i);
    *q = far;
    *c = col[far];
    if (*c == i)
        return 1u;
    narrow(begin, end, far, *c, i);
    if (*begin >= *end)
        return 1u;
    const float share = *c != had ? (float)(i - had) / (float)(*c - had) : 0.0f; // equal: columns do not ascend
    *q = min(max(moved(was, (ofs_t)(share * (float)(far - was))), *begin), *end - 1);
    *c = col[*q];
    if (*c == i)
        return 2u;
    narrow(begin, end, *q, *c, i);
    return 2u + far_steps(*end - *begin);
}

// Looks at one entry of row i, if there is any, with LOOKERS work-items, numbered from 0: their answers sum up to zero when
// it stands in order and has an image (once), and when the row is empty. part/32 of the row stand before it; where the diagonal stands there, one
// beside it, since the diagonal is near in any order. *weight: entries of the row; *steps: of the search for the image; *away: whether it
// lies far from the diagonal.
#define LOOKERS 8
// Rows of m that an entry may lie away from the diagonal; few rows are near in any order. Where more than 3 of 8 lie further,
// every image is a read of its own and ScanTrans is faster: on an H200 grids in a random order took 1.15 to 1.37 times as
// long by the mirror.
#define FAR(m) max((m) / 8, 8192)
WEFT_INLINE int look(__global const ofs_t *row_ptr, __global const idx_t *col, idx_t i, uint part, uint looker, idx_t m,
                     ofs_t *weight, uint *steps, bool *away)
{
    const ofs_t begin = row_ptr[i], end = row_ptr[i + 1];
    ofs_t p = begin + (ofs_t)((ulong)(end - begin) * part / 32u);
    *weight = end - begin;
    *steps = 0u;
    *away = false;
    if (begin == end)
        return 0;
    if (col[p] == i && end - begin > 1)
        p = p + 1 < end ? p + 1 : p - 1;
    const idx_t j = col[p], left = col[max(p - 1, begin)];
    const ofs_t first = row_ptr[j], last = row_ptr[j + 1];
    ofs_t from = first, to = last;
    *away = max(i, j) - min(i, j) > FAR(m);
    if (to - from > LONG) {
        ofs_t rest = first, stop = last, q = max(last - 1 - (p - begin), first);
        idx_t c = col[q];
        *steps = c != i ? guess(col, i, &rest, &stop, &q, &c) : 0u;
    }
    while (to - from > 8 * LOOKERS) { // the part of a long row that must hold the image
        const ofs_t mid = from + (to - from) / 2;
        from = col[mid] <= i ? mid : from;
        to = col[mid] <= i ? to : mid;
    }
    int sum = looker == 0u;
    for (ofs_t q = from + (ofs_t)looker; q < to; q += LOOKERS)
        sum -= col[q] == i && (p == begin || left < j);
    return sum;
}

// *failed becomes `run` when an entry has no image or an entry stands out of order: then this is not A^T.
WEFT_KERNEL void mirror(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                        __global const bits_t *restrict val, __global ofs_t *restrict row_ptr_out,
                        __global idx_t *restrict col_out, __global bits_t *restrict val_out,
                        volatile __global uint *failed, uint run, idx_t m, ofs_t nnz)
{
    __local uint first_of[TILE]; // slot where a row begins: the row
    __local uint bits[WORDS], carry[WORDS];
    __local int at[2];
    __local int on, bad, balance[WEFT_WG / LOOKERS];
    __local ofs_t weights[WEFT_WG / LOOKERS];
    __local uint look_steps[WEFT_WG / LOOKERS], look_away[WEFT_WG / LOOKERS];
    __local uint spent, most; // steps that the group has taken, and may have
    const uint lid = (uint)get_local_id(0);
    if (lid == 0u) {
        bad = 0;
        spent = 0u;
        most = 0u;
    }
    if (lid < WEFT_WG / LOOKERS)
        balance[lid] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    // Most patterns without symmetry are known by a few entries, the same for each group.
    const ulong looked = lid / LOOKERS, lookers = WEFT_WG / LOOKERS;
    ofs_t weight;
    uint steps_there;
    bool away;
    const int sum = look(row_ptr, col, (idx_t)((2 * looked + 1) * (ulong)m / (2 * lookers)), (uint)looked * 11u % 32u,
                         lid % LOOKERS, m, &weight, &steps_there, &away);
    if (sum)
        atomic_add(&balance[lid / LOOKERS], sum);
    if (lid % LOOKERS == 0u) {
        weights[lid / LOOKERS] = weight;
        look_steps[lid / LOOKERS] = steps_there;
        look_away[lid / LOOKERS] = away;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < WEFT_WG / LOOKERS && balance[lid])
        atomic_or(&bad, 1);
    if (lid == 0u) {
        ulong entries = 0, steps = 0, far = 0;
        for (uint k = 0; k < WEFT_WG / LOOKERS; k++) {
            entries += (ulong)weights[k];
            steps += (ulong)weights[k] * look_steps[k];
            far += look_away[k] ? (ulong)weights[k] : 0;
        }
        if (steps > STEPS_MOST(entries) || 8 * far > 3 * entries)
            atomic_or(&bad, 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ofs_t tile = (ofs_t)get_group_id(0) * TILE; tile < nnz; tile += (ofs_t)get_num_groups(0) * TILE) {
        const uint entries = (uint)min(nnz - tile, (ofs_t)TILE);
        if (lid == 0u)
            on = atomic_or(failed, 0u) != run && !bad;
        for (uint w = lid; w < WORDS; w += WEFT_WG)
            bits[w] = 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (!on)
            break;
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
        if (lid == 0u)
            most = (uint)min((ulong)most + STEPS_MOST(entries), (ulong)INT_MAX);
        barrier(CLK_LOCAL_MEM_FENCE);
        const ofs_t lo_begin = row_ptr[lo];
        bool astray = false;
        for (uint s = lid; s < entries && !astray; s += UNROLL * WEFT_WG) {
            idx_t i[UNROLL], j[UNROLL], c[UNROLL];
            ofs_t begin[UNROLL], end[UNROLL], q[UNROLL];
#pragma unroll
            for (uint u = 0; u < UNROLL; u++)
                j[u] = col[tile + (ofs_t)min(s + u * WEFT_WG, entries - 1u)];
#pragma unroll
            for (uint u = 0; u < UNROLL; u++) {
                begin[u] = row_ptr[j[u]];
                end[u] = row_ptr[j[u] + 1];
            }
#pragma unroll
            for (uint u = 0; u < UNROLL;
                 u++) { // in a row like its own, turned round, the image stands as far from the end
                const uint t = min(s + u * WEFT_WG, entries - 1u);
                const uint before = bits[t / 32u] & (2u << (t & 31u)) - 1u;
                const uint slot = before ? (t | 31u) - clz(before) : carry[t / 32u];
                const ofs_t p = tile + (ofs_t)t, row_begin = slot ? tile + (ofs_t)slot : lo_begin;
                i[u] = (idx_t)first_of[slot];
                astray |= begin[u] == end[u] || (p > row_begin && col[p - 1] >= j[u]);
                q[u] = max(min(end[u] - 1, nnz - 1) - (p - row_begin), min(begin[u], nnz - 1));
            }
#pragma unroll
            for (uint u = 0; u < UNROLL; u++)
                c[u] = col[q[u]];
#if WEFT_GUESS
            uint steps = 0u;
#pragma unroll
            for (uint u = 0; u < UNROLL; u++)
                if (c[u] != i[u]) {
                    if (end[u] - begin[u] > LONG) {
                        const uint taken = guess(col, i[u], &begin[u], &end[u], &q[u], &c[u]);
                        steps += s + u * WEFT_WG < entries ? taken : 0u;
                    } else {
                        narrow(&begin[u], &end[u], q[u], c[u], i[u]);
                    }
                }
            if (steps && atomic_add(&spent, steps) + steps > most)
                astray = true;
#pragma unroll
            for (uint u = 0; u < UNROLL; u++)
                if (c[u] != i[u] && !astray) {
                    while (begin[u] < end[u]) {
                        q[u] = begin[u] + (end[u] - begin[u]) / 2;
                        c[u] = col[q[u]];
                        if (c[u] == i[u])
                            break;
                        narrow(&begin[u], &end[u], q[u], c[u], i[u]);
                    }
                    astray |= c[u] != i[u];
                }
#else
#pragma unroll
            for (uint u = 0; u < UNROLL; u++)
                if (c[u] != i[u]) {
                    ofs_t from = c[u] < i[u] ? q[u] + 1 : begin[u], to = c[u] < i[u] ? end[u] : q[u];
                    if (to - from > LONG) { // the first guess alone, not counted, then as far as the group may go
                        q[u] = min(max(moved(q[u], (ofs_t)(i[u] - c[u])), from), to - 1);
                        c[u] = col[q[u]];
                        from = c[u] < i[u] ? q[u] + 1 : from;
                        to = c[u] < i[u] ? to : c[u] == i[u] ? from : q[u];
                        const uint steps = far_steps(to - from);
                        to = atomic_add(&spent, steps) + steps > most ? from : to;
                    }
                    while (from < to) {
                        q[u] = from + (to - from) / 2;
                        c[u] = col[q[u]];
                        from = c[u] < i[u] ? q[u] + 1 : from;
                        to = c[u] < i[u] ? to : c[u] == i[u] ? from : q[u];
                    }
                    astray |= c[u] != i[u];
                }
#endif
#pragma unroll
            for (uint u = 0; u < UNROLL; u++)
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
        if (astray)
            atomic_or(&bad, 1);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0u && bad)
        atomic_xchg(failed, run);
    if (on)
        for (long r = (long)get_global_id(0); r <= m; r += (long)get_global_size(0))
            row_ptr_out[r] = row_ptr[r];
}
