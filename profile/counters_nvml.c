// SPDX-License-Identifier: Apache-2.0
// Clocks, power, temperature, load and the reasons for lower clocks of an NVIDIA GPU, from the library of its driver
// (NVML). The declarations below are those of its public interface, as far as they are called.
#include "counters_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE "NVML"

typedef struct nvml_device *nvml_device;
struct nvml_utilization {
    unsigned gpu, memory; // percent of the last period
};
enum { NVML_SUCCESS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_TEMPERATURE_GPU = 0 };

// X(symbol, arguments)
#define NVML_CALLS(X)                                                                                                  \
    X(nvmlInit_v2, (void))                                                                                             \
    X(nvmlShutdown, (void))                                                                                            \
    X(nvmlDeviceGetCount_v2, (unsigned *))                                                                             \
    X(nvmlDeviceGetHandleByIndex_v2, (unsigned, nvml_device *))                                                        \
    X(nvmlDeviceGetHandleByPciBusId_v2, (const char *, nvml_device *))                                                 \
    X(nvmlDeviceGetClockInfo, (nvml_device, int, unsigned *))                                                          \
    X(nvmlDeviceGetMaxClockInfo, (nvml_device, int, unsigned *))                                                       \
    X(nvmlDeviceGetPowerUsage, (nvml_device, unsigned *))                                                              \
    X(nvmlDeviceGetEnforcedPowerLimit, (nvml_device, unsigned *))                                                      \
    X(nvmlDeviceGetTotalEnergyConsumption, (nvml_device, unsigned long long *))                                        \
    X(nvmlDeviceGetTemperature, (nvml_device, int, unsigned *))                                                        \
    X(nvmlDeviceGetUtilizationRates, (nvml_device, struct nvml_utilization *))                                         \
    X(nvmlDeviceGetCurrentClocksEventReasons, (nvml_device, unsigned long long *))                                     \
    X(nvmlDeviceGetCurrentClocksThrottleReasons, (nvml_device, unsigned long long *))

struct nvml {
    void *library;
    nvml_device device;
    const char *(*nvmlErrorString)(int);
#define MEMBER(name, arguments) int(*name) arguments;
    NVML_CALLS(MEMBER)
#undef MEMBER
    struct weft_counter *sm_clock, *memory_clock, *sm_clock_max, *memory_clock_max, *throttle;
    struct weft_board board;
};

// Idle clocks and clocks that somebody has set are no throttling.
static const char *reason_text(uint64_t bit)
{
    switch (bit) {
    case 0x4:
        return "power_cap";
    case 0x8:
        return "hardware_slowdown";
    case 0x20:
        return "thermal";
    case 0x40:
        return "hardware_thermal";
    case 0x80:
        return "power_brake";
    default:
        return NULL;
    }
}

