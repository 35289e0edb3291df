// SPDX-License-Identifier: Apache-2.0
// Names of this process that stand beside the places of unfinished files, where a signal handler can reach them.
#pragma once

// The next name into *part, in the folder of the absolute `path`; what stood there is forgotten. 0: no memory.
int weft__part_name(char **part, const char *path);
// The name exists, or will in a moment.
void weft__part_note(char *part);
// It does not any more: *part is freed and NULL. Accepts NULL there.
void weft__part_forget(char **part);
// Remove every name that exists; for a signal handler.
void weft__out_abandon(void);
