// SPDX-License-Identifier: Apache-2.0
// Keeps the names of unfinished files in a table without locks.
#include "host/src/core/out_part.h"
#include "host/src/core/own.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PARTS_MAX = 64 };
static _Atomic(char *) parts[PARTS_MAX];

void weft__part_note(char *part)
{
    for (int i = 0; i < PARTS_MAX; i++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&parts[i], &none, part))
            return;
    }
}

void weft__part_forget(char **part)
{
    for (int i = 0; i < PARTS_MAX && *part; i++) {
        char *mine = *part;
        if (atomic_compare_exchange_strong(&parts[i], &mine, NULL))
            break;
    }
    free(*part);
    *part = NULL;
}

void weft__out_abandon(void)
{
    for (int i = 0; i < PARTS_MAX; i++) {
        const char *name = atomic_load(&parts[i]);
        if (name)
            unlink(name);
    }
}

int weft__part_name(char **part, const char *path)
{
    static atomic_uint count;
    const size_t folder = (size_t)(weft__path_slash(path) - path) + 1, room = folder + 48;
    weft__part_forget(part);
    *part = malloc(room);
    if (!*part)
        return 0;
    snprintf(*part, room, "%.*sweft-%ld-%u.part", (int)folder, path, (long)getpid(), atomic_fetch_add(&count, 1));
    return 1;
}
