// SPDX-License-Identifier: Apache-2.0
// Counters of profile/counters.h: those of the processor for real, present or refused; sysfs on a tree of our own; NVML,
// CUPTI and rocm_smi as contract tests against the stand-ins of folder standin, which LD_LIBRARY_PATH names. With the
// argument `old`: an older NVML and no CUPTI, rocm_smi or CUDA; `full`: CUPTI at odds with itself.
#include "tests/support/tap.h"
#include "profile/counters.h"
#include "profile/counters_cupti.h"
#include "profile/counters_source.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct weft_device_info device_of(const char *vendor, cl_device_type type, int domain, int bus)
{
    struct weft_device_info device = {.type = type, .pci_domain = domain, .pci_bus = bus, .pci_device = 0};
    snprintf(device.vendor, sizeof device.vendor, "%s", vendor);
    return device;
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Keep this thread's processor busy for so long.
static void work(double s)
{
    for (double end = seconds(CLOCK_THREAD_CPUTIME_ID) + s; seconds(CLOCK_THREAD_CPUTIME_ID) < end;)
        ;
}

static const cJSON *item(const cJSON *record, const char *name)
{
    return cJSON_GetObjectItem(cJSON_GetObjectItem(record, "items"), name);
}
static double number(const cJSON *record, const char *name, const char *key)
{
    const cJSON *value = cJSON_GetObjectItem(item(record, name), key);
    return cJSON_IsNumber(value) ? value->valuedouble : NAN;
}
static const char *text(const cJSON *record, const char *name, const char *key)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItem(item(record, name), key));
    return value ? value : "(none)";
}
static int reason_has(const cJSON *record, const char *name, const char *word)
{
    int good = isnan(number(record, name, "value")) && strstr(text(record, name, "reason"), word) != NULL;
    if (!good)
        tap_note("%s: %s", name, text(record, name, "reason"));
    return good;
}
static int is(double got, double want)
{
    if (!(fabs(got - want) <= 1e-5 * fabs(want)))
        tap_note("got %.9g, want %.9g", got, want);
    return fabs(got - want) <= 1e-5 * fabs(want);
}

// Every item says where it is from, and has a value with a unit or a reason, not both.
static void form_check(const cJSON *record, const char *what)
{
    int good = cJSON_GetArraySize(cJSON_GetObjectItem(record, "items")) > 0;
    const cJSON *each;
    cJSON_ArrayForEach(each, cJSON_GetObjectItem(record, "items"))
    {
        const cJSON *value = cJSON_GetObjectItem(each, "value"), *reason = cJSON_GetObjectItem(each, "reason");
        int fine = cJSON_HasObjectItem(each, "source") && !value != !reason &&
                   (!cJSON_IsNumber(value) || cJSON_HasObjectItem(each, "unit")) &&
                   (!reason || *cJSON_GetStringValue(reason));
        if (!fine)
            tap_note("%s", each->string);
        good &= fine;
    }
    tap_ok(good, "%s: each counter has a source, and a value with its unit or a reason", what);
}

// ---- the processor ---------------------------------------------------------------------------------------------

static _Atomic int worker_go;
static void *worker_late(void *arg)
{
    (void)arg;
    work(0.03);
    return NULL;
}
static void *worker(void *arg)
{
    pthread_t late;
    while (worker_go == 0)
        usleep(100);
    work(0.03);
    if (!pthread_create(&late, NULL, worker_late, NULL))
        pthread_join(late, NULL);
    worker_go = 2;
    return arg;
}

// Count two pieces of work, of this thread and of one that was there before and starts another. Returns what
// weft_counters_open said; *record is to be freed, *cpu_ms the processor time of the process between start and stop.
static int perf_count(cJSON **record, double *cpu_ms)
{
    struct weft_counters *c;
    pthread_t thread;
    worker_go = 0;
    if (pthread_create(&thread, NULL, worker, NULL))
        tap_bail("no thread");
    int status = weft_counters_open(&c, NULL);
    work(0.05); // not counted
    double cpu = -seconds(CLOCK_PROCESS_CPUTIME_ID);
    weft_counters_start(c);
    work(0.02);
    weft_counters_stop(c);
    cpu += seconds(CLOCK_PROCESS_CPUTIME_ID);
    work(0.05); // not counted
    cpu -= seconds(CLOCK_PROCESS_CPUTIME_ID);
    weft_counters_start(c);
    worker_go = 1;
    while (worker_go == 1)
        usleep(100);
    weft_counters_stop(c);
    cpu += seconds(CLOCK_PROCESS_CPUTIME_ID);
    pthread_join(thread, NULL);
    *record = weft_counters_json(c);
    *cpu_ms = 1e3 * cpu;
    weft_counters_close(&c);
    tap_ok(!c, "closed");
    return status;
}

