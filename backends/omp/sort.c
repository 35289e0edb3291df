// SPDX-License-Identifier: Apache-2.0
// Merge and segmented sort with threads: equal parts of the positions for each, whatever the segments.
// Source: merge path, O. Green, R. McColl, D. Bader, ICS 2012; radix sort, D. Knuth, TAOCP 3, section 5.2.5.
#include "primitives.h"
#include "transpose.h"

#include <omp.h>

// Longest piece for insertion sort.
enum { SHORT = 32 };

// Keys and payloads of one array, and their widths, which are constants in each inlined copy.
struct array {
    char *key, *val;
};
struct kind {
    size_t key, val;
    uint64_t sign; // flips a signed key's order into that of unsigned numbers
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

WEFT_INLINE uint64_t key_get(const char *key, int64_t i, struct kind k)
{
    return (k.key == 8 ? ((const uint64_t *)(const void *)key)[i] : ((const uint32_t *)(const void *)key)[i]) ^ k.sign;
}
WEFT_INLINE void key_set(char *key, int64_t i, uint64_t value, struct kind k)
{
    if (k.key == 8)
        ((uint64_t *)(void *)key)[i] = value ^ k.sign;
    else
        ((uint32_t *)(void *)key)[i] = (uint32_t)(value ^ k.sign);
}
WEFT_INLINE void element_move(struct array to, int64_t i, struct array from, int64_t j, struct kind k)
{
    key_set(to.key, i, key_get(from.key, j, k), k);
    val_copy(to.val, i, from.val, j, k.val);
}

// ---- merge -----------------------------------------------------------------------------------------------------

// Outputs d .. d_end-1 of the merge of a[a0 .. a0+la-1] with b[b0 .. b0+lb-1]; output 0 is out[start].
WEFT_INLINE void merge_part(struct array out, int64_t start, struct array a, int64_t a0, int64_t la, struct array b,
                            int64_t b0, int64_t lb, int64_t d, int64_t d_end, struct kind k)
{
    int64_t low = most(d - lb, 0), high = least(d, la);
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (key_get(b.key, b0 + d - 1 - mid, k) < key_get(a.key, a0 + mid, k))
            high = mid;
        else
            low = mid + 1;
    }
    int64_t i = a0 + low, j = b0 + d - low, a_end = a0 + la, b_end = b0 + lb, o = start + d, end = start + d_end;
    while (o < end && i < a_end && j < b_end) {
        uint64_t x = key_get(a.key, i, k), y = key_get(b.key, j, k);
        int right = y < x;
        key_set(out.key, o, right ? y : x, k);
        if (k.val)
            val_copy(out.val, o, right ? b.val : a.val, right ? j : i, k.val);
        o++;
        j += right;
        i += !right;
    }
    for (; o < end && i < a_end; o++, i++)
        element_move(out, o, a, i, k);
    for (; o < end; o++, j++)
        element_move(out, o, b, j, k);
}

WEFT_INLINE void merge_typed(struct array out, struct array a, int64_t na, struct array b, int64_t nb, int64_t block,
                             struct kind k)
{
    int64_t n = block ? na : na + nb;
#pragma omp parallel
    {
        int t = omp_get_thread_num(), all = omp_get_num_threads();
        int64_t o = part_start(n, t, all), end = part_start(n, t + 1, all);
        while (o < end) {
            int64_t start = block ? o - o % (2 * block) : 0, la = block ? least(block, n - start) : na;
            int64_t lb = block ? least(block, n - start - la) : nb, stop = least(end, start + la + lb);
            merge_part(out, start, a, start, la, b, block ? start + la : 0, lb, o - start, stop - start, k);
            o = stop;
        }
    }
}

// f(args, kind) with constants for the widths.
#define BY_KIND(f, key, val, sign, ...)                                                                                \
    do {                                                                                                               \
        if ((key) == 8 && (val) == 8)                                                                                  \
            f(__VA_ARGS__, (struct kind){8, 8, sign});                                                                 \
        else if ((key) == 8 && (val) == 4)                                                                             \
            f(__VA_ARGS__, (struct kind){8, 4, sign});                                                                 \
        else if ((key) == 8)                                                                                           \
            f(__VA_ARGS__, (struct kind){8, 0, sign});                                                                 \
        else if ((val) == 8)                                                                                           \
            f(__VA_ARGS__, (struct kind){4, 8, sign});                                                                 \
        else if ((val) == 4)                                                                                           \
            f(__VA_ARGS__, (struct kind){4, 4, sign});                                                                 \
        else                                                                                                           \
            f(__VA_ARGS__, (struct kind){4, 0, sign});                                                                 \
    } while (0)

static uint64_t sign_of(enum weft_key key)
{
    return key == WEFT_KEY_I32 ? UINT64_C(1) << 31 : key == WEFT_KEY_I64 ? UINT64_C(1) << 63 : 0;
}

void weft__omp_array_merge(enum weft_key key, int payload_bytes, void *out, void *out_val, const void *a,
                           const void *a_val, int64_t na, const void *b, const void *b_val, int64_t nb, int64_t block)
{
    struct array to = {out, out_val}, left = {(char *)(uintptr_t)a, (char *)(uintptr_t)a_val};
    struct array right = {(char *)(uintptr_t)b, (char *)(uintptr_t)b_val};
    if (block)
        right = left;
    BY_KIND(merge_typed, weft_key_bytes(key), payload_bytes, sign_of(key), to, left, na, right, nb, block);
}

