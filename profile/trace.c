// SPDX-License-Identifier: Apache-2.0
// A process of the trace is a run; its threads are the phases, the threads of the host, and the queues of the devices.
#include "phases.h"
#include "write.h"
#include "host/internal/text.h"

#include <inttypes.h>
#include <stdlib.h>

enum { TID_PHASES = 1, TID_THREAD = 100, TID_QUEUE = 100000 };

static void text_put(FILE *out, const char *text)
{
    putc('"', out);
    for (size_t bytes; *text; text += bytes) {
        const unsigned char c = (unsigned char)*text;
        const size_t known = weft__text_character((const unsigned char *)text);
        bytes = known ? known : 1;
        if (c == '"' || c == '\\')
            putc('\\', out);
        if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else if (known || c < 0x80)
            fwrite(text, 1, bytes, out);
        else // as weft__text_mend
            putc('?', out);
    }
    putc('"', out);
}

static void event_open(struct profile_trace *t, const char *ph, int tid, const char *name)
{
    fputs(t->events++ ? ",\n" : "\n", t->out);
    fprintf(t->out, "{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"name\":", ph, t->runs, tid);
    text_put(t->out, name);
}

static void name_put(struct profile_trace *t, const char *what, int tid, const char *name)
{
    event_open(t, "M", tid, what);
    fputs(",\"args\":{\"name\":", t->out);
    text_put(t->out, name);
    fputs("}}", t->out);
}

static void span_open(struct profile_trace *t, int tid, const char *name, const char *category, int64_t begin,
                      int64_t end)
{
    event_open(t, "X", tid, name);
    fprintf(t->out, ",\"cat\":\"%s\",\"ts\":%.3f,\"dur\":%.3f", category, (double)(begin - t->begin_ns) * 1e-3,
            (double)(end - begin) * 1e-3);
}

void profile_trace_begin(struct profile_trace *t, FILE *out)
{
    *t = (struct profile_trace){.out = out};
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
}

static void command_put(struct profile_trace *t, const struct profile_command *c)
{
    // What waits, waits for the queue: asynchronous spans, which may overlap on one track.
    span_open(t, TID_THREAD + c->thread, c->name, profile_kind_name(c->kind), c->call_ns, c->return_ns);
    fputs("}", t->out);
    if (c->untimed || c->kind == PROFILE_MARKER)
        return;
    span_open(t, TID_QUEUE + (c->queue >= 0 ? c->queue : 0), c->name, profile_kind_name(c->kind), c->start_ns,
              c->end_ns);
    fprintf(t->out, ",\"args\":{\"phase\":\"%s\",\"queued_us\":%.3f,\"submit_us\":%.3f", profile_phase_name(c->phase),
            (double)(c->queued_ns - t->begin_ns) * 1e-3, (double)(c->submit_ns - t->begin_ns) * 1e-3);
    if (c->bytes >= 0)
        fprintf(t->out, ",\"bytes\":%" PRId64, c->bytes);
    for (cl_uint i = 0; i < c->dims; i++)
        fprintf(t->out, "%s%zu%s", i ? "," : ",\"global\":[", c->global[i], i + 1 == c->dims ? "]" : "");
    for (cl_uint i = 0; i < c->dims && c->wg[0]; i++)
        fprintf(t->out, "%s%zu%s", i ? "," : ",\"wg\":[", c->wg[i], i + 1 == c->dims ? "]" : "");
    fputs("}}", t->out);
}

static int names_put(struct profile_trace *t, const struct profile *p, size_t first_rep, const char *label)
{
    char text[64];
    int threads = 1;
    for (size_t i = p->reps[first_rep].first_command; i < p->count; i++)
        threads = p->commands[i].thread >= threads ? p->commands[i].thread + 1 : threads;
    char *seen_thread = calloc((size_t)threads, 1), *seen_queue = calloc(p->queue_count + 1, 1);
    name_put(t, "process_name", 0, label);
    name_put(t, "thread_name", TID_PHASES, "phases");
    for (size_t i = p->reps[first_rep].first_command; i < p->count && seen_thread && seen_queue; i++) {
        const struct profile_command *c = &p->commands[i];
        if (!seen_thread[c->thread]) {
            snprintf(text, sizeof text, "host thread %d", c->thread);
            name_put(t, "thread_name", TID_THREAD + c->thread, text);
            seen_thread[c->thread] = 1;
        }
        int queue = c->queue >= 0 ? c->queue : 0;
        if (!c->untimed && !seen_queue[queue]) {
            snprintf(text, sizeof text, "queue %d%s", queue,
                     c->queue >= 0 && p->queues[queue].out_of_order ? " (out of order)" : "");
            name_put(t, "thread_name", TID_QUEUE + queue, text);
            seen_queue[queue] = 1;
        }
    }
    const int good = seen_thread && seen_queue;
    free(seen_thread);
    free(seen_queue);
    return good;
}

void profile_trace_run(struct profile_trace *t, const struct profile *p, size_t first_rep, const char *label)
{
    if (first_rep >= p->rep_count)
        return;
    if (!t->runs++)
        t->begin_ns = p->reps[first_rep].begin_ns;
    if (!names_put(t, p, first_rep, label)) {
        t->failed = 1;
        return;
    }
    for (size_t r = first_rep; r < p->rep_count; r++) {
        const struct profile_rep *rep = &p->reps[r];
        struct profile_split split;
        if (!profile_split(&split, p, rep)) {
            t->failed = 1;
            return;
        }
        for (size_t i = 0; i < split.count; i++) {
            span_open(t, TID_PHASES, profile_phase_name(split.spans[i].phase), "phase", split.spans[i].begin_ns,
                      split.spans[i].end_ns);
            fputs("}", t->out);
        }
        free(split.spans);
        for (size_t i = 0; i < rep->commands; i++)
            command_put(t, &p->commands[rep->first_command + i]);
    }
}

int profile_trace_end(struct profile_trace *t)
{
    return fputs("\n]}\n", t->out) >= 0 && !ferror(t->out) && !t->failed && !fflush(t->out);
}
