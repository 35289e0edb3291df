// SPDX-License-Identifier: Apache-2.0
// The kernels that the self-test of this thread has launched.
#include "host/src/core/launches.h"

#include <stdio.h>
#include <string.h>

static _Thread_local struct {
    int running;
    char kernels[WEFT__LAUNCHES];
} current;

void weft__launches_begin(void)
{
    current.running = 1;
    current.kernels[0] = 0;
}

void weft__launches_end(char kernels[WEFT__LAUNCHES])
{
    current.running = 0;
    memcpy(kernels, current.kernels, WEFT__LAUNCHES);
}

int weft__launches_heard(void)
{
    return current.running;
}

int weft__launches_note(const char *entry)
{
    if (!current.running)
        return 0;
    const size_t length = strlen(entry), used = strlen(current.kernels);
    for (const char *at = current.kernels; (at = strstr(at, entry)) != NULL; at += length)
        if ((at == current.kernels || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return 1;
    if (used + length + 2 <= sizeof current.kernels)
        snprintf(current.kernels + used, sizeof current.kernels - used, "%s%s", used ? " " : "", entry);
    return 1;
}
