// SPDX-License-Identifier: Apache-2.0
// The list of all backends, in the order of `--backend`.
#include "backend.h"

#define BACKEND(name) &weft__backend_##name,
const struct weft_backend *const weft__backends[] = {WEFT__BACKENDS(BACKEND) NULL};
