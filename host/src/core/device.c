// SPDX-License-Identifier: Apache-2.0
// Lists the devices of all platforms and what each can do.
#include "host/src/core/device.h"
#include "host/src/core/check.h"
#include "host/src/core/cl_table.h"
#include "host/src/core/error.h"
#include "host/src/core/quirks.h"
#include "host/src/core/names.h"
#include "host/src/core/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

WEFT__NAMES(lanes, "auto", "local", "ptx", "amdgcn", "subgroups");

// Query codes of later versions and of extensions; headers that name them are not everywhere.
#define MAX_NUM_SUB_GROUPS          0x105C // OpenCL 2.1
#define NV_COMPUTE_CAPABILITY_MAJOR 0x4000
#define NV_PCI_BUS_ID               0x4008
#define NV_PCI_SLOT_ID              0x4009
#define NV_PCI_DOMAIN_ID            0x400A
#define AMD_TOPOLOGY                0x4037
#define AMD_WAVEFRONT_WIDTH         0x4043
#define INTEL_SUB_GROUP_SIZES       0x4108
#define KHR_PCI_BUS_INFO            0x410F

struct pci_bus_info { // cl_device_pci_bus_info_khr
    cl_uint domain, bus, device, function;
};

struct amd_topology { // the variant of cl_device_topology_amd for PCI, type 1
    cl_uint type;
    cl_uchar unused[17], bus, device, function;
};

// A string of a device, or of a platform (id NULL), as weft__text_fit; "" when the driver does not answer.
static void string_ask(cl_platform_id platform, cl_device_id id, cl_uint what, char *out, size_t size)
{
    size_t bytes = 0;
    char *text = NULL;
    out[0] = 0;
    for (int turn = 0; turn < 2; turn++) { // how long it is, then the string
        const cl_int error = id ? weft__cl.clGetDeviceInfo(id, what, bytes, text, &bytes)
                                : weft__cl.clGetPlatformInfo(platform, what, bytes, text, &bytes);
        if (error != CL_SUCCESS || (!text && !(text = calloc(1, bytes + 1))))
            break;
        if (turn)
            weft__text_fit(out, size, text);
    }
    free(text);
}

static int extension_has(const char *extensions, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(extensions, name); at; at = strstr(at + length, name))
        if ((at == extensions || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0))
            return 1;
    return 0;
}

static char *extensions_get(cl_device_id id)
{
    size_t size = 0;
    if (weft__cl.clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size) != CL_SUCCESS)
        size = 0;
    char *text = calloc(1, size + 1);
    if (text && size && weft__cl.clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, text, NULL) != CL_SUCCESS)
        text[0] = 0;
    return text;
}

// Programs that use sub-groups are OpenCL C 3.0, where these need no extension; from 3.1 on the shuffle needs none.
static struct weft__subgroups subgroups_find(const struct weft_device_info *info, const char *extensions)
{
    struct weft__subgroups out = {.no_ballot = !extension_has(extensions, "cl_khr_subgroup_ballot"), .no_size = true};
    cl_uint most = 0;
    size_t sizes[64], bytes = 0;
    int major = 0, minor = 0;
    if (sscanf(info->version, "OpenCL %d.%d", &major, &minor) != 2 || major < 3)
        return out;
    if (weft__cl.clGetDeviceInfo(info->id, MAX_NUM_SUB_GROUPS, sizeof most, &most, NULL) != CL_SUCCESS)
        most = 0;
    out.there = (most || extension_has(extensions, "cl_khr_subgroups")) &&
                (major > 3 || minor > 0 || extension_has(extensions, "cl_khr_subgroup_shuffle"));
    if (!out.there || !extension_has(extensions, "cl_intel_required_subgroup_size") ||
        weft__cl.clGetDeviceInfo(info->id, INTEL_SUB_GROUP_SIZES, sizeof sizes, sizes, &bytes) != CL_SUCCESS)
        return out;
    out.no_size = false;
    for (size_t i = 0; i < bytes / sizeof *sizes && i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] == 32 || sizes[i] == 64)
            out.waves |= (int)sizes[i];
    return out;
}

