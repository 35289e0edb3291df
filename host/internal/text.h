// SPDX-License-Identifier: Apache-2.0
// Texts of others made UTF-8. Apart from inside.h, since the profiler's layer compiles text.c into itself and has nothing
// else of the library.
#pragma once

#include "host/src/core/text.h"
