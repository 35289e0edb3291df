// SPDX-License-Identifier: Apache-2.0
// weft-bench --profile: records a case end to end and writes the record in all its forms.
#include "profile/calls.h" // before what brings in OpenCL 1.2 alone
#include "profile.h"
#include "backends/opencl/opencl_backend.h"
#include "backends/trace.h"
#include "profile/clock.h"
#include "profile/counters.h"
#include "profile/html.h"
#include "host/common/json.h"
#include "profile/json.h"
#include "bench/op/ceilings.h"
#include "rest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPS = 10, COMMANDS_MAX = 1 << 20 };

int bench_profile_open(struct bench_profile *out, const char *command, FILE *trace)
{
    *out = (struct bench_profile){.trace_file = trace};
    out->document = profile_document("weft-bench", WEFT_VERSION, command);
    out->recorder = profile_create(COMMANDS_MAX);
    if (trace)
        profile_trace_begin(&out->trace, trace);
    return out->document && out->recorder;
}

void bench_profile_close(struct bench_profile *p)
{
    profile_destroy(&p->recorder);
    cJSON_Delete(p->document);
    p->document = NULL;
}

// What has been written takes its place; good: all of it, but for what the file did not take.
static int settled(struct weft__out *out, int good)
{
    const int error = weft__out_flush(out);
    return error ? error : good ? weft__out_commit(out) : ENOMEM;
}

int bench_profile_save(const struct bench_profile *p, const struct weft__out *json)
{
    struct weft__out whole;
    if (!json->path) // not wanted, or what can be written once
        return 0;
    int error = weft__out_open(&whole, json->path, 0);
    if (error)
        return error;
    FILE *file = weft__out_file(&whole);
    error = settled(&whole, file && profile_json_write(file, p->document));
    const int late = weft__out_close(&whole);
    return error ? error : late;
}

void bench_profile_write(struct bench_profile *p, struct weft__out outs[BENCH_OUTS], int errors[BENCH_OUTS])
{
    struct weft__out *json = &outs[BENCH_OUT_JSON], *csv = &outs[BENCH_OUT_CSV], *trace = &outs[BENCH_OUT_TRACE],
                     *html = &outs[BENCH_OUT_HTML];
    memset(errors, 0, BENCH_OUTS * sizeof *errors);
    if (json->path)
        errors[BENCH_OUT_JSON] = bench_profile_save(p, json);
    else if (json->file)
        errors[BENCH_OUT_JSON] = settled(json, profile_json_write(json->file, p->document));
    if (csv->file)
        errors[BENCH_OUT_CSV] = settled(csv, profile_csv_write(csv->file, p->document));
    if (trace->file)
        errors[BENCH_OUT_TRACE] = settled(trace, profile_trace_end(&p->trace));
    if (html->file)
        errors[BENCH_OUT_HTML] = settled(html, !profile_html_write(html->file, p->document));
}

// ---- what backends tell that no call of OpenCL shows -----------------------------------------------------------

static void own_work(int begin)
{
    profile_own(profile__active, begin);
}

static int analysis_told; // in this repetition

static void command_told(enum weft_trace_kind kind, const char *name, int64_t bytes, double begin_ms, double end_ms,
                         double device_ms)
{
    static const enum profile_kind kinds[] = {PROFILE_WRITE, PROFILE_READ, PROFILE_KERNEL};
    const int64_t begin = (int64_t)(begin_ms * 1e6), end = (int64_t)(end_ms * 1e6);
    if (kind >= WEFT_TRACE_ALLOCATE) {
        static const enum profile_phase phases[] = {PHASE_ALLOCATE, PHASE_CALL, PHASE_ANALYSE};
        profile_span_add(profile__active, phases[kind - WEFT_TRACE_ALLOCATE], begin, end);
        analysis_told |= kind == WEFT_TRACE_ANALYSE;
        return;
    }
    profile_command_add(profile__active, kinds[kind], name, bytes, begin, end,
                        device_ms > 0 ? end - (int64_t)(device_ms * 1e6) : 0, device_ms > 0 ? end : 0);
}

