// SPDX-License-Identifier: Apache-2.0
// Test Anything Protocol on stdout, for plain C test programs:
//
//     int main(void)
//     {
//         tap_ok(weft_type_bytes(WEFT_TYPE_F64) == 8, "bytes of f64");
//         return tap_done();
//     }
//
// Calls may come from one thread only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TAP_FORMAT(string, first) __attribute__((format(__printf__, string, first)))

// Announce `count` tests; without it tap_done() prints the plan at the end.
void tap_plan(int count);
// One test: "ok" when cond is nonzero; the format names it. Gives cond back, so that a test can go on or stop.
int tap_ok(int cond, const char *format, ...) TAP_FORMAT(2, 3);
// One test: passes when got == want; both are printed on failure.
int tap_is_int(int64_t got, int64_t want, const char *format, ...) TAP_FORMAT(3, 4);
// One test: passes when both strings are equal (NULL equals NULL only).
int tap_is_str(const char *got, const char *want, const char *format, ...) TAP_FORMAT(3, 4);
// One test that cannot run here: counts as passed, marked SKIP with the reason.
void tap_skip(const char *format, ...) TAP_FORMAT(1, 2);
// A comment line ("# ..."), shown with the test before it.
void tap_note(const char *format, ...) TAP_FORMAT(1, 2);
// Print "Bail out!" and exit with status 1: nothing sensible can follow.
_Noreturn void tap_bail(const char *format, ...) TAP_FORMAT(1, 2);
// Print "1..0 # SKIP reason" and exit with status 0: the whole program does not apply here; only before any test.
_Noreturn void tap_skip_all(const char *format, ...) TAP_FORMAT(1, 2);
// Tests that failed so far.
int tap_failed(void);
// Print the plan if it is still owed, and a summary of failures; returns the exit status of the program.
int tap_done(void);
