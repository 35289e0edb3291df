// SPDX-License-Identifier: Apache-2.0
// A stand-in for CUPTI (and, built once more, for the two entry points of CUDA's driver that go with it): sampling of one
// GPU at PCI 0000:1b:00.0, in the order in which the documentation asks for its calls. While sampling runs a buffer
// collects samples of 1000 bytes read and 10 written. It shows that calls are made as they should be, and says nothing
// of real GPUs.
#include "profile/counters_cupti.h"

#include <string.h>

int cuInit(unsigned flags);
int cuDeviceGetByPCIBusId(int *out, const char *place);
int cuptiGetResultString(int result, const char **text);
#define DECLARE(name, params, last) int name(struct params *p);
CUPTI_CALLS(DECLARE)
#undef DECLARE

int standin_live;              // objects
const char *standin_fail = ""; // the call that fails with 33
int standin_per_run = 3;       // samples between start and stop
int standin_room = 2;          // samples that an image of data holds
static int enabled, configured, running, hosted, added, waiting;
static char sampling_object, host_object;

int cuInit(unsigned flags)
{
    return flags != 0;
}
int cuDeviceGetByPCIBusId(int *out, const char *place)
{
    *out = 4;
    return strcmp(place, "0000:1b:00.0") != 0;
}

int cuptiGetResultString(int result, const char **text)
{
    *text = result == 33 ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR_INVALID_PARAMETER";
    return 0;
}

// What every call checks first: the size of the struct, priv, told to fail; then what is said of the call.
#define CALL(name, params, last, good)                                                                                 \
    int name(struct params *p)                                                                                         \
    {                                                                                                                  \
        if (!strcmp(standin_fail, #name))                                                                              \
            return 33;                                                                                                 \
        return p->size == CUPTI_SIZE(params, last) && !p->priv && (good) ? 0 : 1;                                      \
    }
#define OF_HOST     (p->host == &host_object && hosted)
#define OF_SAMPLING (p->sampling == &sampling_object && enabled)

// Samples of an image of data: their count, in front.
static int *count_of(const uint8_t *data)
{
    return (int *)(void *)(uintptr_t)data;
}

CALL(cuptiProfilerInitialize, cupti_initialize, priv, 1)
CALL(cuptiDeviceGetChipName, cupti_chip, name, (p->name = "GH100", p->device == 4))
CALL(cuptiPmSamplingGetCounterAvailability, cupti_availability, image,
     p->image ? p->image_bytes == 77 && memset(p->image, 7, 77) : (p->image_bytes = 77))
CALL(cuptiProfilerHostInitialize, cupti_host, host,
     p->type == CUPTI_TYPE_PM_SAMPLING && !strcmp(p->chip, "GH100") && p->availability[76] == 7 &&
         (p->host = &host_object, standin_live++, hosted = 1))
CALL(cuptiProfilerHostDeinitialize, cupti_host_end, host, OF_HOST && (standin_live--, hosted = added = 0, 1))
CALL(cuptiProfilerHostConfigAddMetrics, cupti_metrics, count,
     OF_HOST && p->count == 2 && !strncmp(p->metrics[1], "dram__bytes_", 12) && (added = 1))
CALL(cuptiProfilerHostGetConfigImageSize, cupti_config_size, bytes, OF_HOST &&added && (p->bytes = 33))
CALL(cuptiProfilerHostGetConfigImage, cupti_config, image, OF_HOST && p->bytes == 33 && memset(p->image, 3, 33))
CALL(cuptiProfilerHostGetNumOfPasses, cupti_passes, passes, p->bytes == 33 && (p->passes = p->image[32] == 3))
CALL(cuptiPmSamplingEnable, cupti_enable, sampling,
     p->device == 4 && !enabled && (p->sampling = &sampling_object, standin_live++, enabled = 1))
CALL(cuptiPmSamplingDisable, cupti_sampling, sampling,
     OF_SAMPLING && (standin_live--, enabled = configured = running = waiting = 0, 1))
CALL(cuptiPmSamplingSetConfig, cupti_set, append,
     OF_SAMPLING && p->config_bytes == 33 && p->config[32] == 3 && p->buffer_bytes && p->interval && (configured = 1))
CALL(cuptiPmSamplingGetCounterDataSize, cupti_data_size, bytes,
     OF_SAMPLING &&configured && p->count == 2 && p->samples && (p->bytes = sizeof(int)))
CALL(cuptiPmSamplingCounterDataImageInitialize, cupti_data_clear, data,
     OF_SAMPLING && p->bytes == sizeof(int) && (*count_of(p->data) = 0, 1))
CALL(cuptiPmSamplingStart, cupti_sampling, sampling, OF_SAMPLING &&configured && !running && (running = 1))
CALL(cuptiPmSamplingStop, cupti_sampling, sampling,
     OF_SAMPLING &&running && (running = 0, waiting += standin_per_run, 1))
CALL(cuptiPmSamplingDecodeData, cupti_decode, overflow,
     OF_SAMPLING && !running &&
         (*count_of(p->data) = waiting < standin_room ? waiting : standin_room, waiting -= *count_of(p->data),
          p->stopped = waiting ? CUPTI_STOPPED_DATA_FULL : 2, 1))
CALL(cuptiPmSamplingGetCounterDataInfo, cupti_data_info, completed,
     (p->total = p->populated = p->completed = (size_t)*count_of(p->data), 1))
CALL(cuptiProfilerHostEvaluateToGpuValues, cupti_evaluate, values,
     OF_HOST && p->count == 2 && p->sample < (size_t)*count_of(p->data) && (p->values[0] = 1000, p->values[1] = 10, 1))
