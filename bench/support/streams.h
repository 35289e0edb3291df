// SPDX-License-Identifier: Apache-2.0
// The standard streams of a program: what cannot be written is no success.
#ifndef BENCH_STREAMS_H
#define BENCH_STREAMS_H

// Before any file is opened: a standard stream that is closed gets a place that takes nothing, so that no file of the
// program is opened in its place and gets what is printed.
void bench_streams_begin(void);
// At the end, with the exit status so far. When the standard output did not take what was printed, this says so in the
// name of `program`, and a success becomes `failed`.
int bench_streams_end(const char *program, int status, int failed);

#endif
