// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the tune file. What is read must be rows of the context's device; what an operation takes of them must be
// values that the file may have, and after a refusal none is left. The first byte is the schedule.
#include "fuzz.h"
#include "host/internal/inside.h"

#include <stdlib.h>
#include <string.h>

static void on_log(void *arg, const char *text)
{
    (void)arg;
    fuzz_line(text);
}

// As an operation resolves its defaults, which are 0 here; it refuses what is negative or large.
static void resolve(struct weft_context *ctx, const struct weft__tunables *set, size_t bytes)
{
    static char params[4096]; // of any operation
    char why[64] = "";
    memset(params, 0, sizeof params);
    struct weft__tuned tuned = weft__tuned_begin(ctx, set, bytes, params);
    weft_status status;
    int rounds = 0;
    do {
        status = WEFT_OK;
        for (size_t i = 0; i < set->count; i++) {
            const int value = *weft__tunable_value(&set->list[i], params);
            if (value && !set->list[i].kept)
                abort();
            if (value < 0 || value > 1000)
                status = weft__fail(ctx, WEFT_EINVAL, "%s is %d", set->list[i].name, value);
        }
        if (++rounds > 2)
            abort();
    } while (weft__tuned_again(&tuned, status, why, sizeof why));
    if (status)
        abort(); // zeros are right
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const size_t widths[] = {0, 4, 8, 12};
    struct weft_context ctx = {.log = on_log};
    if (!bytes)
        return 0;
    strcpy(ctx.device.name, "dev");
    strcpy(ctx.device.driver, "1.0");
    ctx.schedule = data[0] & 1 ? WEFT_SCHEDULE_GPU : WEFT_SCHEDULE_CPU;
    pthread_mutex_init(&ctx.mutex, NULL);
    weft__tune_load(&ctx, fuzz_file(0, data + 1, bytes - 1));
    for (size_t i = 0; i < ctx.ntune; i++)
        if (ctx.tune[i].count < 1 || ctx.tune[i].count > WEFT__TUNE_VALUES || strlen(ctx.tune[i].op) >= WEFT__TUNE_NAME)
            abort();
    for (const struct weft__tunables *const *sets = weft__tunables; ctx.ntune && *sets; sets++)
        for (const struct weft__tunables *set = *sets; set->op; set++)
            for (size_t w = 0; w < 4; w++)
                if (set->schedule == ctx.schedule)
                    resolve(&ctx, set, widths[w]);
    weft__tune_free(&ctx);
    pthread_mutex_destroy(&ctx.mutex);
    return 0;
}