// Steps that a backend without OpenCL has only the durations of: writing at the begin of setup, analysis at its end.
static void steps_lay(struct profile *p, const struct bench_run *run, double launch_ms)
{
    const struct weft_backend_times *t = &run->times;
    struct profile_rep *rep = &p->reps[p->rep_count - 1];
    int64_t at = rep->sections[PROFILE_SETUP].begin_ns, end = rep->sections[PROFILE_LAUNCH].end_ns;
    const int told = p->count > rep->first_command; // of CUDA and HIP: transfers and kernels are there
    const double analyse_ms = fmax(t->convert_ms, 0) + fmax(t->analyse_ms, 0) + fmax(t->tune_ms, 0);
    if (!told && t->write_ms > 0)
        profile_command_add(p, PROFILE_WRITE, "write", -1, at, at + (int64_t)(t->write_ms * 1e6), 0, 0);
    at = rep->sections[PROFILE_SETUP].end_ns;
    if (analyse_ms > 0 && !analysis_told)
        profile_span_add(p, PHASE_ANALYSE, at - (int64_t)(analyse_ms * 1e6), at);
    p->section = PROFILE_LAUNCH;
    if (!told && launch_ms > 0)
        profile_command_add(p, PROFILE_KERNEL, run->algo, -1, rep->sections[PROFILE_LAUNCH].begin_ns, end,
                            end - (int64_t)(launch_ms * 1e6), end);
    p->section = PROFILE_NONE;
}

// ---- the same, unrecorded --------------------------------------------------------------------------------------

static double own_ms, own_began_ms;

static void own_plain(int begin)
{
    own_ms += begin ? 0 : bench_now_ms() - own_began_ms;
    own_began_ms = bench_now_ms();
}

// End to end with nobody listening but to the bench's own work; *ms is less that. The recorder is out of the way.
static weft_status plain_run(const struct bench_case *c, double *ms, struct weft_error *err)
{
    struct opencl_events events = {0};
    struct bench_run run = bench_case_start(c, &events);
    double ignored;
    weft__trace = (struct weft_backend_trace){.own = own_plain};
    own_ms = 0;
    bench_quiet(c->backend);
    double start = bench_now_ms();
    weft_status status = c->op->setup(&run, err);
    if (!status)
        status = c->op->launch(&run, &ignored, err);
    if (!status && strcmp(c->backend->needs, "host"))
        status = c->op->read(&run, err);
    *ms = bench_now_ms() - start - own_ms;
    weft__trace = (struct weft_backend_trace){0};
    c->op->finish(&run);
    weft__opencl_events_free(&events);
    return status;
}

// ---- one case --------------------------------------------------------------------------------------------------

struct session {
    struct bench_profile *profile;
    const struct bench_case *c;
    struct profile *p;
    struct weft_counters *counters; // NULL: not open yet, or no memory
    struct profile_facts facts;
    int opencl; // nonzero: the backend's calls are recorded
};

static weft_status section_run(struct session *s, struct bench_run *run, enum profile_section section, double *ms,
                               struct weft_error *err)
{
    const struct bench_op *op = s->c->op;
    const int counted = section == PROFILE_LAUNCH && s->counters;
    if (counted) {
        profile_own(s->p, 1);
        weft_counters_start(s->counters);
        profile_own(s->p, 0);
    }
    profile_section_begin(s->p, section);
    weft_status status = section == PROFILE_SETUP    ? op->setup(run, err)
                         : section == PROFILE_LAUNCH ? op->launch(run, ms, err)
                                                     : op->read(run, err);
    profile_section_end(s->p);
    if (counted) {
        profile_own(s->p, 1);
        weft_counters_stop(s->counters);
        profile_own(s->p, 0);
    }
    return status;
}

