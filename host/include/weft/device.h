// SPDX-License-Identifier: Apache-2.0
// The OpenCL devices of the machine: which there are, what they can do, which one is the default.
#ifndef WEFT_DEVICE_H
#define WEFT_DEVICE_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#ifdef __APPLE__
#include <OpenCL/opencl.h>
#else
#include <CL/cl.h>
#endif
// CL/cl.h includes altivec.h, which takes these words.
#if defined(__ALTIVEC__) && !defined(__APPLE_ALTIVEC__)
#undef vector
#undef pixel
#undef bool
#ifndef __cplusplus
#define bool _Bool
#endif
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weft/status.h>

#ifdef __cplusplus
extern "C" {
#endif

// How work-items of one work-group exchange values without local memory.
enum weft_lanes {
    WEFT_LANES_AUTO = 0, // what the device has; a device that is listed has one of the others
    WEFT_LANES_LOCAL,    // not at all: local memory and barriers
    WEFT_LANES_PTX,      // NVIDIA, compute capability 7.0 and up: inline PTX
    WEFT_LANES_AMDGCN,   // AMD: compiler builtins
    WEFT_LANES_SUBGROUPS // sub-groups of 32 or 64 on request, with cl_khr_subgroup_ballot and _shuffle
};
// "auto" "local" "ptx" "amdgcn" "subgroups"
WEFT_API const char *weft_lanes_name(enum weft_lanes lanes);
WEFT_API weft_status weft_lanes_parse(enum weft_lanes *out, const char *text);

// One OpenCL device, as its driver describes it.
struct weft_device_info {
    int index; // position in the list of all devices of all platforms
    cl_platform_id platform_id;
    cl_device_id id;
    cl_device_type type; // CL_DEVICE_TYPE_CPU, _GPU, _ACCELERATOR
    // Texts of the driver: the beginning where one is longer; bytes that are no UTF-8 are question marks.
    char platform[128];
    char platform_version[128];
    char name[128];
    char vendor[128];
    char driver[128];
    char version[128];    // CL_DEVICE_VERSION
    int64_t global_bytes; // device memory
    int64_t max_alloc_bytes;
    int64_t local_bytes;                 // local memory of one work-group
    int64_t cache_bytes;                 // last-level cache, 0: the driver does not say
    int compute_units;                   // 1 when the driver does not say
    size_t max_wg;                       // largest work-group
    bool fp64;                           // double precision
    bool int64_atomics;                  // cl_khr_int64_base_atomics and _extended_atomics
    bool fence;                          // work-groups of one launch can hand memory to each other
    enum weft_lanes lanes;               // lane operations that weft's kernels use here
    int wave;                            // hardware lane count (32, 64, ...), a hint; 1 on a CPU
    int waves;                           // sizes of sub-groups that params.wave may ask for, 32 and 64 added up
    int pci_bus, pci_device, pci_domain; // -1: not known
    bool unified;                        // it shares the host's memory (integrated GPUs, CPUs)
    char why[256];                       // why it cannot be used; "" when it can
};

// Every device of every platform that the ICD loader shows, numbered from 0. A platform or device that fails to
// answer is listed with the reason in `why` and hides no other. *out is NULL when there is none.
//   out    array of *count infos; free with weft_devices_free
// Errors: WEFT_ENOMEM; WEFT_ENODEV no platform or no device, with what to install in err->text.
WEFT_API weft_status weft_devices_list(struct weft_device_info **out, size_t *count, struct weft_error *err);
WEFT_API void weft_devices_free(struct weft_device_info **list);
// Position in the list of the device that a context takes by default: discrete GPUs come before integrated ones, then
// accelerators, CPUs, others; of equals the first; those with a `why` last.
//   list   count infos, as weft_devices_list gives them
// Gives -1 when count is 0 or list is NULL.
WEFT_API int weft_device_default(const struct weft_device_info *list, size_t count);
// Position in the list of the device that a text means:
//   "0", "1", ...                the device of that index
//   "gpu" "cpu" "accelerator"    the default one (as above) of that kind
//   two letters or more          the default one of those that have it in name, vendor or platform ("nvidia")
//   NULL or ""                   the default one
// Letters of either case. -1: there is none.
WEFT_API int weft_device_find(const struct weft_device_info *list, size_t count, const char *text);
// Try the device: create a context and a queue on it, then drop them; on failure info->why says what happened.
WEFT_API weft_status weft_device_probe(struct weft_device_info *info);

#ifdef __cplusplus
}
#endif
#endif
