// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the Matrix Market reader. The first byte chooses parameters, the rest is text.
#include "fuzz.h"
#include "host/internal/inside.h"

#include <stdlib.h>
#include <string.h>

// Whether the size line announces so many rows that filling row_ptr would take all the time. The first number of the
// first line that is no comment, to be exact.
static int many_rows(const uint8_t *text, size_t bytes)
{
    const uint8_t *end = text + bytes, *p = memchr(text, '\n', bytes);
    while (p && ++p < end) {
        while (p < end && (*p == ' ' || *p == '\t'))
            p++;
        uint64_t rows = 0;
        int digits = 0;
        for (; p < end && *p >= '0' && *p <= '9' && digits < 18; p++, digits++)
            rows = rows * 10 + (uint64_t)(*p - '0');
        if (digits)
            return rows > 100000 && rows <= INT32_MAX;
        p = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    }
    return 0;
}

// A matrix that is read must be valid, a failure must leave nothing but its message, and neither may depend on how
// the text is cut into blocks.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (!bytes || many_rows(data + 1, bytes - 1))
        return 0;
    struct weft_csr a, b;
    struct weft_error err_a = {0}, err_b = {0};
    struct weft_mtx_info info;
    struct weft_mtx_params params = {.type = (enum weft_type)(data[0] & 3),
                                     .ofs = (enum weft_ofs)(data[0] >> 2 & 1),
                                     .complex = (enum weft_mtx_complex)((data[0] >> 3 & 3) % 3),
                                     .keep_symmetric = data[0] >> 5 & 1,
                                     .threads = 1};
    weft_status status = weft_mtx_parse(&a, &info, "fuzz", data + 1, bytes - 1, &params, &err_a);
    if (!status && (weft_csr_validate(&a, NULL) || a.m != info.m || a.n != info.n || a.nnz < info.stored))
        abort();
    if (status && (!err_a.text[0] || strchr(err_a.text, '\n') || a.row_ptr || a.col || a.val))
        abort();
    // Once more in small blocks; a line that does not fit one is refused there and only there.
    struct weft__mtx_stream *stream;
    memset(&b, 0, sizeof b);
    if (weft__mtx_open_memory(&stream, data + 1, bytes - 1))
        abort();
    weft_status again =
        weft__mtx_read_stream(&b, NULL, "fuzz", stream, 64 + 50u * (data[0] >> 6), &params, NULL, &err_b);
    if (!strstr(err_b.text, "the line is longer than") &&
        (again != status || strcmp(err_a.text, err_b.text) != 0 || (!status && !weft_csr_equal(&a, &b))))
        abort();
    weft_csr_free(&a);
    weft_csr_free(&b);
    return 0;
}
