// SPDX-License-Identifier: Apache-2.0
#include "backends/absent.h"

WEFT__BACKEND_ABSENT(viennacl, "ViennaCL", "viennacl");
