// SPDX-License-Identifier: Apache-2.0
// What the layer of failing events and its test agree on.
#pragma once

#include <CL/cl.h>

// Asked of a platform with a cl_uint of EVENTS_* flags as the value: from now on the layer does so. Without the layer platforms
// do not know the question.
#define EVENTS_TAKE ((cl_platform_info)0x5747)
// Callbacks of events that failed are never called, as PoCL 3.1 leaves them.
#define EVENTS_MUTE 1u
// A command in a queue in order, or behind a barrier, fails with the one before it. Else failure goes through wait lists alone.
#define EVENTS_ORDER 2u

// Asked of a platform: what is alive, a struct events_alive.
#define EVENTS_ALIVE ((cl_platform_info)0x5748)
struct events_alive {
    cl_uint events, buffers;
};
