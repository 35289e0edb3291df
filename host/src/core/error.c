// SPDX-License-Identifier: Apache-2.0
// Failures put into words.
#include "host/src/core/error.h"

#include <stdio.h>

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
