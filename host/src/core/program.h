// SPDX-License-Identifier: Apache-2.0
// Kernels: what they are made of, how they are compiled, cached and launched.
#pragma once

#include "host/src/core/buffer.h"
#include "host/src/core/context.h"
#include "host/src/core/stream.h"
#include <weft/matrix.h>

// A file of cl/, embedded by cl/embed.py.
struct weft__source {
    const char *name; // "scan/gpu.cl"
    const char *text;
};
extern const struct weft__source weft__sources[]; // ends with name NULL

// Hash of all of them: programs of another build are others.
uint64_t weft__sources_hash(void);

// One kernel: where it is.
struct weft__kernel_spec {
    const char *entry; // name of the __kernel function
    // Of cl/: the kernel's own, then what stands between lib/weft.clh, which every program has, and that one; else NULL.
    const char *files[6];
};

// The names of a kernel's arguments in their order, as cl/embed.py reads them from the source.
struct weft__kernel_text {
    const char *entry, *source;
    const char *const *args; // ends with NULL
    uint32_t values;         // a bit for each argument that is no array
};
extern const struct weft__kernel_text weft__kernel_texts[]; // ends with entry NULL
// The text of a spec; NULL: cl/ has no such kernel.
const struct weft__kernel_text *weft__kernel_text(const struct weft__kernel_spec *spec);

// The -D part of a program: lines of #define, in the order given.
struct weft__defines {
    char text[2048];
    size_t used;
};
__attribute__((format(__printf__, 3, 4))) void weft__define(struct weft__defines *d, const char *name,
                                                            const char *format, ...);
// WEFT_OFS_BITS, and WEFT_VAL_BITS (0, 32, 64) with WEFT_VAL_IS_F32, _F64, _I32.
void weft__define_types(struct weft__defines *d, enum weft_type type, enum weft_ofs ofs);

// What the prelude tells a program of the device.
struct weft__caps {
    enum weft_lanes lanes;
    int wave; // hardware lane count behind WEFT_LANES_AMDGCN and _SUBGROUPS: 32 or 64
    int fp64;
    int int64_atomics;
    int fence; // work-groups of one launch can hand memory to each other
    // With WEFT_LANES_SUBGROUPS: they have no ballot; no kernel can ask for their size.
    int no_ballot, no_size;
    int large; // there are buffers of WEFT__LARGE_BYTES and more, of which the compiler has to be told
};
struct weft__caps weft__caps_of(const struct weft_context *ctx);
// Full text of a kernel's program: prelude + defines + lib/weft.clh + shared files + its own.
// The caller frees it; NULL: no memory or no such file.
char *weft__program_text(const struct weft__caps *caps, const struct weft__kernel_spec *spec, const char *defines);
// The log of a compiler that does not heed #line (NVIDIA's says "<kernel>:290") with files and lines as `text` gives
// them. The caller frees it; NULL: no memory.
char *weft__log_lines(const char *log, const char *text);
// Build options for it ("-cl-std=CL1.2 ...").
const char *weft__program_options(const struct weft__caps *caps);

// A kernel that can be launched; its arguments are set by name.
struct weft__kernel;
// A new kernel of the program (compiled, or from memory or disk cache). Release with weft__kernel_release.
// Errors: WEFT_EBUILD with the build log in the context's error; WEFT_EDEVICE; WEFT_ENOMEM.
weft_status weft__kernel_create(struct weft__kernel **out, struct weft_context *ctx,
                                const struct weft__kernel_spec *spec, const struct weft__defines *defines);
void weft__kernel_release(struct weft__kernel **kernel); // accepts NULL inside, sets it to NULL
// Drop every program of the context (called by weft_context_destroy).
void weft__programs_free(struct weft_context *ctx);

// A number that the owner of a kernel keeps with it, 0 at first: which arrays it bound last, say.
uint64_t *weft__kernel_mark(struct weft__kernel *kernel);

// One argument of a launch, by the name that it has in the kernel.
struct weft__arg {
    const char *name;
    size_t size;
    const void *value; // NULL: local memory of `size` bytes
};
// clang-format off
// WEFT__ARG(n) is the argument n with the value of the variable n; WEFT__ARG(n, count) takes the value of `count`.
#define WEFT__ARG_ONE(x)                     {#x, sizeof(x), &(x)}
#define WEFT__ARG_TWO(name, x)               {#name, sizeof(x), &(x)}
#define WEFT__ARG_PICK(one, two, macro, ...) macro
#define WEFT__ARG(...)                       WEFT__ARG_PICK(__VA_ARGS__, WEFT__ARG_TWO, WEFT__ARG_ONE, )(__VA_ARGS__)
#define WEFT__LOCAL(name, bytes)             {#name, (bytes), NULL}
#define WEFT__OFS(name, ofs, x)              {#name, weft_ofs_bytes(ofs), &(x)}
// clang-format on
// A number that the kernel takes as an ofs_t: WEFT__OFS(nnz, ofs, value) with a variable of union weft__ofs.
union weft__ofs {
    cl_int i32;
    cl_long i64;
};
static inline union weft__ofs weft__ofs_value(enum weft_ofs ofs, size_t value)
{
    return ofs == WEFT_OFS_64 ? (union weft__ofs){.i64 = (cl_long)value} : (union weft__ofs){.i32 = (cl_int)value};
}
// Set the arguments, in any order, and enqueue groups*wg work-items. groups == 0 does nothing. The caller clamps groups
// so that groups*wg stays below 2^32 (weft__groups) and kernels loop over what is left. A name that the kernel does not
// have, and an argument that is neither given here nor bound before, are faults of the library: WEFT_EINVAL.
weft_status weft__launch(struct weft__stream *stream, struct weft__kernel *kernel, size_t groups, size_t wg,
                         const struct weft__arg *args, size_t nargs);
#define WEFT__ARGS(...)                                                                                                \
    (const struct weft__arg[]){__VA_ARGS__}, sizeof((const struct weft__arg[]){__VA_ARGS__}) / sizeof(struct weft__arg)
#define WEFT__LAUNCH(stream, kernel, groups, wg, ...) weft__launch(stream, kernel, groups, wg, WEFT__ARGS(__VA_ARGS__))
// Set arguments once, for all launches that do not give them: those that the kernel has of these.
weft_status weft__bind(struct weft_context *ctx, struct weft__kernel *kernel, const struct weft__arg *args,
                       size_t nargs);
#define WEFT__BIND(ctx, kernel, ...) weft__bind(ctx, kernel, WEFT__ARGS(__VA_ARGS__))
// Work-groups to launch for `tiles` tiles: at most as many as keep the global size under 2^31.
size_t weft__groups(size_t tiles, size_t wg);
// The most of them.
size_t weft__groups_most(size_t wg);
