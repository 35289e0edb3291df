// SPDX-License-Identifier: Apache-2.0
// The list of backends of a program that has petsc alone: what backends.c runs where weft-bench is built without it.
#include "backends/backend.h"

const struct weft_backend *const weft__backends[] = {&weft__backend_petsc, NULL};
