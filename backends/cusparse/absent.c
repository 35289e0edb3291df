// SPDX-License-Identifier: Apache-2.0
// Backend cusparse of a build that has none: says so when it is asked.
#include "backends/absent.h"

WEFT__BACKEND_ABSENT(cusparse, "cuSPARSE", "cusparse");
