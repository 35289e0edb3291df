// SPDX-License-Identifier: Apache-2.0
// Fuzz target: Rutherford-Boeing files, and numpy's arrays in zip archives. The first byte says what the rest is: 0 a file as it
// stands; else a right npz file of which one member is the rest, which random bytes would hardly get through.
#include "fuzz.h"
#include "host/internal/inside.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/mtx.h>
#include <zlib.h>

enum { MOST = 1 << 14, MEMBERS = 5 };

static const char *const names[MEMBERS] = {"data.npy", "indices.npy", "indptr.npy", "shape.npy", "format.npy"};
static const char *const types[MEMBERS] = {"<f8", "<i4", "<i4", "<i8", "|S3"};
static const char *const shapes[MEMBERS] = {"(2,)", "(2,)", "(3,)", "(2,)", "()"};

struct bytes {
    uint8_t data[2 * MOST];
    size_t count;
};

static void put(struct bytes *out, const void *data, size_t count)
{
    if (count)
        memcpy(out->data + out->count, data, count);
    out->count += count;
}

static void number_put(struct bytes *out, uint64_t value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out->data[out->count++] = (uint8_t)(i < 8 ? value >> 8 * i : 0);
}

// An array of numpy as a 2 x 3 matrix of 2 entries has it.
static void array_make(struct bytes *out, int member)
{
    static const double data[] = {2, 3};
    static const int32_t indices[] = {0, 2}, indptr[] = {0, 1, 2};
    static const int64_t shape[] = {2, 3};
    static const void *const contents[MEMBERS] = {data, indices, indptr, shape, "csr"};
    static const size_t sizes[MEMBERS] = {sizeof data, sizeof indices, sizeof indptr, sizeof shape, 3};
    char header[118];
    memset(header, ' ', sizeof header);
    const int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                                types[member], shapes[member]);
    header[length] = ' ';
    header[sizeof header - 1] = '\n';
    put(out, "\x93NUMPY\1\0\x76\0", 10);
    put(out, header, sizeof header);
    put(out, contents[member], sizes[member]);
}

// One stored member: what stands before its bytes, or its place in the directory at the end.
static void record_put(struct bytes *out, const char *name, const struct bytes *data, int directory, uint32_t at)
{
    put(out, directory ? "PK\1\2\24\0" : "PK\3\4", directory ? 6 : 4);
    put(out, "\24\0\0\0\0\0\0\0\41\0", 10);
    number_put(out, (uint32_t)crc32(0, data->data, (uInt)data->count), 4);
    number_put(out, (uint32_t)data->count, 4);
    number_put(out, (uint32_t)data->count, 4);
    number_put(out, (uint32_t)strlen(name), 2);
    number_put(out, 0, directory ? 12 : 2);
    if (directory)
        number_put(out, at, 4);
    put(out, name, strlen(name));
}

static void archive_make(struct bytes *out, int changed, const uint8_t *data, size_t count)
{
    struct bytes *arrays = calloc(MEMBERS, sizeof *arrays);
    uint32_t at[MEMBERS];
    if (!arrays)
        abort();
    for (int i = 0; i < MEMBERS; i++) {
        if (i == changed)
            put(&arrays[i], data, count);
        else
            array_make(&arrays[i], i);
        at[i] = (uint32_t)out->count;
        record_put(out, names[i], &arrays[i], 0, 0);
        put(out, arrays[i].data, arrays[i].count);
    }
    const uint32_t directory = (uint32_t)out->count;
    for (int i = 0; i < MEMBERS; i++)
        record_put(out, names[i], &arrays[i], 1, at[i]);
    const uint32_t length = (uint32_t)out->count - directory;
    put(out, "PK\5\6\0\0\0\0\5\0\5\0", 12);
    number_put(out, length, 4);
    number_put(out, directory, 4);
    number_put(out, 0, 2);
    free(arrays);
}

// A matrix that is read must be valid; a failure must leave nothing but its message.
static void read_file(const void *data, size_t count, unsigned how)
{
    struct weft_csr a;
    struct weft_mtx_info info;
    struct weft_error err = {0};
    const struct weft_mtx_params params = {.type = (enum weft_type)(how & 3),
                                           .complex = (enum weft_mtx_complex)((how >> 2) % 3),
                                           .threads = 1,
                                           .limit_bytes = 1 << 20};
    if (!weft_mtx_read(&a, &info, fuzz_file(0, data, count), &params, &err)) {
        if (weft_csr_validate(&a, NULL) || a.m != info.m || a.n != info.n)
            abort();
        weft_csr_free(&a);
        return;
    }
    fuzz_line(err.text);
    if (a.row_ptr || a.col || a.val)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
    if (!count || count > MOST)
        return 0;
    const int member = data[0] % (MEMBERS + 2);
    const unsigned how = data[0] / (MEMBERS + 2);
    if (!member) {
        read_file(data + 1, count - 1, how);
        return 0;
    }
    struct bytes *file = calloc(1, sizeof *file);
    if (!file)
        abort();
    archive_make(file, member - 1, data + 1, count - 1);
    if (member > MEMBERS) { // the right file: it is read
        struct weft_csr a;
        struct weft_error err = {0};
        if (weft_mtx_read(&a, NULL, fuzz_file(0, file->data, file->count), NULL, &err)) {
            if (err.status != WEFT_EUNSUPPORTED)
                abort();
        } else if (a.m != 2 || a.n != 3 || a.nnz != 2 || a.col[1] != 2) {
            abort();
        }
        weft_csr_free(&a);
    } else {
        read_file(file->data, file->count, how);
    }
    free(file);
    return 0;
}
