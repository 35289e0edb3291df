// SPDX-License-Identifier: Apache-2.0
// The table of a backend that is not compiled in: it has no operation, and says why when it is asked.
#pragma once

#include "host/internal/inside.h"
#include "backend.h"

// id: as in --backend; library: the name its makers give it; option: Meson's option that turns it on
#define WEFT__BACKEND_ABSENT(id, library, option)                                                                      \
    static weft_status absent_probe(struct weft_context *ctx, struct weft_error *err)                                  \
    {                                                                                                                  \
        (void)ctx;                                                                                                     \
        return weft__error(err, WEFT_EUNSUPPORTED, "this build has no " library " (-D" option "=enabled)");            \
    }                                                                                                                  \
    const struct weft_backend weft__backend_##id = {.name = #id, .needs = "host", .probe = absent_probe}
