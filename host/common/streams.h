// SPDX-License-Identifier: Apache-2.0
// The standard streams of a program, and its end: what cannot be written is no success, what is not whole is no file.
#pragma once

#include <stdarg.h>

// Before anything else. A standard stream that is closed gets a place that takes nothing, so that no file of the
// program is opened in its place and gets what is printed. What people read of stdout and stderr has no control
// characters of anybody's names any more: they are shown as \x1b. Signals that end the program remove the parts of files
// first (host/src/core/out.h); those that the caller ignores stay ignored. A file that may not grow is an error of the write
// that meets it, without a signal.
void bench_streams_begin(void);
// One line on stderr, "PROGRAM: ...": a line break of a name is shown as \x0a.
void bench_streams_complain(const char *program, const char *format, va_list args);
// At the end, with the exit status so far. When the standard output did not take what was printed, this says so in the
// name of `program`, and a success becomes `failed`.
int bench_streams_end(const char *program, int status, int failed);
