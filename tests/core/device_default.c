// SPDX-License-Identifier: Apache-2.0
// Which device a context takes when none is named: of described devices, and of those that are here, as a driver that is
// made to say other things of them describes them.
#include "host/internal/inside.h"
#include "tests/support/tap.h"

#include <stdio.h>
#include <string.h>
#include <weft/context.h>

#define CPU CL_DEVICE_TYPE_CPU
#define GPU CL_DEVICE_TYPE_GPU
#define ACC CL_DEVICE_TYPE_ACCELERATOR

// Letters: c CPU, g discrete GPU, i integrated GPU, a accelerator, o other, C and G one that cannot be used.
static struct weft_device_info described(char letter)
{
    struct weft_device_info info = {0};
    info.type = strchr("cC", letter) ? CPU : strchr("giG", letter) ? GPU : letter == 'a' ? ACC : CL_DEVICE_TYPE_CUSTOM;
    info.unified = strchr("ciC", letter) != NULL;
    if (strchr("CG", letter))
        snprintf(info.why, sizeof info.why, "broken");
    return info;
}

static void test_order(void)
{
    static const struct {
        const char *devices;
        int want;
    } cases[] = {{"", -1},   {"c", 0},   {"cg", 1},  {"gc", 0},   {"cig", 2}, {"ci", 1},   {"cai", 2}, {"ca", 1},
                 {"oc", 1},  {"gg", 0},  {"cgg", 1}, {"cc", 0},   {"Gc", 1},  {"cG", 0},   {"GgC", 1}, {"GC", 0},
                 {"oac", 1}, {"iai", 0}, {"Goc", 2}, {"ccgi", 2}, {"o", 0},   {"caig", 3}, {"Gia", 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct weft_device_info list[8];
        const size_t count = strlen(cases[k].devices);
        for (size_t i = 0; i < count; i++)
            list[i] = described(cases[k].devices[i]);
        tap_is_int(weft_device_default(list, count), cases[k].want, "of \"%s\"", cases[k].devices);
    }
}

// A text that means a device.
static void test_find(void)
{
    static const struct {
        const char *text;
        int want;
    } cases[] = {{NULL, 2},  {"", 2},     {"0", 0},   {"10", 1},  {"12", 3},           {"2", -1},     {"1", -1},
                 {"gpu", 2}, {"GPU", 2},  {"cpu", 0}, {"Cpu", 0}, {"accelerator", -1}, {"nvidia", 1}, {"h200", 1},
                 {"AMD", 2}, {"pocl", 0}, {"e", -1},  {"me", 1},  {"-1", -1},          {"1x", -1},    {"nothing", -1}};
    struct weft_device_info list[4] = {described('c'), described('i'), described('g'), described('G')};
    static const char *const names[] = {"Xeon", "NVIDIA H200", "gfx942", "broken"};
    for (int i = 0; i < 4; i++) {
        list[i].index = i ? 9 + i : 0; // 0, 10, 11, 12
        snprintf(list[i].name, sizeof list[i].name, "%s", names[i]);
    }
    snprintf(list[0].platform, sizeof list[0].platform, "Portable Computing Language, PoCL");
    snprintf(list[1].vendor, sizeof list[1].vendor, "Somebody");
    snprintf(list[2].vendor, sizeof list[2].vendor, "Advanced Micro Devices (AMD)");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        tap_is_int(weft_device_find(list, 4, cases[k].text), cases[k].want, "device \"%s\"",
                   cases[k].text ? cases[k].text : "NULL");
}

// What the driver says, by the position of a device in `ids`.
static cl_device_id ids[8];
static const char *said;
static __typeof__(&clGetDeviceInfo) real;

static cl_int CL_API_CALL says(cl_device_id id, cl_device_info what, size_t size, void *value, size_t *needed)
{
    for (size_t i = 0; said[i]; i++)
        if (ids[i] == id && what == CL_DEVICE_TYPE && value && size >= sizeof(cl_device_type)) {
            memcpy(value, &(cl_device_type){described(said[i]).type}, sizeof(cl_device_type));
            return CL_SUCCESS;
        } else if (ids[i] == id && what == CL_DEVICE_HOST_UNIFIED_MEMORY && value && size >= sizeof(cl_bool)) {
            memcpy(value, &(cl_bool){described(said[i]).unified ? CL_TRUE : CL_FALSE}, sizeof(cl_bool));
            return CL_SUCCESS;
        }
    return real(id, what, size, value, needed);
}

static cl_int CL_API_CALL silent(cl_context context, cl_context_info what, size_t size, void *value, size_t *needed)
{
    (void)context, (void)what, (void)size, (void)value, (void)needed;
    return CL_INVALID_CONTEXT;
}

static void gives(int want, const struct weft_context_params *params, const char *what)
{
    struct weft_context *ctx = NULL;
    struct weft_error err = {0};
    const weft_status status = weft_context_create(&ctx, params, &err);
    const struct weft_device_info *info = status ? NULL : weft_context_device(ctx);
    tap_ok(info && info->index == want && info->id == ids[want], "\"%s\", %s: device %d %s", said, what, want,
           err.text);
    weft_context_destroy(&ctx);
}

static void test_contexts(void)
{
    struct weft_device_info *list = NULL;
    struct weft_error err = {0};
    size_t count = 0;
    if (weft_devices_list(&list, &count, &err)) {
        tap_skip("%s", err.text);
        return;
    }
    if (count < 2 || count > sizeof ids / sizeof *ids || list[0].why[0] || list[1].why[0]) {
        tap_skip("%zu devices here", count);
        weft_devices_free(&list);
        return;
    }
    for (size_t i = 0; i < count; i++)
        ids[i] = list[i].id;
    static const char *const words[] = {"cg", "gc", "ig", "ci", "cc"}; // those behind them are CPUs
    real = weft__cl.clGetDeviceInfo;
    weft__cl.clGetDeviceInfo = says;
    cl_int error;
    cl_context own[] = {clCreateContext(NULL, 1, &ids[0], NULL, NULL, &error),
                        clCreateContext(NULL, 1, &ids[1], NULL, NULL, &error)};
    char text[8 + 1] = ""; // the driver still reads it behind the loop
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        memset(text, 'c', count);
        memcpy(text, words[k], 2);
        said = text;
        struct weft_device_info *now = NULL;
        size_t n = 0;
        weft_devices_list(&now, &n, &err);
        const int best = weft_device_default(now, n), second = text[1] == 'g' || !strcmp(words[k], "ci");
        weft_devices_free(&now);
        tap_is_int(best, second, "\"%s\": the driver's words are listed", said);
        gives(second, NULL, "no parameters");
        gives(second, weft_context_params(.cache_dir = ""), "nothing of devices");
        gives(0, weft_context_params(.select = "0"), "the first by index");
        gives(1, weft_context_params(.select = "1"), "the second by index");
        gives(1, weft_context_params(.select = "", .device = ids[1]), "an id comes before a text");
        gives(0, weft_context_params(.device = ids[0]), "the first by id");
        gives(1, weft_context_params(.device = ids[1]), "the second by id");
        for (int i = 0; i < 2 && own[i]; i++)
            gives(i, weft_context_params(.context = own[i]), "a context of one device");
        const int platform = list[0].platform_id == list[1].platform_id;
        cl_context both = platform ? clCreateContext(NULL, 2, ids, NULL, NULL, &error) : NULL;
        if (both) {
            gives(second, weft_context_params(.context = both), "a context of both");
            gives(0, weft_context_params(.context = both, .device = ids[0]), "the first of a context of both");
            gives(1, weft_context_params(.context = both, .select = "1"), "the second of a context of both");
            clReleaseContext(both);
        }
    }
    struct weft_context *ctx = NULL;
    weft_status other = weft_context_create(&ctx, weft_context_params(.context = own[0], .device = ids[1]), &err);
    tap_ok(other == WEFT_EINVAL && !ctx && strstr(err.text, "params.device"), "a device of another context: %s",
           err.text);
    other = weft_context_create(&ctx, weft_context_params(.context = own[0], .select = "1"), &err);
    tap_ok(other == WEFT_ENODEV && !ctx && strstr(err.text, "context"), "the index of another context's device: %s",
           err.text);
    weft__cl.clGetContextInfo = silent;
    weft_status status = weft_context_create(&ctx, weft_context_params(.context = own[0]), &err);
    tap_ok(status == WEFT_ENODEV && !ctx && strstr(err.text, "context"), "a context that does not answer: %s",
           err.text);
    weft__cl.clGetContextInfo = clGetContextInfo;
    for (int i = 0; i < 2; i++)
        if (own[i])
            clReleaseContext(own[i]);
    weft__cl.clGetDeviceInfo = real;
    weft_devices_free(&list);
}

int main(void)
{
    test_order();
    test_find();
    test_contexts();
    return tap_done();
}
