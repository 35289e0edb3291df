// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all. Apart from inside.h, since the profiler's layer compiles out.c into
// itself and has nothing else of the library.
#pragma once

#include "host/src/core/out.h"
