// SPDX-License-Identifier: Apache-2.0
// The recorder's own form of each call of next.h.
#pragma once

#include "next.h"
#include "record.h"

extern const struct profile_calls profile__wrapped; // the recorder's own; NULL where it has none

// Record what calls through weft's table of calls do, from now on; 0: another recorder is there. (weft.c)
int profile_calls_attach(struct profile *p);
void profile_calls_detach(void);
