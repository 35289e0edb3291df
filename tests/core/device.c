// SPDX-License-Identifier: Apache-2.0
// The list of devices, with and without faults of the drivers; probing.
#include <weft/context.h>
#include "tests/support/fault.h"

#include <stdlib.h>
#include <string.h>

static struct weft_device_info *list;
static size_t count;

static weft_status list_again(struct weft_error *err)
{
    weft_devices_free(&list);
    *err = (struct weft_error){0};
    return weft_devices_list(&list, &count, err);
}

static void test_list(void)
{
    for (size_t i = 0; i < count; i++) {
        const struct weft_device_info *d = &list[i];
        tap_ok(d->index == (int)i && d->id && d->platform_id && d->platform[0] && d->platform_version[0],
               "device %zu is number %d of platform %s", i, d->index, d->platform);
        if (d->why[0]) {
            tap_skip("device %zu: %s", i, d->why);
            continue;
        }
        tap_ok(d->name[0] && d->vendor[0] && d->driver[0] && d->version[0], "%s, %s, %s, %s", d->name, d->vendor,
               d->driver, d->version);
        tap_ok(d->global_bytes > 0 && d->max_alloc_bytes > 0 && d->max_alloc_bytes <= d->global_bytes &&
                   d->local_bytes > 0 && d->compute_units > 0 && d->max_wg > 0,
               "device %zu has %lld bytes in all, %lld at once, %lld local, %d units, groups of %zu", i,
               (long long)d->global_bytes, (long long)d->max_alloc_bytes, (long long)d->local_bytes, d->compute_units,
               d->max_wg);
        tap_ok((d->type & CL_DEVICE_TYPE_CPU) ? d->wave == 1 || d->lanes == WEFT_LANES_SUBGROUPS
                                              : d->wave == 32 || d->wave == 64,
               "device %zu is %d lanes wide", i, d->wave);
        tap_ok((d->pci_bus < 0) == (d->pci_device < 0), "device %zu sits at PCI %d:%d", i, d->pci_bus, d->pci_device);
        struct weft_device_info info = *d;
        tap_ok(weft_device_probe(&info) == WEFT_OK && !info.why[0], "device %zu answers a probe", i);
    }
}

// No platform, platforms without devices, a platform that fails.
static void test_no_devices(void)
{
    struct weft_error err;
    fault_set(FAULT_clGetPlatformIDs, 1);
    weft_status status = list_again(&err);
    tap_ok(status == WEFT_ENODEV && !list && !count && strstr(err.text, "install"), "no platform: %s", err.text);
    fault_set(FAULT_clGetPlatformIDs, 2);
    status = list_again(&err);
    tap_ok(status == WEFT_ENODEV && !list && err.text[0], "platforms that vanish: %s", err.text);
    fault_set_error(FAULT_clGetDeviceIDs, 1, CL_DEVICE_NOT_FOUND);
    status = list_again(&err);
    tap_ok(status == WEFT_ENODEV ? err.text[0] != 0 : count > 0, "a platform without devices hides no other");
    fault_set(FAULT_clGetDeviceIDs, 1);
    status = list_again(&err);
    tap_ok(!status && strstr(list[0].why, "CL_INVALID_PLATFORM"), "a platform that fails is listed: %s",
           status ? err.text : list[0].why);
    if (!status) {
        struct weft_context *ctx = (struct weft_context *)&err;
        size_t others = 0;
        for (size_t i = 0; i < count; i++)
            others += !list[i].why[0];
        tap_ok(weft_device_probe(&list[0]) == WEFT_ENODEV, "its probe fails");
        fault_set(FAULT_clGetDeviceIDs, 1);
        status = weft_context_create(&ctx, NULL, &err);
        if (others)
            tap_ok(!status && ctx, "and a context is of another platform: %s", status ? err.text : "");
        else
            tap_ok(status == WEFT_ENODEV && !ctx && strstr(err.text, "CL_INVALID_PLATFORM"), "and a context too: %s",
                   err.text);
        weft_context_destroy(&ctx);
    }
    fault_set(FAULT_clGetDeviceIDs, 2);
    status = list_again(&err);
    tap_ok(!status && list[0].why[0], "a platform that fails the second time is listed");
}

