// SPDX-License-Identifier: Apache-2.0
// Texts of statuses, and failures put into words.
#include "host/src/core/error.h"

#include <stdio.h>

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

weft_status weft__error(struct weft_error *err, weft_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        err->status = status;
        err->cl_error = 0;
    }
    return status;
}
