// SPDX-License-Identifier: Apache-2.0
// Power, temperature, load and clocks of an AMD GPU: rocm_smi where it is installed, and the files of the driver amdgpu
// for clocks, since the struct in which rocm_smi gives these differs between releases. The declarations below are those
// of the library's public interface, as far as they are called. Not tried on an AMD GPU.
#include "counters_source.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE "rocm_smi"

// X(symbol, arguments)
#define ROCM_CALLS(X)                                                                                                  \
    X(rsmi_init, (uint64_t flags))                                                                                     \
    X(rsmi_shut_down, (void))                                                                                          \
    X(rsmi_num_monitor_devices, (uint32_t * count))                                                                    \
    X(rsmi_status_string, (int status, const char **text))                                                             \
    X(rsmi_dev_pci_id_get, (uint32_t index, uint64_t * place))                                                         \
    X(rsmi_dev_power_ave_get, (uint32_t index, uint32_t sensor, uint64_t * microwatts))                                \
    X(rsmi_dev_power_get, (uint32_t index, uint64_t * microwatts, int *type))                                          \
    X(rsmi_dev_power_cap_get, (uint32_t index, uint32_t sensor, uint64_t * microwatts))                                \
    X(rsmi_dev_energy_count_get, (uint32_t index, uint64_t * count, float *microjoules, uint64_t *time))               \
    X(rsmi_dev_temp_metric_get, (uint32_t index, uint32_t sensor, int metric, int64_t *millidegrees))                  \
    X(rsmi_dev_busy_percent_get, (uint32_t index, uint32_t * percent))                                                 \
    X(rsmi_dev_memory_busy_percent_get, (uint32_t index, uint32_t * percent))
enum { TEMPERATURE_JUNCTION = 1, TEMPERATURE_CURRENT = 0 };

struct rocm {
    void *library;
    uint32_t index;
#define MEMBER(name, arguments) int(*name) arguments;
    ROCM_CALLS(MEMBER)
#undef MEMBER
    char clock_paths[2][320]; // of the shader's and the memory's clock, Hz; "": none
    struct weft_counter *clock, *memory_clock;
    struct weft_board board;
};

static const char *status_text(const struct rocm *r, int status)
{
    const char *text = NULL;
    if (r->rsmi_status_string)
        r->rsmi_status_string(status, &text);
    return text ? text : "error";
}

