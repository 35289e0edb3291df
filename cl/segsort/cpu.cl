// SPDX-License-Identifier: Apache-2.0
// Sort segments, stable, with payload, on a CPU. segsort_chunk sorts the pieces of segments in one chunk of positions;
// segsort_merge joins neighbouring runs of chunks, of which only the segment across the seam needs merging.
// Source:  radix sort, D. Knuth, TAOCP 3, section 5.2.5; insertion sort for short pieces; merge path, O. Green,
//          R. McColl, D. Bader, ICS 2012.
// Mapping: 1-D; work-item i owns positions i*chunk .. of the output.
// Local:   none; 256 ofs_t of private memory.
// Needs:   WEFT_OFFSETS: segments by offsets (size segments+1), else blocks of `block` elements.
// Gives:   segsort_chunk: out; `other` is scratch, and the input may be either of them. segsort_merge: out, not the input.
// Order:   exact.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#if !defined(WEFT_KEY_BITS) || !defined(WEFT_KEY_SIGNED) || !defined(WEFT_VAL_BITS)
#error "WEFT_KEY_BITS: 32 or 64, WEFT_KEY_SIGNED 0 or 1; WEFT_VAL_BITS: of a payload, 0, 32 or 64"
#endif
#ifndef WEFT_OFFSETS
#error "WEFT_OFFSETS: 1 segments by offsets, 0 blocks of one length"
#endif

#if WEFT_KEY_BITS == 64
typedef ulong key_t; // as an unsigned number in the same order
#else
typedef uint key_t;
#endif
#define SIGN  ((key_t)WEFT_KEY_SIGNED << (WEFT_KEY_BITS - 1))
#define SHORT 32 // longest piece for insertion sort

// Keys and payloads of one array.
struct array {
    __global key_t *key;
#if WEFT_VAL_BITS
    __global bits_t *val;
#endif
};
WEFT_INLINE struct array array_of(__global key_t *key, __global bits_t *val)
{
    struct array a;
    a.key = key;
#if WEFT_VAL_BITS
    a.val = val;
#endif
    return a;
}
WEFT_INLINE void move(struct array to, long i, struct array from, long j)
{
    to.key[i] = from.key[j];
#if WEFT_VAL_BITS
    to.val[i] = from.val[j];
#endif
}

// Elements a .. b-1 of `in` go to `out` in order.
WEFT_INLINE void insertion_sort(struct array out, struct array in, long a, long b)
{
    for (long i = a; i < b; i++) {
        key_t key = in.key[i];
#if WEFT_VAL_BITS
        bits_t val = in.val[i];
#endif
        long j = i;
        for (; j > a && (out.key[j - 1] ^ SIGN) > (key ^ SIGN); j--)
            move(out, j, out, j - 1);
        out.key[j] = key;
#if WEFT_VAL_BITS
        out.val[j] = val;
#endif
    }
}
// Do two arrays share keys or payload? Both?
WEFT_INLINE bool array_shares(struct array a, struct array b)
{
#if WEFT_VAL_BITS
    if (a.val == b.val)
        return true;
#endif
    return a.key == b.key;
}
WEFT_INLINE bool array_same(struct array a, struct array b)
{
#if WEFT_VAL_BITS
    if (a.val != b.val)
        return false;
#endif
    return a.key == b.key;
}

