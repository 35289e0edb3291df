// SPDX-License-Identifier: Apache-2.0
// The recorder as a layer of OpenCL: OPENCL_LAYERS=libweft-profile.so any-program. At the program's exit the record is
// written to $WEFT_PROFILE ("%p" is the process; default weft-profile-%p.json); $WEFT_PROFILE_TRACE, _CSV, _HTML name
// more files, $WEFT_PROFILE_LIMIT the commands kept at most. docs/profiling.md, "As a layer".
#include "host/common/name.h"
#include "host/common/spare.h"
#include "calls.h"
#include "host/internal/out.h"
#include "host/internal/text.h"
#include "html.h"
#include "json.h"
#include "write.h"

#include <CL/cl_layer.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define WEFT_NO_LINK_CHECK // the layer is no part of the library
#include <weft/version.h>

#define EXPORT __attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL

static cl_icd_dispatch mine;
static struct profile *recorder;
static pid_t process;

int profile_calls_attach(struct profile *p)
{
    p->detach = profile_calls_detach;
    __atomic_store_n(&profile__active, p, __ATOMIC_RELEASE);
    return 1;
}

void profile_calls_detach(void)
{
    __atomic_store_n(&profile__active, NULL, __ATOMIC_RELEASE);
}

// ---- the end ---------------------------------------------------------------------------------------------------

// Of the files that the environment names: opened when all of the record is there, and each in its place as soon as it is
// whole. Before that it has no name where the system can, so that nothing is left however the process ends; signals are
// the program's.
struct place {
    struct weft__out out;
    char path[4096];
    FILE *file; // NULL: not wanted, or it cannot be written (said on stderr)
};

static void place_fail(const struct place *to, const char *why)
{
    fprintf(stderr, "libweft-profile: %s cannot be written: %s\n", bench_text_line(to->path).text, why);
}

static void place_open(struct place *to, const char *variable, const char *standard)
{
    const char *name = secure_getenv(variable) ? secure_getenv(variable) : standard;
    size_t at = 0;
    *to = (struct place){.file = NULL};
    if (!name || !*name)
        return;
    for (; *name && at + 16 < sizeof to->path; name++)
        if (name[0] == '%' && name[1] == 'p') {
            at += (size_t)sprintf(to->path + at, "%ld", (long)process);
            name++;
        } else {
            to->path[at++] = *name;
        }
    to->path[at] = 0;
    const int spare = bench_spare_matrix(to->path);
    const int error = spare ? 0 : weft__out_open(&to->out, to->path, 0);
    to->file = spare || error ? NULL : weft__out_file(&to->out);
    if (!to->file)
        place_fail(to, spare ? "a file that looks like a matrix is there" : strerror(error ? error : ENOMEM));
}

// good: all of it has been written, but for what the file did not take.
static void place_close(struct place *to, int good)
{
    int error = to->file ? weft__out_flush(&to->out) : 0;
    if (to->file && !error)
        error = good ? weft__out_commit(&to->out) : ENOMEM;
    const int late = weft__out_close(&to->out);
    if (to->file && (error || late))
        place_fail(to, strerror(error ? error : late));
}

static void command_line(char *out, size_t size)
{
    FILE *file = fopen("/proc/self/cmdline", "r");
    size_t length = file ? fread(out, 1, size - 1, file) : 0;
    out[length] = 0;
    for (size_t i = 0; i + 1 < length; i++)
        if (!out[i])
            out[i] = ' ';
    if (file)
        fclose(file);
    weft__text_mend(out);
}

// The devices of all queues in the document; the run's own device is that of most commands.
static int queues_add(cJSON *document, cJSON *run)
{
    cJSON *list = cJSON_AddArrayToObject(run, "queues");
    size_t most = 0;
    int device = -1;
    for (size_t i = 0; i < recorder->queue_count && list; i++) {
        const struct profile_queue *q = &recorder->queues[i];
        size_t commands = 0;
        for (size_t k = 0; k < recorder->count; k++)
            commands += recorder->commands[k].queue == (int)i;
        if (!commands)
            continue;
        int at = profile_document_device(document, q->device, -1);
        cJSON *o = cJSON_CreateObject();
        if (at < 0 || !o || !cJSON_AddItemToArray(list, o) || !profile_json_count(o, "queue", (int64_t)i) ||
            !profile_json_count(o, "device", at) || !cJSON_AddBoolToObject(o, "out_of_order", q->out_of_order) ||
            !profile_json_text(o, "untimed", q->untimed) || !profile_json_count(o, "commands", (int64_t)commands))
            return 0;
        if (commands > most) {
            most = commands;
            device = at;
        }
    }
    return list && profile_json_count(run, "device", device);
}

