// SPDX-License-Identifier: Apache-2.0
// Numbers of JSON that a double does not hold.
#pragma once

#include <cjson/cJSON.h>
#include <stdint.h>

// A whole number with all its digits, as text that cJSON does not look at (cJSON_IsRaw). NULL: no memory.
cJSON *bench_json_whole(uint64_t value);
// The same as a member of `object`; 0: no memory.
int bench_json_count(cJSON *object, const char *name, uint64_t value);
