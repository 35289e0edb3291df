// SPDX-License-Identifier: Apache-2.0
// A stand-in for the library of NVIDIA's driver (NVML), for machines without such a GPU: the entry points that
// profile/counters_nvml.c calls, with one GPU at PCI 0000:1b:00.0 whose values follow from how often they were asked.
// It shows that calls are made as they should be, and says nothing of real GPUs. With STANDIN_OLD a release before
// nvmlDeviceGetCurrentClocksEventReasons, with two GPUs.
#include <stdlib.h>
#include <string.h>

typedef struct nvml_device *nvml_device;
struct utilization {
    unsigned gpu, memory;
};

int standin_live;              // init - shutdown
const char *standin_fail = ""; // the call that fails with 3 (not supported)
unsigned standin_clock;        // asked so often
static char gpu;

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int status);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device *out);
int nvmlDeviceGetHandleByPciBusId_v2(const char *place, nvml_device *out);
int nvmlDeviceGetClockInfo(nvml_device device, int clock, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(nvml_device device, int clock, unsigned *mhz);
int nvmlDeviceGetPowerUsage(nvml_device device, unsigned *milliwatts);
int nvmlDeviceGetEnforcedPowerLimit(nvml_device device, unsigned *milliwatts);
int nvmlDeviceGetTotalEnergyConsumption(nvml_device device, unsigned long long *millijoules);
int nvmlDeviceGetTemperature(nvml_device device, int sensor, unsigned *degrees);
int nvmlDeviceGetUtilizationRates(nvml_device device, struct utilization *out);
int nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device device, unsigned long long *bits);
int nvmlDeviceGetCurrentClocksEventReasons(nvml_device device, unsigned long long *bits);

// 0; 1 not initialised, 2 not this GPU, 3 told to fail.
static int status_of(const char *name, nvml_device device)
{
    return !standin_live ? 1 : device != (nvml_device)(void *)&gpu ? 2 : !strcmp(standin_fail, name) ? 3 : 0;
}

int nvmlInit_v2(void)
{
    if (!strcmp(standin_fail, "nvmlInit_v2"))
        return 3;
    standin_live++;
    return 0;
}
int nvmlShutdown(void)
{
    standin_live--;
    return 0;
}
const char *nvmlErrorString(int status)
{
    return status == 3 ? "Not Supported" : status == 2 ? "Not Found" : "Uninitialized";
}
int nvmlDeviceGetCount_v2(unsigned *count)
{
#ifdef STANDIN_OLD
    *count = 2;
#else
    *count = 1;
#endif
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device *out)
{
    *out = (nvml_device)(void *)&gpu;
    return index != 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char *place, nvml_device *out)
{
    *out = (nvml_device)(void *)&gpu;
    return strcmp(place, "00000000:1b:00.0") ? 2 : 0;
}
int nvmlDeviceGetClockInfo(nvml_device device, int clock, unsigned *mhz)
{
    *mhz = clock == 1 ? 1000 + 100 * standin_clock++ : 2619; // SM, memory
    return status_of("nvmlDeviceGetClockInfo", device);
}
int nvmlDeviceGetMaxClockInfo(nvml_device device, int clock, unsigned *mhz)
{
    *mhz = clock == 1 ? 1980 : 3201;
    return status_of("nvmlDeviceGetMaxClockInfo", device);
}
int nvmlDeviceGetPowerUsage(nvml_device device, unsigned *milliwatts)
{
    *milliwatts = 345678;
    return status_of("nvmlDeviceGetPowerUsage", device);
}
int nvmlDeviceGetEnforcedPowerLimit(nvml_device device, unsigned *milliwatts)
{
    *milliwatts = 700000;
    return status_of("nvmlDeviceGetEnforcedPowerLimit", device);
}
int nvmlDeviceGetTotalEnergyConsumption(nvml_device device, unsigned long long *millijoules)
{
    static unsigned long long joules = 5000000; // more than 32 bits of mJ
    *millijoules = joules++ * 1000;
    return status_of("nvmlDeviceGetTotalEnergyConsumption", device);
}
int nvmlDeviceGetTemperature(nvml_device device, int sensor, unsigned *degrees)
{
    *degrees = 41;
    return sensor ? 2 : status_of("nvmlDeviceGetTemperature", device);
}
int nvmlDeviceGetUtilizationRates(nvml_device device, struct utilization *out)
{
    *out = (struct utilization){97, 55};
    return status_of("nvmlDeviceGetUtilizationRates", device);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device device, unsigned long long *bits)
{
    *bits = 0x1; // idle
    return status_of("nvmlDeviceGetCurrentClocksThrottleReasons", device);
}
#ifndef STANDIN_OLD
// Slowed down by hardware when asked first, lowered to the power cap, idle and lowered for heat.
int nvmlDeviceGetCurrentClocksEventReasons(nvml_device device, unsigned long long *bits)
{
    static const unsigned long long list[] = {0x21, 0x8, 0x4};
    *bits = list[standin_clock % 3];
    return status_of("nvmlDeviceGetCurrentClocksEventReasons", device);
}
#endif
