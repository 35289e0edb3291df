// SPDX-License-Identifier: Apache-2.0
// Nothing: what a launch costs by itself.
// Source:  -
// Mapping: 1-D; any size.
// Needs:   WEFT_WG.   Gives: nothing; `flag` is only there to be an argument, as every kernel has one.   Order: none.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif

WEFT_KERNEL void empty(__global int *restrict flag, int value)
{
    if (value)
        flag[0] = value;
}