// A device whose driver does not answer, or says no.
static void test_silent_device(void)
{
    struct weft_error err;
    fault_set(FAULT_clGetDeviceInfo, 1);
    weft_status status = list_again(&err);
    tap_ok(!status && list[0].why[0], "a device that does not say what it is: %s", status ? "" : list[0].why);
    fault_set(FAULT_clCreateContext, 1);
    status = list_again(&err);
    if (!status)
        status = weft_device_probe(&list[0]);
    tap_ok(status == WEFT_EDEVICE && strstr(list[0].why, "CL_DEVICE_NOT_AVAILABLE"), "no context: %s", list[0].why);
    fault_set(FAULT_clCreateCommandQueue, 1);
    status = list_again(&err);
    if (!status)
        status = weft_device_probe(&list[0]);
    tap_ok(status == WEFT_EDEVICE && strstr(list[0].why, "clCreateCommandQueue"), "no queue: %s", list[0].why);
    tap_is_int(fault_live(), 0, "probes leave nothing behind");
    // The calls that fail one by one: never a crash, and the list is there.
    int n = 1, hit = 1, ok = 1;
    for (; hit && ok; n++) {
        fault_set(FAULT_clGetDeviceInfo, n);
        ok = list_again(&err) == WEFT_OK && count > 0;
        hit = fault_hit();
    }
    tap_ok(ok, "%d questions to the devices fail one by one", n - 2);
    fault_set(FAULT_clGetDeviceInfo, 0);
}

// ---- where a GPU sits, as drivers of three kinds tell it ----

static struct {
    const char *extensions;
    cl_device_info code; // the question that is answered
    const void *answer;
    size_t bytes;
    __typeof__(&clGetDeviceInfo) real;
} driver;

static cl_int CL_API_CALL driver_info(cl_device_id id, cl_device_info what, size_t size, void *value, size_t *needed)
{
    const void *answer = what == CL_DEVICE_EXTENSIONS ? driver.extensions : what == driver.code ? driver.answer : NULL;
    const size_t bytes = what == CL_DEVICE_EXTENSIONS ? strlen(driver.extensions) + 1 : driver.bytes;
    if (!answer)
        return what >= 0x4000 && what < 0x4200 ? CL_INVALID_VALUE : driver.real(id, what, size, value, needed);
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, answer, bytes);
    if (needed)
        *needed = bytes;
    return CL_SUCCESS;
}

static void test_pci(void)
{
    static const cl_uint khr[] = {2, 0x83, 5, 0}; // domain, bus, device, function
    static const unsigned char amd[24] = {1, [21] = 0xc3, 4, 0}, no_pci[24] = {0, [21] = 0xc3, 4, 0};
    static const struct {
        const char *extensions;
        cl_device_info code;
        const void *answer;
        size_t bytes;
        int domain, bus, device;
    } cases[] = {
        {"cl_khr_pci_bus_info", 0x410F, khr, sizeof khr, 2, 0x83, 5},
        {"cl_amd_device_attribute_query cl_khr_pci_bus_info", 0x410F, khr, sizeof khr, 2, 0x83, 5},
        {"cl_khr_fp64 cl_amd_device_attribute_query", 0x4037, amd, sizeof amd, -1, 0xc3, 4},
        {"cl_amd_device_attribute_query", 0x4037, no_pci, sizeof no_pci, -1, -1, -1},
        {"cl_khr_fp64", 0x4037, amd, sizeof amd, -1, -1, -1},
    };
    struct weft_error err;
    driver.real = weft__cl.clGetDeviceInfo;
    weft__cl.clGetDeviceInfo = driver_info;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        driver.extensions = cases[k].extensions;
        driver.code = cases[k].code;
        driver.answer = cases[k].answer;
        driver.bytes = cases[k].bytes;
        if (list_again(&err))
            tap_bail("%s", err.text);
        const struct weft_device_info *d = &list[0];
        tap_ok(d->pci_domain == cases[k].domain && d->pci_bus == cases[k].bus && d->pci_device == cases[k].device,
               "%s: at %d:%d:%d", cases[k].extensions, d->pci_domain, d->pci_bus, d->pci_device);
    }
    weft__cl.clGetDeviceInfo = driver.real;
}

