// SPDX-License-Identifier: Apache-2.0
// Texts and names of statuses.
#include "host/src/core/names.h"

const char *weft_status_text(weft_status status)
{
    switch (status) {
#define WEFT_STATUS_CASE(name, value, text)                                                                            \
    case name:                                                                                                         \
        return text;
        WEFT_STATUS_LIST(WEFT_STATUS_CASE)
#undef WEFT_STATUS_CASE
    }
    return "unknown status";
}

#define WEFT_STATUS_NAME(name, value, text) [-(value)] = #name,
static const char *const names[] = {WEFT_STATUS_LIST(WEFT_STATUS_NAME)};
#undef WEFT_STATUS_NAME
#define NAMES (sizeof names / sizeof *names)

const char *weft_status_name(weft_status status)
{
    return status <= 0 && (size_t)-status < NAMES ? names[-status] : "unknown";
}

weft_status weft_status_parse(weft_status *out, const char *text)
{
    const int value = weft__name_find(names, NAMES, text);
    if (!out || value < 0)
        return WEFT_EINVAL;
    *out = (weft_status)-value;
    return WEFT_OK;
}
