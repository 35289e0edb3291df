// SPDX-License-Identifier: Apache-2.0
// The record of a run as JSON: phases, kernels, bytes, resources.
#include "json.h"
#include "phases.h"
#include "resources.h"
#include "host/internal/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- numbers ---------------------------------------------------------------------------------------------------

static double rounded(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    return strtod(text, NULL);
}

int profile_json_number(cJSON *object, const char *name, double value)
{
    return !isfinite(value) || cJSON_AddNumberToObject(object, name, rounded(value)) != NULL;
}

int profile_json_count(cJSON *object, const char *name, int64_t value)
{
    return value < 0 || cJSON_AddNumberToObject(object, name, (double)value) != NULL;
}

int profile_json_text(cJSON *object, const char *name, const char *value)
{
    if (!value || !*value)
        return 1;
    cJSON *item = cJSON_AddStringToObject(object, name, value);
    if (item)
        weft__text_mend(item->valuestring);
    return item != NULL;
}

int profile_json_reason(cJSON *object, const char *name, const char *reason)
{
    cJSON *why = cJSON_AddObjectToObject(object, name);
    return why && cJSON_AddStringToObject(why, "reason", reason);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double q)
{
    double at = q * (double)(count - 1);
    size_t low = (size_t)at, high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

int profile_json_stat(cJSON *object, const char *name, const double *samples, size_t count)
{
    if (!count)
        return 1;
    cJSON *stat = cJSON_AddObjectToObject(object, name), *list = stat ? cJSON_AddArrayToObject(stat, "samples") : NULL;
    double *sorted = malloc(count * sizeof *sorted);
    int good = list && sorted;
    for (size_t i = 0; i < count && good; i++) {
        cJSON *number = cJSON_CreateNumber(rounded(samples[i]));
        good = number && cJSON_AddItemToArray(list, number);
        sorted[i] = samples[i];
    }
    if (good) {
        qsort(sorted, count, sizeof *sorted, ascending);
        double median = quantile(sorted, count, 0.5);
        double spread = quantile(sorted, count, 0.75) - quantile(sorted, count, 0.25);
        good = profile_json_number(stat, "min", sorted[0]) && profile_json_number(stat, "median", median) &&
               profile_json_number(stat, "max", sorted[count - 1]) &&
               profile_json_number(stat, "noise", median > 0 ? spread / median : 0);
    }
    free(sorted);
    return good;
}

double profile_json_median(const cJSON *object, const char *name)
{
    const cJSON *stat = object ? cJSON_GetObjectItemCaseSensitive(object, name) : NULL;
    const cJSON *median = stat ? cJSON_GetObjectItemCaseSensitive(stat, "median") : NULL;
    return median ? median->valuedouble : NAN;
}

// ---- a run: tables of one number for each repetition -------------------------------------------------------------

// Launches that belong together.
struct group {
    const struct profile_command *like;
    double *ms, *queue_us, *submit_us; // of each repetition
    double launches;                   // of all repetitions
    double median;                     // of ms
};

struct fill {
    const struct profile *p;
    const struct profile_facts *facts;
    const struct profile_rep *reps;
    size_t nreps, middle; // middle: repetition whose end to end time is the median
    struct profile_split *splits;
    struct group *groups;
    size_t ngroups;
    double *column; // room for a number of each repetition
};

static const struct profile_command *commands_of(const struct fill *f, size_t rep)
{
    return f->p->commands + f->reps[rep].first_command;
}

static int ms_column(struct fill *f, cJSON *object, const char *name, enum profile_phase phase)
{
    for (size_t r = 0; r < f->nreps; r++)
        f->column[r] = (double)f->splits[r].ns[phase] * 1e-6;
    return profile_json_stat(object, name, f->column, f->nreps);
}

// Commands of a phase in the middle repetition: how many, their bytes (-1: none told).
static size_t phase_count(const struct fill *f, enum profile_phase phase, int64_t *bytes)
{
    const struct profile_command *c = commands_of(f, f->middle);
    size_t count = 0;
    *bytes = -1;
    for (size_t i = 0; i < f->reps[f->middle].commands; i++)
        if (c[i].phase == phase && c[i].kind != PROFILE_MARKER) {
            count++;
            if (c[i].bytes >= 0)
                *bytes = (*bytes > 0 ? *bytes : 0) + c[i].bytes;
        }
    return count;
}

// Sum of end - start; 0: some command of the phase has no times.
static int device_column(struct fill *f, enum profile_phase phase)
{
    size_t some = 0;
    for (size_t r = 0; r < f->nreps; r++) {
        const struct profile_command *c = commands_of(f, r);
        f->column[r] = 0;
        for (size_t i = 0; i < f->reps[r].commands; i++) {
            if (c[i].phase != phase || c[i].kind == PROFILE_MARKER)
                continue;
            if (c[i].untimed)
                return 0;
            f->column[r] += (double)(c[i].end_ns - c[i].start_ns) * 1e-6;
            some++;
        }
    }
    return some > 0;
}

static int phase_add(struct fill *f, cJSON *phases, enum profile_phase phase)
{
    const struct profile_rep *middle = &f->reps[f->middle];
    const int64_t *ns = f->splits[f->middle].ns;
    const double whole = (double)(middle->end_ns - middle->begin_ns - ns[PHASE_BENCH]);
    const int transfers = phase == PHASE_WRITE || phase == PHASE_READ || phase == PHASE_COPY;
    int64_t bytes;
    size_t count = phase_count(f, phase, &bytes);
    int64_t some = 0;
    for (size_t r = 0; r < f->nreps; r++)
        some |= f->splits[r].ns[phase];
    if (!some && !count)
        return 1;
    cJSON *o = cJSON_CreateObject();
    if (!o || !cJSON_AddItemToArray(phases, o))
        return 0;
    int good = profile_json_text(o, "name", profile_phase_name(phase)) && ms_column(f, o, "ms", phase);
    double ms = profile_json_median(o, "ms");
    good = good && profile_json_number(o, "middle_ms", (double)ns[phase] * 1e-6) &&
           profile_json_number(o, "share", whole > 0 ? (double)ns[phase] / whole : NAN);
    if (phase <= PHASE_COPY)
        good = good && profile_json_count(o, "commands", (int64_t)count);
    if (phase <= PHASE_COPY && device_column(f, phase)) {
        good = good && profile_json_stat(o, "device_ms", f->column, f->nreps);
        ms = profile_json_median(o, "device_ms");
    }
    if (transfers && bytes >= 0)
        good = good && profile_json_count(o, "bytes", bytes) &&
               profile_json_number(o, "gbps", ms > 0 ? (double)bytes / ms * 1e-6 : NAN);
    return good;
}

static int phases_add(struct fill *f, cJSON *run)
{
    cJSON *phases = cJSON_AddArrayToObject(run, "phases");
    for (int phase = PHASE_BENCH + 1; phase < PHASE_COUNT; phase++)
        if (!phases || !phase_add(f, phases, (enum profile_phase)phase))
            return 0;
    return 1;
}

// Bytes of one kind of command in the middle repetition; 0 when there is none.
static int64_t kind_bytes(const struct fill *f, enum profile_kind kind)
{
    const struct profile_command *c = commands_of(f, f->middle);
    int64_t bytes = 0;
    for (size_t i = 0; i < f->reps[f->middle].commands; i++)
        if (c[i].kind == kind && c[i].phase != PHASE_BENCH && c[i].bytes > 0)
            bytes += c[i].bytes;
    return bytes;
}

static int bytes_add(struct fill *f, cJSON *run)
{
    const struct profile_facts *facts = f->facts;
    cJSON *o = cJSON_AddObjectToObject(run, "bytes");
    int64_t copy = kind_bytes(f, PROFILE_COPY), fill = kind_bytes(f, PROFILE_FILL), map = kind_bytes(f, PROFILE_MAP);
    return o && profile_json_count(o, "write", kind_bytes(f, PROFILE_WRITE)) &&
           profile_json_count(o, "read", kind_bytes(f, PROFILE_READ)) &&
           profile_json_count(o, "write_min", facts->write_min_bytes) &&
           profile_json_count(o, "read_min", facts->read_min_bytes) &&
           profile_json_count(o, "copy", copy ? copy : -1) && profile_json_count(o, "fill", fill ? fill : -1) &&
           profile_json_count(o, "map", map ? map : -1) && profile_json_count(o, "kernel_min", facts->kernel_min_bytes);
}

// ---- kernels ---------------------------------------------------------------------------------------------------

static int same_launch(const struct profile_command *a, const struct profile_command *b)
{
    return a->name == b->name && a->phase == b->phase && a->dims == b->dims &&
           !memcmp(a->global, b->global, sizeof a->global) && !memcmp(a->wg, b->wg, sizeof a->wg);
}

static struct group *group_get(struct fill *f, const struct profile_command *c)
{
    for (size_t i = 0; i < f->ngroups; i++)
        if (same_launch(f->groups[i].like, c))
            return &f->groups[i];
    struct group *grown = realloc(f->groups, (f->ngroups + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    f->groups = grown;
    struct group *g = &f->groups[f->ngroups];
    double *room = calloc(3 * f->nreps, sizeof *room);
    *g = (struct group){.like = c, .ms = room, .queue_us = room + f->nreps, .submit_us = room + 2 * f->nreps};
    f->ngroups += room != NULL;
    return room ? g : NULL;
}

static int by_median(const void *a, const void *b)
{
    double x = ((const struct group *)a)->median, y = ((const struct group *)b)->median;
    return (x < y) - (x > y);
}

static int groups_make(struct fill *f)
{
    for (size_t r = 0; r < f->nreps; r++) {
        const struct profile_command *c = commands_of(f, r);
        for (size_t i = 0; i < f->reps[r].commands; i++) {
            if (c[i].kind != PROFILE_KERNEL || c[i].untimed || c[i].phase == PHASE_BENCH)
                continue;
            struct group *g = group_get(f, &c[i]);
            if (!g)
                return 0;
            g->ms[r] += (double)(c[i].end_ns - c[i].start_ns) * 1e-6;
            g->queue_us[r] += (double)(c[i].submit_ns - c[i].queued_ns) * 1e-3;
            g->submit_us[r] += (double)(c[i].start_ns - c[i].submit_ns) * 1e-3;
            g->launches++;
        }
    }
    for (size_t i = 0; i < f->ngroups; i++) {
        struct group *g = &f->groups[i];
        for (size_t r = 0; r < f->nreps; r++) { // means of a launch
            g->queue_us[r] /= g->launches / (double)f->nreps;
            g->submit_us[r] /= g->launches / (double)f->nreps;
        }
        memcpy(f->column, g->ms, f->nreps * sizeof *g->ms);
        qsort(f->column, f->nreps, sizeof *f->column, ascending);
        g->median = quantile(f->column, f->nreps, 0.5);
    }
    if (f->ngroups)
        qsort(f->groups, f->ngroups, sizeof *f->groups, by_median);
    return 1;
}

static int sizes_add(cJSON *o, const char *name, const size_t *sizes, cl_uint dims)
{
    cJSON *list = cJSON_AddArrayToObject(o, name);
    int good = list != NULL;
    for (cl_uint i = 0; i < dims && good; i++) {
        cJSON *number = cJSON_CreateNumber((double)sizes[i]);
        good = number && cJSON_AddItemToArray(list, number);
    }
    return good;
}

static int resources_add(struct fill *f, cJSON *o, const struct profile_command *like)
{
    const struct profile_resources *r = &like->resources;
    // The repetition that warmed up may know more.
    for (size_t i = 0; i < f->reps[0].first_command && r->registers < 0; i++)
        if (same_launch(&f->p->commands[i], like) && f->p->commands[i].resources.registers >= 0)
            r = &f->p->commands[i].resources;
    if (!r->known)
        return profile_json_reason(o, "resources", "no OpenCL kernel");
    int64_t wg = 1;
    for (cl_uint i = 0; i < like->dims; i++)
        wg *= (int64_t)like->wg[i];
    struct profile_occupancy occupancy;
    const char *why = profile_occupancy(&occupancy, r, wg);
    int good = profile_json_count(o, "local_bytes", r->local_bytes) &&
               profile_json_count(o, "private_bytes", r->private_bytes) && profile_json_count(o, "max_wg", r->max_wg) &&
               profile_json_count(o, "wg_multiple", r->wg_multiple);
    if (r->registers >= 0)
        good = good && profile_json_count(o, "registers", r->registers) &&
               profile_json_count(o, "spill_bytes", r->spill_bytes) &&
               profile_json_count(o, "stack_bytes", r->stack_bytes);
    else
        good = good && profile_json_reason(o, "resources",
                                           f->facts->resources_why ? f->facts->resources_why : "nobody asked for them");
    if (why)
        return good && profile_json_reason(o, "occupancy", why);
    cJSON *at = cJSON_AddObjectToObject(o, "occupancy");
    return good && at && profile_json_count(at, "groups", occupancy.groups) &&
           profile_json_count(at, "waves", occupancy.waves) &&
           profile_json_count(at, "waves_max", occupancy.waves_max) &&
           profile_json_number(at, "share", (double)occupancy.waves / occupancy.waves_max) &&
           profile_json_text(at, "limit", occupancy.limit) && profile_json_text(at, "model", r->target);
}

static int kernel_add(struct fill *f, cJSON *kernels, const struct group *g, double phase_ms, int alone)
{
    const struct profile_command *like = g->like;
    cJSON *o = cJSON_CreateObject();
    if (!o || !cJSON_AddItemToArray(kernels, o))
        return 0;
    int good = profile_json_text(o, "name", like->name) &&
               profile_json_text(o, "phase", profile_phase_name(like->phase)) &&
               profile_json_number(o, "launches", g->launches / (double)f->nreps) &&
               profile_json_stat(o, "ms", g->ms, f->nreps);
    double ms = profile_json_median(o, "ms");
    good = good && profile_json_number(o, "share", phase_ms > 0 ? ms / phase_ms : NAN);
    if (like->queue >= 0)
        good = good && profile_json_stat(o, "queue_us", g->queue_us, f->nreps) &&
               profile_json_stat(o, "submit_us", g->submit_us, f->nreps);
    double groups = 1;
    for (cl_uint i = 0; i < like->dims; i++)
        groups *= like->wg[i] ? (double)(like->global[i] / like->wg[i]) : NAN;
    if (like->dims)
        good = good && sizes_add(o, "global", like->global, like->dims) &&
               (!like->wg[0] || sizes_add(o, "wg", like->wg, like->dims)) && profile_json_number(o, "groups", groups);
    good = good && profile_json_count(o, "bound_bytes", like->bound_bytes);
    int64_t bytes = alone ? f->facts->kernel_min_bytes : -1;
    good = good && profile_json_count(o, "min_bytes", bytes);
    const char *of = bytes >= 0 ? "min" : "bound";
    double moved = bytes >= 0 ? (double)bytes : (double)like->bound_bytes * g->launches / (double)f->nreps;
    if (ms > 0 && moved > 0)
        good = good && profile_json_number(o, "gbps", moved / ms * 1e-6) && profile_json_text(o, "gbps_of", of) &&
               profile_json_number(o, "copy_share", moved / ms * 1e-6 / f->facts->copy_gbps);
    return good && resources_add(f, o, like);
}

static double group_sum(const struct fill *f, enum profile_phase phase, double *launches)
{
    double total = 0;
    *launches = 0;
    for (size_t i = 0; i < f->ngroups; i++)
        if (f->groups[i].like->phase == phase) {
            total += f->groups[i].median;
            *launches += f->groups[i].launches / (double)f->nreps;
        }
    return total;
}

static int kernels_add(struct fill *f, cJSON *run)
{
    cJSON *kernels = cJSON_AddArrayToObject(run, "kernels");
    for (size_t i = 0; i < f->ngroups; i++) {
        double launches, total = group_sum(f, f->groups[i].like->phase, &launches);
        int alone = f->groups[i].like->phase == PHASE_KERNEL && launches == 1;
        if (!kernels || !kernel_add(f, kernels, &f->groups[i], total, alone))
            return 0;
    }
    return kernels != NULL;
}

static int roofline_add(struct fill *f, cJSON *run)
{
    const struct profile_facts *facts = f->facts;
    double launches;
    group_sum(f, PHASE_KERNEL, &launches);
    if (facts->kernel_min_bytes <= 0 || !device_column(f, PHASE_KERNEL))
        return 1;
    cJSON *o = cJSON_AddObjectToObject(run, "roofline");
    qsort(f->column, f->nreps, sizeof *f->column, ascending);
    double ms = quantile(f->column, f->nreps, 0.5), bytes = (double)facts->kernel_min_bytes;
    double gbps = ms > 0 ? bytes / ms * 1e-6 : NAN, flops = facts->flops > 0 ? (double)facts->flops : NAN;
    return o && profile_json_count(o, "bytes", facts->kernel_min_bytes) && profile_json_number(o, "gbps", gbps) &&
           profile_json_number(o, "copy_share", gbps / facts->copy_gbps) &&
           profile_json_number(o, "triad_share", gbps / facts->triad_gbps) && profile_json_number(o, "flops", flops) &&
           profile_json_number(o, "gflops", ms > 0 ? flops / ms * 1e-6 : NAN) &&
           profile_json_number(o, "intensity", flops / bytes) &&
           profile_json_number(o, "floor_ms", launches * facts->queue_us * 1e-3 + bytes / facts->copy_gbps * 1e-6);
}

// ---- clock and timeline ----------------------------------------------------------------------------------------

static int clock_add(struct fill *f, cJSON *run)
{
    const struct profile_clock *first = &f->reps[0].clock, *last = &f->reps[f->nreps - 1].clock;
    int checked = 0, outside = 0, contradicts = 0;
    int64_t error = 0;
    for (size_t r = 0; r < f->nreps; r++) {
        checked += f->reps[r].checked;
        outside += f->reps[r].outside;
        contradicts |= f->reps[r].clock.contradicts;
        error = f->reps[r].clock.error_ns > error ? f->reps[r].clock.error_ns : error;
    }
    cJSON *o = cJSON_AddObjectToObject(run, "clock");
    if (!o || !profile_json_text(o, "method",
                                 !first->samples     ? "none"
                                 : first->timer      ? "device-and-host-timer"
                                 : f->facts->program ? "calls"
                                                     : "markers"))
        return 0;
    if (!first->samples)
        return 1;
    return cJSON_AddNumberToObject(o, "offset_ns", (double)first->offset_ns) &&
           profile_json_count(o, "error_ns", error) &&
           cJSON_AddNumberToObject(o, "drift_ns", (double)(last->offset_ns - first->offset_ns)) &&
           cJSON_AddBoolToObject(o, "contradicts", contradicts) && profile_json_count(o, "checked", checked) &&
           profile_json_count(o, "outside", outside);
}

static int time_add(cJSON *o, const char *name, int64_t ns, int64_t begin)
{
    char text[32]; // to the nanosecond, also far from the begin
    snprintf(text, sizeof text, "%.3f", (double)(ns - begin) * 1e-3);
    return cJSON_AddNumberToObject(o, name, strtod(text, NULL)) != NULL;
}

static int command_add(cJSON *list, const struct profile_command *c, int64_t begin)
{
    cJSON *o = cJSON_CreateObject();
    if (!o || !cJSON_AddItemToArray(list, o))
        return 0;
    int good = profile_json_text(o, "kind", profile_kind_name(c->kind)) && profile_json_text(o, "name", c->name) &&
               profile_json_text(o, "phase", profile_phase_name(c->phase)) &&
               profile_json_text(o, "section", profile_section_name(c->section)) &&
               profile_json_count(o, "queue", c->queue) && profile_json_count(o, "thread", c->thread) &&
               profile_json_count(o, "bytes", c->bytes) && time_add(o, "call_us", c->call_ns, begin) &&
               time_add(o, "return_us", c->return_ns, begin);
    if (c->untimed)
        good = good && profile_json_text(o, "untimed", c->untimed);
    else
        good = good && time_add(o, "queued_us", c->queued_ns, begin) && time_add(o, "submit_us", c->submit_ns, begin) &&
               time_add(o, "start_us", c->start_ns, begin) && time_add(o, "end_us", c->end_ns, begin);
    if (c->dims)
        good = good && sizes_add(o, "global", c->global, c->dims) && (!c->wg[0] || sizes_add(o, "wg", c->wg, c->dims));
    return good && (!c->blocking || cJSON_AddBoolToObject(o, "blocking", 1));
}

static int timeline_add(struct fill *f, cJSON *run)
{
    const struct profile_rep *rep = &f->reps[f->middle];
    const struct profile_split *split = &f->splits[f->middle];
    const struct profile_command *c = commands_of(f, f->middle);
    cJSON *o = cJSON_AddObjectToObject(run, "timeline");
    cJSON *commands =
        o && profile_json_count(o, "rep", (int64_t)f->middle) && profile_json_count(o, "begin_ns", rep->begin_ns)
            ? cJSON_AddArrayToObject(o, "commands")
            : NULL;
    for (size_t i = 0; i < rep->commands && commands; i++)
        if (!command_add(commands, &c[i], rep->begin_ns))
            return 0;
    cJSON *spans = commands ? cJSON_AddArrayToObject(o, "spans") : NULL;
    for (size_t i = 0; i < split->count && spans; i++) {
        cJSON *s = cJSON_CreateObject();
        if (!s || !cJSON_AddItemToArray(spans, s) ||
            !profile_json_text(s, "phase", profile_phase_name(split->spans[i].phase)) ||
            !time_add(s, "begin_us", split->spans[i].begin_ns, rep->begin_ns) ||
            !time_add(s, "end_us", split->spans[i].end_ns, rep->begin_ns))
            return 0;
    }
    return spans != NULL;
}

// ---- the whole -------------------------------------------------------------------------------------------------

static int totals_add(struct fill *f, cJSON *run)
{
    double launches;
    int64_t overlaps = 0;
    int64_t own = 0;
    for (size_t r = 0; r < f->nreps; r++) {
        own |= f->splits[r].ns[PHASE_BENCH];
        f->column[r] = (double)(f->reps[r].end_ns - f->reps[r].begin_ns - f->splits[r].ns[PHASE_BENCH]) * 1e-6;
    }
    int good = profile_json_count(run, "reps", (int64_t)f->nreps) &&
               profile_json_stat(run, "end_to_end_ms", f->column, f->nreps);
    double *sorted = malloc(f->nreps * sizeof *sorted);
    if (!good || !sorted) {
        free(sorted);
        return 0;
    }
    memcpy(sorted, f->column, f->nreps * sizeof *sorted);
    qsort(sorted, f->nreps, sizeof *sorted, ascending);
    while (f->column[f->middle] != sorted[(f->nreps - 1) / 2])
        f->middle++;
    free(sorted);
    if (own && !ms_column(f, run, "bench_ms", PHASE_BENCH))
        return 0;
    for (size_t r = 0; r < f->nreps; r++) {
        f->column[r] = (double)f->splits[r].gap_ns * 1e-3;
        overlaps += f->splits[r].overlaps;
    }
    group_sum(f, PHASE_KERNEL, &launches);
    return profile_json_number(run, "launches", launches) &&
           (launches < 2 || profile_json_stat(run, "gap_us", f->column, f->nreps)) &&
           profile_json_count(run, "overlaps", overlaps) &&
           (!f->p->dropped || profile_json_count(run, "dropped", (int64_t)f->p->dropped));
}

int profile_run_fill(cJSON *run, const struct profile *p, const struct profile_facts *facts)
{
    struct fill f = {.p = p, .facts = facts, .reps = p->reps + facts->first_rep};
    if (p->rep_count <= facts->first_rep) // out of memory
        return 0;
    f.nreps = p->rep_count - facts->first_rep;
    f.splits = calloc(f.nreps, sizeof *f.splits);
    f.column = calloc(f.nreps, sizeof *f.column);
    int good = f.splits && f.column;
    for (size_t r = 0; r < f.nreps && good; r++)
        good = profile_split(&f.splits[r], p, &f.reps[r]);
    good = good && groups_make(&f) && totals_add(&f, run) && phases_add(&f, run) && bytes_add(&f, run) &&
           kernels_add(&f, run) && roofline_add(&f, run) && clock_add(&f, run) && timeline_add(&f, run);
    for (size_t r = 0; r < f.nreps && f.splits; r++)
        free(f.splits[r].spans);
    for (size_t i = 0; i < f.ngroups; i++)
        free(f.groups[i].ms);
    free(f.groups);
    free(f.splits);
    free(f.column);
    return good && !p->lost;
}