static void test_perf(void)
{
    cJSON *record;
    double cpu, ms;
    int good;
    // Other work may take the processor between the readings of both clocks: then once more.
    for (int tries = 0;; tries++) {
        int status = perf_count(&record, &cpu);
        ms = number(record, "task_clock", "value");
        good = status == 0 && ms > 79 && fabs(ms - cpu) < 10 + 0.1 * ms;
        if (isnan(ms) || good || tries == 4)
            break;
        tap_note("counted %.1f of %.1f ms: again", ms, cpu);
        cJSON_Delete(record);
    }
    form_check(record, "host");
    if (isnan(ms))
        tap_skip("perf_event_open is refused here: %s", text(record, "task_clock", "reason"));
    else
        tap_ok(good,
               "threads that were there and those they start are counted, between start and stop only: %.1f of %.1f ms",
               ms, cpu);
    if (number(record, "cycles", "value") > 0)
        tap_ok(number(record, "instructions", "value") > 0 && number(record, "busy_clock", "value") > 100,
               "cycles, instructions and the clock");
    else
        tap_skip("no cycles here: %s", text(record, "cycles", "reason"));
    tap_is_int(cJSON_GetObjectItem(record, "launches")->valueint, 2, "pairs of start and stop are counted");
    tap_ok(cJSON_GetObjectItem(record, "sum_ms")->valuedouble < cJSON_GetObjectItem(record, "span_ms")->valuedouble,
           "the span holds what is between them");
    cJSON_Delete(record);
}

static int perf_errno;
static int perf_refuse(struct perf_event_attr *attr, int tid, int group)
{
    (void)attr, (void)tid, (void)group;
    errno = perf_errno;
    return -1;
}
// A file that reads as a counter: value 6 times the event's number + 1 of a quarter of the time.
static int perf_fake(struct perf_event_attr *attr, int tid, int group)
{
    (void)tid, (void)group;
    uint64_t value[3] = {600 * (attr->config + 1), 400, 100};
    int fd = memfd_create("counter", 0);
    return fd >= 0 && pwrite(fd, value, sizeof value, 0) == sizeof value ? fd : -1;
}

static void test_perf_refused(void)
{
    int (*real)(struct perf_event_attr *, int, int) = weft_counters_perf_open;
    const struct {
        int error;
        const char *want;
    } cases[] = {{EACCES, "permission"},
                 {EPERM, "permission"},
                 {ENOENT, "processor"},
                 {ENOSYS, "kernel"},
                 {EMFILE, "open files"}};
    weft_counters_sys = "/nonexistent";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_counters *c;
        perf_errno = cases[i].error;
        weft_counters_perf_open = perf_refuse;
        tap_is_int(weft_counters_open(&c, NULL), -1, "errno %d: nothing to count with", cases[i].error);
        weft_counters_start(c);
        weft_counters_stop(c);
        cJSON *record = weft_counters_json(c);
        tap_ok(reason_has(record, "cycles", cases[i].want) && reason_has(record, "task_clock", cases[i].want),
               "and the reason says %s", cases[i].want);
        cJSON_Delete(record);
        weft_counters_close(&c);
    }
    struct weft_counters *c;
    weft_counters_perf_open = perf_fake;
    struct weft_device_info cpu = device_of("GenuineIntel", CL_DEVICE_TYPE_CPU, -1, -1);
    tap_is_int(weft_counters_open(&c, &cpu), 0, "a CPU device is counted as the host");
    cJSON *record = weft_counters_json(c);
    tap_ok(is(number(record, "cycles", "value"), 2400) && is(number(record, "instructions", "value"), 4800),
           "hardware that was shared is scaled to the whole time");
    tap_ok(is(number(record, "task_clock", "value"), 600 * (PERF_COUNT_SW_TASK_CLOCK + 1) * 1e-6), "software is not");
    cJSON_Delete(record);
    weft_counters_close(&c);
    weft_counters_perf_open = real;
}

