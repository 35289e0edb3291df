// SPDX-License-Identifier: Apache-2.0
// AMD's rocSPARSE on the GPU that the OpenCL device is, timed by HIP events.
#include "rocsparse_backend.h"
#include "host/internal/inside.h"
#include "host/common/clock.h"
#include "backends/trace.h"

#include <sched.h>
#include <stdio.h>

_Static_assert(sizeof(rocsparse_int) == sizeof(int32_t), "rocSPARSE was built with 64-bit integers");

weft_status weft__rocsparse_hip(hipError_t code, const char *call, struct weft_error *err)
{
    if (code == hipSuccess)
        return WEFT_OK;
    return weft__error(err, code == hipErrorOutOfMemory ? WEFT_EDEVMEM : WEFT_EDEVICE, "%s: %s (HIP error %d)", call,
                       hipGetErrorString(code), (int)code);
}

weft_status weft__rocsparse_lib(rocsparse_status code, const char *call, struct weft_error *err)
{
    static const char *const names[] = {
        "success",         "invalid handle",     "not implemented",        "invalid pointer",         "invalid size",
        "out of memory",   "internal error",     "invalid value",          "no kernels for this GPU", "zero pivot",
        "not initialized", "types do not match", "sorted storage required"};
    weft_status status = WEFT_EDEVICE;
    if (code == rocsparse_status_success)
        return WEFT_OK;
    if (code == rocsparse_status_not_implemented || code == rocsparse_status_arch_mismatch)
        status = WEFT_EUNSUPPORTED;
    if (code == rocsparse_status_memory_error)
        status = WEFT_EDEVMEM;
    const char *name = (size_t)code < sizeof names / sizeof *names ? names[code] : "unknown status";
    return weft__error(err, status, "%s: %s (rocSPARSE status %d)", call, name, (int)code);
}

// ---- the GPU ----

// How many GPUs there are; none is an error.
static weft_status gpu_count(int *count, struct weft_error *err)
{
    *count = 0;
    hipError_t code = hipGetDeviceCount(count);
    if (code == hipErrorNoDevice || (code == hipSuccess && *count < 1))
        return weft__error(err, WEFT_ENODEV, "no HIP device");
    if (code != hipSuccess)
        return weft__error(err, WEFT_ENODEV, "no HIP device: %s (HIP error %d)", hipGetErrorString(code), (int)code);
    return WEFT_OK;
}

// HIP's number of the OpenCL device, by its place on the PCI bus. A domain that OpenCL does not tell fits all.
static weft_status gpu_find(int *index, const struct weft_device_info *device, struct weft_error *err)
{
    int count, found = 0;
    weft_status status = gpu_count(&count, err);
    if (status)
        return status;
    if (device->pci_bus < 0)
        return weft__error(err, WEFT_ENODEV, "no HIP device: %.60s has no place on the PCI bus", device->name);
    for (int i = 0; i < count; i++) {
        char id[64] = "";
        unsigned domain, bus, slot;
        if (hipDeviceGetPCIBusId(id, (int)sizeof id, i) != hipSuccess ||
            sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3)
            continue;
        if ((int)bus == device->pci_bus && (int)slot == device->pci_device &&
            (device->pci_domain < 0 || (int)domain == device->pci_domain)) {
            *index = i;
            found++;
        }
    }
    if (found == 1)
        return WEFT_OK;
    return weft__error(err, WEFT_ENODEV, "%s HIP device at %02x:%02x on the PCI bus", found ? "more than one" : "no",
                       (unsigned)device->pci_bus, (unsigned)device->pci_device);
}

weft_status weft__rocsparse_open(struct rocsparse_gpu *out, struct weft_context *ctx, struct weft_error *err)
{
    *out = (struct rocsparse_gpu){.gate = 1};
    if (!ctx)
        return weft__error(err, WEFT_ENODEV, "no OpenCL device that says which GPU to take");
    double begin = clock_ms();
    weft_status status = gpu_find(&out->index, &ctx->device, err);
    if (!status)
        status = weft__rocsparse_hip(hipSetDevice(out->index), "hipSetDevice", err);
    if (!status)
        status = weft__rocsparse_hip(hipStreamCreate(&out->stream), "hipStreamCreate", err);
    if (!status)
        status = weft__rocsparse_hip(hipEventCreate(&out->start), "hipEventCreate", err);
    if (!status)
        status = weft__rocsparse_hip(hipEventCreate(&out->stop), "hipEventCreate", err);
    if (!status)
        status = weft__rocsparse_lib(rocsparse_create_handle(&out->handle), "rocsparse_create_handle", err);
    if (!status)
        status = weft__rocsparse_lib(rocsparse_set_stream(out->handle, out->stream), "rocsparse_set_stream", err);
    weft__trace_command(WEFT_TRACE_CALL, "rocsparse_create_handle", -1, begin, clock_ms(), 0);
    return status;
}