struct weft__subgroups weft__subgroups_of(const struct weft_device_info *info)
{
    struct weft__subgroups out = {0};
    char *extensions = weft__quirks_of(info).no_subgroups ? NULL : extensions_get(info->id);
    if (extensions)
        out = subgroups_find(info, extensions);
    free(extensions);
    return out;
}

int weft__device_vector(const struct weft_device_info *info)
{
    cl_uint floats = 0;
    return weft__cl.clGetDeviceInfo(info->id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof floats, &floats, NULL) ==
                       CL_SUCCESS &&
                   floats <= INT_MAX
               ? (int)floats
               : 0;
}

// Lane operations and hardware width, from what the driver says of itself.
static void lanes_find(struct weft_device_info *info, const char *extensions)
{
    info->lanes = WEFT_LANES_LOCAL;
    info->wave = (info->type & CL_DEVICE_TYPE_CPU) ? 1 : 32;
    cl_uint value = 0;
    if (extension_has(extensions, "cl_nv_device_attribute_query")) {
        if (weft__cl.clGetDeviceInfo(info->id, NV_COMPUTE_CAPABILITY_MAJOR, sizeof value, &value, NULL) == CL_SUCCESS &&
            value >= 7)
            info->lanes = WEFT_LANES_PTX;
        info->fence = info->lanes == WEFT_LANES_PTX;
        return;
    }
    if (extension_has(extensions, "cl_amd_device_attribute_query") &&
        weft__cl.clGetDeviceInfo(info->id, AMD_WAVEFRONT_WIDTH, sizeof value, &value, NULL) == CL_SUCCESS &&
        (value == 32 || value == 64) && (info->type & CL_DEVICE_TYPE_GPU)) {
        info->lanes = WEFT_LANES_AMDGCN;
        info->fence = 1;
        info->wave = (int)value;
        return;
    }
    const struct weft__quirks quirks = weft__quirks_of(info);
    info->waves = quirks.no_subgroups ? 0 : subgroups_find(info, extensions).waves;
    if (info->waves && !quirks.asked_subgroups) {
        info->lanes = WEFT_LANES_SUBGROUPS;
        info->wave = info->waves & 32 ? 32 : 64;
    }
}

static void pci_find(struct weft_device_info *info, const char *extensions)
{
    struct pci_bus_info pci;
    struct amd_topology amd;
    cl_uint bus, slot, domain = 0;
    info->pci_bus = info->pci_device = info->pci_domain = -1;
    if (extension_has(extensions, "cl_khr_pci_bus_info") &&
        weft__cl.clGetDeviceInfo(info->id, KHR_PCI_BUS_INFO, sizeof pci, &pci, NULL) == CL_SUCCESS) {
        info->pci_domain = (int)pci.domain;
        info->pci_bus = (int)pci.bus;
        info->pci_device = (int)pci.device;
    } else if (extension_has(extensions, "cl_nv_device_attribute_query") &&
               weft__cl.clGetDeviceInfo(info->id, NV_PCI_BUS_ID, sizeof bus, &bus, NULL) == CL_SUCCESS &&
               weft__cl.clGetDeviceInfo(info->id, NV_PCI_SLOT_ID, sizeof slot, &slot, NULL) == CL_SUCCESS) {
        if (weft__cl.clGetDeviceInfo(info->id, NV_PCI_DOMAIN_ID, sizeof domain, &domain, NULL) != CL_SUCCESS)
            domain = 0;
        info->pci_domain = (int)domain;
        info->pci_bus = (int)bus;
        info->pci_device = (int)(slot >> 3);
    } else if (extension_has(extensions, "cl_amd_device_attribute_query") &&
               weft__cl.clGetDeviceInfo(info->id, AMD_TOPOLOGY, sizeof amd, &amd, NULL) == CL_SUCCESS &&
               amd.type == 1) {
        info->pci_bus = amd.bus; // the domain is not told
        info->pci_device = amd.device;
    }
}

