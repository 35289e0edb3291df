// SPDX-License-Identifier: Apache-2.0
// Threads of OpenMP that wait actively.
#pragma once

// End the threads that OpenMP keeps for its next parallel region: they wait for it actively, beside what is timed then.
// Call it outside of parallel regions; the next one makes them anew.
void bench_threads_rest(void);
