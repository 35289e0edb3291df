// SPDX-License-Identifier: Apache-2.0
// Fuzz target: compressed files and archives. The first byte says what the rest is: a file as it stands, or what a right
// frame is put around, which random bytes would hardly get through. 0: the file; 1: text, to be gzip; 2: a member of a
// tar archive, its name first; 3: the same as .tar.gz; 4: what stands behind a right gzip member.
#include "fuzz.h"
#include "host/internal/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/mtx.h>
#include <zlib.h>

enum { TAR_BLOCK = 512 };

struct text {
    uint8_t *data;
    size_t bytes;
};

static struct text room(size_t bytes)
{
    struct text t = {calloc(1, bytes), bytes};
    if (!t.data)
        abort();
    return t;
}

static struct text gzip(const uint8_t *data, size_t bytes)
{
    z_stream zip = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)bytes};
    struct text out = room(bytes + bytes / 100 + 100);
    zip.next_out = out.data;
    zip.avail_out = (uInt)out.bytes;
    if (deflateInit2(&zip, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) || deflate(&zip, Z_FINISH) != Z_STREAM_END)
        abort();
    out.bytes = zip.total_out;
    deflateEnd(&zip);
    return out;
}

// One member; its name are the bytes up to the first 0 or line end.
static struct text tar(const uint8_t *data, size_t bytes)
{
    size_t name = 0;
    while (name < bytes && name < 99 && data[name] && data[name] != '\n')
        name++;
    const size_t skip = name < bytes ? name + 1 : name, size = bytes - skip;
    struct text out = room(TAR_BLOCK * (4 + size / TAR_BLOCK));
    char *h = (char *)out.data, sum[8];
    memcpy(h, data, name);
    memcpy(h + 100, "0000644", 8);
    memcpy(h + 108, "0000000", 8);
    memcpy(h + 116, "0000000", 8);
    snprintf(h + 124, 12, "%011zo", size);
    memcpy(h + 136, "00000000000", 12);
    memset(h + 148, ' ', 8);
    h[156] = '0';
    memcpy(h + 257, "ustar", 6);
    memcpy(h + 263, "00", 2);
    unsigned total = 0;
    for (int i = 0; i < TAR_BLOCK; i++)
        total += out.data[i];
    snprintf(sum, sizeof sum, "%06o", total);
    memcpy(h + 148, sum, 7);
    memcpy(out.data + TAR_BLOCK, data + skip, size);
    return out;
}

// Read it; a matrix must be valid, a failure leaves its message alone.
static void read_file(const void *data, size_t bytes)
{
    struct weft_csr a;
    struct weft_mtx_info info;
    struct weft_error err = {0};
    const struct weft_mtx_params params = {.threads = 1, .limit_bytes = 1 << 20};
    if (!weft_mtx_read(&a, &info, fuzz_file(0, data, bytes), &params, &err)) {
        if (weft_csr_validate(&a, NULL) || a.m != info.m || a.n != info.n)
            abort();
        weft_csr_free(&a);
        return;
    }
    fuzz_line(err.text);
    if (a.row_ptr || a.col || a.val)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (!bytes || bytes > 1 << 16)
        return 0;
    const uint8_t *rest = data + 1;
    const size_t size = bytes - 1;
    struct text one = {0}, two = {0};
    switch (data[0] % 5) {
    case 0:
        read_file(rest, size);
        break;
    case 1:
        one = gzip(rest, size);
        read_file(one.data, one.bytes);
        break;
    case 2:
        one = tar(rest, size);
        read_file(one.data, one.bytes);
        break;
    case 3:
        one = tar(rest, size);
        two = gzip(one.data, one.bytes);
        read_file(two.data, two.bytes);
        break;
    default:
        one = gzip((const uint8_t *)"%%MatrixMarket matrix coordinate real general\n1 1 1\n", 52);
        two = room(one.bytes + size + 1);
        memcpy(two.data, one.data, one.bytes);
        memcpy(two.data + one.bytes, rest, size);
        read_file(two.data, one.bytes + size);
    }
    free(one.data);
    free(two.data);
    return 0;
}
