// SPDX-License-Identifier: Apache-2.0
// The device of this rank: weft's context, one in-order queue, the kernels of vectors, and what checks and logs calls.
#ifndef WEFT_PETSC_DEVICE_H
#define WEFT_PETSC_DEVICE_H

#include <petscmat.h>
#include <weft/context.h>
#include <weft/matrix.h>

#if defined(PETSC_USE_COMPLEX) || defined(PETSC_USE_REAL___FLOAT128) || defined(PETSC_USE_REAL___FP16)
#error "weft has matrices of float and double: a PETSc with another scalar cannot use it"
#endif
#if defined(PETSC_USE_REAL_SINGLE)
#define WP_TYPE      WEFT_TYPE_F32
#define WP_TYPE_NAME "float"
#else
#define WP_TYPE      WEFT_TYPE_F64
#define WP_TYPE_NAME "double"
#endif

// What differs between releases of PETSc.
#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *wp_option_items;
typedef PetscInt wp_rank_count; // of a star forest
#else
typedef PetscOptionItems wp_option_items;
typedef PetscMPIInt wp_rank_count;
#endif

// The kernels of vector.cl: X(name, arguments after n). m buffer, s PetscScalar, u cl_uint, l cl_ulong.
#define WP_KERNELS(X)                                                                                                  \
    X(set, "ms")                                                                                                       \
    X(scale, "ms")                                                                                                     \
    X(shift, "ms")                                                                                                     \
    X(axpby, "msms")                                                                                                   \
    X(axpbypcz, "msssmm")                                                                                              \
    X(waxpy, "msmm")                                                                                                   \
    X(maxpy, "mussssmmmm")                                                                                             \
    X(swap, "mm")                                                                                                      \
    X(multiply, "mmm")                                                                                                 \
    X(divide, "mmm")                                                                                                   \
    X(reciprocal, "m")                                                                                                 \
    X(gather, "mmm")                                                                                                   \
    X(scatter_add, "mmml")                                                                                             \
    X(reduce, "mlumm")
enum wp_kernel {
#define WP_KERNEL_ENUM(name, args) WP_KERNEL_##name,
    WP_KERNELS(WP_KERNEL_ENUM)
#undef WP_KERNEL_ENUM
        WP_KERNEL_COUNT
};
extern const char *const wp_kernels_text;

enum { WP_REDUCE_WG = 256, WP_REDUCE_GROUPS = 1024 }; // groups at most; fixed, so that sums are the same on all devices

// What a log event is for.
enum wp_event { WP_EVENT_PLAN, WP_EVENT_UPLOAD, WP_EVENT_HALO, WP_EVENT_VEC_PUT, WP_EVENT_VEC_GET, WP_EVENT_COUNT };
extern PetscLogEvent wp_events[WP_EVENT_COUNT];

// Host memory that the driver copies from and to fast; freed by wp_pinned_free.
struct wp_pinned {
    cl_mem buffer;
    void *at;
};

struct wp_device {
    struct weft_context *ctx;
    cl_context cl;
    cl_command_queue queue; // in order; everything of the plug-in runs in it but
    cl_command_queue aside; // copies of halos, beside the kernels; in order
    cl_mem part;            // partial sums of reductions, part_count of them, and where they are read to
    struct wp_pinned part_host;
    size_t part_count;
    cl_program program;
    cl_kernel kernels[WP_KERNEL_COUNT];
    int timed; // nonzero: the queue takes times, for the table behind -log_view
};

// Called once by every rank: which rank of its host this is.
PetscErrorCode wp_device_init(void);
// The device, opened on first use: that of the local rank modulo the devices of the default device's kind. WEFT_DEVICE, a text
// for weft_device_find, names one by its index, or the devices to share out by kind or name.
PetscErrorCode wp_device_get(const struct wp_device **out);
// Run a kernel on n elements, its arguments as WP_KERNELS names them. n may be 0.
PetscErrorCode wp_launch(enum wp_kernel kernel, size_t n, ...);
// A buffer; bytes may be 0.
PetscErrorCode wp_buffer(cl_mem *out, size_t bytes);
// Release and set to NULL.
PetscErrorCode wp_buffer_free(cl_mem *buffer);
// Copies between host and device; they block.
PetscErrorCode wp_write(cl_mem to, const void *from, size_t bytes);
PetscErrorCode wp_read(void *to, cl_mem from, size_t bytes);
// The same beside the kernels: a read of what the queue has written so far, a write that later commands of the queue wait for.
// The host memory is borrowed until the event, which wp_wait releases; NULL for 0 bytes.
PetscErrorCode wp_read_aside(void *to, cl_mem from, size_t bytes, cl_event *event);
PetscErrorCode wp_write_aside(cl_mem to, const void *from, size_t bytes, cl_event *event);
// Wait for an event, release it and set it to NULL; accepts an event that is NULL.
PetscErrorCode wp_wait(cl_event *event);
PetscErrorCode wp_pinned_alloc(struct wp_pinned *out, size_t bytes);
PetscErrorCode wp_pinned_free(struct wp_pinned *memory);
// Room for partial sums, on the device and on the host, until the next call.
PetscErrorCode wp_parts(size_t count, cl_mem *mem, PetscScalar **host);
// The text of weft's last failure, as a PETSc error where status is one.
PetscErrorCode wp_check(weft_status status, const char *call);

#define WP_CL(call)                                                                                                    \
    do {                                                                                                               \
        cl_int wp_code_ = (call);                                                                                      \
        PetscCheck(!wp_code_, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s: OpenCL error %d", #call, (int)wp_code_);            \
    } while (0)
#define WP_CALL(call) PetscCall(wp_check((call), #call))

#endif