static void device_fill(struct weft_device_info *info)
{
    cl_device_id id = info->id;
    cl_ulong u64 = 0;
    cl_uint u32 = 0;
    cl_bool yes = CL_FALSE;
    cl_device_fp_config fp64 = 0;
    if (weft__cl.clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof info->type, &info->type, NULL) != CL_SUCCESS) {
        snprintf(info->why, sizeof info->why, "the driver does not say what it is");
        return;
    }
    string_ask(NULL, id, CL_DEVICE_NAME, info->name, sizeof info->name);
    string_ask(NULL, id, CL_DEVICE_VENDOR, info->vendor, sizeof info->vendor);
    string_ask(NULL, id, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
    string_ask(NULL, id, CL_DEVICE_VERSION, info->version, sizeof info->version);
    if (weft__cl.clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof u64, &u64, NULL) == CL_SUCCESS)
        info->global_bytes = (int64_t)u64;
    if (weft__cl.clGetDeviceInfo(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof u64, &u64, NULL) == CL_SUCCESS)
        info->max_alloc_bytes = (int64_t)u64;
    if (weft__quirks_of(info).large_flag && info->max_alloc_bytes < info->global_bytes)
        info->max_alloc_bytes = info->global_bytes;
    if (weft__cl.clGetDeviceInfo(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof u64, &u64, NULL) == CL_SUCCESS)
        info->local_bytes = (int64_t)u64;
    if (weft__cl.clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof u64, &u64, NULL) == CL_SUCCESS)
        info->cache_bytes = (int64_t)u64;
    info->compute_units = 1; // work is divided by it
    if (weft__cl.clGetDeviceInfo(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof u32, &u32, NULL) == CL_SUCCESS && u32 > 0)
        info->compute_units = (int)u32;
    if (weft__cl.clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof info->max_wg, &info->max_wg, NULL) !=
        CL_SUCCESS)
        info->max_wg = 1;
    if (weft__cl.clGetDeviceInfo(id, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof yes, &yes, NULL) == CL_SUCCESS)
        info->unified = yes != CL_FALSE;
    if (weft__cl.clGetDeviceInfo(id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof fp64, &fp64, NULL) == CL_SUCCESS)
        info->fp64 = fp64 != 0;
    char *extensions = extensions_get(id);
    if (!extensions) {
        snprintf(info->why, sizeof info->why, "out of host memory");
        return;
    }
    info->int64_atomics = extension_has(extensions, "cl_khr_int64_base_atomics") &&
                          extension_has(extensions, "cl_khr_int64_extended_atomics");
    lanes_find(info, extensions);
    pci_find(info, extensions);
    free(extensions);
    if (weft__cl.clGetDeviceInfo(id, CL_DEVICE_AVAILABLE, sizeof yes, &yes, NULL) != CL_SUCCESS || !yes)
        snprintf(info->why, sizeof info->why, "the driver says that the device is not available");
    else if (weft__cl.clGetDeviceInfo(id, CL_DEVICE_COMPILER_AVAILABLE, sizeof yes, &yes, NULL) != CL_SUCCESS || !yes)
        snprintf(info->why, sizeof info->why, "the driver has no compiler");
    else if (weft__cl.clGetDeviceInfo(id, CL_DEVICE_ENDIAN_LITTLE, sizeof yes, &yes, NULL) == CL_SUCCESS &&
             (yes != CL_FALSE) != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__))
        snprintf(info->why, sizeof info->why, "the bytes of its numbers are in another order than the host's");
}

