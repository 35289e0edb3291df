// SPDX-License-Identifier: Apache-2.0
// Prints the list of devices, each after trying it.
#include "host/common/list.h"
#include "host/internal/inside.h"

#include <string.h>

const char *bench_list_type(cl_device_type type)
{
    return type & CL_DEVICE_TYPE_GPU ? "GPU" : type & CL_DEVICE_TYPE_CPU ? "CPU" : "accelerator";
}

void bench_list_print(FILE *out, struct weft_device_info *list, size_t count)
{
    int platform = 0, name = 0, driver = 0;
    for (size_t i = 0; i < count; i++) {
        int lengths[] = {(int)strlen(list[i].platform), (int)strlen(list[i].name), (int)strlen(list[i].driver)};
        platform = lengths[0] > platform ? lengths[0] : platform;
        name = lengths[1] > name ? lengths[1] : name;
        driver = lengths[2] > driver ? lengths[2] : driver;
    }
    const int chosen = weft_device_default(list, count);
    for (size_t i = 0; i < count; i++) {
        const char *mark = (int)i == chosen ? "  default" : "";
        weft_device_probe(&list[i]);
        fprintf(out, "%2d  %-*s  %-*s", list[i].index, platform, list[i].platform, name,
                list[i].name[0] ? list[i].name : "?");
        if (list[i].why[0])
            fprintf(out, "  cannot be used: %s%s\n", list[i].why, mark);
        else
            fprintf(out, "  %-11s  driver %-*s  %6.1f GiB%s\n", bench_list_type(list[i].type), driver, list[i].driver,
                    (double)list[i].global_bytes / (double)(1 << 30), mark);
    }
}

int bench_list_find(const struct weft_device_info *list, size_t count, const char *text)
{
    return *text ? weft_device_find(list, count, text) : -1;
}

void bench_list_absent(char *out, size_t size, size_t count, const char *text, const char *from)
{
    char why[400];
    weft__device_absent(why, sizeof why, count, text);
    snprintf(out, size, "%s: %s", from, why);
}
