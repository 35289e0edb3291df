// SPDX-License-Identifier: Apache-2.0
// What all random problems share: choice of the operation, tuning values, arrays, the verdict on a status.
#include "soak.h"
#include "host/internal/inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void soak_say(struct soak *s, const char *format, ...)
{
    va_list args;
    const size_t used = strlen(s->text);
    va_start(args, format);
    vsnprintf(s->text + used, sizeof s->text - used, format, args);
    va_end(args);
}

void *soak_memory(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "soak: out of host memory\n");
        exit(2);
    }
    memset(memory, 0xa5, bytes);
    return memory;
}

void soak_tune(struct soak *s, const char *op, const char *algo, void *params)
{
    const struct weft__tunables *set = weft__tunables_of(op, algo, weft_context_schedule(s->ctx));
    if (draw_once(&s->kind, 3))
        return;
    for (size_t i = 0; set && i < set->count; i++) {
        const struct weft__tunable *t = &set->list[i];
        const int pick = (int)draw_below(&s->kind, 6);
        int value = 0;
        if (pick == 5)
            value = t->sweep[draw_below(&s->kind, WEFT__TUNABLE_SWEEP)];
        else if (pick > 2 && t->step == WEFT__POWER_OF_TWO)
            value = t->low << draw_below(&s->kind, 4);
        else if (pick > 2)
            value = t->low + t->step * (int)draw_below(&s->kind, 4);
        if (value)
            soak_say(s, " %s=%d", t->name, value);
        *weft__tunable_value(t, params) = value;
    }
}

enum soak_result soak_status(struct soak *s, weft_status status, int wrong_input)
{
    struct weft_error err = {0};
    weft_context_error(&err, s->ctx);
    snprintf(s->why, sizeof s->why, "%.390s", status ? err.text : "wrong arrays were taken");
    if (!status)
        return wrong_input ? SOAK_WRONG : SOAK_RIGHT;
    if (!err.text[0] || err.status != status)
        snprintf(s->why, sizeof s->why, "status %s, and the context's error says \"%.300s\"", weft_status_name(status),
                 err.text);
    else if (status == WEFT_EINVAL || status == WEFT_ERANGE || status == WEFT_EUNSUPPORTED ||
             (wrong_input && status == WEFT_EMATRIX))
        return SOAK_REFUSED;
    return SOAK_FAILED;
}

enum soak_result soak_compared(struct soak *s, int right)
{
    if (!right && !s->why[0])
        snprintf(s->why, sizeof s->why, "it differs from the reference");
    return right ? SOAK_RIGHT : SOAK_WRONG;
}

void soak_words(struct soak *s, void *out, int64_t count, size_t bytes)
{
    const int few = draw_once(&s->shape, 3);
    for (int64_t i = 0; i < count; i++) {
        const uint64_t x = few ? draw_u64(&s->shape) % 7 - 3 : draw_u64(&s->shape);
        memcpy((char *)out + (size_t)i * bytes, &x, bytes);
    }
}