bool weft__device_entry(struct weft_device_info *out, cl_device_id *whole, const struct weft_device_info *list,
                        size_t count, cl_device_id id)
{
    for (cl_device_id above = id; above;) {
        for (size_t i = 0; i < count; i++)
            if (list[i].id == above) {
                const struct weft_device_info found = list[i];
                *whole = above;
                *out = found;
                if (above == id)
                    return true;
                *out = (struct weft_device_info){.index = found.index, .platform_id = found.platform_id, .id = id};
                memcpy(out->platform, found.platform, sizeof out->platform);
                memcpy(out->platform_version, found.platform_version, sizeof out->platform_version);
                device_fill(out);
                return true;
            }
        if (weft__cl.clGetDeviceInfo(above, CL_DEVICE_PARENT_DEVICE, sizeof above, &above, NULL) != CL_SUCCESS)
            return false;
    }
    return false;
}

static weft_status list_grow(struct weft_device_info **list, size_t count, size_t more)
{
    struct weft_device_info *grown = realloc(*list, (count + more) * sizeof **list);
    if (!grown)
        return WEFT_ENOMEM;
    memset(grown + count, 0, more * sizeof *grown);
    *list = grown;
    return WEFT_OK;
}

weft_status weft_devices_list(struct weft_device_info **out, size_t *count, struct weft_error *err)
{
    if (out)
        *out = NULL;
    if (count)
        *count = 0;
    weft_status status = WEFT__NEED(err, {"out", out}, {"count", count});
    if (status)
        return status;
    cl_uint nplatforms = 0;
    cl_int error = weft__cl.clGetPlatformIDs(0, NULL, &nplatforms);
    if (error != CL_SUCCESS || !nplatforms)
        return weft__error(err, WEFT_ENODEV,
                           "no OpenCL platform: install a driver (Debian, Ubuntu: pocl-opencl-icd for the CPU)");
    cl_platform_id *platforms = calloc(nplatforms, sizeof *platforms);
    struct weft_device_info *list = NULL;
    size_t n = 0;
    status = platforms ? WEFT_OK : WEFT_ENOMEM;
    if (!status && weft__cl.clGetPlatformIDs(nplatforms, platforms, NULL) != CL_SUCCESS)
        nplatforms = 0;
    for (cl_uint p = 0; p < nplatforms && !status; p++) {
        char name[128] = "", version[128] = "";
        string_ask(platforms[p], NULL, CL_PLATFORM_NAME, name, sizeof name);
        string_ask(platforms[p], NULL, CL_PLATFORM_VERSION, version, sizeof version);
        cl_uint ndevices = 0;
        error = weft__cl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 0, NULL, &ndevices);
        if (error == CL_DEVICE_NOT_FOUND || (error == CL_SUCCESS && !ndevices))
            continue;
        size_t entries = error == CL_SUCCESS ? ndevices : 1;
        cl_device_id *ids = calloc(entries, sizeof *ids);
        status = ids ? list_grow(&list, n, entries) : WEFT_ENOMEM;
        if (!status && error == CL_SUCCESS)
            error = weft__cl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, ndevices, ids, NULL);
        for (size_t d = 0; !status && d < entries; d++) {
            struct weft_device_info *info = &list[n];
            info->index = (int)n++;
            info->platform_id = platforms[p];
            info->id = ids[d];
            memcpy(info->platform, name, sizeof name);
            memcpy(info->platform_version, version, sizeof version);
            if (error == CL_SUCCESS)
                device_fill(info);
            else
                snprintf(info->why, sizeof info->why, "the platform does not list its devices: %s (%d)",
                         weft__cl_error_name(error), error);
        }
        free(ids);
    }
    free(platforms);
    if (status) {
        free(list);
        return weft__error(err, status, "out of host memory for the list of devices");
    }
    if (!n)
        return weft__error(err, WEFT_ENODEV,
                           "no OpenCL device: install a driver (Debian, Ubuntu: pocl-opencl-icd for the CPU)");
    *out = list;
    *count = n;
    return WEFT_OK;
}

