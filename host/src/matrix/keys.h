// SPDX-License-Identifier: Apache-2.0
// The order of the entries of one row on the host, as keys of 64 bits.
#pragma once

#include <stdint.h>

// Keys are column << 32 | place in the row, places ascending: sorts by column, stable. `scratch` holds count; col_bits
// bits hold every column.
void weft__keys_sort(uint64_t *key, int64_t count, uint64_t *scratch, int col_bits);
