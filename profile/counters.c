// SPDX-License-Identifier: Apache-2.0
// Counters of the hardware: which sources there are, sampling them by a thread, and what the samples say.
#include "counters.h"
#include "counters_source.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNTERS_MAX = 40, SOURCES_MAX = 3, PERIOD_NS = 20000000 };

struct weft_counters {
    struct weft_counter items[COUNTERS_MAX];
    int count;
    struct {
        const struct weft_counter_source *source;
        void *state;
    } open[SOURCES_MAX];
    int nopen;
    char why[200]; // no source at all
    // Times of the host: of the pairs of start and stop, and from the first start to the last stop.
    int64_t start_ns, first_ns, last_ns, sum_ns;
    int launches;
    // Sampling, by a thread of its own, since asking a driver for its clocks takes longer than a launch.
    pthread_t thread;
    pthread_mutex_t lock; // of the members below
    pthread_cond_t change;
    int has_thread, quit;
    int running;  // between start and stop: sample every PERIOD_NS
    int wanted;   // sample now
    int busy;     // sampling
    int baseline; // this sample is the one before the work
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// ---- for sources -----------------------------------------------------------------------------------------------

struct weft_counter *weft_counter_add(struct weft_counters *c, const char *name, const char *unit, const char *source,
                                      enum weft_counter_kind kind)
{
    if (c->count == COUNTERS_MAX)
        return NULL;
    struct weft_counter *counter = &c->items[c->count++];
    *counter = (struct weft_counter){.name = name, .unit = unit, .source = source, .kind = kind};
    return counter;
}

void weft_counter_put(struct weft_counters *c, struct weft_counter *counter, double value)
{
    if (!counter || !isfinite(value))
        return;
    switch (counter->kind) {
    case WEFT_COUNTER_GAUGE:
        if (c->baseline)
            return;
        counter->min = counter->samples ? fmin(counter->min, value) : value;
        counter->max = counter->samples ? fmax(counter->max, value) : value;
        counter->value += value;
        break;
    case WEFT_COUNTER_DELTA:
        if (c->baseline) {
            counter->base = value;
            return;
        }
        counter->value = value - counter->base;
        break;
    default:
        counter->value = value;
        break;
    }
    counter->samples++;
    counter->why[0] = 0;
}

void weft_counter_put_flags(struct weft_counters *c, struct weft_counter *counter, uint64_t bits)
{
    if (!counter || c->baseline)
        return;
    counter->flags |= bits;
    counter->samples++;
    counter->why[0] = 0;
}

void weft_counter_absent(struct weft_counter *counter, const char *format, ...)
{
    if (!counter || counter->samples || counter->why[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(counter->why, sizeof counter->why, format, args);
    va_end(args);
}

void weft_board_add(struct weft_board *out, struct weft_counters *c, const char *source, const char *why)
{
    const struct {
        struct weft_counter **at;
        const char *name, *unit;
        enum weft_counter_kind kind;
    } list[] = {{&out->power, "power", "W", WEFT_COUNTER_GAUGE},
                {&out->power_limit, "power_limit", "W", WEFT_COUNTER_FIXED},
                {&out->energy, "energy", "J", WEFT_COUNTER_DELTA},
                {&out->temperature, "temperature", "C", WEFT_COUNTER_GAUGE},
                {&out->gpu_busy, "gpu_busy", "%", WEFT_COUNTER_GAUGE},
                {&out->memory_busy, "memory_busy", "%", WEFT_COUNTER_GAUGE}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        *list[i].at = weft_counter_add(c, list[i].name, list[i].unit, source, list[i].kind);
        if (why)
            weft_counter_absent(*list[i].at, "%s", why);
    }
}

void *weft_counters_library(const char *const *names, char *why, size_t size)
{
    for (size_t i = 0; names[i]; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
        const char *text = dlerror();
        if (i == 0)
            snprintf(why, size, "%s", text ? text : names[i]);
    }
    return NULL;
}

void weft_counters_symbol(void *library, const char *name, void *slot)
{
    void *symbol = dlsym(library, name);
    memcpy(slot, &symbol, sizeof symbol); // ISO C has no conversion between pointers to objects and to functions
}

const char *weft_counters_sys = "/sys";

int weft_counters_file(const char *path, double *out)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    int good = fscanf(file, "%lf", out) == 1;
    fclose(file);
    if (!good)
        errno = ENODATA;
    return good;
}

// ---- sampling --------------------------------------------------------------------------------------------------

static void *sample_thread(void *arg)
{
    struct weft_counters *c = arg;
    pthread_mutex_lock(&c->lock);
    while (!c->quit || c->wanted) {
        if (c->wanted) {
            c->wanted = 0;
            c->busy = 1;
            pthread_mutex_unlock(&c->lock);
            for (int i = 0; i < c->nopen; i++)
                if (c->open[i].source->sample)
                    c->open[i].source->sample(c->open[i].state, c);
            pthread_mutex_lock(&c->lock);
            c->baseline = c->busy = 0;
            pthread_cond_broadcast(&c->change);
        } else if (c->running) {
            struct timespec until;
            clock_gettime(CLOCK_MONOTONIC, &until);
            until.tv_nsec += PERIOD_NS;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            if (pthread_cond_timedwait(&c->change, &c->lock, &until) == ETIMEDOUT && c->running)
                c->wanted = 1;
        } else {
            pthread_cond_wait(&c->change, &c->lock);
        }
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static void sampling_open(struct weft_counters *c)
{
    int some = 0;
    for (int i = 0; i < c->nopen; i++)
        some |= c->open[i].source->sample != NULL;
    pthread_condattr_t attr;
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->change, &attr);
    pthread_condattr_destroy(&attr);
    c->has_thread = some && !pthread_create(&c->thread, NULL, sample_thread, c);
    for (int i = 0; i < c->count && some && !c->has_thread; i++)
        if (c->items[i].kind != WEFT_COUNTER_SUM && c->items[i].kind != WEFT_COUNTER_FIXED)
            weft_counter_absent(&c->items[i], "no thread to sample with");
}

// Tell the thread whether the work runs, and have it sample now if asked for.
static void sampling_tell(struct weft_counters *c, int running, int sample, int baseline)
{
    if (!c->has_thread)
        return;
    pthread_mutex_lock(&c->lock);
    c->running = running;
    c->wanted |= sample;
    if (baseline)
        c->baseline = 1;
    pthread_cond_broadcast(&c->change);
    pthread_mutex_unlock(&c->lock);
}

static void sampling_wait(struct weft_counters *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->has_thread && (c->wanted || c->busy))
        pthread_cond_wait(&c->change, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

// ---- the interface ---------------------------------------------------------------------------------------------

int weft_counters_open(struct weft_counters **out, const struct weft_device_info *device)
{
    static const struct weft_counter_source *const cpu[] = {&weft_counters_perf, &weft_counters_sysfs, NULL};
    static const struct weft_counter_source *const nvidia[] = {&weft_counters_cupti, &weft_counters_nvml, NULL};
    static const struct weft_counter_source *const amd[] = {&weft_counters_rocm, NULL};
    const struct weft_counter_source *const *source = NULL;
    struct weft_counters *c = *out = calloc(1, sizeof *c);
    if (!c)
        return -1;
    const char *wanted = getenv("WEFT_COUNTERS");
    if (wanted && !strcmp(wanted, "none"))
        snprintf(c->why, sizeof c->why, "not wanted: WEFT_COUNTERS=none");
    else if (!device || device->type & CL_DEVICE_TYPE_CPU)
        source = cpu;
    else if (strstr(device->vendor, "NVIDIA"))
        source = nvidia;
    else if (strstr(device->vendor, "AMD") || strstr(device->vendor, "Advanced Micro"))
        source = amd;
    else
        snprintf(c->why, sizeof c->why, "no source of counters is known for devices of \"%.80s\"", device->vendor);
    for (; source && *source; source++) {
        void *state = (*source)->open(c, device);
        if (!state)
            continue;
        c->open[c->nopen].source = *source;
        c->open[c->nopen++].state = state;
    }
    sampling_open(c);
    return c->nopen ? 0 : -1;
}

void weft_counters_start(struct weft_counters *c)
{
    if (!c)
        return;
    if (!c->launches) {
        sampling_tell(c, 0, 1, 1);
        sampling_wait(c);
        c->first_ns = now_ns();
    }
    sampling_tell(c, 1, 0, 0);
    for (int i = 0; i < c->nopen; i++)
        if (c->open[i].source->start)
            c->open[i].source->start(c->open[i].state);
    c->start_ns = now_ns();
}

void weft_counters_stop(struct weft_counters *c)
{
    if (!c)
        return;
    c->last_ns = now_ns();
    c->sum_ns += c->last_ns - c->start_ns;
    c->launches++;
    for (int i = c->nopen; i-- > 0;)
        if (c->open[i].source->stop)
            c->open[i].source->stop(c->open[i].state);
    sampling_tell(c, 0, 1, 0);
}

// "sw_power_cap,hw_slowdown", or "none".
static void flags_text(const struct weft_counter *counter, char text[200])
{
    size_t used = 0;
    text[0] = 0;
    for (int bit = 0; bit < 64 && used < 200; bit++) {
        const char *name = counter->flags >> bit & 1 ? counter->flag_text(UINT64_C(1) << bit) : NULL;
        if (name)
            used += (size_t)snprintf(text + used, 200 - used, "%s%s", used ? "," : "", name);
    }
    if (!used)
        snprintf(text, 200, "none");
}

// Counts keep all their digits, other numbers six.
static int number_add(cJSON *object, const char *name, double value)
{
    char text[40];
    snprintf(text, sizeof text, floor(value) == value ? "%.17g" : "%.6g", value);
    return cJSON_AddNumberToObject(object, name, strtod(text, NULL)) != NULL;
}

static int counter_json(cJSON *items, const struct weft_counter *counter, int *throttled)
{
    cJSON *item = cJSON_AddObjectToObject(items, counter->name);
    char text[200];
    int good = item && cJSON_AddStringToObject(item, "source", counter->source);
    if (!counter->samples) {
        const char *why = counter->why[0] ? counter->why : "nothing was counted";
        return good && cJSON_AddStringToObject(item, "reason", why);
    }
    if (counter->kind == WEFT_COUNTER_FLAGS) {
        flags_text(counter, text);
        *throttled = strcmp(text, "none") != 0;
        return good && cJSON_AddStringToObject(item, "value", text) &&
               number_add(item, "samples", (double)counter->samples);
    }
    double value = counter->value;
    if (counter->kind == WEFT_COUNTER_GAUGE)
        value /= (double)counter->samples;
    if (counter->kind == WEFT_COUNTER_DELTA && !strcmp(counter->name, "throttle_events"))
        *throttled = value > 0;
    good = good && number_add(item, "value", value) && cJSON_AddStringToObject(item, "unit", counter->unit);
    if (good && counter->kind == WEFT_COUNTER_GAUGE)
        good = number_add(item, "min", counter->min) && number_add(item, "max", counter->max) &&
               number_add(item, "samples", (double)counter->samples);
    return good;
}

cJSON *weft_counters_json(struct weft_counters *c)
{
    cJSON *record = cJSON_CreateObject();
    int good = record != NULL, throttled = -1;
    if (!good)
        return NULL;
    if (!c || !c->count) {
        good = cJSON_AddStringToObject(record, "reason", c ? c->why : "out of memory") != NULL;
    } else {
        sampling_wait(c);
        for (int i = 0; i < c->nopen; i++)
            if (c->open[i].source->total)
                c->open[i].source->total(c->open[i].state, c);
        good = number_add(record, "launches", c->launches) && number_add(record, "sum_ms", (double)c->sum_ns * 1e-6) &&
               number_add(record, "span_ms", (double)(c->last_ns - c->first_ns) * 1e-6);
        cJSON *items = good ? cJSON_AddObjectToObject(record, "items") : NULL;
        good = items != NULL;
        for (int i = 0; i < c->count && good; i++)
            good = counter_json(items, &c->items[i], &throttled);
        if (good && throttled >= 0)
            good = cJSON_AddBoolToObject(record, "throttled", throttled) != NULL;
    }
    if (!good)
        cJSON_Delete(record);
    return good ? record : NULL;
}

void weft_counters_close(struct weft_counters **c)
{
    if (!c || !*c)
        return;
    if ((*c)->has_thread) {
        pthread_mutex_lock(&(*c)->lock);
        (*c)->quit = 1;
        pthread_cond_broadcast(&(*c)->change);
        pthread_mutex_unlock(&(*c)->lock);
        pthread_join((*c)->thread, NULL);
    }
    for (int i = (*c)->nopen; i-- > 0;)
        (*c)->open[i].source->close((*c)->open[i].state);
    pthread_cond_destroy(&(*c)->change);
    pthread_mutex_destroy(&(*c)->lock);
    free(*c);
    *c = NULL;
}
