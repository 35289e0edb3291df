// SPDX-License-Identifier: Apache-2.0
// Where calls go on to.
#include "next.h"

struct profile_calls profile__next;
