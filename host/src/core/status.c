// SPDX-License-Identifier: Apache-2.0
// Texts of statuses.
#include <weft/status.h>

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
