// SPDX-License-Identifier: Apache-2.0
// Columns of sliced ELL in 16 bits: the rows of a slice have a base in common for each step, the least of their columns
// there, and each holds its distance from it; PAD marks padding.
// Source:  -
// Mapping: 1-D; a step (one entry of each row of a slice) per work-item, then strides by the global size.
// Local:   none.
// Needs:   ell_col as ell_fill leaves it, steps*height elements; *wide is 0.
// Gives:   base[0 .. steps-1], col[0 .. steps*height-1]; *wide is 1 when a distance does not fit, and both are of no use.
// Order:   integers only.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_PAD
#error "WEFT_PAD: 65535, the distance that stands for padding"
#endif

WEFT_KERNEL void sell16_pack(__global const idx_t *restrict ell_col, __global idx_t *restrict base,
                             __global ushort *restrict col, __global int *wide, ulong steps, uint height)
{
    for (ulong step = get_global_id(0); step < steps; step += get_global_size(0)) {
        const ulong first = step * height;
        idx_t low = INT_MAX, high = 0;
        for (uint r = 0; r < height; r++) {
            const idx_t c = ell_col[first + r];
            low = c >= 0 ? min(low, c) : low;
            high = max(high, c);
        }
        low = min(low, high); // of padding alone: 0
        base[step] = low;
        if (high - low >= WEFT_PAD)
            atomic_or(wide, 1);
        for (uint r = 0; r < height; r++) {
            const idx_t c = ell_col[first + r];
            col[first + r] = (ushort)(c >= 0 ? c - low : WEFT_PAD);
        }
    }
}
