// SPDX-License-Identifier: Apache-2.0
// Positions beyond 32 bits, and just below their end, on small inputs. A kernel is compiled with its arrays moved: an array
// of which only the elements from some place on are there is given as these alone, and its pointer goes back by as many
// elements where the kernel begins. So kernels see the positions of a huge matrix.
#include "host/internal/tests.h"
#include "tests/support/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- kernels with moved arrays ---------------------------------------------------------------------------------

static cl_program(CL_API_CALL *create_before)(cl_context, cl_uint, const char **, const size_t *, cl_int *);
static const char *moved_entry;

// Put FAR_MOVES, which the defines have, behind the brace that opens the kernel.
static cl_program CL_API_CALL create_moved(cl_context cl, cl_uint count, const char **texts, const size_t *lengths,
                                           cl_int *error)
{
    char head[100];
    snprintf(head, sizeof head, "WEFT_KERNEL void %s(", moved_entry);
    const char *entry = count == 1 && !lengths ? strstr(texts[0], head) : NULL;
    const char *brace = entry ? strstr(entry, "\n{\n") : NULL;
    if (!brace)
        tap_bail("%s is not in its text", moved_entry);
    const size_t before = (size_t)(brace - texts[0]) + 3, size = strlen(texts[0]) + 20;
    char *text = test_alloc(size);
    snprintf(text, size, "%.*sFAR_MOVES\n%s", (int)before, texts[0], texts[0] + before);
    const char *moved = text;
    cl_program program = create_before(cl, 1, &moved, NULL, error);
    free(text);
    return program;
}

static cl_int(CL_API_CALL *build_before)(cl_program, cl_uint, const cl_device_id *, const char *,
                                         void(CL_CALLBACK *)(cl_program, void *), void *);

// Not optimised: an int that leaves its range does so, where an optimiser may give it a register of 64 bits.
static cl_int CL_API_CALL build_plain(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                                      void(CL_CALLBACK *notify)(cl_program, void *), void *arg)
{
    char text[512];
    snprintf(text, sizeof text, "%s -cl-opt-disable", options ? options : "");
    return build_before(program, n, devices, text, notify, arg);
}

// The kernel of `spec` whose pointers move as `moves` says, statements of OpenCL C.
static struct weft__kernel *kernel_moved(struct test_device *dev, const struct weft__kernel_spec *spec,
                                         struct weft__defines *d, const char *moves)
{
    struct weft__kernel *kernel = NULL;
    weft__define(d, "FAR_MOVES", "%s", moves);
    create_before = weft__cl.clCreateProgramWithSource;
    weft__cl.clCreateProgramWithSource = create_moved;
    build_before = weft__cl.clBuildProgram;
    weft__cl.clBuildProgram = build_plain;
    moved_entry = spec->entry;
    if (weft__kernel_create(&kernel, dev->ctx, spec, d))
        tap_bail("%s: %s: %s", dev->name, spec->entry, test_error(dev));
    weft__cl.clCreateProgramWithSource = create_before;
    weft__cl.clBuildProgram = build_before;
    return kernel;
}

static int launch(struct test_device *dev, struct weft__kernel *kernel, size_t groups, size_t wg,
                  const struct weft__arg *args, size_t nargs)
{
    struct weft__stream stream;
    weft_status status = weft__stream_begin(&stream, dev->ctx, dev->queue, 0, NULL, NULL);
    if (!status)
        status = weft__launch(&stream, kernel, groups, wg, args, nargs);
    return !status && clFinish(dev->queue) == CL_SUCCESS;
}
#define LAUNCH(dev, kernel, groups, wg, ...) launch(dev, kernel, groups, wg, WEFT__ARGS(__VA_ARGS__))

// ---- the end of a huge matrix ----------------------------------------------------------------------------------

#define ROWS    9
#define COLUMNS 97
static const int row_lengths[ROWS] = {5, 0, 70, 130, 3, 1100, 33, 64, 7};

// The last rows of a matrix, `first` entries behind its begin. Values and x are small integers: sums are exact.
struct tail {
    enum weft_ofs ofs;
    int64_t first, base, nnz; // entries before the rows; where arrays begin, a multiple of 32; entries in all
    struct test_buffer row_ptr, col, val, x, y;
    int32_t *host_col;
    float *host_val, host_x[COLUMNS];
};