void weft__rocsparse_close(struct rocsparse_gpu *gpu)
{
    atomic_store(&gpu->gate, 1);
    if (gpu->stream)
        (void)hipStreamSynchronize(gpu->stream);
    if (gpu->handle)
        rocsparse_destroy_handle(gpu->handle);
    if (gpu->stop)
        (void)hipEventDestroy(gpu->stop);
    if (gpu->start)
        (void)hipEventDestroy(gpu->start);
    if (gpu->stream)
        (void)hipStreamDestroy(gpu->stream);
    *gpu = (struct rocsparse_gpu){.gate = 1};
}

// Most milliseconds that the stream is held back: a call that waits for the stream itself would never end.
#define GATE_MS 5.0

static void gate_wait(hipStream_t stream, hipError_t code, void *arg)
{
    (void)stream;
    (void)code;
    struct rocsparse_gpu *gpu = arg;
    double start = clock_ms();
    while (!atomic_load(&gpu->gate) && clock_ms() - start < GATE_MS)
        sched_yield();
}

weft_status weft__rocsparse_begin(struct rocsparse_gpu *gpu, struct weft_error *err)
{
    weft_status status = weft__rocsparse_hip(hipSetDevice(gpu->index), "hipSetDevice", err);
    atomic_store(&gpu->gate, 0);
    if (!status)
        status = weft__rocsparse_hip(hipStreamAddCallback(gpu->stream, gate_wait, gpu, 0), "hipStreamAddCallback", err);
    if (!status)
        status = weft__rocsparse_hip(hipEventRecord(gpu->start, gpu->stream), "hipEventRecord", err);
    if (status)
        atomic_store(&gpu->gate, 1);
    return status;
}

weft_status weft__rocsparse_end(struct rocsparse_gpu *gpu, weft_status status, double *ms, struct weft_error *err)
{
    float elapsed = 0;
    if (!status)
        status = weft__rocsparse_hip(hipEventRecord(gpu->stop, gpu->stream), "hipEventRecord", err);
    double start = clock_ms();
    atomic_store(&gpu->gate, 1);
    if (!status)
        status = weft__rocsparse_hip(hipEventSynchronize(gpu->stop), "hipEventSynchronize", err);
    double end = clock_ms();
    if (!status)
        status = weft__rocsparse_hip(hipEventElapsedTime(&elapsed, gpu->start, gpu->stop), "hipEventElapsedTime", err);
    *ms = (double)elapsed;
    if (!status)
        weft__trace_command(WEFT_TRACE_KERNEL, "rocSPARSE", -1, start, end, *ms);
    return status;
}

// ---- device memory ----

weft_status weft__rocsparse_alloc(void **out, size_t bytes, const char *what, struct weft_error *err)
{
    char call[96];
    size_t held = weft__max(bytes, 4);
    *out = NULL;
    snprintf(call, sizeof call, "%s, %zu bytes", what, bytes);
    double begin = clock_ms();
    hipError_t code = hipMalloc(out, held);
    weft__trace_command(WEFT_TRACE_ALLOCATE, "hipMalloc", -1, begin, clock_ms(), 0);
    if (code != hipSuccess)
        *out = NULL;
    weft__trace_own(1);
    if (code == hipSuccess)
        code = hipMemset(*out, 0xff, held);
    weft__trace_own(0);
    return weft__rocsparse_hip(code, call, err);
}

weft_status weft__rocsparse_poison(void *memory, size_t bytes, struct weft_error *err)
{
    unsigned char first;
    if (!memory || !bytes)
        return WEFT_OK;
    weft__trace_own(1);
    hipError_t code = hipMemset(memory, 0xff, bytes);
    if (code == hipSuccess)
        code = hipMemcpy(&first, memory, 1, hipMemcpyDeviceToHost); // waits for it
    weft__trace_own(0);
    return weft__rocsparse_hip(code, "hipMemset", err);
}

void weft__rocsparse_free(void **memory)
{
    if (!memory || !*memory)
        return;
    (void)hipFree(*memory);
    *memory = NULL;
}

