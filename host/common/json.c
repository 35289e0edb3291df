// SPDX-License-Identifier: Apache-2.0
// Whole numbers in JSON: those of cJSON are doubles, which hold 53 bits.
#include "host/common/json.h"

#include <inttypes.h>
#include <stdio.h>

cJSON *bench_json_whole(uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return cJSON_CreateRaw(text);
}

int bench_json_count(cJSON *object, const char *name, uint64_t value)
{
    cJSON *const item = bench_json_whole(value);
    const int added = cJSON_AddItemToObject(object, name, item);
    if (!added)
        cJSON_Delete(item);
    return added;
}