WEFT_INLINE void radix_sort(struct array out, struct array other, struct array in, long a, long b)
{
    key_t ones = 0, zeros = 0;
    for (long i = a; i < b; i++) {
        ones |= in.key[i];
        zeros |= ~in.key[i];
    }
    key_t differ = ones & zeros;
    uint steps = 0;
    for (uint shift = 0; shift < WEFT_KEY_BITS; shift += 8)
        steps += (differ >> shift & 255) != 0;
    // The last step writes to `out`; no step may write where it reads. Keys and payload may each be in place.
    struct array to = steps & 1 ? out : other, spare = steps & 1 ? other : out;
    if (!steps || array_shares(to, in)) {
        struct array copy = steps ? spare : out;
        if (!array_same(copy, in))
            for (long i = a; i < b; i++)
                move(copy, i, in, i);
        in = copy;
    }
    for (uint shift = 0; shift < WEFT_KEY_BITS; shift += 8) {
        if (!(differ >> shift & 255))
            continue;
        ofs_t count[256];
        for (uint d = 0; d < 256; d++)
            count[d] = 0;
        for (long i = a; i < b; i++)
            count[(in.key[i] ^ SIGN) >> shift & 255]++;
        ofs_t sum = 0;
        for (uint d = 0; d < 256; d++) {
            ofs_t here = count[d];
            count[d] = sum;
            sum += here;
        }
        for (long i = a; i < b; i++)
            move(to, a + count[(in.key[i] ^ SIGN) >> shift & 255]++, in, i);
        in = to;
        to = spare;
        spare = in;
    }
}

// Sort the pieces of segments in each chunk of positions.
WEFT_KERNEL void segsort_chunk(__global key_t *key, __global bits_t *val, __global key_t *key_out,
                               __global bits_t *val_out, __global key_t *key_other, __global bits_t *val_other,
                               __global const ofs_t *offsets, long segments, long n, long block, long chunk)
{
    long a = min((long)get_global_id(0) * chunk, n), end = min(a + chunk, n);
    if (a == end)
        return;
    struct array in = array_of(key, val), out = array_of(key_out, val_out), other = array_of(key_other, val_other);
#if WEFT_OFFSETS
    idx_t s = row_of(offsets, 0, (idx_t)segments, (ofs_t)a);
#endif
    while (a < end) {
#if WEFT_OFFSETS
        long b = min((long)offsets[++s], end);
#else
        long b = min(a - a % block + block, end);
#endif
        if (b - a > SHORT)
            radix_sort(out, other, in, a, b);
        else
            insertion_sort(out, in, a, b);
        a = b;
    }
}

// Join neighbouring runs of chunks: merge the segment across the seam, copy the rest.
WEFT_KERNEL void segsort_merge(__global key_t *key, __global bits_t *val, __global key_t *key_out,
                               __global bits_t *val_out, __global const ofs_t *offsets, long segments, long n,
                               long block, long width, long chunk)
{
    long o = min((long)get_global_id(0) * chunk, n), end = min(o + chunk, n);
    struct array in = array_of(key, val), out = array_of(key_out, val_out);
    while (o < end) {
        // The runs from `start` and from `mid` on; of the segment across mid, a .. mid-1 and mid .. b-1 are merged.
        long start = o - o % (2 * width), mid = min(start + width, n), stop = min(mid + width, n), a = mid, b = mid;
        if (mid < stop) {
#if WEFT_OFFSETS
            idx_t s = row_of(offsets, 0, (idx_t)segments, (ofs_t)mid);
            a = max((long)offsets[s], start);
            b = min((long)offsets[s + 1], stop);
#else
            a = max(mid - mid % block, start);
            b = min(mid - mid % block + block, stop);
#endif
        }
        for (; o < min(a, end); o++)
            move(out, o, in, o);
        if (o < min(b, end)) {
            long d = o - a, lo = max(d - (b - mid), 0l), hi = min(d, mid - a), last = min(b, end);
            while (lo < hi) {
                long m = lo + (hi - lo) / 2;
                if ((key[mid + d - 1 - m] ^ SIGN) < (key[a + m] ^ SIGN))
                    hi = m;
                else
                    lo = m + 1;
            }
            long i = a + lo, j = mid + d - lo;
            while (o < last && i < mid && j < b) {
                bool right = (key[j] ^ SIGN) < (key[i] ^ SIGN);
                move(out, o++, in, right ? j : i);
                j += right;
                i += !right;
            }
            for (; o < last && i < mid; o++, i++)
                move(out, o, in, i);
            for (; o < last; o++, j++)
                move(out, o, in, j);
        }
        for (; o < min(stop, end); o++)
            move(out, o, in, o);
    }
}