static weft_status copy(void *to, const void *from, size_t bytes, hipMemcpyKind kind, const char *what,
                        struct weft_error *err)
{
    double start = clock_ms();
    weft_status status = bytes ? weft__rocsparse_hip(hipMemcpy(to, from, bytes, kind), what, err) : WEFT_OK;
    if (!status && bytes)
        weft__trace_command(kind == hipMemcpyHostToDevice ? WEFT_TRACE_WRITE : WEFT_TRACE_READ, "hipMemcpy",
                            (int64_t)bytes, start, clock_ms(), 0);
    return status;
}

weft_status weft__rocsparse_write(void *to, const void *from, size_t bytes, const char *what, struct weft_error *err)
{
    return copy(to, from, bytes, hipMemcpyHostToDevice, what, err);
}

weft_status weft__rocsparse_read(void *to, const void *from, size_t bytes, const char *what, struct weft_error *err)
{
    return copy(to, from, bytes, hipMemcpyDeviceToHost, what, err);
}

weft_status weft__rocsparse_csr_create(struct rocsparse_csr *out, const struct weft_csr *a, struct weft_error *err)
{
    *out = (struct rocsparse_csr){0};
    if (a->ofs != WEFT_OFS_32)
        return weft__error(err, WEFT_EUNSUPPORTED, "these routines of rocSPARSE take 32-bit offsets only");
    out->m = (rocsparse_int)a->m;
    out->n = (rocsparse_int)a->n;
    out->nnz = (rocsparse_int)a->nnz;
    weft_status status =
        weft__rocsparse_alloc(&out->row_ptr, ((size_t)a->m + 1) * sizeof(int32_t), "memory for row_ptr", err);
    if (!status)
        status = weft__rocsparse_alloc(&out->col, (size_t)a->nnz * sizeof *a->col, "memory for col", err);
    if (!status && a->type != WEFT_TYPE_PATTERN)
        status = weft__rocsparse_alloc(&out->val, (size_t)a->nnz * weft_type_bytes(a->type), "memory for val", err);
    return status;
}

weft_status weft__rocsparse_csr_write(struct rocsparse_csr *out, const struct weft_csr *a, struct weft_error *err)
{
    weft_status status =
        weft__rocsparse_write(out->row_ptr, a->row_ptr, ((size_t)a->m + 1) * sizeof(int32_t), "write row_ptr", err);
    if (!status)
        status = weft__rocsparse_write(out->col, a->col, (size_t)a->nnz * sizeof *a->col, "write col", err);
    if (!status && out->val)
        status = weft__rocsparse_write(out->val, a->val, (size_t)a->nnz * weft_type_bytes(a->type), "write val", err);
    return status;
}

void weft__rocsparse_csr_free(struct rocsparse_csr *a)
{
    weft__rocsparse_free(&a->row_ptr);
    weft__rocsparse_free(&a->col);
    weft__rocsparse_free(&a->val);
}

// ---- the table ----

static weft_status probe(struct weft_context *ctx, struct weft_error *err)
{
    int index;
    if (ctx)
        return gpu_find(&index, &ctx->device, err);
    weft_status status = gpu_count(&index, err);
    return status ? status : weft__error(err, WEFT_ENODEV, "no OpenCL device that says which GPU to take");
}

// Only a handle tells the version of the library, and only a GPU gives a handle; without one it is that of the headers.
static const char *version(void)
{
    static char text[64];
    rocsparse_handle handle = NULL;
    int count, number = 0;
    if (!text[0] && !gpu_count(&count, NULL) && rocsparse_create_handle(&handle) == rocsparse_status_success) {
        if (rocsparse_get_version(handle, &number) == rocsparse_status_success)
            snprintf(text, sizeof text, "rocSPARSE %d.%d.%d", number / 100000, number / 100 % 1000, number % 100);
        rocsparse_destroy_handle(handle);
    }
    if (text[0])
        return text;
    static char headers[64];
    snprintf(headers, sizeof headers, "rocSPARSE %d.%d.%d (headers)", ROCSPARSE_VERSION_MAJOR, ROCSPARSE_VERSION_MINOR,
             ROCSPARSE_VERSION_PATCH);
    return headers;
}

const struct weft_backend weft__backend_rocsparse = {
    .name = "rocsparse",
    .needs = "hip",
    .probe = probe,
    .version = version,
    .transpose = {WEFT__BACKEND_OP(rocsparse, transpose)},
    .spmv = {WEFT__BACKEND_OP(rocsparse, spmv)},
};
