// SPDX-License-Identifier: Apache-2.0
// Bytes that the memory of an NVIDIA GPU really read and wrote, by CUPTI's sampling of the whole device: it needs no
// CUDA program, and so sees OpenCL. Asked for with WEFT_COUNTERS=dram, since starting and stopping it takes time. It
// counts what other programs do on the GPU, too.
#include "counters_cupti.h"
#include "counters_source.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SOURCE "CUPTI"

enum { SAMPLES = 4096, INTERVAL_NS = 50000, BUFFER_BYTES = 128 << 20 };
static const char *const names[] = {"dram_read", "dram_write"};
static const char *metrics[] = {"dram__bytes_read.sum", "dram__bytes_write.sum"};

struct cupti {
    void *library, *driver;
#define MEMBER(name, params, last) int (*name)(struct params *);
    CUPTI_CALLS(MEMBER)
#undef MEMBER
    int (*cuptiGetResultString)(int, const char **);
    void *host, *sampling;
    uint8_t *image, *config, *data; // image: CUPTI's host object was given its address
    size_t config_bytes, data_bytes;
    double total[2];
    struct weft_counter *counters[2];
    int failed; // a call failed while the work ran: why holds it
    char why[200];
};

static void all_absent(struct weft_counters *c, const char *why)
{
    for (int i = 0; i < 2; i++)
        weft_counter_absent(weft_counter_add(c, names[i], "bytes", SOURCE, WEFT_COUNTER_SUM), "%s", why);
}

// Zero on success; else `why` has the call and CUPTI's own words.
static int went_wrong(struct cupti *p, const char *name, int result)
{
    const char *text = NULL;
    if (!result)
        return 0;
    if (p->cuptiGetResultString)
        p->cuptiGetResultString(result, &text);
    snprintf(p->why, sizeof p->why, "%s: %.120s (%d)", name, text ? text : "error", result);
    return 1;
}
#define CALL(p, name, params) went_wrong(p, #name, (p)->name(&(params)))

