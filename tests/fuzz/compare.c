// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the records that weft-bench --compare reads. Two files, cut at the first byte 0x1e; what is read is matched
// both ways alike, and a failure says why.
#include "fuzz.h"
#include "bench/mode/compare.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct compare_file a, b;
    char why[2][512] = {"", ""};
    const uint8_t *cut = memchr(data, 0x1e, bytes);
    const size_t first = cut ? (size_t)(cut - data) : bytes;
    if (bytes > 1 << 16)
        return 0;
    const int good_a = compare_read(&a, fuzz_file(0, data, first), why[0], sizeof why[0]),
              good_b = compare_read(&b, cut ? fuzz_file(1, cut + 1, bytes - first - 1) : fuzz_file(1, data, bytes),
                                    why[1], sizeof why[1]);
    if ((!good_a && !why[0][0]) || (!good_b && !why[1][0])) // the program shows a line break of a name as \\x0a
        abort();
    if (good_a && good_b) {
        size_t verified = 0, matched = 0;
        const size_t count = compare_match(&a, &b, &verified);
        for (size_t i = 0; i < a.count; i++) {
            const struct compare_entry *e = &a.entries[i];
            struct bench_time time;
            matched += e->match != NULL;
            if (e->match && e->match->match != e)
                abort();
            compare_time_of(&time, e->line, a.profile ? "end_to_end_ms" : "median_ms");
            compare_time_of(&time, e->line, "kernels_ms");
        }
        if (matched != count || verified > count)
            abort();
    }
    compare_free(&a);
    compare_free(&b);
    return 0;
}