static int32_t length_of_tail(void)
{
    int32_t sum = 0;
    for (int i = 0; i < ROWS; i++)
        sum += row_lengths[i];
    return sum;
}

static struct tail tail_make(struct test_device *dev, enum weft_ofs ofs, int64_t nnz)
{
    const int64_t many = length_of_tail(), first = nnz - many, base = first / 32 * 32;
    struct tail t = {.ofs = ofs, .first = first, .base = base, .nnz = nnz};
    const size_t there = (size_t)(nnz - base);
    int64_t ptr64[ROWS + 1] = {first};
    int32_t ptr32[ROWS + 1] = {(int32_t)first};
    t.host_col = test_alloc(there * 4);
    t.host_val = test_alloc(there * 4);
    for (int i = 0; i < ROWS; i++) {
        ptr64[i + 1] = ptr64[i] + row_lengths[i];
        ptr32[i + 1] = (int32_t)ptr64[i + 1];
    }
    for (size_t p = 0; p < there; p++) {
        t.host_col[p] = (int32_t)(p * 31 % COLUMNS);
        t.host_val[p] = (float)(int)(p * 7 % 15 - 7);
    }
    for (int j = 0; j < COLUMNS; j++)
        t.host_x[j] = (float)(j % 11 - 5);
    t.row_ptr =
        ofs == WEFT_OFS_64 ? test_buffer_make(dev, ptr64, sizeof ptr64) : test_buffer_make(dev, ptr32, sizeof ptr32);
    t.col = test_buffer_make(dev, t.host_col, there * 4);
    t.val = test_buffer_make(dev, t.host_val, there * 4);
    t.x = test_buffer_make(dev, t.host_x, sizeof t.host_x);
    t.y = test_buffer_make(dev, NULL, ROWS * 4);
    return t;
}

static void tail_free(struct tail *t)
{
    test_buffer_free(&t->row_ptr);
    test_buffer_free(&t->col);
    test_buffer_free(&t->val);
    test_buffer_free(&t->x);
    test_buffer_free(&t->y);
    free(t->host_col);
    free(t->host_val);
}

// Is y what the rows give?
static int tail_right(struct test_device *dev, struct tail *t)
{
    float got[ROWS];
    int right = 1;
    test_buffer_read(dev, &t->y, got, sizeof got);
    for (int64_t i = 0, p = t->first - t->base; i < ROWS; i++) {
        float want = 0;
        for (int k = 0; k < row_lengths[i]; k++, p++)
            want += t->host_val[p] * t->host_x[t->host_col[p]];
        right = right && got[i] == want;
    }
    right = right && test_buffer_intact(dev, &t->y);
    test_buffer_poison(dev, &t->y);
    return right;
}

// What the host defines for a product by the whole matrix, and moves of its entries.
static struct weft__defines product_defines(const struct test_device *dev, const struct tail *t, int64_t m)
{
    struct weft_spmv_plan plan = {.ctx = dev->ctx, .type = WEFT_TYPE_F32, .acc = WEFT_TYPE_F32};
    struct weft__defines d = {0};
    plan.a.m = m;
    plan.a.n = COLUMNS;
    plan.a.nnz = t->nnz;
    plan.a.type = WEFT_TYPE_F32;
    plan.a.ofs = t->ofs;
    plan.info.params.gpu.read = 1;
    weft__define(&plan.semiring, "WEFT_SEMIRING", "%d", 0);
    weft__spmv_define(&plan, &d);
    return d;
}

static const char *moves_of(const struct tail *t)
{
    static char text[100];
    snprintf(text, sizeof text, "col -= %lldl; val -= %lldl;", (long long)t->base, (long long)t->base);
    return text;
}

static const cl_float one = 1, zero = 0;

