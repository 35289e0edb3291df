// SPDX-License-Identifier: Apache-2.0
// weft selftest: shows whether a device computes right numbers, and whether its work-groups hand words to each other.
#include "host/common/streams.h"
#include "host/internal/inside.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>
#include <weft/selftest.h>

struct report {
    cJSON *results; // NULL: text
    int right, wrong, failed;
    int mutants, found; // of --litmus
};

// A line is shown as soon as it is known. Where the standard output takes no more, the rest of the run would be for nobody.
static void line_end(void)
{
    if (fflush(stdout))
        exit(bench_streams_end("weft", TOOL_OK, TOOL_USAGE));
}

static void result_tell(void *arg, const struct weft_selftest_result *result)
{
    struct report *r = arg;
    const char *word = result->status ? "failed" : result->right ? "right" : "wrong";
    r->right += result->right;
    r->wrong += !result->right && !result->status;
    r->failed += result->status != WEFT_OK;
    if (!r->results) {
        printf("%-6s %8.1f ms  %s%s%s%s%s\n", word, result->ms, result->what, *result->kernels ? "; kernels " : "",
               result->kernels, *result->text ? ": " : "", result->text);
        line_end();
        return;
    }
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "what", result->what);
    cJSON_AddStringToObject(row, "kernels", result->kernels);
    cJSON_AddStringToObject(row, "result", word);
    if (*result->text)
        cJSON_AddStringToObject(row, "error", result->text);
    cJSON_AddNumberToObject(row, "ms", result->ms);
    cJSON_AddItemToArray(r->results, row);
}

static void litmus_tell(void *arg, const struct weft__litmus_result *l)
{
    struct report *r = arg;
    const int wrong = l->wrong && l->used && !l->change;
    const char *word = l->change ? (l->wrong ? "found" : "unseen") : wrong ? "wrong" : l->used ? "right" : "unused";
    r->right += !l->change && l->used && !l->wrong;
    r->wrong += wrong;
    r->mutants += l->change != NULL;
    r->found += l->change && l->wrong;
    if (!r->results) {
        char slots[32], met[32], bad[32];
        printf("%-6s %-8s %16s times, %12s met, %10s wrong, %5.1f s; %s%s\n", word, l->protocol,
               tool_count_text(slots, (int64_t)l->slots), tool_count_text(met, (int64_t)l->met),
               tool_count_text(bad, (int64_t)l->wrong), l->seconds, l->change ? "mutant: " : "",
               l->change ? l->change : l->used_by);
        line_end();
        return;
    }
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "protocol", l->protocol);
    if (l->change)
        cJSON_AddStringToObject(row, "mutant", l->change);
    cJSON_AddStringToObject(row, "result", word);
    cJSON_AddNumberToObject(row, "times", (double)l->slots);
    cJSON_AddNumberToObject(row, "met", (double)l->met);
    cJSON_AddNumberToObject(row, "wrong", (double)l->wrong);
    cJSON_AddNumberToObject(row, "seconds", l->seconds);
    cJSON_AddItemToArray(r->results, row);
}

int tool_selftest(const struct tool_options *o)
{
    struct tool_device device;
    struct weft_error err = {0};
    weft_status status = tool_device_open(&device, o, &err);
    if (status)
        return tool_fail(status, &err);
    const struct weft_device_info *d = weft_context_device(device.ctx);
    struct report r = {0};
    cJSON *all = o->json ? cJSON_CreateObject() : NULL;
    if (o->json) {
        cJSON_AddStringToObject(all, "weft", WEFT_VERSION);
        cJSON_AddNumberToObject(all, "index", d->index);
        cJSON_AddStringToObject(all, "device", d->name);
        cJSON_AddStringToObject(all, "platform", d->platform);
        cJSON_AddStringToObject(all, "driver", d->driver);
        cJSON_AddStringToObject(all, "schedule",
                                weft_context_schedule(device.ctx) == WEFT_SCHEDULE_CPU ? "cpu" : "gpu");
        r.results = cJSON_AddArrayToObject(all, "results");
    } else
        printf("weft %s, device %d: %s, platform %s, driver %s\n", WEFT_VERSION, d->index, d->name, d->platform,
               d->driver);
    uint64_t lost;
    status = o->litmus ? weft__litmus(&lost, device.ctx, o->seconds ? (double)o->seconds : 64, litmus_tell, &r)
                       : weft_selftest(device.ctx, result_tell, &r);
    int exit_status = r.wrong ? TOOL_WRONG : status ? TOOL_DEVICE : TOOL_OK;
    if (o->json) {
        cJSON_AddNumberToObject(all, "right", r.right);
        cJSON_AddNumberToObject(all, "wrong", r.wrong);
        cJSON_AddNumberToObject(all, "failed", r.failed);
        if (o->litmus) {
            cJSON_AddNumberToObject(all, "mutants", r.mutants);
            cJSON_AddNumberToObject(all, "mutants_found", r.found);
        }
        const int written = tool_json_write(o, all);
        exit_status = exit_status ? exit_status : written;
    } else if (o->litmus) {
        printf("%d protocols right, %d wrong; %d of %d mutants found\n", r.right, r.wrong, r.found, r.mutants);
    } else {
        printf("%d right, %d wrong, %d failed\n", r.right, r.wrong, r.failed);
    }
    if (r.wrong)
        tool_complain("%s (driver %s) %s", d->name, d->driver,
                      o->litmus ? "loses words between work-groups" : "computes wrong numbers");
    else if (status)
        tool_fail_device(status, device.ctx);
    tool_device_close(&device);
    return exit_status;
}
