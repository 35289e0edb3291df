// SPDX-License-Identifier: Apache-2.0
// Kernels of a few lines for what the emulator lacks or gets wrong: below layer.c, which mends it (own.c, translate.py), each
// gives what AMD's manuals say. With WEFT_AMD_PLAIN and a folder of its own nothing is
// mended: one snippet at a time, by its number, then says what is wrong.
#include "host/internal/inside.h"
#include "tests/support/device.h"

#include <stdlib.h>
#include <string.h>

#define ITEMS 64

struct snippet {
    const char *name, *text;
    uint32_t (*want)(uint32_t i); // of work-item i
};

static uint32_t want_constant(uint32_t i)
{
    return i % 4 * 10 + 3;
}

static uint32_t want_moved(uint32_t i)
{
    return i + 5;
}

static uint32_t want_permuted(uint32_t i)
{
    return i % 2 ? i - 1 : 7;
}

static uint32_t want_swapped(uint32_t i)
{
    return i % 3 ? 100 + i : 5;
}

static uint32_t want_indexed(uint32_t i)
{
    return 2 * i + 16;
}

static uint32_t want_number(uint32_t i)
{
    return i;
}

static uint32_t want_halves(uint32_t i)
{
    return i + 0x70000;
}

// a: 0 everywhere, and room for twice as many. A result is in b.
static const struct snippet snippets[] = {
    {"a table of constants (s_getpc_b64)",
     "__constant uint table[4] = {3, 13, 23, 33};\n"
     "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void k(volatile __global ulong *a, __global uint *b)\n"
     "{ uint i = (uint)get_global_id(0); b[i] = table[i & 3u]; }",
     want_constant},
    {"an array in registers by index (v_movreld_b32, v_movrels_b32)",
     "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void k(volatile __global ulong *a, __global uint *b)\n"
     "{ uint i = (uint)get_global_id(0), v[8] = {0}; const uint at = (uint)a[0] + 3u;\n"
     "v[at] = i + 5u; v[at + 1u] = 9u; b[i] = v[at] + v[(uint)a[1]]; }",
     want_moved},
    {"a shuffle where lanes that are off hold anything (ds_bpermute_b32)",
     "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void k(volatile __global ulong *a, __global uint *b)\n"
     "{ uint i = (uint)get_global_id(0), v = 7u, far = i % 2u ? 4u * (i - 1u) : 0x7fffff00u + (uint)a[0];\n"
     "uint got = (uint)__builtin_amdgcn_ds_bpermute((int)far, (int)i);\n"
     "b[i] = i % 2u ? got : v; }",
     want_permuted},
    {"64-bit compare-and-swap (global_atomic_cmpswap)",
     "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
     "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n"
     "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void k(volatile __global ulong *a, __global uint *b)\n"
     "{ uint i = (uint)get_global_id(0); ulong old = atom_cmpxchg(a + i, i % 3u ? 0ul : 1ul, 0x100000000ul * (100u + "
     "i) + 9u);\n"
     "b[i] = i % 3u ? (old == 0ul && (uint)a[i] == 9u ? (uint)(a[i] >> 32) : 1u) : a[i] == 0ul ? 5u : 2u; }",
     want_swapped},
    {"the value before an atomic (sc0 on gfx942, th on gfx1200)",
     "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void k(volatile __global ulong *a, __global uint *b)\n"
     "{ uint i = (uint)get_global_id(0); volatile __global uint *w = (volatile __global uint *)(a + i);\n"
     "atomic_add(w, i); b[i] = atomic_xchg(w, 77u); }",
     want_number},
    {"64-bit sums that carry (global_atomic_add)",
     "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
     "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void k(volatile __global ulong *a, __global uint *b)\n"
     "{ uint i = (uint)get_global_id(0); atom_add(a + i, 0xfffffffful); atom_add(a + i, 1ul + 0x100000000ul * i);\n"
     "b[i] = (uint)a[i] == 0u ? (uint)(a[i] >> 32) - 1u : 1000u; }",
     want_number},
    {"a long array in registers by index (s_set_gpr_idx_on on gfx942)",
     "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void k(volatile __global ulong *a, __global uint *b)\n"
     "{ uint i = (uint)get_global_id(0), v[16]; const uint at = (uint)a[0] + 3u;\n"
     "for (uint k = 0u; k < 16u; k++) v[k] = i + k + (uint)a[k]; v[at] = i + 7u; b[i] = v[at] + v[(uint)a[1] + 9u]; }",
     want_indexed},
    {"a 64-bit difference with half of a word (v_sub_co_u32_sdwa)",
     "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void k(volatile __global ulong *a, __global uint *b)\n"
     "{ uint i = (uint)get_global_id(0), w = (uint)a[1] + i * 0x10001u; ulong v = a[0] + (ulong)i - (ulong)(w >> 16);\n"
     "b[i] = (uint)(v >> 32) + i; }",
     want_number},
    {"two halves of neighbouring words in one store (global_store_b32)",
     "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void k(volatile __global ulong *a, __global uint *b)\n"
     "{ uint i = (uint)get_global_id(0); __global ushort *h = (__global ushort *)(ulong)a;\n"
     "h[4u * i + 1u] = (ushort)i; h[4u * i + 2u] = 7; b[i] = (uint)(a[i] >> 16); }",
     want_halves},
};

static int right(struct test_device *dev, const struct snippet *s)
{
    static const uint64_t zeros[ITEMS];
    const size_t items = ITEMS;
    uint32_t got[ITEMS];
    int good = 1;
    struct test_buffer a = test_buffer_make(dev, zeros, sizeof zeros), b = test_buffer_make(dev, NULL, sizeof got);
    cl_program program = clCreateProgramWithSource(weft_context_cl(dev->ctx), 1, (const char *[]){s->text}, NULL, NULL);
    cl_kernel kernel = program && clBuildProgram(program, 0, NULL, "-cl-std=CL1.2", NULL, NULL) == CL_SUCCESS
                           ? clCreateKernel(program, "k", NULL)
                           : NULL;
    if (!kernel || clSetKernelArg(kernel, 0, sizeof(cl_mem), &a.mem) ||
        clSetKernelArg(kernel, 1, sizeof(cl_mem), &b.mem) ||
        clEnqueueNDRangeKernel(dev->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL))
        tap_bail("%s: %s: not run", dev->name, s->name);
    test_buffer_read(dev, &b, got, sizeof got);
    for (uint32_t i = 0; i < ITEMS && good; i++) {
        good = got[i] == s->want(i);
        if (!good)
            tap_note("%s: work-item %u got %u, not %u", s->name, i, got[i], s->want(i));
    }
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    test_buffer_free(&a);
    test_buffer_free(&b);
    return good;
}

static int only = -1; // the snippet to run, all: -1

static void instructions(struct test_device *dev)
{
    for (int i = 0; i < (int)(sizeof snippets / sizeof *snippets); i++)
        if (dev->ctx->device.lanes == WEFT_LANES_AMDGCN && (only < 0 || only == i))
            tap_ok(right(dev, &snippets[i]), "%s: %s", dev->name, snippets[i].name);
}

int main(int argc, char **argv)
{
    if (!getenv("WEFT_AMD_CHIP"))
        tap_skip_all("not below tests/amd/layer.c");
    if (argc > 1)
        only = (int)strtol(argv[1], NULL, 10);
    test_device_each(instructions);
    return tap_done();
}
