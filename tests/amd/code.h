// SPDX-License-Identifier: Apache-2.0
// Programs in AMD's machine code: what translate.py writes of each, as code.c reads it and waves.c runs it.
#ifndef TESTS_AMD_CODE_H
#define TESTS_AMD_CODE_H

#include <stddef.h>
#include <stdint.h>

// Memory that an instruction works on, in the order of its arguments' numbers.
enum amd_memory { AMD_SGPR, AMD_VGPR, AMD_GLOBAL, AMD_LOCAL, AMD_PRIVATE, AMD_ACC, AMD_MEMORIES };

enum amd_step_kind {
    AMD_NONE,
    AMD_RUN,
    AMD_BARRIER,
    AMD_SKIP,
    AMD_FAULT,
    AMD_GETPC, // from here on: own.c
    AMD_MOVRELD,
    AMD_MOVRELS,
    AMD_BPERMUTE,
    AMD_CMPSWAP64,
    AMD_INDEXON
};

// One instruction: a function of the host, and which memories it takes.
struct amd_step {
    void (*run)(void *, void *, void *, void *, void *, void *);
    int32_t of[AMD_MEMORIES]; // memories, by number; operands where own.c does it
    uint8_t kind, size;
};

enum amd_arg_kind {
    AMD_VALUE,
    AMD_BUFFER,
    AMD_LOCAL_ARG,
    AMD_BLOCKS,     // work-groups
    AMD_GROUP_SIZE, // work-items of one
    AMD_ONE,        // 1: what there is of other dimensions, and their count
    AMD_ZERO
};

struct amd_arg {
    enum amd_arg_kind kind;
    size_t offset, size;
};

struct amd_kernel {
    char name[128];
    size_t descriptor, local, private, required, largest, args_size; // required: work-items of a group, 0: any
    size_t args;
    struct amd_arg arg[64];
};

struct amd_code {
    char name[64];
    int wave, sgprs, vgprs, pc, exec, m0, stride, ttmp7, ttmp9; // registers by index, see translate.py
    uint32_t start[512];                                        // scalar registers as a wave finds them
    unsigned char *image;
    size_t bytes, kernels;
    struct amd_kernel *kernel;
    struct amd_step *steps; // by address / 4
    struct amd_code *next;
};

// The code of a text, compiled if it is not there yet; NULL where that fails, with a log to free().
const struct amd_code *amd_code_of(const char *chip, const char *text, const char *options, char **log);
// The same by a name that it had before.
const struct amd_code *amd_code_named(const char *name);
const struct amd_kernel *amd_kernel_of(const struct amd_code *code, const char *name);

// One launch; `args` is the memory of its arguments, local memory is what arguments take beyond the kernel's own. 0: went well.
int amd_run(const struct amd_code *code, const struct amd_kernel *kernel, const void *args, size_t args_size,
            size_t groups, size_t group_size, size_t local);
// An instruction that the emulator lacks or gets wrong, for the wave with these registers.
void amd_own(const struct amd_code *code, const struct amd_step *step, uint32_t *sgpr, uint32_t *vgpr);
// What was run, on stderr.
void amd_report(const char *chip);

// WEFT_AMD_ and `name` of the environment as a number.
unsigned long amd_number(const char *name, unsigned long absent);

#endif
