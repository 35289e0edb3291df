// SPDX-License-Identifier: Apache-2.0
// out[first .. first+count-1] = value, 32-bit words.
// Source:  -
// Mapping: 1-D; work-items stride over the words by the global size.
// Needs:   WEFT_WG.   Gives: every word written.   Order: none.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif

WEFT_KERNEL void fill(__global uint *out, ulong first, ulong count, uint value)
{
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0))
        out[first + i] = value;
}
