// SPDX-License-Identifier: Apache-2.0
// The comparisons that tests and bench share: what is equal passes, and one element that is not is named.
#include "host/common/check_exact.h"
#include "tests/support/tap.h"

#include <string.h>

enum { N = 9 };

static char why[256];

// Of an element the byte that changes its value by one.
static unsigned char *lowest(void *element, size_t size)
{
    const uint16_t one = 1;
    return (unsigned char *)element + (*(const unsigned char *)&one ? 0 : size - 1);
}

// Passes as it is; with another byte in element `at` of `array` it does not, and `why` begins with `name`.
#define FOUND(call, array, at, name)                                                                                   \
    do {                                                                                                               \
        unsigned char *byte = lowest(&(array)[at], sizeof(array)[at]);                                                 \
        const int equal = (call);                                                                                      \
        *byte ^= 1;                                                                                                    \
        const int differs = !(call);                                                                                   \
        *byte ^= 1;                                                                                                    \
        tap_ok(equal &&differs && !strncmp(why, name, strlen(name)), "%s: %s", #call, why);                            \
    } while (0)

static void test_transpose(void)
{
    int32_t ptr[] = {0, 2, 2, 3}, got_ptr[] = {0, 2, 2, 3}, idx[] = {0, 1, 1}, got_idx[] = {0, 1, 1};
    double val[] = {1, 2, 3}, got_val[] = {1, 2, 3};
    const struct weft_csr want = {
        .m = 3, .n = 2, .nnz = 3, .type = WEFT_TYPE_F64, .row_ptr = ptr, .col = idx, .val = val};
    struct weft_csr got = want;
    got.row_ptr = got_ptr;
    got.col = got_idx;
    got.val = got_val;
    FOUND(check_transpose(&got, &want, why, sizeof why), got_ptr, 3, "col_ptr[3] is 2, not 3");
    FOUND(check_transpose(&got, &want, why, sizeof why), got_idx, 0, "row_idx[0] is 1, not 0");
    FOUND(check_transpose(&got, &want, why, sizeof why), got_val, 2, "val[2] is not");
    FOUND(check_values(got_val, val, 3, WEFT_TYPE_F64, why, sizeof why), got_val, 1, "val[1] is not");
    got.n++;
    tap_ok(!check_transpose(&got, &want, why, sizeof why) && strstr(why, "3 x 3"), "another shape: %s", why);
}

static void test_primitives(void)
{
    int32_t want[N + 1], got[N + 1];
    int64_t wide[N + 1], got_wide[N + 1];
    for (int i = 0; i <= N; i++) {
        want[i] = got[i] = 10 * i;
        wide[i] = got_wide[i] = INT64_C(10000000000) * i;
    }
    FOUND(check_scan(got, want, N, WEFT_SCAN_TYPE_I32, why, sizeof why), got, 8, "sums[8] is 81, not 80");
    FOUND(check_scan(got_wide, wide, N, WEFT_SCAN_TYPE_I32_I64, why, sizeof why), got_wide, 2,
          "sums[2] is 20000000001, not 20000000000");
    FOUND(check_keys(got, got_wide, want, wide, N, WEFT_KEY_U32, 8, why, sizeof why), got, 0, "keys[0] is 1");
    FOUND(check_keys(got, got_wide, want, wide, N, WEFT_KEY_U32, 8, why, sizeof why), got_wide, 8, "payloads[8]");
    tap_ok(check_keys(got, NULL, want, NULL, N, WEFT_KEY_U32, 0, why, sizeof why), "no payloads");
    FOUND(check_histogram(got, want, N, WEFT_OFS_32, 0, why, sizeof why), got, 8, "counts[8]");
    FOUND(check_histogram(got, want, N, WEFT_OFS_32, 1, why, sizeof why), got, 9, "pointers[9]");
    got[N]++;
    tap_ok(check_histogram(got, want, N, WEFT_OFS_32, 0, why, sizeof why), "counts end before the last pointer");
    FOUND(check_expand(got, want, N, why, sizeof why), got, 4, "rows[4]");
    tap_ok(check_expand(NULL, NULL, 0, why, sizeof why), "nothing is equal to nothing");
}

int main(void)
{
    test_transpose();
    test_primitives();
    return tap_done();
}