static void test_lanes(struct test_device *dev, struct tail *t, int lanes, int step, int ipt)
{
    struct weft__defines d = product_defines(dev, t, ROWS);
    const cl_int m = ROWS;
    const cl_uint backward = 0;
    const cl_long whole = t->nnz & ~INT64_C(3);
    weft__define(&d, "WEFT_WG", "64");
    weft__define(&d, "WEFT_BLOCKS", "%d", (ROWS * lanes + 127) / 128); // of two groups of 64
    weft__define(&d, "WEFT_LPR", "%d", lanes);
    weft__define(&d, "WEFT_STEP", "%d", step);
    weft__define(&d, "WEFT_IPT", "%d", ipt);
    struct weft__kernel *kernel = kernel_moved(dev, &weft__spmv_lanes_spec, &d, moves_of(t));
    int ok = LAUNCH(dev, kernel, 2, 64, WEFT__ARG(row_ptr, t->row_ptr.mem), WEFT__ARG(col, t->col.mem),
                    WEFT__ARG(val, t->val.mem), WEFT__ARG(x, t->x.mem), WEFT__ARG(y, t->y.mem), WEFT__ARG(m),
                    WEFT__ARG(whole), WEFT__ARG(alpha, one), WEFT__ARG(beta, zero), WEFT__ARG(backward));
    tap_ok(ok && tail_right(dev, t), "%s: csr_lanes %d, %d reads of %d: the last of %lld entries", dev->name, lanes,
           ipt, step, (long long)t->nnz);
    weft__kernel_release(&kernel);
}

static void test_scalar(struct test_device *dev, struct tail *t)
{
    struct weft__defines d = product_defines(dev, t, ROWS);
    const cl_int m = ROWS, chunk = 2;
    const cl_uint backward = 0;
    const size_t wg = dev->gpu ? 32 : 1;
    weft__define(&d, "WEFT_WG", "%zu", wg);
    weft__define(&d, "WEFT_IPT", "%d", dev->gpu ? 2 : 1);
    struct weft__kernel *kernel = kernel_moved(dev, &weft__spmv_scalar_spec, &d, moves_of(t));
    int ok = LAUNCH(dev, kernel, 2, wg, WEFT__ARG(row_ptr, t->row_ptr.mem), WEFT__ARG(col, t->col.mem),
                    WEFT__ARG(val, t->val.mem), WEFT__ARG(x, t->x.mem), WEFT__ARG(y, t->y.mem), WEFT__ARG(m),
                    WEFT__ARG(chunk), WEFT__ARG(alpha, one), WEFT__ARG(beta, zero), WEFT__ARG(backward));
    tap_ok(ok && tail_right(dev, t), "%s: csr_scalar: the last of %lld entries", dev->name, (long long)t->nnz);
    weft__kernel_release(&kernel);
}

// y = A^T*x
static void test_scatter(struct test_device *dev, struct tail *t)
{
    struct weft__defines d = product_defines(dev, t, ROWS);
    const cl_int m = ROWS;
    const size_t wg = dev->gpu ? 64 : 1;
    float got[COLUMNS] = {0}, want[COLUMNS] = {0};
    struct test_buffer y = test_buffer_make(dev, got, sizeof got);
    weft__define(&d, "WEFT_ATOMIC", "1");
    weft__define(&d, "WEFT_WG", "%zu", wg);
    weft__define(&d, "WEFT_LPR", "%d", dev->gpu ? 8 : 1);
    struct weft__kernel *kernel = kernel_moved(dev, &weft__spmv_scatter_spec, &d, moves_of(t));
    int ok = LAUNCH(dev, kernel, 1, wg, WEFT__ARG(row_ptr, t->row_ptr.mem), WEFT__ARG(col, t->col.mem),
                    WEFT__ARG(val, t->val.mem), WEFT__ARG(x, t->x.mem), WEFT__ARG(y, y.mem), WEFT__ARG(m),
                    WEFT__ARG(alpha, one));
    for (int64_t i = 0, p = t->first - t->base; i < ROWS; i++)
        for (int k = 0; k < row_lengths[i]; k++, p++)
            want[t->host_col[p]] += t->host_val[p] * t->host_x[i];
    test_buffer_read(dev, &y, got, sizeof got);
    tap_ok(ok && !memcmp(got, want, sizeof got) && test_buffer_intact(dev, &y),
           "%s: A^T*x by atomics: the last of %lld entries", dev->name, (long long)t->nnz);
    weft__kernel_release(&kernel);
    test_buffer_free(&y);
}

