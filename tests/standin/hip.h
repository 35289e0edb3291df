// SPDX-License-Identifier: Apache-2.0
// A stand-in for HIP and rocSPARSE, for machines without an AMD GPU: the entry points that backends/rocsparse calls,
// computing on the host. It holds a caller to what the documentation asks for, and more strictly than the libraries do:
// sizes, device and host pointers, live handles, sizes of workspaces, the order of calls. It shows that the calls are
// made as they should be. It says nothing of AMD's results or speed, and only tests link it.
#pragma once

#include "gpu.h"

// For tests: standin_reset of gpu.h puts the GPUs at PCI 0000:03:00.0, 0000:83:00.0, 0001:03:00.0.

// Calls of rocSPARSE between the last two records of events, on the stream of these.
long standin_timed(void);

// ---- for the stand-in's own files ----

void standin_count_sparse(const void *stream);
// Write `value` when the device is waited for next: what an asynchronous call gives to the host.
void standin_later(int *to, int value);