// Whether the call can be made and went well; else the counter says why not.
static int went_well(const struct nvml *n, struct weft_counter *counter, const char *name, int missing, int status)
{
    if (missing)
        weft_counter_absent(counter, "the NVML of this driver has no %s", name);
    else if (status != NVML_SUCCESS)
        weft_counter_absent(counter, "%s: %s", name, n->nvmlErrorString ? n->nvmlErrorString(status) : "error");
    return !missing && status == NVML_SUCCESS;
}
#define CALL(n, counter, name, ...)                                                                                    \
    went_well(n, counter, #name, !(n)->name, (n)->name ? (n)->name((n)->device, __VA_ARGS__) : 0)

static void nvml_sample(void *state, struct weft_counters *c)
{
    struct nvml *n = state;
    unsigned value;
    unsigned long long wide;
    struct nvml_utilization busy;
    if (CALL(n, n->sm_clock, nvmlDeviceGetClockInfo, NVML_CLOCK_SM, &value))
        weft_counter_put(c, n->sm_clock, value);
    if (CALL(n, n->memory_clock, nvmlDeviceGetClockInfo, NVML_CLOCK_MEM, &value))
        weft_counter_put(c, n->memory_clock, value);
    if (n->nvmlDeviceGetCurrentClocksEventReasons
            ? CALL(n, n->throttle, nvmlDeviceGetCurrentClocksEventReasons, &wide)
            : CALL(n, n->throttle, nvmlDeviceGetCurrentClocksThrottleReasons, &wide))
        weft_counter_put_flags(c, n->throttle, wide);
    if (CALL(n, n->board.power, nvmlDeviceGetPowerUsage, &value))
        weft_counter_put(c, n->board.power, value * 1e-3);
    if (CALL(n, n->board.energy, nvmlDeviceGetTotalEnergyConsumption, &wide))
        weft_counter_put(c, n->board.energy, (double)wide * 1e-3);
    if (CALL(n, n->board.temperature, nvmlDeviceGetTemperature, NVML_TEMPERATURE_GPU, &value))
        weft_counter_put(c, n->board.temperature, value);
    if (CALL(n, n->board.gpu_busy, nvmlDeviceGetUtilizationRates, &busy)) {
        weft_counter_put(c, n->board.gpu_busy, busy.gpu);
        weft_counter_put(c, n->board.memory_busy, busy.memory);
    } else {
        weft_counter_absent(n->board.memory_busy, "%s", n->board.gpu_busy ? n->board.gpu_busy->why : "");
    }
}

static void nvml_close(void *state)
{
    struct nvml *n = state;
    if (n->nvmlShutdown)
        n->nvmlShutdown();
    // The library stays: it is the driver's, too, and threads of it may still run.
    free(n);
}

// The GPU at the device's place on the PCI bus, or the only one; else the reason.
static int device_find(struct nvml *n, const struct weft_device_info *device, char *why, size_t size)
{
    char place[40];
    unsigned count = 0;
    int status = 0;
    if (device->pci_bus >= 0 && n->nvmlDeviceGetHandleByPciBusId_v2) {
        snprintf(place, sizeof place, "%08x:%02x:%02x.0", device->pci_domain < 0 ? 0u : (unsigned)device->pci_domain,
                 (unsigned)device->pci_bus, (unsigned)device->pci_device);
        status = n->nvmlDeviceGetHandleByPciBusId_v2(place, &n->device);
        if (status)
            snprintf(why, size, "NVML has no GPU at PCI %s: %s", place,
                     n->nvmlErrorString ? n->nvmlErrorString(status) : "error");
        return !status;
    }
    if (n->nvmlDeviceGetCount_v2 && n->nvmlDeviceGetHandleByIndex_v2 && !n->nvmlDeviceGetCount_v2(&count) &&
        count == 1 && !n->nvmlDeviceGetHandleByIndex_v2(0, &n->device))
        return 1;
    snprintf(why, size, "NVML shows %u GPUs, and OpenCL does not tell which of them the device is", count);
    return 0;
}

static int library_open(struct nvml *n, const struct weft_device_info *device, char *why, size_t size)
{
    static const char *const names[] = {"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1", NULL};
    n->library = weft_counters_library(names, why, size);
    if (!n->library)
        return 0;
#define SYMBOL(name, arguments) weft_counters_symbol(n->library, #name, &n->name);
    NVML_CALLS(SYMBOL)
#undef SYMBOL
    weft_counters_symbol(n->library, "nvmlErrorString", &n->nvmlErrorString);
    int status = n->nvmlInit_v2 ? n->nvmlInit_v2() : -1;
    if (!status && device_find(n, device, why, size))
        return 1;
    if (status) {
        n->nvmlShutdown = NULL;
        snprintf(why, size, "nvmlInit_v2: %s",
                 !n->nvmlInit_v2      ? "the library lacks it"
                 : n->nvmlErrorString ? n->nvmlErrorString(status)
                                      : "error");
    }
    return 0;
}

static void *nvml_open(struct weft_counters *c, const struct weft_device_info *device)
{
    struct nvml *n = calloc(1, sizeof *n), unused;
    struct nvml *to = n ? n : &unused;
    char why[200] = "out of memory";
    int good = n && library_open(n, device, why, sizeof why);
    const struct {
        struct weft_counter **at;
        const char *name, *unit;
        enum weft_counter_kind kind;
    } list[] = {{&to->sm_clock, "sm_clock", "MHz", WEFT_COUNTER_GAUGE},
                {&to->sm_clock_max, "sm_clock_max", "MHz", WEFT_COUNTER_FIXED},
                {&to->memory_clock, "memory_clock", "MHz", WEFT_COUNTER_GAUGE},
                {&to->memory_clock_max, "memory_clock_max", "MHz", WEFT_COUNTER_FIXED},
                {&to->throttle, "throttle", "", WEFT_COUNTER_FLAGS}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        *list[i].at = weft_counter_add(c, list[i].name, list[i].unit, SOURCE, list[i].kind);
        if (*list[i].at && list[i].kind == WEFT_COUNTER_FLAGS)
            (*list[i].at)->flag_text = reason_text;
        if (!good)
            weft_counter_absent(*list[i].at, "%s", why);
    }
    weft_board_add(&to->board, c, SOURCE, good ? NULL : why);
    unsigned value;
    if (good && CALL(n, n->sm_clock_max, nvmlDeviceGetMaxClockInfo, NVML_CLOCK_SM, &value))
        weft_counter_put(c, n->sm_clock_max, value);
    if (good && CALL(n, n->memory_clock_max, nvmlDeviceGetMaxClockInfo, NVML_CLOCK_MEM, &value))
        weft_counter_put(c, n->memory_clock_max, value);
    if (good && CALL(n, n->board.power_limit, nvmlDeviceGetEnforcedPowerLimit, &value))
        weft_counter_put(c, n->board.power_limit, value * 1e-3);
    if (!good && n && n->library) {
        nvml_close(n);
        n = NULL;
    }
    if (!good)
        free(n);
    return good ? n : NULL;
}

const struct weft_counter_source weft_counters_nvml = {.open = nvml_open, .sample = nvml_sample, .close = nvml_close};
