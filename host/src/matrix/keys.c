// SPDX-License-Identifier: Apache-2.0
// Sorts the entries of one row on the host.
#include "host/src/matrix/keys.h"

#include <string.h>

#define INSERTION_LIMIT 48

void weft__keys_sort(uint64_t *key, int64_t count, uint64_t *scratch, int col_bits)
{
    if (count <= INSERTION_LIMIT) {
        for (int64_t i = 1; i < count; i++) {
            uint64_t k = key[i];
            int64_t p = i;
            for (; p > 0 && key[p - 1] > k; p--)
                key[p] = key[p - 1];
            key[p] = k;
        }
        return;
    }
    for (int shift = 32; shift < 32 + col_bits; shift += 8) {
        int64_t next[257] = {0};
        for (int64_t p = 0; p < count; p++)
            next[(key[p] >> shift & 255) + 1]++;
        for (int d = 0; d < 256; d++)
            next[d + 1] += next[d];
        for (int64_t p = 0; p < count; p++)
            scratch[next[key[p] >> shift & 255]++] = key[p];
        memcpy(key, scratch, (size_t)count * sizeof *key);
    }
}
