// SPDX-License-Identifier: Apache-2.0
// Matrices in host memory: made, freed, checked, compared, hashed.
#include "host/src/core/check.h"
#include "host/src/core/error.h"
#include "host/src/core/huge.h"
#include "host/src/core/names.h"

#include <stdlib.h>
#include <string.h>
#include <weft/matrix.h>

size_t weft_type_bytes(enum weft_type type)
{
    switch (type) {
    case WEFT_TYPE_F32:
    case WEFT_TYPE_I32:
        return 4;
    case WEFT_TYPE_F64:
        return 8;
    case WEFT_TYPE_PATTERN:
        return 0;
    }
    return 0;
}

size_t weft_ofs_bytes(enum weft_ofs ofs)
{
    return ofs == WEFT_OFS_64 ? 8 : ofs == WEFT_OFS_32 ? 4 : 0;
}

WEFT__NAMES(type, "f32", "f64", "i32", "pattern");
WEFT__NAMES(ofs, "32", "64");

// Memory of count*bytes, at least one byte so that NULL always means failure.
static void *array_alloc(int64_t count, size_t bytes)
{
    uint64_t total; // also where size_t has 32 bits
    if (__builtin_mul_overflow((uint64_t)count, bytes, &total) || total >= PTRDIFF_MAX)
        return NULL;
    return weft__huge_alloc(total ? (size_t)total : 1);
}

weft_status weft_csr_alloc(struct weft_csr *out, struct weft_shape shape)
{
    const int64_t m = shape.m, nnz = shape.nnz;
    const enum weft_type type = shape.type;
    const enum weft_ofs ofs = shape.ofs;
    if (!out)
        return WEFT_EINVAL;
    memset(out, 0, sizeof *out);
    if (weft__sizes_check(NULL, m, shape.n, nnz) || weft__type_check(NULL, type) || weft__ofs_check(NULL, ofs))
        return WEFT_EINVAL;
    if (nnz && (!m || !shape.n))
        return WEFT_EINVAL;
    if (ofs == WEFT_OFS_32 && nnz > INT32_MAX)
        return WEFT_ERANGE;
    *out = (struct weft_csr){.m = m, .n = shape.n, .nnz = nnz, .type = type, .ofs = ofs};
    out->row_ptr = nnz ? array_alloc(m + 1, weft_ofs_bytes(ofs)) : calloc((size_t)m + 1, weft_ofs_bytes(ofs));
    out->col = array_alloc(nnz, sizeof *out->col);
    out->val = type == WEFT_TYPE_PATTERN ? NULL : array_alloc(nnz, weft_type_bytes(type));
    if (!out->row_ptr || !out->col || (type != WEFT_TYPE_PATTERN && !out->val)) {
        weft_csr_free(out);
        return WEFT_ENOMEM;
    }
    return WEFT_OK;
}

void weft_csr_free(struct weft_csr *a)
{
    if (!a)
        return;
    free(a->row_ptr);
    free(a->col);
    free(a->val);
    memset(a, 0, sizeof *a);
}

weft_status weft_coo_alloc(struct weft_coo *out, struct weft_shape shape)
{
    const int64_t nnz = shape.nnz;
    const enum weft_type type = shape.type;
    if (!out)
        return WEFT_EINVAL;
    memset(out, 0, sizeof *out);
    if (weft__sizes_check(NULL, shape.m, shape.n, nnz) || weft__type_check(NULL, type))
        return WEFT_EINVAL;
    *out = (struct weft_coo){.m = shape.m, .n = shape.n, .nnz = nnz, .type = type};
    out->row = array_alloc(nnz, sizeof *out->row);
    out->col = array_alloc(nnz, sizeof *out->col);
    out->val = type == WEFT_TYPE_PATTERN ? NULL : array_alloc(nnz, weft_type_bytes(type));
    if (!out->row || !out->col || (type != WEFT_TYPE_PATTERN && !out->val)) {
        weft_coo_free(out);
        return WEFT_ENOMEM;
    }
    return WEFT_OK;
}

void weft_coo_free(struct weft_coo *a)
{
    if (!a)
        return;
    free(a->row);
    free(a->col);
    free(a->val);
    memset(a, 0, sizeof *a);
}

static int arrays_same(const void *a, const void *b, size_t bytes)
{
    return !bytes || !memcmp(a, b, bytes);
}

bool weft_csr_equal(const struct weft_csr *a, const struct weft_csr *b)
{
    if (weft__csr_check(NULL, a) || weft__csr_check(NULL, b))
        return 0;
    if (a->m != b->m || a->n != b->n || a->nnz != b->nnz || a->type != b->type || a->ofs != b->ofs)
        return 0;
    return arrays_same(a->row_ptr, b->row_ptr, ((size_t)a->m + 1) * weft_ofs_bytes(a->ofs)) &&
           arrays_same(a->col, b->col, (size_t)a->nnz * sizeof *a->col) &&
           arrays_same(a->val, b->val, (size_t)a->nnz * weft_type_bytes(a->type));
}

// FNV-1a over 8 bytes at a time where possible would change the value: byte by byte it is.
// Words of 4 or 8 bytes, the lowest byte first on every machine.
static uint64_t hash_words(uint64_t hash, const void *data, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t low;
        uint64_t word;
        if (size == sizeof low) {
            memcpy(&low, (const char *)data + i * size, sizeof low);
            word = low;
        } else {
            memcpy(&word, (const char *)data + i * size, sizeof word);
        }
        for (size_t b = 0; b < size; b++, word >>= 8)
            hash = (hash ^ (word & 255)) * UINT64_C(0x100000001b3);
    }
    return hash;
}

uint64_t weft_csr_hash(const struct weft_csr *a)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (weft__csr_check(NULL, a))
        return 0;
    for (int64_t i = 0; i <= a->m; i++) {
        int64_t ofs = weft_csr_ofs(a, i);
        hash = hash_words(hash, &ofs, 1, sizeof ofs);
    }
    hash = hash_words(hash, a->col, (size_t)a->nnz, sizeof *a->col);
    const size_t bytes = weft_type_bytes(a->type);
    return bytes ? hash_words(hash, a->val, (size_t)a->nnz, bytes) : hash;
}