static void offset_put(void *out, enum weft_ofs ofs, int64_t i, int64_t value)
{
    if (ofs == WEFT_OFS_64)
        ((int64_t *)out)[i] = value;
    else
        ((int32_t *)out)[i] = (int32_t)value;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void soak_offsets(struct soak *s, void *out, int64_t count, int64_t n, enum weft_ofs ofs)
{
    // Cut at random places, few of them all over, or at equal distances.
    const int64_t form = draw_below(&s->shape, 4), places = 1 + draw_below(&s->shape, 9);
    int64_t *cuts = soak_memory(((size_t)count + 1) * sizeof *cuts);
    for (int64_t i = 0; i <= count; i++) {
        const int64_t any = (int64_t)(draw_u64(&s->shape) % ((uint64_t)n + 1));
        cuts[i] = form == 0 && count ? (int64_t)((double)n * (double)i / (double)count) : any;
        if (form == 1)
            cuts[i] = n * (any % (places + 1)) / places;
    }
    qsort(cuts, (size_t)count + 1, sizeof *cuts, ascending);
    cuts[0] = 0;
    cuts[count] = n;
    for (int64_t i = 0; i <= count; i++)
        offset_put(out, ofs, i, cuts[i]);
    free(cuts);
    if (s->hostile && draw_once(&s->shape, 6)) {
        const int64_t at = draw_below(&s->shape, count + 1);
        const int64_t values[] = {-1, n + 1, INT32_MAX, INT32_MIN, 0, n, at};
        offset_put(out, ofs, at, values[draw_below(&s->shape, 7)]);
        soak_say(s, ", offset %lld changed", (long long)at);
    }
}

// A column for entry q of row i, its entry k.
#define ALIKE 5 // rows that follow each other and have the same columns, if they are as long
static int32_t column(struct soak *s, int64_t form, int64_t i, int64_t q, int64_t k, const struct weft_csr *a)
{
    const int64_t any = (int64_t)(draw_u64(&s->shape) % (uint64_t)a->n);
    switch (form) {
    case 0: // a band
        return (int32_t)(((int64_t)((double)a->n * (double)i / (double)a->m) + any % 9) % a->n);
    case 1: // one after the other
        return (int32_t)(q % a->n);
    case 2: // few columns
        return (int32_t)(any % (a->n < 3 ? a->n : 3));
    case 3: // the last
        return (int32_t)(a->n - 1);
    case 4: // those of the rows around
        return (int32_t)((i / ALIKE * 7919 + k * 31) % a->n);
    default:
        return (int32_t)any;
    }
}

static int ascending_32(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

struct weft_csr soak_matrix(struct soak *s, int square)
{
    struct weft_csr a;
    const enum weft_type type = (enum weft_type)draw_below(&s->kind, 4);
    const enum weft_ofs ofs = (enum weft_ofs)draw_below(&s->kind, 2);
    const int64_t m = draw_size(&s->shape, s->most), n = square ? m : draw_size(&s->shape, s->most),
                  nnz = m && n ? draw_size(&s->shape, s->most) : 0, form = draw_below(&s->shape, 9);
    const int sorted = draw_once(&s->shape, 2);
    if (weft_csr_alloc(&a, weft_shape(m, n, nnz, type, ofs)))
        exit(2);
    soak_say(s, " %s %lldx%lld, %lld entries, %s-bit offsets, pattern %d%s", weft_type_name(type), (long long)m,
             (long long)n, (long long)nnz, weft_ofs_name(ofs), (int)form, sorted ? " sorted" : "");
    soak_offsets(s, a.row_ptr, m, nnz, ofs);
    const int wrong = weft_csr_ofs(&a, 0) != 0;
    for (int64_t i = 0, q = 0; i < m; i++) {
        const int64_t from = q, end = weft_csr_ofs(&a, i + 1);
        for (; q < nnz && (q < end || wrong || i == m - 1); q++)
            a.col[q] = column(s, form, i, q, q - from, &a);
        if (sorted)
            qsort(a.col + from, (size_t)(q - from), sizeof *a.col, ascending_32);
    }
    if (s->hostile && nnz && draw_once(&s->shape, 8)) {
        const int64_t at = draw_below(&s->shape, nnz);
        const int32_t values[] = {-1, (int32_t)n, INT32_MAX, INT32_MIN};
        a.col[at] = values[draw_below(&s->shape, 4)];
        soak_say(s, ", column of entry %lld changed", (long long)at);
    }
    for (int64_t q = 0; q < nnz; q++) {
        const double x = (double)(draw_u64(&s->shape) % 65536) / 32768 - 1;
        if (type == WEFT_TYPE_F32)
            ((float *)a.val)[q] = (float)x;
        else if (type == WEFT_TYPE_F64)
            ((double *)a.val)[q] = x;
        else if (type == WEFT_TYPE_I32)
            ((int32_t *)a.val)[q] = (int32_t)(x * 9);
    }
    return a;
}

enum soak_result soak_run(struct soak *s, const char *only, const char **op)
{
    const struct soak_op *ops[32];
    int64_t count = 0;
    for (const struct soak_op *o = soak_primitives; o->name; o++)
        ops[count++] = o;
    for (const struct soak_op *o = soak_matrices; o->name; o++)
        ops[count++] = o;
    int64_t at = draw_below(&s->kind, count);
    for (int64_t i = 0; only && i < count; i++)
        if (!strcmp(ops[i]->name, only))
            at = i;
    *op = ops[at]->name;
    s->why[0] = s->text[0] = 0;
    soak_say(s, "%s", *op);
    return ops[at]->run(s);
}