static cJSON *document_make(void)
{
    struct profile_facts facts = PROFILE_FACTS_NONE;
    char command[4096];
    command_line(command, sizeof command);
    facts.program = 1;
    facts.resources_why = "the layer compiles nothing again";
    cJSON *document = profile_document(program_invocation_short_name, WEFT_VERSION, command);
    cJSON *run = document ? profile_document_run(document) : NULL;
    if (run && profile_json_text(run, "op", "program") && queues_add(document, run) &&
        profile_run_fill(run, recorder, &facts) && profile_json_reason(run, "counters", "the layer counts nothing"))
        return document;
    cJSON_Delete(document);
    return NULL;
}

static void finish(void)
{
    if (getpid() != process || !recorder->rep_count) // a child has its parent's record, and nothing of its own
        return;
    profile_rep_end(recorder);
    profile_calls_detach();
    struct profile_rep *rep = &recorder->reps[0];
    rep->end_ns = rep->spans || recorder->count ? rep->begin_ns + 1 : rep->end_ns;
    for (size_t i = 0; i < rep->spans; i++) // the last call, not the exit
        rep->end_ns = recorder->spans[i].end_ns > rep->end_ns ? recorder->spans[i].end_ns : rep->end_ns;
    profile_rep_settle(recorder);
    for (size_t i = 0; i < recorder->count; i++)
        rep->end_ns = recorder->commands[i].return_ns > rep->end_ns ? recorder->commands[i].return_ns : rep->end_ns;
    // The program's locale may write numbers as no form of the record does. Its threads may still be in a call.
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = plain ? uselocale(plain) : (locale_t)0;
    profile__lock(recorder);
    cJSON *document = document_make();
    static struct place json, trace, csv, html;
    struct profile_trace t;
    place_open(&json, "WEFT_PROFILE", "weft-profile-%p.json");
    place_close(&json, json.file && document && profile_json_write(json.file, document));
    place_open(&trace, "WEFT_PROFILE_TRACE", NULL);
    if (trace.file) {
        profile_trace_begin(&t, trace.file);
        profile_trace_run(&t, recorder, 0, program_invocation_short_name);
    }
    place_close(&trace, trace.file && profile_trace_end(&t));
    place_open(&csv, "WEFT_PROFILE_CSV", NULL);
    place_close(&csv, csv.file && document && profile_csv_write(csv.file, document));
    place_open(&html, "WEFT_PROFILE_HTML", NULL);
    place_close(&html, html.file && document && !profile_html_write(html.file, document));
    cJSON_Delete(document);
    profile__unlock(recorder); // and it stays, for a thread that waits for it
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
}

// ---- the loader's side -----------------------------------------------------------------------------------------

EXPORT clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *size_out)
{
    static const char name[] = "weft-profile";
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    const void *from = what == CL_LAYER_API_VERSION ? (const void *)&version : name;
    size_t bytes = what == CL_LAYER_API_VERSION ? sizeof version : sizeof name;
    if (what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME)
        return CL_INVALID_VALUE;
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, bytes);
    if (size_out)
        *size_out = bytes;
    return CL_SUCCESS;
}

// Commands kept at most, as the environment has it; what is no number from 1 on is said on stderr and left.
static size_t limit_get(void)
{
    const size_t standard = (size_t)1 << 20;
    const char *text = getenv("WEFT_PROFILE_LIMIT");
    if (!text || !*text)
        return standard;
    char *end = NULL;
    errno = 0;
    const long long limit = strtoll(text, &end, 10);
    if (limit > 0 && !*end && !errno)
        return (size_t)limit;
    fprintf(stderr, "libweft-profile: WEFT_PROFILE_LIMIT is \"%s\", not a number of commands; %zu are kept\n", text,
            standard);
    return standard;
}

// A loader of an older OpenCL has fewer entries; all that is not ours stays NULL, which is the target's own.
EXPORT clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *count_out, const cl_icd_dispatch **out)
{
    if (!target || !count_out || !out)
        return CL_INVALID_VALUE;
#define TAKE(name)                                                                                                     \
    if (offsetof(cl_icd_dispatch, name) + sizeof target->name <= count * sizeof(void *))                               \
        profile__next.name = target->name;
#define PUT(name)                                                                                                      \
    if (profile__next.name)                                                                                            \
        mine.name = profile__wrapped.name;
    PROFILE_WRAPPED(TAKE)
    PROFILE_WRAPPED_LAYER(TAKE)
    PROFILE_ASKED(TAKE)
    PROFILE_ASKED_MORE(TAKE)
    PROFILE_WRAPPED(PUT)
    PROFILE_WRAPPED_LAYER(PUT)
    recorder = profile_create(limit_get());
    if (!recorder)
        return CL_OUT_OF_HOST_MEMORY;
    recorder->settle_often = 1;
    process = getpid();
    profile_calls_attach(recorder);
    profile_rep_begin(recorder);
    atexit(finish);
    *out = &mine;
    *count_out = sizeof mine / sizeof(void *);
    return CL_SUCCESS;
}