static int library_open(struct cupti *p)
{
    static const char *const files[] = {"libcupti.so.13", "libcupti.so.12", "/usr/local/cuda/lib64/libcupti.so",
                                        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", NULL};
    // CUPTI loads this one by its name alone, and finds it by that name when it is there already.
    static const char *const helpers[] = {"libnvperf_host.so", "/usr/local/cuda/lib64/libnvperf_host.so",
                                          "/usr/local/cuda/extras/CUPTI/lib64/libnvperf_host.so", NULL};
    static const char *const drivers[] = {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", NULL};
    char unused[200]; // without it CUPTI says itself what it lacks
    p->library = weft_counters_library(files, p->why, sizeof p->why);
    if (p->library)
        weft_counters_library(helpers, unused, sizeof unused);
    p->driver = p->library ? weft_counters_library(drivers, p->why, sizeof p->why) : NULL;
    if (!p->driver)
        return 0;
#define SYMBOL(name, params, last)                                                                                     \
    weft_counters_symbol(p->library, #name, &p->name);                                                                 \
    if (!p->name) {                                                                                                    \
        snprintf(p->why, sizeof p->why, "this CUPTI has no %s (12.6 and later have)", #name);                          \
        return 0;                                                                                                      \
    }
    CUPTI_CALLS(SYMBOL)
#undef SYMBOL
    weft_counters_symbol(p->library, "cuptiGetResultString", &p->cuptiGetResultString);
    return 1;
}

// CUDA's number of the device at its place on the PCI bus, -1: why.
static int device_find(struct cupti *p, const struct weft_device_info *device)
{
    int (*init)(unsigned), (*by_place)(int *, const char *);
    int number = -1;
    char place[40] = "?";
    weft_counters_symbol(p->driver, "cuInit", &init);
    weft_counters_symbol(p->driver, "cuDeviceGetByPCIBusId", &by_place);
    if (device->pci_bus >= 0)
        snprintf(place, sizeof place, "%04x:%02x:%02x.0", device->pci_domain < 0 ? 0u : (unsigned)device->pci_domain,
                 (unsigned)device->pci_bus, (unsigned)device->pci_device);
    if (!init || !by_place || device->pci_bus < 0 || init(0) || by_place(&number, place)) {
        snprintf(p->why, sizeof p->why, "CUDA has no device at PCI %s", place);
        return -1;
    }
    return number;
}

// Which registers count the metrics.
static int config_make(struct cupti *p, size_t number)
{
    struct cupti_chip chip = {CUPTI_SIZE(cupti_chip, name), .device = number};
    struct cupti_availability there = {CUPTI_SIZE(cupti_availability, image), .device = number};
    if (CALL(p, cuptiDeviceGetChipName, chip) || CALL(p, cuptiPmSamplingGetCounterAvailability, there))
        return 0;
    p->image = there.image = malloc(there.image_bytes);
    struct cupti_host host = {CUPTI_SIZE(cupti_host, host), .type = CUPTI_TYPE_PM_SAMPLING, .chip = chip.name,
                              .availability = p->image};
    if (!p->image || CALL(p, cuptiPmSamplingGetCounterAvailability, there) ||
        CALL(p, cuptiProfilerHostInitialize, host))
        return 0;
    p->host = host.host;
    struct cupti_metrics add = {CUPTI_SIZE(cupti_metrics, count), .host = p->host, .metrics = metrics, .count = 2};
    struct cupti_config_size size = {CUPTI_SIZE(cupti_config_size, bytes), .host = p->host};
    if (CALL(p, cuptiProfilerHostConfigAddMetrics, add) || CALL(p, cuptiProfilerHostGetConfigImageSize, size))
        return 0;
    p->config_bytes = size.bytes;
    p->config = malloc(size.bytes);
    struct cupti_config get = {CUPTI_SIZE(cupti_config, image), .host = p->host, .bytes = size.bytes,
                               .image = p->config};
    struct cupti_passes passes = {CUPTI_SIZE(cupti_passes, passes), .bytes = size.bytes, .image = p->config};
    if (!p->config || CALL(p, cuptiProfilerHostGetConfigImage, get) || CALL(p, cuptiProfilerHostGetNumOfPasses, passes))
        return 0;
    if (passes.passes != 1)
        snprintf(p->why, sizeof p->why, "this GPU counts them in %zu passes, and sampling has one", passes.passes);
    return passes.passes == 1;
}

static int data_clear(struct cupti *p)
{
    struct cupti_data_clear clear = {CUPTI_SIZE(cupti_data_clear, data), .sampling = p->sampling,
                                     .bytes = p->data_bytes, .data = p->data};
    return !CALL(p, cuptiPmSamplingCounterDataImageInitialize, clear);
}

static int sampling_make(struct cupti *p, size_t number)
{
    struct cupti_enable enable = {CUPTI_SIZE(cupti_enable, sampling), .device = number};
    if (CALL(p, cuptiPmSamplingEnable, enable))
        return 0;
    p->sampling = enable.sampling;
    struct cupti_set set = {CUPTI_SIZE(cupti_set, append),   .sampling = p->sampling,
                            .config_bytes = p->config_bytes, .config = p->config,
                            .buffer_bytes = BUFFER_BYTES,    .interval = INTERVAL_NS,
                            .trigger = CUPTI_TRIGGER_NS,     .append = CUPTI_KEEP_OLDEST};
    struct cupti_data_size size = {CUPTI_SIZE(cupti_data_size, bytes), .sampling = p->sampling, .metrics = metrics,
                                   .count = 2, .samples = SAMPLES};
    if (CALL(p, cuptiPmSamplingSetConfig, set)) {
        // Turing and A100 count cycles of a clock of about 1.5 GHz instead.
        set.trigger = CUPTI_TRIGGER_CYCLES;
        if (CALL(p, cuptiPmSamplingSetConfig, set))
            return 0;
    }
    if (CALL(p, cuptiPmSamplingGetCounterDataSize, size))
        return 0;
    p->data_bytes = size.bytes;
    p->data = malloc(p->data_bytes);
    return p->data && data_clear(p);
}

static void cupti_close(void *state)
{
    struct cupti *p = state;
    if (p->sampling) {
        struct cupti_sampling disable = {CUPTI_SIZE(cupti_sampling, sampling), .sampling = p->sampling};
        p->cuptiPmSamplingDisable(&disable);
    }
    if (p->host) {
        struct cupti_host_end end = {CUPTI_SIZE(cupti_host_end, host), .host = p->host};
        p->cuptiProfilerHostDeinitialize(&end);
    }
    free(p->image);
    free(p->config);
    free(p->data);
    // The libraries stay: CUDA's are not made to be unloaded after use.
    free(p);
}

static int asked_for(void)
{
    const char *wanted = getenv("WEFT_COUNTERS");
    return wanted && strstr(wanted, "dram");
}

static void *cupti_open(struct weft_counters *c, const struct weft_device_info *device)
{
    struct cupti *p = asked_for() ? calloc(1, sizeof *p) : NULL;
    if (!p) {
        all_absent(c, asked_for() ? "out of memory" : "not asked for: WEFT_COUNTERS=dram");
        return NULL;
    }
    snprintf(p->why, sizeof p->why, "out of memory");
    int number = library_open(p) ? device_find(p, device) : -1;
    struct cupti_initialize init = {CUPTI_SIZE(cupti_initialize, priv), .priv = NULL};
    if (number < 0 || CALL(p, cuptiProfilerInitialize, init) || !config_make(p, (size_t)number) ||
        !sampling_make(p, (size_t)number)) {
        all_absent(c, p->why);
        cupti_close(p);
        return NULL;
    }
    for (int i = 0; i < 2; i++)
        p->counters[i] = weft_counter_add(c, names[i], "bytes", SOURCE, WEFT_COUNTER_SUM);
    return p;
}

static void cupti_start(void *state)
{
    struct cupti *p = state;
    struct cupti_sampling start = {CUPTI_SIZE(cupti_sampling, sampling), .sampling = p->sampling};
    if (!p->failed)
        p->failed = CALL(p, cuptiPmSamplingStart, start);
}

// Add up the samples of the image; *some: whether there are any.
static int data_sum(struct cupti *p, int *some)
{
    struct cupti_data_info info = {CUPTI_SIZE(cupti_data_info, completed), .data = p->data, .bytes = p->data_bytes};
    if (CALL(p, cuptiPmSamplingGetCounterDataInfo, info))
        return 0;
    *some = info.completed > 0;
    for (size_t i = 0; i < info.completed; i++) {
        double values[2];
        struct cupti_evaluate value = {CUPTI_SIZE(cupti_evaluate, values),
                                       .host = p->host,
                                       .data = p->data,
                                       .data_bytes = p->data_bytes,
                                       .sample = i,
                                       .metrics = metrics,
                                       .count = 2,
                                       .values = values};
        if (CALL(p, cuptiProfilerHostEvaluateToGpuValues, value))
            return 0;
        p->total[0] += values[0];
        p->total[1] += values[1];
    }
    return 1;
}

static void cupti_stop(void *state)
{
    struct cupti *p = state;
    if (p->failed)
        return;
    // A sample is written at its end: let the one in which the work ended end.
    nanosleep(&(struct timespec){.tv_nsec = 3 * INTERVAL_NS}, NULL);
    struct cupti_sampling stop = {CUPTI_SIZE(cupti_sampling, sampling), .sampling = p->sampling};
    struct cupti_decode decode = {CUPTI_SIZE(cupti_decode, overflow), .sampling = p->sampling, .data = p->data,
                                  .bytes = p->data_bytes};
    int some = 0;
    p->failed = CALL(p, cuptiPmSamplingStop, stop);
    do {
        p->failed = p->failed || CALL(p, cuptiPmSamplingDecodeData, decode) || !data_sum(p, &some) || !data_clear(p);
        if (!p->failed && decode.overflow) {
            snprintf(p->why, sizeof p->why, "the GPU's buffer for samples ran over");
            p->failed = 1;
        }
        if (!p->failed && !some && decode.stopped == CUPTI_STOPPED_DATA_FULL) { // or this would not end
            snprintf(p->why, sizeof p->why, "cuptiPmSamplingDecodeData: a full image without samples");
            p->failed = 1;
        }
    } while (!p->failed && decode.stopped == CUPTI_STOPPED_DATA_FULL);
}

static void cupti_total(void *state, struct weft_counters *c)
{
    struct cupti *p = state;
    for (int i = 0; i < 2; i++) {
        if (p->failed)
            weft_counter_absent(p->counters[i], "%s", p->why);
        else
            weft_counter_put(c, p->counters[i], p->total[i]);
    }
}

const struct weft_counter_source weft_counters_cupti = {
    .open = cupti_open, .start = cupti_start, .stop = cupti_stop, .total = cupti_total, .close = cupti_close};
