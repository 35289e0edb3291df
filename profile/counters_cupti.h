// SPDX-License-Identifier: Apache-2.0
// The part of CUPTI's public interface that counters_cupti.c calls, declared here so that no headers of CUDA are needed
// (and one of them is C++). Each call takes a struct that begins with its own size and a NULL.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    CUPTI_TYPE_PM_SAMPLING = 1,
    CUPTI_TRIGGER_CYCLES = 0,
    CUPTI_TRIGGER_NS = 1,
    CUPTI_KEEP_OLDEST = 0,
    CUPTI_STOPPED_DATA_FULL = 1
};

#define CUPTI_HEAD                                                                                                     \
    size_t size;                                                                                                       \
    void *priv

struct cupti_initialize {
    CUPTI_HEAD;
};
struct cupti_chip {
    CUPTI_HEAD;
    size_t device;
    const char *name; // out
};
struct cupti_availability {
    CUPTI_HEAD;
    size_t device;
    size_t image_bytes; // out when image is NULL
    uint8_t *image;     // out
};

struct cupti_host {
    CUPTI_HEAD;
    int type;
    const char *chip;
    const uint8_t *availability;
    void *host; // out
};
struct cupti_host_end {
    CUPTI_HEAD;
    void *host;
};
struct cupti_metrics {
    CUPTI_HEAD;
    void *host;
    const char **metrics;
    size_t count;
};
struct cupti_config_size {
    CUPTI_HEAD;
    void *host;
    size_t bytes; // out
};
struct cupti_config {
    CUPTI_HEAD;
    void *host;
    size_t bytes;
    uint8_t *image; // out
};
struct cupti_passes {
    CUPTI_HEAD;
    size_t bytes;
    uint8_t *image;
    size_t passes; // out
};
struct cupti_evaluate {
    CUPTI_HEAD;
    void *host;
    const uint8_t *data;
    size_t data_bytes;
    size_t sample;
    const char **metrics;
    size_t count;
    double *values; // out
};

struct cupti_enable {
    CUPTI_HEAD;
    size_t device;
    void *sampling; // out
};
struct cupti_sampling { // of disable, start and stop
    CUPTI_HEAD;
    void *sampling;
};
struct cupti_set {
    CUPTI_HEAD;
    void *sampling;
    size_t config_bytes;
    const uint8_t *config;
    size_t buffer_bytes;
    uint64_t interval;
    int trigger, append;
};
struct cupti_data_size {
    CUPTI_HEAD;
    void *sampling;
    const char **metrics;
    size_t count;
    uint32_t samples;
    size_t bytes; // out
};
struct cupti_data_clear {
    CUPTI_HEAD;
    void *sampling;
    size_t bytes;
    uint8_t *data;
};
struct cupti_decode {
    CUPTI_HEAD;
    void *sampling;
    uint8_t *data;
    size_t bytes;
    int stopped;      // out
    uint8_t overflow; // out
};
struct cupti_data_info {
    CUPTI_HEAD;
    const uint8_t *data;
    size_t bytes;
    size_t total, populated, completed; // out
};

// What CUPTI takes for the size of a struct: up to the end of its last member.
#define CUPTI_SIZE(type, last) (offsetof(struct type, last) + sizeof((struct type){0}.last))

// X(symbol, struct, its last member)
#define CUPTI_CALLS(X)                                                                                                 \
    X(cuptiProfilerInitialize, cupti_initialize, priv)                                                                 \
    X(cuptiDeviceGetChipName, cupti_chip, name)                                                                        \
    X(cuptiProfilerHostInitialize, cupti_host, host)                                                                   \
    X(cuptiProfilerHostDeinitialize, cupti_host_end, host)                                                             \
    X(cuptiProfilerHostConfigAddMetrics, cupti_metrics, count)                                                         \
    X(cuptiProfilerHostGetConfigImageSize, cupti_config_size, bytes)                                                   \
    X(cuptiProfilerHostGetConfigImage, cupti_config, image)                                                            \
    X(cuptiProfilerHostGetNumOfPasses, cupti_passes, passes)                                                           \
    X(cuptiProfilerHostEvaluateToGpuValues, cupti_evaluate, values)                                                    \
    X(cuptiPmSamplingGetCounterAvailability, cupti_availability, image)                                                \
    X(cuptiPmSamplingEnable, cupti_enable, sampling)                                                                   \
    X(cuptiPmSamplingDisable, cupti_sampling, sampling)                                                                \
    X(cuptiPmSamplingSetConfig, cupti_set, append)                                                                     \
    X(cuptiPmSamplingStart, cupti_sampling, sampling)                                                                  \
    X(cuptiPmSamplingStop, cupti_sampling, sampling)                                                                   \
    X(cuptiPmSamplingGetCounterDataSize, cupti_data_size, bytes)                                                       \
    X(cuptiPmSamplingCounterDataImageInitialize, cupti_data_clear, data)                                               \
    X(cuptiPmSamplingDecodeData, cupti_decode, overflow)                                                               \
    X(cuptiPmSamplingGetCounterDataInfo, cupti_data_info, completed)
