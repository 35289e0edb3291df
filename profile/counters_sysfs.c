// SPDX-License-Identifier: Apache-2.0
// Clocks, throttling and energy of the processor from sysfs.
#include "counters_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPUS_MAX = 8, PACKAGES_MAX = 8 };

struct sysfs {
    struct weft_counter *clock, *clock_max, *throttle, *energy;
    int cpus[CPUS_MAX]; // some of them, from first to last
    int ncpus, packages;
    double wraps[PACKAGES_MAX], before[PACKAGES_MAX], total; // uJ: range of a counter, its last value, sum
    int primed;
};

static int cpu_file(int cpu, const char *name, double *out)
{
    char path[256];
    snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%d/%s", weft_counters_sys, cpu, name);
    return weft_counters_file(path, out);
}

static int package_file(int package, const char *name, double *out)
{
    char path[256];
    snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:%d/%s", weft_counters_sys, package, name);
    return weft_counters_file(path, out);
}

static void sysfs_sample(void *state, struct weft_counters *c)
{
    struct sysfs *s = state;
    double value, sum = 0, events = 0;
    int clocks = 0, throttles = 0;
    for (int i = 0; i < s->ncpus; i++) {
        if (cpu_file(s->cpus[i], "cpufreq/scaling_cur_freq", &value)) { // kHz
            sum += value * 1e-3;
            clocks++;
        }
        if (cpu_file(s->cpus[i], "thermal_throttle/core_throttle_count", &value)) {
            events += value;
            throttles++;
        }
        if (cpu_file(s->cpus[i], "thermal_throttle/package_throttle_count", &value))
            events += value;
    }
    if (clocks)
        weft_counter_put(c, s->clock, sum / clocks);
    if (throttles)
        weft_counter_put(c, s->throttle, events);
    int packages = 0;
    for (; packages < s->packages && package_file(packages, "energy_uj", &value); packages++) {
        double more = value - s->before[packages];
        s->total += s->primed ? more + (more < 0 ? s->wraps[packages] : 0) : 0;
        s->before[packages] = value;
    }
    s->primed = 1;
    if (packages && packages == s->packages)
        weft_counter_put(c, s->energy, s->total * 1e-6);
}

// The first "cpu MHz" of /proc/cpuinfo; a virtual machine often shows the nominal clock there.
static void cpuinfo_clock(struct weft_counters *c)
{
    struct weft_counter *clock = weft_counter_add(c, "clock", "MHz", "/proc/cpuinfo", WEFT_COUNTER_FIXED);
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[512];
    double value;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "cpu MHz : %lf", &value) == 1) {
            weft_counter_put(c, clock, value);
            break;
        }
    if (file)
        fclose(file);
    weft_counter_absent(clock, "this machine has no cpufreq, and /proc/cpuinfo shows no clock");
}

static void *sysfs_open(struct weft_counters *c, const struct weft_device_info *device)
{
    (void)device;
    struct sysfs *s = calloc(1, sizeof *s);
    double value;
    int frequency = cpu_file(0, "cpufreq/scaling_cur_freq", &value);
    struct weft_counter *clock =
        frequency ? weft_counter_add(c, "clock", "MHz", "sysfs cpufreq", WEFT_COUNTER_GAUGE) : NULL;
    if (!frequency)
        cpuinfo_clock(c);
    struct weft_counter *max = weft_counter_add(c, "clock_max", "MHz", "sysfs cpufreq", WEFT_COUNTER_FIXED);
    struct weft_counter *throttle =
        weft_counter_add(c, "throttle_events", "1", "sysfs thermal_throttle", WEFT_COUNTER_DELTA);
    struct weft_counter *energy = weft_counter_add(c, "energy", "J", "sysfs powercap (RAPL)", WEFT_COUNTER_DELTA);
    if (!s)
        return NULL;
    s->clock = clock;
    s->clock_max = max;
    s->throttle = throttle;
    s->energy = energy;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    s->ncpus = cpus < 1 ? 1 : cpus > CPUS_MAX ? CPUS_MAX : (int)cpus;
    for (int i = 0; i < s->ncpus; i++)
        s->cpus[i] = (int)((long)i * cpus / s->ncpus);
    if (cpu_file(0, "cpufreq/cpuinfo_max_freq", &value))
        weft_counter_put(c, max, value * 1e-3);
    else
        weft_counter_absent(max, "%s", errno == EACCES ? "no permission" : "this machine has no cpufreq");
    int throttles = cpu_file(0, "thermal_throttle/core_throttle_count", &value);
    if (!throttles)
        weft_counter_absent(throttle, "this machine has no thermal_throttle (Intel, not in a virtual machine)");
    while (s->packages < PACKAGES_MAX && package_file(s->packages, "max_energy_range_uj", &s->wraps[s->packages]))
        s->packages++;
    errno = 0;
    if (!s->packages)
        weft_counter_absent(energy, "this machine has no intel-rapl");
    else if (!package_file(0, "energy_uj", &value))
        weft_counter_absent(energy, "%s", errno == EACCES ? "no permission: energy_uj is for root" : strerror(errno));
    if (frequency || throttles || s->packages)
        return s;
    free(s);
    return NULL;
}

const struct weft_counter_source weft_counters_sysfs = {.open = sysfs_open, .sample = sysfs_sample, .close = free};