void weft_devices_free(struct weft_device_info **list)
{
    if (!list)
        return;
    free(*list);
    *list = NULL;
}

static int device_rank(const struct weft_device_info *info)
{
    return info->why[0]                              ? 5
           : info->type & CL_DEVICE_TYPE_GPU         ? info->unified != 0
           : info->type & CL_DEVICE_TYPE_ACCELERATOR ? 2
           : info->type & CL_DEVICE_TYPE_CPU         ? 3
                                                     : 4;
}

int weft_device_default(const struct weft_device_info *list, size_t count)
{
    size_t best = 0;
    if (!list)
        return -1;
    for (size_t i = 1; i < count; i++)
        if (device_rank(&list[i]) < device_rank(&list[best]))
            best = i;
    return count ? (int)best : -1;
}

// Whether the device is what a text means that is neither a number nor empty.
static bool device_means(const struct weft_device_info *info, const char *text)
{
    if (!strcasecmp(text, "gpu"))
        return info->type & CL_DEVICE_TYPE_GPU;
    if (!strcasecmp(text, "cpu"))
        return info->type & CL_DEVICE_TYPE_CPU;
    if (!strcasecmp(text, "accelerator"))
        return info->type & CL_DEVICE_TYPE_ACCELERATOR;
    return text[1] &&
           (strcasestr(info->name, text) || strcasestr(info->vendor, text) || strcasestr(info->platform, text));
}

int weft_device_find(const struct weft_device_info *list, size_t count, const char *text)
{
    int best = -1;
    if (!text || !*text)
        return weft_device_default(list, count);
    const bool number = strspn(text, "0123456789") == strlen(text);
    for (size_t i = 0; list && i < count; i++) {
        char index[16];
        snprintf(index, sizeof index, "%d", list[i].index);
        if (number ? !strcmp(index, text)
                   : device_means(&list[i], text) && (best < 0 || device_rank(&list[i]) < device_rank(&list[best])))
            best = (int)i;
    }
    return best;
}

void weft__device_absent(char *out, size_t size, size_t count, const char *text)
{
    static const char *const kinds[] = {"GPU", "CPU", "accelerator"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcasecmp(text, kinds[i])) {
            snprintf(out, size, "no %s is in the list of devices", kinds[i]);
            return;
        }
    if (strspn(text, "0123456789") == strlen(text))
        snprintf(out, size, "there is no device %.200s: the list goes from 0 to %zu", text, count ? count - 1 : 0);
    else
        snprintf(
            out, size,
            "no device of the list is \"%.200s\": an index is up to %zu, a kind is gpu, cpu or accelerator, else it "
            "is a part of a name",
            text, count ? count - 1 : 0);
}

weft_status weft_device_probe(struct weft_device_info *info)
{
    if (!info)
        return WEFT_EINVAL;
    if (info->why[0])
        return WEFT_ENODEV;
    if (!info->id || !info->platform_id) {
        snprintf(info->why, sizeof info->why, "%s is NULL", info->id ? "platform_id" : "id");
        return WEFT_EINVAL;
    }
    cl_context_properties props[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)info->platform_id, 0};
    cl_int error;
    cl_context context = weft__cl.clCreateContext(props, 1, &info->id, NULL, NULL, &error);
    if (error != CL_SUCCESS) {
        snprintf(info->why, sizeof info->why, "clCreateContext: %s (%d)", weft__cl_error_name(error), error);
        return WEFT_EDEVICE;
    }
    cl_command_queue queue = weft__cl.clCreateCommandQueue(context, info->id, 0, &error);
    if (error != CL_SUCCESS)
        snprintf(info->why, sizeof info->why, "clCreateCommandQueue: %s (%d)", weft__cl_error_name(error), error);
    else
        weft__cl.clReleaseCommandQueue(queue);
    weft__cl.clReleaseContext(context);
    return error == CL_SUCCESS ? WEFT_OK : WEFT_EDEVICE;
}