static int went_well(const struct rocm *r, struct weft_counter *counter, const char *name, int missing, int status)
{
    if (missing)
        weft_counter_absent(counter, "this rocm_smi has no %s", name);
    else if (status)
        weft_counter_absent(counter, "%s: %.120s", name, status_text(r, status));
    return !missing && !status;
}
#define CALL(r, counter, name, ...)                                                                                    \
    went_well(r, counter, #name, !(r)->name, (r)->name ? (r)->name((r)->index, __VA_ARGS__) : 0)

static void rocm_sample(void *state, struct weft_counters *c)
{
    struct rocm *r = state;
    struct weft_counter *const clocks[] = {r->clock, r->memory_clock};
    double value;
    for (int i = 0; i < 2; i++)
        if (r->clock_paths[i][0] && weft_counters_file(r->clock_paths[i], &value))
            weft_counter_put(c, clocks[i], value * 1e-6);
    if (!r->library)
        return;
    uint64_t wide, time;
    int64_t degrees;
    uint32_t percent;
    float unit;
    int type;
    // The newer call knows which kind of power the GPU tells.
    if (r->rsmi_dev_power_get ? CALL(r, r->board.power, rsmi_dev_power_get, &wide, &type)
                              : CALL(r, r->board.power, rsmi_dev_power_ave_get, 0, &wide))
        weft_counter_put(c, r->board.power, (double)wide * 1e-6);
    if (CALL(r, r->board.energy, rsmi_dev_energy_count_get, &wide, &unit, &time))
        weft_counter_put(c, r->board.energy, (double)wide * (double)unit * 1e-6);
    if (CALL(r, r->board.temperature, rsmi_dev_temp_metric_get, TEMPERATURE_JUNCTION, TEMPERATURE_CURRENT, &degrees))
        weft_counter_put(c, r->board.temperature, (double)degrees * 1e-3);
    if (CALL(r, r->board.gpu_busy, rsmi_dev_busy_percent_get, &percent))
        weft_counter_put(c, r->board.gpu_busy, percent);
    if (CALL(r, r->board.memory_busy, rsmi_dev_memory_busy_percent_get, &percent))
        weft_counter_put(c, r->board.memory_busy, percent);
}

static void library_close(struct rocm *r)
{
    if (r->library && r->rsmi_shut_down)
        r->rsmi_shut_down();
    r->library = NULL; // and stays loaded: it is the driver's, and threads of it may still run
}

static void rocm_close(void *state)
{
    library_close(state);
    free(state);
}

// The GPU at the device's place on the PCI bus, or the only one. Bits of a place: domain from 32, bus from 8, device
// from 3, function from 0; the ones between are a partition's.
static int device_find(struct rocm *r, const struct weft_device_info *device, char *why, size_t size)
{
    uint32_t count = 0;
    if (!r->rsmi_num_monitor_devices || r->rsmi_num_monitor_devices(&count))
        count = 0;
    for (r->index = 0; r->index < count && device->pci_bus >= 0; r->index++) {
        uint64_t place;
        if (r->rsmi_dev_pci_id_get && !r->rsmi_dev_pci_id_get(r->index, &place) &&
            (int)(place >> 8 & 0xff) == device->pci_bus && (int)(place >> 3 & 0x1f) == device->pci_device &&
            (int)(place >> 32) == (device->pci_domain < 0 ? 0 : device->pci_domain))
            return 1;
    }
    if (count == 1 && device->pci_bus < 0) {
        r->index = 0;
        return 1;
    }
    snprintf(why, size, "rocm_smi shows %u GPUs, and none of them is known to be the device", count);
    return 0;
}

static int library_open(struct rocm *r, const struct weft_device_info *device, char *why, size_t size)
{
    static const char *const names[] = {"librocm_smi64.so",
                                        "librocm_smi64.so.7",
                                        "librocm_smi64.so.6",
                                        "librocm_smi64.so.5",
                                        "/opt/rocm/lib/librocm_smi64.so",
                                        NULL};
    r->library = weft_counters_library(names, why, size);
    if (!r->library)
        return 0;
#define SYMBOL(name, arguments) weft_counters_symbol(r->library, #name, &r->name);
    ROCM_CALLS(SYMBOL)
#undef SYMBOL
    int status = r->rsmi_init ? r->rsmi_init(0) : -1;
    if (!status && device_find(r, device, why, size))
        return 1;
    if (status) {
        snprintf(why, size, "rsmi_init: %.120s", r->rsmi_init ? status_text(r, status) : "the library lacks it");
        r->rsmi_shut_down = NULL;
    }
    library_close(r);
    return 0;
}

// Names of the files with the clocks of the device, by the labels beside them.
static void clocks_find(struct rocm *r, const struct weft_device_info *device)
{
    char folder[200], path[320], label[16];
    snprintf(folder, sizeof folder, "%s/bus/pci/devices/%04x:%02x:%02x.0/hwmon", weft_counters_sys,
             device->pci_domain < 0 ? 0u : (unsigned)device->pci_domain & 0xffff, (unsigned)device->pci_bus & 0xff,
             (unsigned)device->pci_device & 0x1f);
    DIR *monitors = device->pci_bus >= 0 ? opendir(folder) : NULL;
    for (struct dirent *monitor; monitors && (monitor = readdir(monitors));)
        for (int i = 1; i <= 2 && monitor->d_name[0] != '.'; i++) {
            snprintf(path, sizeof path, "%s/%.60s/freq%d_label", folder, monitor->d_name, i);
            FILE *file = fopen(path, "r");
            int good = file && fscanf(file, "%15s", label) == 1;
            if (file)
                fclose(file);
            int which = good && !strcmp(label, "sclk") ? 0 : good && !strcmp(label, "mclk") ? 1 : -1;
            if (which >= 0)
                snprintf(r->clock_paths[which], sizeof r->clock_paths[which], "%s/%.60s/freq%d_input", folder,
                         monitor->d_name, i);
        }
    if (monitors)
        closedir(monitors);
}

static void *rocm_open(struct weft_counters *c, const struct weft_device_info *device)
{
    struct rocm *r = calloc(1, sizeof *r), unused;
    struct rocm *to = r ? r : &unused;
    char why[200] = "out of memory";
    int good = r && library_open(r, device, why, sizeof why), clocks = 0;
    to->clock = weft_counter_add(c, "clock", "MHz", "sysfs amdgpu", WEFT_COUNTER_GAUGE);
    to->memory_clock = weft_counter_add(c, "memory_clock", "MHz", "sysfs amdgpu", WEFT_COUNTER_GAUGE);
    if (r)
        clocks_find(r, device);
    for (int i = 0; i < 2; i++) {
        clocks |= r && r->clock_paths[i][0];
        if (!r || !r->clock_paths[i][0])
            weft_counter_absent(i ? to->memory_clock : to->clock, "%s",
                                device->pci_bus < 0 ? "OpenCL does not tell where on the PCI bus the device is"
                                                    : "the driver has no file for it (hwmon)");
    }
    weft_board_add(&to->board, c, SOURCE, good ? NULL : why);
    weft_counter_absent(weft_counter_add(c, "throttle", "", SOURCE, WEFT_COUNTER_FLAGS),
                        "rocm_smi gives it in a struct that differs between releases");
    static const char *const traffic[] = {"dram_read", "dram_write"};
    for (int i = 0; i < 2; i++)
        weft_counter_absent(weft_counter_add(c, traffic[i], "bytes", "rocprofiler", WEFT_COUNTER_SUM),
                            "rocprofiler counts only in programs that it starts: rocprofv3 --pmc FETCH_SIZE "
                            "WRITE_SIZE -- weft-bench ...");
    uint64_t limit;
    if (good && CALL(r, r->board.power_limit, rsmi_dev_power_cap_get, 0, &limit))
        weft_counter_put(c, r->board.power_limit, (double)limit * 1e-6);
    if (good || clocks)
        return r;
    free(r);
    return NULL;
}

const struct weft_counter_source weft_counters_rocm = {.open = rocm_open, .sample = rocm_sample, .close = rocm_close};
