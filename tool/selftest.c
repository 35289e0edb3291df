// SPDX-License-Identifier: Apache-2.0
// weft selftest: shows whether a device computes right numbers.
#include "tool.h"

#include <string.h>
#include <weft/selftest.h>

struct report {
    cJSON *results; // NULL: text
    int right, wrong, failed;
};

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
        fflush(stdout);
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
    status = weft_selftest(device.ctx, result_tell, &r);
    int exit_status = r.wrong ? TOOL_WRONG : status ? TOOL_DEVICE : TOOL_OK;
    if (o->json) {
        cJSON_AddNumberToObject(all, "right", r.right);
        cJSON_AddNumberToObject(all, "wrong", r.wrong);
        cJSON_AddNumberToObject(all, "failed", r.failed);
        const int written = tool_json_write(o, all);
        exit_status = exit_status ? exit_status : written;
    } else
        printf("%d right, %d wrong, %d failed\n", r.right, r.wrong, r.failed);
    if (r.wrong)
        tool_complain("%s (driver %s) computes wrong numbers", d->name, d->driver);
    else if (status)
        tool_fail_device(status, device.ctx);
    tool_device_close(&device);
    return exit_status;
}
