// SPDX-License-Identifier: Apache-2.0
// The list of devices as JSON.
#include "host/common/list.h"

#include <cjson/cJSON.h>

cJSON *bench_list_json(struct weft_device_info *list, size_t count)
{
    const int chosen = weft_device_default(list, count);
    cJSON *devices = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) {
        const struct weft_device_info *d = &list[i];
        weft_device_probe(&list[i]);
        cJSON *item = cJSON_CreateObject();
        const int fine = item && cJSON_AddNumberToObject(item, "index", d->index) &&
                         cJSON_AddStringToObject(item, "platform", d->platform) &&
                         cJSON_AddStringToObject(item, "name", d->name) &&
                         cJSON_AddStringToObject(item, "vendor", d->vendor) &&
                         cJSON_AddStringToObject(item, "type", bench_list_type(d->type)) &&
                         cJSON_AddStringToObject(item, "driver", d->driver) &&
                         cJSON_AddStringToObject(item, "version", d->version) &&
                         cJSON_AddNumberToObject(item, "memory_bytes", (double)d->global_bytes) &&
                         cJSON_AddNumberToObject(item, "compute_units", d->compute_units) &&
                         cJSON_AddBoolToObject(item, "fp64", d->fp64 != 0) &&
                         cJSON_AddBoolToObject(item, "shares_host_memory", d->unified != 0) &&
                         cJSON_AddBoolToObject(item, "default", (int)i == chosen) &&
                         (d->why[0] ? cJSON_AddStringToObject(item, "cannot_be_used", d->why) : item);
        if (!fine || !cJSON_AddItemToArray(devices, item)) {
            cJSON_Delete(item);
            cJSON_Delete(devices);
            return NULL;
        }
    }
    return devices;
}
