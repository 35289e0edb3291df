// SPDX-License-Identifier: Apache-2.0
// A sweep over the ends of all intervals: those in which a command ran, in which the host was inside a call, and the
// sections. An instant belongs to the first phase of the enumeration that has an interval there.
#include "phases.h"

#include <stdlib.h>

struct edge {
    int64_t at;
    enum profile_phase phase;
    int step; // +1 begins, -1 ends
};

struct edges {
    struct edge *list;
    size_t count;
    int64_t begin, end; // clipped to
};

static void edge_add(struct edges *e, enum profile_phase phase, int64_t begin, int64_t end)
{
    begin = begin > e->begin ? begin : e->begin;
    end = end < e->end ? end : e->end;
    if (begin >= end)
        return;
    e->list[e->count++] = (struct edge){begin, phase, 1};
    e->list[e->count++] = (struct edge){end, phase, -1};
}

static int by_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static void sweep(struct profile_split *out, const struct edges *e)
{
    int open[PHASE_COUNT] = {0};
    for (size_t i = 0; i < e->count; i++) {
        open[e->list[i].phase] += e->list[i].step;
        int64_t from = e->list[i].at, to = i + 1 < e->count ? e->list[i + 1].at : from;
        if (from == to)
            continue;
        enum profile_phase phase = 0;
        while (phase < PHASE_HOST && !open[phase])
            phase++;
        out->ns[phase] += to - from;
        if (out->count && out->spans[out->count - 1].phase == phase)
            out->spans[out->count - 1].end_ns = to;
        else
            out->spans[out->count++] = (struct profile_span){phase, from, to};
    }
}

static int timed(const struct profile_command *c)
{
    return !c->untimed && c->kind != PROFILE_MARKER;
}

// Commands in the order of their starts, queue by queue.
static int by_queue(const void *a, const void *b)
{
    const struct profile_command *x = *(const struct profile_command *const *)a,
                                 *y = *(const struct profile_command *const *)b;
    if (x->queue != y->queue)
        return x->queue < y->queue ? -1 : 1;
    return x->start_ns != y->start_ns ? (x->start_ns < y->start_ns ? -1 : 1)
                                      : (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static int is_ordered(const struct profile *p, int queue)
{
    return (size_t)queue < p->queue_count && !p->queues[queue].out_of_order;
}

// waits: for each command, when those before it on its queue had ended; 0: there are none, or nothing is known. They may
// have waited for a compiler: drivers that compile at the first launch do it there.
static int gaps(struct profile_split *out, const struct profile *p, const struct profile_command *first, size_t count,
                int64_t *waits)
{
    const struct profile_command **list = malloc((count + 1) * sizeof *list);
    size_t n = 0;
    if (!list)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (timed(&first[i]) && first[i].queue >= 0)
            list[n++] = &first[i];
    qsort(list, n, sizeof *list, by_queue);
    int64_t ended = 0;
    for (size_t i = 1; i < n; i++) {
        const struct profile_command *c = list[i], *before = list[i - 1];
        ended = c->queue != before->queue ? 0 : before->end_ns > ended ? before->end_ns : ended;
        if (c->queue != before->queue)
            continue;
        waits[c - first] = ended <= c->start_ns ? ended : is_ordered(p, c->queue) ? c->start_ns : 0;
        out->overlaps += c->start_ns < before->end_ns;
        if (c->phase == PHASE_KERNEL && before->phase == PHASE_KERNEL && c->start_ns > before->end_ns)
            out->gap_ns += c->start_ns - before->end_ns;
    }
    free(list);
    return 1;
}

int profile_split(struct profile_split *out, const struct profile *p, const struct profile_rep *rep)
{
    *out = (struct profile_split){0};
    const struct profile_command *c = p->commands + rep->first_command;
    const struct profile_span *s = p->spans + rep->first_span;
    const size_t most = 2 * (3 * rep->commands + rep->spans + 3);
    struct edges e = {.begin = rep->begin_ns, .end = rep->end_ns};
    int64_t first = INT64_MAX, last = INT64_MIN;
    e.list = malloc(most * sizeof *e.list);
    out->spans = malloc(most * sizeof *out->spans);
    int64_t *waits = calloc(rep->commands + 1, sizeof *waits);
    if (!e.list || !out->spans || !waits || !gaps(out, p, c, rep->commands, waits)) {
        free(e.list);
        free(waits);
        free(out->spans);
        out->spans = NULL;
        return 0;
    }
    edge_add(&e, PHASE_HOST, rep->begin_ns, rep->end_ns);
    edge_add(&e, PHASE_LAUNCH, rep->sections[PROFILE_LAUNCH].begin_ns, rep->sections[PROFILE_LAUNCH].end_ns);
    for (size_t i = 0; i < rep->spans; i++)
        edge_add(&e, s[i].phase, s[i].begin_ns, s[i].end_ns);
    for (size_t i = 0; i < rep->commands; i++) {
        if (profile_command_waits(&c[i])) {
            const int64_t at = waits[i] < c[i].return_ns ? waits[i] : c[i].return_ns;
            const int64_t from = at > c[i].call_ns ? at : c[i].call_ns;
            edge_add(&e, c[i].phase == PHASE_BENCH ? PHASE_BENCH : PHASE_WAIT, c[i].call_ns, from);
            edge_add(&e, c[i].phase, from, c[i].return_ns);
        }
        if (!timed(&c[i]))
            continue;
        edge_add(&e, c[i].phase, c[i].start_ns, c[i].end_ns);
        if (c[i].phase == PHASE_KERNEL && c[i].section == PROFILE_LAUNCH) {
            first = c[i].start_ns < first ? c[i].start_ns : first;
            last = c[i].end_ns > last ? c[i].end_ns : last;
        }
    }
    free(waits);
    edge_add(&e, PHASE_GAP, first, last);
    qsort(e.list, e.count, sizeof *e.list, by_time);
    sweep(out, &e);
    free(e.list);
    return 1;
}
