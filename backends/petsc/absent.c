// SPDX-License-Identifier: Apache-2.0
// Backend petsc of a build that has none: says so when it is asked.
#include "backends/absent.h"

WEFT__BACKEND_ABSENT(petsc, "PETSc", "petsc_peer");