// One repetition; verify: also compare the result. What the operation is known for is filled in while its state is there.
static weft_status rep_run(struct session *s, int verify, int *right, struct bench_result *out, struct weft_error *err)
{
    const struct bench_case *c = s->c;
    struct opencl_events events = {0};
    struct bench_run run = bench_case_start(c, &events);
    struct profile_clock clock;
    double ms = 0;
    analysis_told = 0;
    profile_clock_init(&clock);
    if (s->opencl)
        profile_clock_sample(&clock, c->device->queue, c->device->info.id);
    s->p->keep_kernels = !s->p->rep_count;
    bench_quiet(c->backend);
    profile_rep_begin(s->p);
    weft_status status = WEFT_OK;
    const int host = !strcmp(c->backend->needs, "host"); // its result is where the caller wants it
    for (enum profile_section i = PROFILE_SETUP; i <= (host ? PROFILE_LAUNCH : PROFILE_RESULT) && !status; i++)
        status = section_run(s, &run, i, &ms, err);
    if (!s->opencl && !status && !s->p->lost)
        steps_lay(s->p, &run, ms);
    profile_rep_end(s->p);
    if (!s->p->lost && s->p->rep_count) {
        s->p->reps[s->p->rep_count - 1].clock = clock;
        profile_rep_settle(s->p);
    }
    if (!status && s->p->rep_count == 1)
        s->facts.resources_why = profile_resources_ask(s->p);
    if (!status && verify) {
        s->facts.kernel_min_bytes = c->op->bytes_min(&run);
        s->facts.flops = c->op->flops ? c->op->flops(&run) : -1;
        c->op->transfers(&run, &s->facts.write_min_bytes, &s->facts.read_min_bytes);
        if (host)
            s->facts.write_min_bytes = s->facts.read_min_bytes = -1;
        memcpy(out->chosen, run.times.chosen, sizeof out->chosen);
        out->record.chosen = out->chosen[0] ? out->chosen : NULL;
        status = c->op->verify(&run, right, err);
    }
    c->op->finish(&run);
    weft__opencl_events_free(&events);
    return status;
}

static int identity_add(cJSON *run, const struct bench_case *c, const struct bench_record *r, int device)
{
    return profile_json_text(run, "matrix", c->matrix) && profile_json_count(run, "m", r->m) &&
           profile_json_count(run, "n", r->n) && profile_json_count(run, "nnz", r->nnz) &&
           profile_json_text(run, "type", r->type) && profile_json_count(run, "index", r->index) &&
           (r->seed < 0 || bench_json_count(run, "seed", (uint64_t)r->seed)) && profile_json_text(run, "op", r->op) &&
           profile_json_text(run, "backend", r->backend) && profile_json_text(run, "algo", r->algo) &&
           profile_json_text(run, "chosen", r->chosen) && profile_json_text(run, "tune", r->tune) &&
           profile_json_text(run, "library", r->version) && profile_json_count(run, "device", device) &&
           cJSON_AddBoolToObject(run, "verified", r->verified) && profile_json_text(run, "error", r->error) &&
           profile_json_text(run, "skipped", r->skipped);
}

// Position of the device in the document, its ceilings measured the first time; -1: no memory.
static int device_add(struct session *s, double copy_gbps)
{
    const struct bench_device *device = s->c->device;
    int at = profile_document_device(s->profile->document, device ? device->info.id : NULL,
                                     device ? device->info.index : -1);
    cJSON *o = at < 0 ? NULL : cJSON_GetArrayItem(cJSON_GetObjectItem(s->profile->document, "devices"), at);
    cJSON *ceilings = cJSON_GetObjectItem(o, "ceilings");
    if (o && !ceilings && !s->c->options->no_roof) {
        struct bench_ceilings found;
        bench_ceilings_measure(&found, device);
        ceilings = cJSON_AddObjectToObject(o, "ceilings");
        if (!ceilings || !profile_json_number(ceilings, "copy_gbps", copy_gbps) ||
            !profile_json_number(ceilings, "triad_gbps", found.triad_gbps) ||
            !profile_json_stat(ceilings, "launch_us", found.launch_us, (size_t)found.launches) ||
            !profile_json_stat(ceilings, "queue_us", found.queue_us, (size_t)found.launches))
            return -1;
    }
    const cJSON *triad = cJSON_GetObjectItem(ceilings, "triad_gbps");
    s->facts.copy_gbps = copy_gbps;
    s->facts.triad_gbps = triad ? triad->valuedouble : NAN;
    s->facts.queue_us = profile_json_median(ceilings, "queue_us");
    return at;
}