// One tile of all rows, for the kernels that take what rows_tiles cut.
struct one_tile {
    struct test_buffer row, pos, part, head;
};
static struct one_tile tile_make(struct test_device *dev, const struct tail *t)
{
    const cl_int row[2] = {0, ROWS}, pos32[2] = {(cl_int)t->first, (cl_int)t->nnz};
    const cl_long pos64[2] = {t->first, t->nnz};
    struct one_tile tile = {.row = test_buffer_make(dev, row, sizeof row),
                            .part = test_buffer_make(dev, NULL, 8),
                            .head = test_buffer_make(dev, NULL, 8)};
    tile.pos =
        t->ofs == WEFT_OFS_64 ? test_buffer_make(dev, pos64, sizeof pos64) : test_buffer_make(dev, pos32, sizeof pos32);
    return tile;
}
static void tile_free(struct one_tile *tile)
{
    test_buffer_free(&tile->row);
    test_buffer_free(&tile->pos);
    test_buffer_free(&tile->part);
    test_buffer_free(&tile->head);
}

// The rows of the entries; those before the first row are of another one.
static struct test_buffer rows_make(struct test_device *dev, const struct tail *t)
{
    const size_t bytes = (size_t)(t->nnz - t->base) * sizeof(int32_t);
    int32_t *row = test_alloc(bytes);
    int64_t p = 0;
    for (; p < t->first - t->base; p++)
        row[p] = -1;
    for (int32_t i = 0; i < ROWS; i++)
        for (int k = 0; k < row_lengths[i]; k++)
            row[p++] = i;
    struct test_buffer out = test_buffer_make(dev, row, bytes);
    free(row);
    return out;
}

// sums 0: by entries.
static void test_csr_cpu(struct test_device *dev, struct tail *t, int sums)
{
    struct weft__defines d = product_defines(dev, t, ROWS);
    struct one_tile tile = tile_make(dev, t);
    struct test_buffer row_of = rows_make(dev, t);
    const cl_uint tiles = 1;
    char moves[160];
    snprintf(moves, sizeof moves, "%s %s", moves_of(t), sums ? "" : "row_of -= FAR_BASE;");
    weft__define(&d, "FAR_BASE", "%lldl", (long long)t->base);
    weft__define(&d, "WEFT_WG", "1");
    weft__define(&d, "WEFT_LPR", "%d", sums ? sums : 8);
    struct weft__kernel *kernel = kernel_moved(dev, sums ? &weft__spmv_cpu_spec : &weft__spmv_gaps_cpu_spec, &d, moves);
    int ok = !WEFT__BIND(dev->ctx, kernel, WEFT__ARG(row_ptr, t->row_ptr.mem), WEFT__ARG(row_of, row_of.mem)) &&
             LAUNCH(dev, kernel, 1, 1, WEFT__ARG(col, t->col.mem), WEFT__ARG(val, t->val.mem), WEFT__ARG(x, t->x.mem),
                    WEFT__ARG(y, t->y.mem), WEFT__ARG(tile_row, tile.row.mem), WEFT__ARG(tile_pos, tile.pos.mem),
                    WEFT__ARG(part, tile.part.mem), WEFT__ARG(head, tile.head.mem), WEFT__ARG(tiles),
                    WEFT__ARG(alpha, one), WEFT__ARG(beta, zero));
    tap_ok(ok && tail_right(dev, t), "%s: csr of a CPU, %d sums: the last of %lld entries", dev->name, sums,
           (long long)t->nnz);
    weft__kernel_release(&kernel);
    test_buffer_free(&row_of);
    tile_free(&tile);
}

static void test_fixed(struct test_device *dev, struct tail *t)
{
    const struct weft__kernel_spec *spec = dev->gpu ? &weft__spmv_fixed_spec : &weft__spmv_fixed_cpu_spec;
    struct weft__defines d = product_defines(dev, t, ROWS);
    struct one_tile tile = tile_make(dev, t);
    const cl_uint tiles = 1;
    const size_t wg = dev->gpu ? 128 : 1;
    char moves[160];
    snprintf(moves, sizeof moves, "%s chunk -= %lldl;", moves_of(t), 2 * (long long)(t->first / 1024));
    struct test_buffer chunk = test_buffer_make(dev, NULL, 16 * sizeof(cl_float));
    weft__define(&d, "WEFT_WG", "%zu", wg);
    if (dev->gpu) {
        weft__define(&d, "WEFT_IPT", "16");
        weft__define(&d, "WEFT_TILED", "1");
    }
    struct weft__kernel *kernel = kernel_moved(dev, spec, &d, moves);
    int ok = LAUNCH(dev, kernel, 1, wg, WEFT__ARG(row_ptr, t->row_ptr.mem), WEFT__ARG(col, t->col.mem),
                    WEFT__ARG(val, t->val.mem), WEFT__ARG(x, t->x.mem), WEFT__ARG(y, t->y.mem),
                    WEFT__ARG(tile_row, tile.row.mem), WEFT__ARG(tile_pos, tile.pos.mem), WEFT__ARG(chunk, chunk.mem),
                    WEFT__ARG(tiles), WEFT__ARG(alpha, one), WEFT__ARG(beta, zero));
    tap_ok(ok && tail_right(dev, t) && test_buffer_intact(dev, &chunk), "%s: csr_fixed: the last of %lld entries",
           dev->name, (long long)t->nnz);
    weft__kernel_release(&kernel);
    test_buffer_free(&chunk);
    tile_free(&tile);
}

