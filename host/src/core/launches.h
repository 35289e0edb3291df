// SPDX-License-Identifier: Apache-2.0
// What this thread launches while a self-test runs: noted for its message, and kept from who asked to hear of launches.
#pragma once

enum { WEFT__LAUNCHES = 512 };

void weft__launches_begin(void);
// The names of the kernels, each once, with spaces between.
void weft__launches_end(char kernels[WEFT__LAUNCHES]);
// Nonzero: between the two.
int weft__launches_heard(void);
// Note kernel `entry`. Nonzero: a self-test runs, and nobody else is told.
int weft__launches_note(const char *entry);