static void put(const char *folder, const char *path, const char *value)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    for (char *slash = whole + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        mkdir(whole, 0777);
    }
    FILE *file = fopen(whole, "w");
    if (!file || fprintf(file, "%s\n", value) < 0 || fclose(file))
        tap_bail("%s: %s", whole, strerror(errno));
}

static void remove_tree(const char *folder)
{
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    if (system(command))
        tap_note("%s stays", folder);
}

static void test_sysfs(void)
{
    char folder[] = "/tmp/weft-counters-XXXXXX";
    if (!mkdtemp(folder))
        tap_bail("mkdtemp: %s", strerror(errno));
    weft_counters_sys = folder;
    put(folder, "devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3100000");
    put(folder, "devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000");
    put(folder, "devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "100");
    put(folder, "devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "7");
    put(folder, "class/powercap/intel-rapl:0/max_energy_range_uj", "9000000");
    put(folder, "class/powercap/intel-rapl:0/energy_uj", "8500000");
    struct weft_counters *c;
    weft_counters_open(&c, NULL);
    weft_counters_start(c);
    put(folder, "devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2500000");
    put(folder, "devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "103");
    put(folder, "class/powercap/intel-rapl:0/energy_uj", "1500000"); // past its end
    weft_counters_stop(c);
    cJSON *record = weft_counters_json(c);
    tap_ok(is(number(record, "clock", "value"), 2500) && is(number(record, "clock_max", "value"), 3500),
           "clocks in MHz");
    tap_ok(is(number(record, "throttle_events", "value"), 3) && cJSON_IsTrue(cJSON_GetObjectItem(record, "throttled")),
           "throttling while it ran is noted");
    tap_ok(is(number(record, "energy", "value"), 2), "energy across the wrap of its counter: 2 J");
    cJSON_Delete(record);
    weft_counters_close(&c);
    put(folder, "devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "103");
    weft_counters_open(&c, NULL);
    weft_counters_start(c);
    weft_counters_stop(c);
    record = weft_counters_json(c);
    tap_ok(is(number(record, "throttle_events", "value"), 0) && cJSON_IsFalse(cJSON_GetObjectItem(record, "throttled")),
           "throttling before is not");
    cJSON_Delete(record);
    weft_counters_close(&c);
    weft_counters_sys = "/nonexistent";
    remove_tree(folder);
}

// ---- contracts -------------------------------------------------------------------------------------------------

static void *control(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL), *at = handle ? dlsym(handle, name) : NULL;
    if (!at)
        tap_bail("%s is not the stand-in: %s", library, dlerror());
    return at; // stays open, so that what it counts stays
}

// start and stop `pairs` times, the last sample awaited, and the record.
static cJSON *counted(const struct weft_device_info *device, int pairs, int *status)
{
    struct weft_counters *c;
    *status = weft_counters_open(&c, device);
    for (int i = 0; i < pairs; i++) {
        weft_counters_start(c);
        weft_counters_stop(c);
        cJSON_Delete(weft_counters_json(c)); // waits for the sample after this stop
    }
    cJSON *record = weft_counters_json(c);
    weft_counters_close(&c);
    return record;
}

static void test_nvml(void)
{
    const char library[] = "libnvidia-ml.so.1";
    int *live = control(library, "standin_live"), status;
    const char **fail = control(library, "standin_fail");
    unsigned *asked = control(library, "standin_clock");
    struct weft_device_info gpu = device_of("NVIDIA Corporation", CL_DEVICE_TYPE_GPU, 0, 0x1b);
    *asked = 0;
    cJSON *record = counted(&gpu, 2, &status);
    form_check(record, "NVML");
    // Asked before the first start (1000, not counted), after each stop (1100, 1200).
    tap_ok(status == 0 && is(number(record, "sm_clock", "value"), 1150) &&
               is(number(record, "sm_clock", "min"), 1100) && is(number(record, "sm_clock", "max"), 1200) &&
               number(record, "sm_clock", "samples") == 2,
           "contract of NVML: clocks are those of the work, mean, least and greatest");
    tap_ok(is(number(record, "sm_clock_max", "value"), 1980) && is(number(record, "memory_clock", "value"), 2619) &&
               is(number(record, "memory_clock_max", "value"), 3201),
           "the other clocks");
    tap_ok(is(number(record, "power", "value"), 345.678) && is(number(record, "power_limit", "value"), 700) &&
               is(number(record, "temperature", "value"), 41) && is(number(record, "gpu_busy", "value"), 97) &&
               is(number(record, "memory_busy", "value"), 55),
           "power in W, temperature, load");
    tap_ok(is(number(record, "energy", "value"), 2), "energy since the first start");
    tap_ok(!strcmp(text(record, "throttle", "value"), "power_cap,thermal") &&
               cJSON_IsTrue(cJSON_GetObjectItem(record, "throttled")),
           "every reason for lower clocks that was seen, being idle is none");
    tap_ok(reason_has(record, "dram_read", "WEFT_COUNTERS"), "memory traffic is not counted unasked");
    cJSON_Delete(record);
    static const struct {
        const char *call, *counter;
    } calls[] = {{"nvmlDeviceGetClockInfo", "memory_clock"},
                 {"nvmlDeviceGetMaxClockInfo", "sm_clock_max"},
                 {"nvmlDeviceGetPowerUsage", "power"},
                 {"nvmlDeviceGetEnforcedPowerLimit", "power_limit"},
                 {"nvmlDeviceGetTotalEnergyConsumption", "energy"},
                 {"nvmlDeviceGetTemperature", "temperature"},
                 {"nvmlDeviceGetUtilizationRates", "memory_busy"},
                 {"nvmlDeviceGetCurrentClocksEventReasons", "throttle"}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        *fail = calls[i].call;
        record = counted(&gpu, 1, &status);
        tap_ok(status == 0 && reason_has(record, calls[i].counter, calls[i].call) &&
                   reason_has(record, calls[i].counter, "Not Supported"),
               "%s fails: %s says so", calls[i].call, calls[i].counter);
        if (i == 7)
            tap_ok(!cJSON_HasObjectItem(record, "throttled"), "and whether it throttled is not known");
        cJSON_Delete(record);
    }
    *fail = "nvmlInit_v2";
    record = counted(&gpu, 1, &status);
    tap_ok(status == -1 && reason_has(record, "power", "nvmlInit_v2: Not Supported"), "the library cannot start");
    cJSON_Delete(record);
    *fail = "";
    gpu.pci_bus = 0x1c;
    record = counted(&gpu, 1, &status);
    tap_ok(status == -1 && reason_has(record, "power", "0000:1c:00.0: Not Found"),
           "another GPU's values are not taken");
    cJSON_Delete(record);
    gpu.pci_bus = -1;
    record = counted(&gpu, 1, &status);
    tap_ok(status == 0 && number(record, "power", "value") > 0, "a place that is not known: the only GPU");
    cJSON_Delete(record);
    tap_is_int(*live, 0, "each nvmlInit_v2 has its nvmlShutdown");
}

static void test_cupti(void)
{
    const char library[] = "libcupti.so.13";
    int *live = control(library, "standin_live"), status;
    const char **fail = control(library, "standin_fail");
    struct weft_device_info gpu = device_of("NVIDIA Corporation", CL_DEVICE_TYPE_GPU, 0, 0x1b);
    setenv("WEFT_COUNTERS", "dram", 1);
    cJSON *record = counted(&gpu, 4, &status);
    tap_ok(is(number(record, "dram_read", "value"), 12000) && is(number(record, "dram_write", "value"), 120),
           "contract of CUPTI: all samples of 4 launches, more than an image holds at once");
    cJSON_Delete(record);
#define NAME(name, params, last) #name,
    static const char *const calls[] = {CUPTI_CALLS(NAME)};
#undef NAME
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strstr(calls[i], "Deinitialize") || strstr(calls[i], "Disable"))
            continue; // the last calls, whose failure changes nothing
        *fail = calls[i];
        record = counted(&gpu, 2, &status);
        tap_ok(status == 0 && reason_has(record, "dram_read", calls[i]) &&
                   reason_has(record, "dram_write", "INSUFFICIENT_PRIVILEGES"),
               "%s fails: the reason says so", calls[i]);
        cJSON_Delete(record);
        *fail = "";
        tap_is_int(*live, 0, "and nothing stays");
    }
    gpu.pci_bus = 0x1c;
    record = counted(&gpu, 1, &status);
    tap_ok(reason_has(record, "dram_read", "0000:1c:00.0"), "another GPU's traffic is not taken");
    cJSON_Delete(record);
    unsetenv("WEFT_COUNTERS");
}

// CUPTI that tells an image of samples to be full, with none in it.
static void test_full(void)
{
    int *room = control("libcupti.so.13", "standin_room"), status;
    struct weft_device_info gpu = device_of("NVIDIA Corporation", CL_DEVICE_TYPE_GPU, 0, 0x1b);
    setenv("WEFT_COUNTERS", "dram", 1);
    *room = 0;
    cJSON *record = counted(&gpu, 2, &status);
    tap_ok(reason_has(record, "dram_read", "without samples"),
           "an image that is full of nothing is not asked for ever");
    cJSON_Delete(record);
}

static void test_rocm(void)
{
    const char library[] = "librocm_smi64.so";
    int *live = control(library, "standin_live"), status;
    const char **fail = control(library, "standin_fail");
    struct weft_device_info gpu = device_of("Advanced Micro Devices, Inc.", CL_DEVICE_TYPE_GPU, 1, 0x83);
    char folder[] = "/tmp/weft-counters-XXXXXX";
    if (!mkdtemp(folder))
        tap_bail("mkdtemp: %s", strerror(errno));
    weft_counters_sys = folder;
    put(folder, "bus/pci/devices/0001:83:00.0/hwmon/hwmon7/freq2_label", "mclk");
    put(folder, "bus/pci/devices/0001:83:00.0/hwmon/hwmon7/freq2_input", "1600000000");
    put(folder, "bus/pci/devices/0001:83:00.0/hwmon/hwmon7/freq1_label", "sclk");
    put(folder, "bus/pci/devices/0001:83:00.0/hwmon/hwmon7/freq1_input", "2100000000");
    cJSON *record = counted(&gpu, 3, &status);
    form_check(record, "rocm_smi");
    tap_ok(status == 0 && is(number(record, "power", "value"), 512.25) &&
               is(number(record, "power_limit", "value"), 750) && is(number(record, "temperature", "value"), 61.5) &&
               is(number(record, "gpu_busy", "value"), 88),
           "contract of rocm_smi: power, temperature, load of the GPU at this place");
    tap_ok(is(number(record, "energy", "value"), 3 * 2000000 * 15.5e-6), "energy in the unit that it tells");
    tap_ok(is(number(record, "clock", "value"), 2100) && is(number(record, "memory_clock", "value"), 1600),
           "clocks by their labels in sysfs");
    tap_ok(reason_has(record, "memory_busy", "has no rsmi_dev_memory_busy_percent_get") &&
               reason_has(record, "dram_read", "rocprof"),
           "what it lacks has a reason");
    cJSON_Delete(record);
    static const struct {
        const char *call, *counter;
    } calls[] = {{"rsmi_dev_power_get", "power"},
                 {"rsmi_dev_power_cap_get", "power_limit"},
                 {"rsmi_dev_energy_count_get", "energy"},
                 {"rsmi_dev_temp_metric_get", "temperature"},
                 {"rsmi_dev_busy_percent_get", "gpu_busy"}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        *fail = calls[i].call;
        record = counted(&gpu, 1, &status);
        tap_ok(status == 0 && reason_has(record, calls[i].counter, calls[i].call) &&
                   reason_has(record, calls[i].counter, "NOT_SUPPORTED"),
               "%s fails: %s says so", calls[i].call, calls[i].counter);
        cJSON_Delete(record);
    }
    *fail = "";
    gpu.pci_bus = 0x84;
    record = counted(&gpu, 1, &status);
    tap_ok(status == -1 && reason_has(record, "power", "2 GPUs") && reason_has(record, "clock", "hwmon"),
           "another GPU's values are not taken");
    cJSON_Delete(record);
    gpu.pci_bus = 0x83;
    *fail = "rsmi_init";
    record = counted(&gpu, 1, &status);
    tap_ok(status == 0 && reason_has(record, "power", "rsmi_init") && number(record, "clock", "value") > 0,
           "without the library the driver's clocks stay");
    cJSON_Delete(record);
    *fail = "";
    tap_is_int(*live, 0, "each rsmi_init has its rsmi_shut_down");
    weft_counters_sys = "/nonexistent";
    remove_tree(folder);
}

// An NVML without the newer call and with two GPUs; no CUPTI and no rocm_smi that can be loaded.
static void test_old(void)
{
    int status;
    control("libnvidia-ml.so.1", "standin_live");
    struct weft_device_info gpu = device_of("NVIDIA Corporation", CL_DEVICE_TYPE_GPU, 0, 0x1b);
    cJSON *record = counted(&gpu, 1, &status);
    tap_ok(status == 0 && !strcmp(text(record, "throttle", "value"), "none") &&
               cJSON_IsFalse(cJSON_GetObjectItem(record, "throttled")),
           "contract of an older NVML: the older name of the reasons for clocks");
    cJSON_Delete(record);
    gpu.pci_bus = -1;
    record = counted(&gpu, 1, &status);
    tap_ok(status == -1 && reason_has(record, "power", "2 GPUs"), "a place that is not known, two GPUs: neither");
    cJSON_Delete(record);
    if (!access("/usr/local/cuda/lib64/libcupti.so", R_OK)) {
        tap_skip("CUPTI is installed");
    } else {
        gpu.pci_bus = 0x1b;
        setenv("WEFT_COUNTERS", "dram", 1);
        record = counted(&gpu, 1, &status);
        tap_ok(status == 0 && reason_has(record, "dram_read", "libcupti.so.13"), "no CUPTI: dlopen's reason");
        cJSON_Delete(record);
    }
    if (!access("/opt/rocm/lib/librocm_smi64.so", R_OK)) {
        tap_skip("rocm_smi is installed");
        return;
    }
    weft_counters_sys = "/nonexistent";
    gpu = device_of("Advanced Micro Devices, Inc.", CL_DEVICE_TYPE_GPU, 0, 3);
    record = counted(&gpu, 1, &status);
    tap_ok(status == -1 && reason_has(record, "power", "librocm_smi64.so"), "no rocm_smi: dlopen's reason");
    cJSON_Delete(record);
}

static void test_none(void)
{
    int status;
    struct weft_device_info gpu = device_of("Someone \"else\"", CL_DEVICE_TYPE_GPU, 0, 3);
    cJSON *record = counted(&gpu, 1, &status);
    const char *why = cJSON_GetStringValue(cJSON_GetObjectItem(record, "reason"));
    tap_ok(status == -1 && why && strstr(why, "Someone"), "a vendor without a source: the reason");
    cJSON_Delete(record);
    setenv("WEFT_COUNTERS", "none", 1);
    record = counted(NULL, 1, &status);
    why = cJSON_GetStringValue(cJSON_GetObjectItem(record, "reason"));
    tap_ok(status == -1 && why && strstr(why, "WEFT_COUNTERS=none") && !cJSON_HasObjectItem(record, "items"),
           "WEFT_COUNTERS=none counts nothing");
    cJSON_Delete(record);
    unsetenv("WEFT_COUNTERS");
    weft_counters_start(NULL);
    weft_counters_stop(NULL);
    record = weft_counters_json(NULL);
    tap_ok(cJSON_HasObjectItem(record, "reason"), "counters that are NULL: a reason");
    cJSON_Delete(record);
    struct weft_counters *nothing = NULL;
    weft_counters_close(NULL);
    weft_counters_close(&nothing);
    weft_counters_open(&nothing, NULL);
    record = weft_counters_json(nothing);
    form_check(record, "never started");
    cJSON_Delete(record);
    weft_counters_close(&nothing);
}

int main(int argc, char **argv)
{
    unsetenv("WEFT_COUNTERS");
    if (argc > 1 && !strcmp(argv[1], "old")) {
        test_old();
        return tap_done();
    }
    if (argc > 1 && !strcmp(argv[1], "full")) {
        test_full();
        return tap_done();
    }
    test_perf();
    test_perf_refused();
    test_sysfs();
    test_none();
    test_nvml();
    test_cupti();
    test_rocm();
    return tap_done();
}
