// SPDX-License-Identifier: Apache-2.0
// A stand-in for rocm_smi, for machines without an AMD GPU: the entry points that profile/counters_rocm.c calls, with
// two GPUs, at PCI 0000:03:00.0 and 0001:83:00.0 (of the latter partition 1). It shows that calls are made as they
// should be, and says nothing of real GPUs.
#include <stdint.h>
#include <string.h>

int standin_live;
const char *standin_fail = ""; // the call that fails with 2 (not supported)

int rsmi_init(uint64_t flags);
int rsmi_shut_down(void);
int rsmi_num_monitor_devices(uint32_t *count);
int rsmi_status_string(int status, const char **text);
int rsmi_dev_pci_id_get(uint32_t index, uint64_t *place);
int rsmi_dev_power_get(uint32_t index, uint64_t *microwatts, int *type);
int rsmi_dev_power_cap_get(uint32_t index, uint32_t sensor, uint64_t *microwatts);
int rsmi_dev_energy_count_get(uint32_t index, uint64_t *count, float *unit, uint64_t *time);
int rsmi_dev_temp_metric_get(uint32_t index, uint32_t sensor, int metric, int64_t *millidegrees);
int rsmi_dev_busy_percent_get(uint32_t index, uint32_t *percent);

static int status_of(const char *name, uint32_t index)
{
    return !standin_live || index > 1 ? 1 : !strcmp(standin_fail, name) ? 2 : 0;
}

int rsmi_init(uint64_t flags)
{
    if (flags || !strcmp(standin_fail, "rsmi_init"))
        return 2;
    standin_live++;
    return 0;
}
int rsmi_shut_down(void)
{
    standin_live--;
    return 0;
}
int rsmi_num_monitor_devices(uint32_t *count)
{
    *count = 2;
    return !standin_live;
}
int rsmi_status_string(int status, const char **text)
{
    *text = status == 2 ? "RSMI_STATUS_NOT_SUPPORTED: this function is not supported" : "RSMI_STATUS_INVALID_ARGS";
    return 0;
}
int rsmi_dev_pci_id_get(uint32_t index, uint64_t *place)
{
    *place = index ? UINT64_C(1) << 32 | UINT64_C(1) << 28 | 0x83 << 8 : 0x03 << 8;
    return status_of("rsmi_dev_pci_id_get", index);
}
int rsmi_dev_power_get(uint32_t index, uint64_t *microwatts, int *type)
{
    *microwatts = index ? 512250000 : 100000000;
    *type = 1;
    return status_of("rsmi_dev_power_get", index);
}
int rsmi_dev_power_cap_get(uint32_t index, uint32_t sensor, uint64_t *microwatts)
{
    *microwatts = 750000000;
    return sensor ? 1 : status_of("rsmi_dev_power_cap_get", index);
}
int rsmi_dev_energy_count_get(uint32_t index, uint64_t *count, float *unit, uint64_t *time)
{
    static uint64_t counted = UINT64_C(1) << 40;
    *count = counted += 2000000;
    *unit = 15.5f;
    *time = 1;
    return status_of("rsmi_dev_energy_count_get", index);
}
int rsmi_dev_temp_metric_get(uint32_t index, uint32_t sensor, int metric, int64_t *millidegrees)
{
    *millidegrees = 61500;
    return sensor != 1 || metric ? 1 : status_of("rsmi_dev_temp_metric_get", index);
}
int rsmi_dev_busy_percent_get(uint32_t index, uint32_t *percent)
{
    *percent = 88;
    return status_of("rsmi_dev_busy_percent_get", index);
}