// Slices of 8 rows: the last has one row, padding behind the last entry, and seven places without a row.
static void test_ell_fill(struct test_device *dev, struct tail *t)
{
    enum { HEIGHT = 8, WIDTH0 = 1100, WIDTH1 = 40, PLACES = 16, ELEMENTS = HEIGHT * (WIDTH0 + WIDTH1) };
    const cl_long slice_ptr[] = {0, HEIGHT * WIDTH0, ELEMENTS};
    const cl_int m = ROWS;
    const cl_uint height = HEIGHT, chunk = dev->gpu ? 1 : HEIGHT;
    const cl_ulong places = PLACES;
    const size_t wg = dev->gpu ? 64 : 1;
    struct weft__defines d = {0};
    struct test_buffer ptr = test_buffer_make(dev, slice_ptr, sizeof slice_ptr);
    struct test_buffer col = test_buffer_make(dev, NULL, ELEMENTS * 4), val = test_buffer_make(dev, NULL, ELEMENTS * 4);
    int32_t *got = test_alloc(ELEMENTS * 4);
    weft__define_types(&d, WEFT_TYPE_F32, t->ofs);
    weft__define(&d, "WEFT_WG", "%zu", wg);
    weft__define(&d, "WEFT_SORTED", "0");
    struct weft__kernel *kernel =
        kernel_moved(dev, dev->gpu ? &weft__ell_fill_spec : &weft__ell_fill_cpu_spec, &d, moves_of(t));
    int ok = LAUNCH(dev, kernel, dev->gpu ? 1 : 16, wg, WEFT__ARG(row_ptr, t->row_ptr.mem), WEFT__ARG(col, t->col.mem),
                    WEFT__ARG(val, t->val.mem), WEFT__ARG(perm, ptr.mem), WEFT__ARG(slice_ptr, ptr.mem),
                    WEFT__ARG(ell_col, col.mem), WEFT__ARG(ell_val, val.mem), WEFT__ARG(m), WEFT__ARG(height),
                    WEFT__ARG(places), WEFT__ARG(chunk));
    test_buffer_read(dev, &col, got, ELEMENTS * 4);
    for (int64_t i = 0, p = t->first - t->base; i < PLACES; i++) {
        const int length = i < ROWS ? row_lengths[i] : 0, width = i < HEIGHT ? WIDTH0 : WIDTH1;
        for (int k = 0; k < width; k++)
            ok = ok && got[slice_ptr[i / HEIGHT] + (int64_t)k * HEIGHT + i % HEIGHT] ==
                           (k < length ? t->host_col[p + k] : -1);
        p += length;
    }
    tap_ok(ok && test_buffer_intact(dev, &col) && test_buffer_intact(dev, &val),
           "%s: conversion to sliced ELL: the last of %lld entries", dev->name, (long long)t->nnz);
    weft__kernel_release(&kernel);
    test_buffer_free(&ptr);
    test_buffer_free(&col);
    test_buffer_free(&val);
    free(got);
}