// ---- segmented sort --------------------------------------------------------------------------------------------

// Elements from .. end-1 of `in` go to `out` in order.
WEFT_INLINE void insertion_sort(struct array out, struct array in, int64_t from, int64_t end, struct kind k)
{
    for (int64_t i = from; i < end; i++) {
        uint64_t key = key_get(in.key, i, k);
        int64_t j = i;
        for (; j > from && key_get(out.key, j - 1, k) > key; j--)
            element_move(out, j, out, j - 1, k);
        key_set(out.key, j, key, k);
        val_copy(out.val, j, in.val, i, k.val);
    }
}

// The same by 8 bits at a time, those that are the same in all keys left out. `other` is scratch.
WEFT_INLINE void radix_sort(struct array out, struct array other, struct array in, int64_t from, int64_t end,
                            struct kind k)
{
    uint64_t ones = 0, zeros = 0;
    for (int64_t i = from; i < end; i++) {
        ones |= key_get(in.key, i, k);
        zeros |= ~key_get(in.key, i, k);
    }
    uint64_t differ = ones & zeros;
    int steps = 0;
    for (unsigned shift = 0; shift < 8 * k.key; shift += 8)
        steps += (differ >> shift & 255) != 0;
    struct array to = steps % 2 ? out : other, spare = steps % 2 ? other : out; // the last step writes to `out`
    for (int64_t i = from; i < end && !steps; i++)
        element_move(out, i, in, i, k);
    for (unsigned shift = 0; shift < 8 * k.key; shift += 8) {
        if (!(differ >> shift & 255))
            continue;
        int64_t next[256] = {0}, sum = from;
        for (int64_t i = from; i < end; i++)
            next[key_get(in.key, i, k) >> shift & 255]++;
        for (int d = 0; d < 256; d++) {
            int64_t here = next[d];
            next[d] = sum;
            sum += here;
        }
        for (int64_t i = from; i < end; i++)
            element_move(to, next[key_get(in.key, i, k) >> shift & 255]++, in, i, k);
        in = to;
        to = spare;
        spare = in;
    }
}

// Segment of position p: the last s with offsets[s] <= p.
static int64_t segment_at(const int64_t *offsets, int64_t segments, int64_t p)
{
    int64_t low = 0, high = segments;
    while (high - low > 1) {
        int64_t mid = low + (high - low) / 2;
        if (offsets[mid] <= p)
            low = mid;
        else
            high = mid;
    }
    return low;
}

// Each thread sorts the pieces of segments in its part; rounds then join neighbouring runs of parts, of which the
// segment across the seam is merged and the rest copied.
WEFT_INLINE void segsort_typed(struct array out, struct array tmp, struct array in, const int64_t *offsets,
                               int64_t segments, struct kind k)
{
    int64_t n = segments ? offsets[segments] : 0;
#pragma omp parallel
    {
        int t = omp_get_thread_num(), all = omp_get_num_threads(), rounds = 0;
        while (1 << rounds < all)
            rounds++;
        struct array to = rounds % 2 ? tmp : out, other = rounds % 2 ? out : tmp;
        const int64_t low = part_start(n, t, all), high = part_start(n, t + 1, all);
        int64_t s = low < high ? segment_at(offsets, segments, low) : 0;
        for (int64_t p = low; p < high;) {
            int64_t end = least(offsets[++s], high);
            if (end - p > SHORT)
                radix_sort(to, other, in, p, end, k);
            else
                insertion_sort(to, in, p, end, k);
            p = end;
        }
        for (int round = 0; round < rounds; round++) {
#pragma omp barrier
            // The group of 2^(round+1) parts that this one belongs to, its seam, and the segment across that.
            int first = t >> (round + 1) << (round + 1), half = first + (1 << round), last = half + (1 << round);
            int64_t start = part_start(n, first, all), seam = part_start(n, half < all ? half : all, all);
            int64_t stop = part_start(n, last < all ? last : all, all), a = seam, b = seam;
            if (start < seam && seam < stop) {
                int64_t across = segment_at(offsets, segments, seam);
                a = most(offsets[across], start);
                b = least(offsets[across + 1], stop);
            }
            int64_t o = low;
            for (; o < least(a, high); o++)
                element_move(other, o, to, o, k);
            if (o < least(b, high)) {
                int64_t end = least(b, high);
                merge_part(other, a, to, a, seam - a, to, seam, b - seam, o - a, end - a, k);
                o = end;
            }
            for (; o < high; o++)
                element_move(other, o, to, o, k);
            struct array swap = to;
            to = other;
            other = swap;
        }
    }
}

void weft__omp_array_segsort(enum weft_key key, int payload_bytes, void *out, void *out_val, const void *in,
                             const void *in_val, const int64_t *offsets, int64_t segments, void *scratch)
{
    size_t key_bytes = weft_key_bytes(key);
    char *tmp = scratch;
    struct array to = {out, out_val}, from = {(char *)(uintptr_t)in, (char *)(uintptr_t)in_val};
    struct array other = {tmp, tmp + (segments ? (size_t)offsets[segments] : 0) * key_bytes};
    BY_KIND(segsort_typed, key_bytes, payload_bytes, sign_of(key), to, other, from, offsets, segments);
}