static void outcome_fill(struct bench_result *out, const struct bench_case *c, weft_status status,
                         const struct weft_error *err)
{
    out->outcome = bench_outcome_of(c, status);
    snprintf(out->why, sizeof out->why, "%s", err->text[0] ? err->text : weft_status_text(status));
    out->why[strcspn(out->why, "\n")] = 0;
    if (out->outcome == BENCH_SKIPPED)
        out->record.skipped = out->why;
    else
        out->record.error = out->why;
}

static int trace_add(struct session *s)
{
    char label[256];
    if (!s->profile->trace_file)
        return 1;
    snprintf(label, sizeof label, "%s %s %s %s on %.60s", s->c->op->name, s->c->matrix ? s->c->matrix : "",
             s->c->backend->name, s->c->algo, s->c->device ? s->c->device->info.name : "the host");
    profile_trace_run(&s->profile->trace, s->p, s->facts.first_rep, label);
    return !s->profile->trace.failed;
}

void bench_profile_case(struct bench_profile *profile, const struct bench_case *c, double copy_gbps, FILE *table,
                        struct bench_result *out)
{
    struct session s = {.profile = profile, .c = c, .p = profile->recorder, .facts = PROFILE_FACTS_NONE};
    struct weft_error err = {0};
    const int reps = c->stop.reps > 0 ? c->stop.reps : REPS;
    int right = 0;
    bench_case_identify(out, c);
    s.facts.first_rep = 1;
    s.opencl = !strcmp(c->backend->needs, "opencl");
    profile_clear(s.p);
    profile_calls_attach(s.p);
    int device = device_add(&s, copy_gbps), good = device >= 0;
    weft_status status = good ? WEFT_OK : weft__error(&err, WEFT_ENOMEM, "out of host memory for a profile");
    if (!status && !c->op->read)
        status = weft__error(&err, WEFT_EUNSUPPORTED, "the result of %s is not read apart", c->op->name);
    double *plain_ms = c->options->overhead ? calloc((size_t)reps, sizeof *plain_ms) : NULL;
    for (int i = 0; i <= reps && !status; i++) { // the first one warms up
        if (i == 1)
            weft_counters_open(&s.counters, c->device ? &c->device->info : NULL);
        weft__trace = (struct weft_backend_trace){own_work, command_told};
        status = rep_run(&s, i == reps, &right, out, &err);
        weft__trace = (struct weft_backend_trace){0};
        if (!status && plain_ms && i < reps) {
            profile_calls_detach();
            status = plain_run(c, &plain_ms[i], &err);
            profile_calls_attach(s.p);
        }
    }
    profile_calls_detach();
    bench_threads_rest();
    if (!status && right) {
        out->outcome = BENCH_DONE;
        out->record.verified = 1;
    } else {
        outcome_fill(out, c, status, &err);
    }
    cJSON *run = good ? profile_document_run(profile->document) : NULL;
    good = run && identity_add(run, c, &out->record, device);
    if (good && out->outcome == BENCH_DONE) {
        cJSON *counters = weft_counters_json(s.counters);
        good = counters && profile_run_fill(run, s.p, &s.facts) && cJSON_AddItemToObject(run, "counters", counters) &&
               trace_add(&s) && (!plain_ms || profile_json_stat(run, "plain_ms", plain_ms, (size_t)reps));
    }
    weft_counters_close(&s.counters);
    profile_clear(s.p); // handles are let go while what they are of is there
    free(plain_ms);
    if (!good) {
        weft__error(&err, WEFT_ENOMEM, "out of host memory for a profile");
        outcome_fill(out, c, WEFT_ENOMEM, &err);
    } else if (table) {
        profile_text_write(table, profile->document, run);
        fflush(table);
    }
}