// Tiles that share a row meet at words that they find by steps, rows plus entries: here from 15 tiles of 2^28 on, which with
// one tile more are 2^32. Rows and tiles before are empty.
static void test_merge(struct test_device *dev)
{
    enum { PLACED = 3, MANY = 48, EARLIER = 26 };
    static const int32_t lengths[PLACED] = {5, 40, 3};
    const int64_t first = (INT32_MAX - MANY) / 4 * INT64_C(4), tiles = 16;
    const int64_t rows = (INT64_C(15) << 28) - first - EARLIER; // before those that are there
    cl_int tile_row[17], tile_pos[17], row_ptr[PLACED + 1] = {(cl_int)first};
    float val[MANY], x[COLUMNS], got[PLACED];
    int32_t col[MANY];
    struct tail like = {.ofs = WEFT_OFS_32, .nnz = INT32_MAX};
    char moves[200];
    for (int i = 0; i < PLACED; i++)
        row_ptr[i + 1] = row_ptr[i] + lengths[i];
    for (int t = 0; t < 15; t++) {
        tile_row[t] = (cl_int)rows;
        tile_pos[t] = (cl_int)first;
    }
    tile_row[15] = (cl_int)rows + 1; // row 1 begins 20 entries before the end of the tile
    tile_pos[15] = (cl_int)first + 25;
    tile_row[16] = (cl_int)rows + PLACED;
    tile_pos[16] = row_ptr[PLACED];
    for (int p = 0; p < MANY; p++) {
        col[p] = p;
        val[p] = (float)(p % 9 - 4);
    }
    for (int j = 0; j < COLUMNS; j++)
        x[j] = (float)(j % 11 - 5);
    struct test_buffer b[] = {test_buffer_make(dev, row_ptr, sizeof row_ptr),
                              test_buffer_make(dev, col, sizeof col),
                              test_buffer_make(dev, val, sizeof val),
                              test_buffer_make(dev, x, sizeof x),
                              test_buffer_make(dev, NULL, sizeof got),
                              test_buffer_make(dev, tile_row, sizeof tile_row),
                              test_buffer_make(dev, tile_pos, sizeof tile_pos),
                              test_buffer_make(dev, NULL, 64),
                              test_buffer_make(dev, NULL, 64),
                              test_buffer_make(dev, (char[16 * 8]){0}, 16 * 8)};
    snprintf(moves, sizeof moves, "col -= %lldl; val -= %lldl; row_ptr -= %lldl; y -= %lldl;", (long long)first,
             (long long)first, (long long)rows, (long long)rows);
    test_fence(dev, 1);
    struct weft__defines d = product_defines(dev, &like, INT32_MAX);
    weft__define(&d, "WEFT_WG", "64");
    weft__define(&d, "WEFT_IPT", "4");
    weft__define(&d, "WEFT_CUT", "1");
    weft__define(&d, "WEFT_ITEMS", "%uu", 1u << 28);
    weft__define(&d, "WEFT_SNAP", "1u");
    struct weft__kernel *kernel = kernel_moved(dev, &weft__spmv_merge_spec, &d, moves);
    const cl_uint count = (cl_uint)tiles;
    const cl_long whole = (first + MANY) & ~INT64_C(3);
    int ok = LAUNCH(dev, kernel, 16, 64, WEFT__ARG(row_ptr, b[0].mem), WEFT__ARG(col, b[1].mem),
                    WEFT__ARG(val, b[2].mem), WEFT__ARG(x, b[3].mem), WEFT__ARG(y, b[4].mem),
                    WEFT__ARG(tile_row, b[5].mem), WEFT__ARG(tile_pos, b[6].mem), WEFT__ARG(part, b[7].mem),
                    WEFT__ARG(head, b[8].mem), WEFT__ARG(arrived, b[9].mem), WEFT__ARG(tiles, count), WEFT__ARG(whole),
                    WEFT__ARG(alpha, one), WEFT__ARG(beta, zero));
    test_buffer_read(dev, &b[4], got, sizeof got);
    for (int i = 0, p = 0; i < PLACED; i++) {
        float want = 0;
        for (int k = 0; k < lengths[i]; k++, p++)
            want += val[p] * x[col[p]];
        ok = ok && got[i] == want;
    }
    for (size_t i = 0; i < sizeof b / sizeof *b; i++) {
        ok = ok && test_buffer_intact(dev, &b[i]);
        test_buffer_free(&b[i]);
    }
    tap_ok(ok, "%s: csr_merge: a row that tiles share, near 2^32 rows plus entries", dev->name);
    weft__kernel_release(&kernel);
    test_fence(dev, 0);
}

// ---- fills, launches -------------------------------------------------------------------------------------------

static void launch_count(void *arg, const char *kernel, size_t items, size_t wg, cl_event event)
{
    (void)kernel;
    (void)items;
    (void)wg;
    (void)event;
    ++*(int *)arg;
}