// A driver whose device keeps numbers the other way round.
static void test_byte_order(void)
{
    static const cl_bool other = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;
    struct weft_error err;
    driver.real = weft__cl.clGetDeviceInfo;
    weft__cl.clGetDeviceInfo = driver_info;
    driver.extensions = "";
    driver.code = CL_DEVICE_ENDIAN_LITTLE;
    driver.answer = &other;
    driver.bytes = sizeof other;
    if (list_again(&err))
        tap_bail("%s", err.text);
    tap_ok(strstr(list[0].why, "another order") != NULL, "bytes in another order: %s", list[0].why);
    struct weft_context *ctx;
    const weft_status status = weft_context_create(&ctx, weft_context_params(.device = list[0].id), &err);
    tap_ok(status == WEFT_ENODEV && strstr(err.text, "another order"), "and there is no context: %s", err.text);
    weft__cl.clGetDeviceInfo = driver.real;
}

// The row of a tuning table that a device gets: by its name, else by vendor and wave, else by vendor, else any.
static void test_rows(void)
{
    static const struct weft__tune_key rows[] = {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "any"},
                                                 {WEFT_SCHEDULE_GPU, "Advanced", 32, NULL, "vendor and wave"},
                                                 {WEFT_SCHEDULE_GPU, "Advanced", 0, NULL, "vendor"},
                                                 {WEFT_SCHEDULE_GPU, "Advanced", 0, "gfx12", "name"},
                                                 {WEFT_SCHEDULE_CPU, NULL, 0, NULL, "processor"}};
    static const struct {
        enum weft_schedule schedule;
        const char *vendor, *name;
        int wave, row;
    } cases[] = {{WEFT_SCHEDULE_GPU, "Other", "gfx1200", 32, 0},    {WEFT_SCHEDULE_GPU, "Advanced", "gfx1100", 32, 1},
                 {WEFT_SCHEDULE_GPU, "Advanced", "gfx90a", 64, 2},  {WEFT_SCHEDULE_GPU, "Advanced", "gfx1200", 32, 3},
                 {WEFT_SCHEDULE_GPU, "Advanced", "gfx1200", 64, 3}, {WEFT_SCHEDULE_CPU, "Advanced", "gfx1100", 32, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_context ctx = {.schedule = cases[i].schedule, .device.wave = cases[i].wave};
        snprintf(ctx.device.vendor, sizeof ctx.device.vendor, "%s", cases[i].vendor);
        snprintf(ctx.device.name, sizeof ctx.device.name, "%s", cases[i].name);
        const struct weft__tune_key *row = WEFT__TUNE_FIND(&ctx, rows);
        tap_ok(row == &rows[cases[i].row], "%s %s, waves of %d: row \"%s\"", cases[i].vendor, cases[i].name,
               cases[i].wave, row->source);
    }
}

int main(void)
{
    struct weft_error err;
    if (list_again(&err))
        tap_skip_all("%s", err.text);
    test_rows();
    test_list();
    test_pci();
    test_byte_order();
    fault_install();
    test_no_devices();
    test_silent_device();
    fault_remove();
    tap_ok(list_again(&err) == WEFT_OK, "and the list is whole again");
    weft_devices_free(&list);
    tap_ok(!list, "the list is gone");
    weft_devices_free(&list);
    weft_devices_free(NULL);
    return tap_done();
}
