// SPDX-License-Identifier: Apache-2.0
// Counters of the processor by perf_event_open: all threads that the process has at open (the workers of PoCL among
// them), and the threads that these start later.
#include "counters_source.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SOURCE "perf_event_open"

// Two groups, each counted as a whole or not at all, so that ratios within a group mean something.
enum { SOFTWARE, HARDWARE, GROUPS };
static const struct event {
    const char *name, *unit;
    int group;
    uint32_t type;
    uint64_t config;
    int kernel; // what it counts happens in the kernel
    double scale;
} events[] = {
    {"task_clock", "ms", SOFTWARE, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0, 1e-6},
    {"page_faults", "1", SOFTWARE, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, 1},
    {"context_switches", "1", SOFTWARE, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 1, 1},
    {"cycles", "1", HARDWARE, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 1},
    {"instructions", "1", HARDWARE, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, 1},
    {"llc_references", "1", HARDWARE, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 0, 1},
    {"llc_misses", "1", HARDWARE, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 0, 1},
};
enum { TASK_CLOCK = 0, CYCLES = 3, EVENTS = sizeof events / sizeof *events };

struct perf {
    struct weft_counter *counters[EVENTS], *clock;
    struct perf_thread {
        int fd[EVENTS];     // -1: not counted
        int leader[GROUPS]; // descriptor that starts and stops the group, -1: none
    } * threads;
    size_t nthreads;
};

static int perf_open(struct perf_event_attr *attr, int tid, int group)
{
    return (int)syscall(SYS_perf_event_open, attr, tid, -1, group, PERF_FLAG_FD_CLOEXEC);
}
int (*weft_counters_perf_open)(struct perf_event_attr *attr, int tid, int group) = perf_open;

static void refused(struct weft_counter *counter, int error)
{
    double paranoid;
    switch (error) {
    case EACCES:
    case EPERM:
        if (weft_counters_file("/proc/sys/kernel/perf_event_paranoid", &paranoid))
            weft_counter_absent(counter, "no permission: kernel.perf_event_paranoid is %g (sysctl -w, or CAP_PERFMON)",
                                paranoid);
        else
            weft_counter_absent(counter, "no permission");
        break;
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        weft_counter_absent(counter, "the processor does not offer it (a virtual machine without counters?)");
        break;
    case ENOSYS:
        weft_counter_absent(counter, "the kernel has no perf_event_open, or forbids it");
        break;
    default:
        weft_counter_absent(counter, "%s", strerror(error));
        break;
    }
}

static void thread_open(struct perf *p, struct perf_thread *thread, int tid)
{
    thread->leader[SOFTWARE] = thread->leader[HARDWARE] = -1;
    for (int i = 0; i < EVENTS; i++) {
        struct perf_event_attr attr = {.size = sizeof attr, .type = events[i].type, .config = events[i].config};
        int *leader = &thread->leader[events[i].group];
        attr.disabled = *leader < 0;
        attr.inherit = 1;
        attr.exclude_kernel = !events[i].kernel;
        attr.exclude_hv = 1;
        attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        thread->fd[i] = weft_counters_perf_open(&attr, tid, *leader);
        if (thread->fd[i] >= 0 && *leader < 0)
            *leader = thread->fd[i];
        if (thread->fd[i] < 0 && errno != ESRCH)
            refused(p->counters[i], errno);
    }
}

static void perf_close(void *state)
{
    struct perf *p = state;
    for (size_t t = 0; t < p->nthreads; t++)
        for (int i = EVENTS; i-- > 0;)
            if (p->threads[t].fd[i] >= 0)
                close(p->threads[t].fd[i]);
    free(p->threads);
    free(p);
}

static void *perf_source_open(struct weft_counters *c, const struct weft_device_info *device)
{
    (void)device;
    struct weft_counter *counters[EVENTS];
    for (int i = 0; i < EVENTS; i++)
        counters[i] = weft_counter_add(c, events[i].name, events[i].unit, SOURCE, WEFT_COUNTER_SUM);
    struct weft_counter *clock =
        weft_counter_add(c, "busy_clock", "MHz", SOURCE ", cycles / task_clock", WEFT_COUNTER_SUM);
    struct perf *p = calloc(1, sizeof *p);
    DIR *tasks = opendir("/proc/self/task");
    int some = 0;
    for (struct dirent *task; p && tasks && (task = readdir(tasks));) {
        int tid = atoi(task->d_name);
        struct perf_thread *grown = tid ? realloc(p->threads, (p->nthreads + 1) * sizeof *grown) : NULL;
        if (!grown)
            continue;
        p->threads = grown;
        memcpy(p->counters, counters, sizeof counters);
        p->clock = clock;
        thread_open(p, &grown[p->nthreads], tid);
        for (int i = 0; i < EVENTS; i++)
            some |= grown[p->nthreads].fd[i] >= 0;
        p->nthreads++;
    }
    if (tasks)
        closedir(tasks);
    for (int i = 0; i < EVENTS && !some; i++)
        weft_counter_absent(counters[i], "no thread could be counted");
    if (!some)
        weft_counter_absent(clock, "needs cycles and task_clock");
    if (p && !some)
        perf_close(p);
    return some ? p : NULL;
}

static void threads_control(struct perf *p, unsigned long request)
{
    for (size_t t = 0; t < p->nthreads; t++)
        for (int g = 0; g < GROUPS; g++)
            if (p->threads[t].leader[g] >= 0)
                ioctl(p->threads[t].leader[g], request, PERF_IOC_FLAG_GROUP);
}

static void perf_start(void *state)
{
    threads_control(state, PERF_EVENT_IOC_ENABLE);
}

static void perf_stop(void *state)
{
    threads_control(state, PERF_EVENT_IOC_DISABLE);
}

// Sum over the threads, NaN: none. Hardware that others used, too, counted for a part of the time: scaled up to all of it.
static double event_sum(const struct perf *p, int i)
{
    double sum = 0;
    int some = 0;
    for (size_t t = 0; t < p->nthreads; t++) {
        uint64_t got[3]; // value, time enabled, time running
        int fd = p->threads[t].fd[i];
        if (fd < 0 || read(fd, got, sizeof got) != (ssize_t)sizeof got)
            continue;
        some = 1;
        if (got[2] && events[i].group == HARDWARE)
            sum += (double)got[0] * ((double)got[1] / (double)got[2]);
        else if (events[i].group == HARDWARE && got[1])
            weft_counter_absent(p->counters[i], "the processor's counters were taken by others");
        else
            sum += (double)got[0];
    }
    return some && !p->counters[i]->why[0] ? round(sum) * events[i].scale : NAN;
}

static void perf_total(void *state, struct weft_counters *c)
{
    struct perf *p = state;
    double sums[EVENTS];
    for (int i = 0; i < EVENTS; i++) {
        sums[i] = p->counters[i] ? event_sum(p, i) : NAN;
        weft_counter_put(c, p->counters[i], sums[i]);
    }
    if (sums[TASK_CLOCK] > 0)
        weft_counter_put(c, p->clock, sums[CYCLES] / sums[TASK_CLOCK] * 1e-3);
    weft_counter_absent(p->clock, "needs cycles and task_clock");
}

const struct weft_counter_source weft_counters_perf = {
    .open = perf_source_open, .start = perf_start, .stop = perf_stop, .total = perf_total, .close = perf_close};