static void test_fill(struct test_device *dev)
{
    enum { WORDS = 1010, FIRST = 3, COUNT = 1003, PIECE = 100 };
    static const struct {
        uint64_t most, count;
        int launches;
    } cases[] = {
        {PIECE, COUNT, 11}, {PIECE, 2 * PIECE, 2}, {PIECE, PIECE, 1}, {PIECE, 0, 0}, {0, COUNT, WEFT__HOSTILE(1, 2)}};
    const uint64_t before = dev->ctx->fill_words;
    struct weft__kernel *fill = NULL;
    uint32_t got[WORDS];
    if (weft__fill_create(&fill, dev->ctx))
        tap_bail("%s: %s", dev->name, test_error(dev));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int k = 0; k < WORDS; k++)
            got[k] = TEST_POISON;
        struct test_buffer b = test_buffer_make(dev, got, sizeof got);
        struct weft__stream stream;
        int launches = 0;
        dev->ctx->fill_words = cases[i].most;
        weft_context_on_launch(dev->ctx, launch_count, &launches);
        weft_status status = weft__stream_begin(&stream, dev->ctx, dev->queue, 0, NULL, NULL);
        if (!status)
            status = weft__fill(&stream, fill, b.mem, FIRST, cases[i].count, 42);
        weft_context_on_launch(dev->ctx, NULL, NULL);
        test_buffer_read(dev, &b, got, sizeof got);
        int ok = !status && launches == cases[i].launches && test_buffer_intact(dev, &b);
        for (uint64_t k = 0; k < WORDS; k++)
            ok = ok && got[k] == (k >= FIRST && k < FIRST + cases[i].count ? 42 : TEST_POISON);
        tap_ok(ok, "%s: %d words in fills of %d: %d launches", dev->name, (int)cases[i].count, (int)cases[i].most,
               launches);
        test_buffer_free(&b);
    }
    dev->ctx->fill_words = before;
    weft__kernel_release(&fill);
}

// No launch has 2^31 work-items or more, which an int does not count.
static void test_groups(void)
{
    int ok = 1;
    for (size_t wg = 1; wg <= 1024; wg++) {
        ok = ok && weft__groups(SIZE_MAX, wg) * wg <= INT32_MAX;
        // and hardly less, but in the hostile build
        ok = ok && WEFT__HOSTILE(weft__groups(7, wg) == 7 && weft__groups(SIZE_MAX, wg) >= INT32_MAX / wg, 1);
    }
    tap_ok(ok, "work-groups: less than 2^31 work-items");
}

// A row for each work-item without a loop: no more rows than there are work-items.
static void test_pair(struct test_device *dev)
{
    struct weft__stream stream = {.ctx = dev->ctx, .queue = dev->queue};
    struct weft_device_csr a = {.m = INT32_MAX, .n = 1, .type = WEFT_TYPE_F32, .ofs = WEFT_OFS_32};
    tap_ok(weft__csr_pair_run(&stream, NULL, 0, &a, NULL, NULL) == WEFT_ERANGE && strstr(test_error(dev), "2^31"),
           "%s: csr_naive of 2^31-1 rows: %s", dev->name, test_error(dev));
}

static void test_device(struct test_device *dev)
{
    const struct {
        enum weft_ofs ofs;
        int64_t nnz;
    } ends[] = {{WEFT_OFS_32, INT32_MAX},
                {WEFT_OFS_32, INT32_MAX - 7},
                {WEFT_OFS_64, (INT64_C(1) << 31) + 701},
                {WEFT_OFS_64, (INT64_C(1) << 32) + 703}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (test_sample() && i % 2)
            continue;
        struct tail t = tail_make(dev, ends[i].ofs, ends[i].nnz);
        if (dev->gpu) {
            test_lanes(dev, &t, 2, 4, 3);
            test_lanes(dev, &t, 32, 4, 4);
            test_lanes(dev, &t, 32, 1, 8);
        } else {
            test_csr_cpu(dev, &t, 8);
            test_csr_cpu(dev, &t, 1);
            test_csr_cpu(dev, &t, 0);
        }
        test_scalar(dev, &t);
        test_scatter(dev, &t);
        test_fixed(dev, &t);
        test_ell_fill(dev, &t);
        tail_free(&t);
    }
    if (dev->gpu)
        test_merge(dev);
    test_fill(dev);
    test_pair(dev);
}

int main(void)
{
    test_groups();
    test_device_each(test_device);
    return tap_done();
}
