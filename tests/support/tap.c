// SPDX-License-Identifier: Apache-2.0
// Prints a test's results in the Test Anything Protocol.
#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int planned = -1, run, failed;

// The text of a line may not contain a line end, nor '#' (which starts a directive).
static void print_text(const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    for (char *c = text; *c; c++)
        if (*c == '\n' || *c == '#')
            *c = ' ';
    fputs(text, stdout);
}

static int result(int cond, const char *format, va_list args)
{
    run++;
    failed += !cond;
    printf("%s %d - ", cond ? "ok" : "not ok", run);
    print_text(format, args);
    putchar('\n');
    fflush(stdout);
    return cond;
}

void tap_plan(int count)
{
    planned = count;
    printf("1..%d\n", count);
    fflush(stdout);
}

int tap_ok(int cond, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    result(!!cond, format, args);
    va_end(args);
    return cond;
}

int tap_is_int(int64_t got, int64_t want, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    result(got == want, format, args);
    va_end(args);
    if (got != want)
        tap_note("got %lld, expected %lld", (long long)got, (long long)want);
    return got == want;
}

int tap_is_str(const char *got, const char *want, const char *format, ...)
{
    int same = got && want ? !strcmp(got, want) : got == want;
    va_list args;
    va_start(args, format);
    result(same, format, args);
    va_end(args);
    if (!same)
        tap_note("got \"%s\", expected \"%s\"", got ? got : "(null)", want ? want : "(null)");
    return same;
}

void tap_skip(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("ok %d # SKIP ", ++run);
    print_text(format, args);
    putchar('\n');
    fflush(stdout);
    va_end(args);
}

void tap_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("# ", stdout);
    print_text(format, args);
    putchar('\n');
    fflush(stdout);
    va_end(args);
}

void tap_bail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("Bail out! ", stdout);
    print_text(format, args);
    putchar('\n');
    fflush(stdout);
    va_end(args);
    exit(1);
}

void tap_skip_all(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("1..0 # SKIP ", stdout);
    print_text(format, args);
    putchar('\n');
    fflush(stdout);
    va_end(args);
    exit(0);
}

int tap_failed(void)
{
    return failed;
}

int tap_done(void)
{
    if (planned < 0)
        printf("1..%d\n", run);
    if (failed)
        printf("# %d of %d failed\n", failed, run);
    if (planned >= 0 && planned != run)
        printf("# planned %d, ran %d\n", planned, run);
    fflush(stdout);
    return failed || (planned >= 0 && planned != run);
}
