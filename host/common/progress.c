// SPDX-License-Identifier: Apache-2.0
// The line of progress, written by a thread of its own while a step runs.
#include "host/common/progress.h"
#include "host/common/clock.h"
#include "host/common/name.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static int enabled, running;
static pthread_t thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static int over; // guarded by mutex
static char what[BENCH_TEXT_GROWS * 127 + 1];
static double start_ms;
static _Atomic int64_t done_bytes, total_bytes;

void bench_progress_enable(int quiet)
{
    const char *terminal = getenv("TERM");
    enabled =
        !quiet && isatty(STDERR_FILENO) && (!terminal || strcmp(terminal, "dumb")); // which knows no escape sequences
}

// Bytes of `what` that leave `used` columns of the terminal and one for the cursor. What is wider than the terminal goes on in
// the next line, which a carriage return does not leave.
static int what_fits(int used)
{
    struct winsize terminal;
    const int columns = !ioctl(STDERR_FILENO, TIOCGWINSZ, &terminal) && terminal.ws_col ? terminal.ws_col : 80;
    const int length = (int)strlen(what), room = columns - 1 - used;
    if (length <= room)
        return length;
    int fits = room > 0 ? room : 0;
    while (fits && (what[fits] & 0xc0) == 0x80) // within a character
        fits--;
    return fits;
}

static void line_show(void)
{
    int64_t done = atomic_load(&done_bytes), total = atomic_load(&total_bytes);
    double seconds = (clock_ms() - start_ms) * 1e-3;
    char share[64] = "";
    if (total > 0)
        snprintf(share, sizeof share, " %.0f %%,", 100.0 * (double)done / (double)total);
    else if (done > 0)
        snprintf(share, sizeof share, " %.0f MB,", (double)done * 1e-6);
    char end[96];
    const int used = snprintf(end, sizeof end, ":%s %.0f s", share, seconds);
    dprintf(STDERR_FILENO, "\r\033[K%.*s%s", what_fits(used), what, end);
}

// Wake up twice a second, first after two seconds, until the step is over.
static void *watch(void *arg)
{
    (void)arg;
    struct timespec until;
    int shown = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    pthread_mutex_lock(&mutex);
    while (!over) {
        if (!pthread_cond_timedwait(&ended, &mutex, &until))
            continue;
        line_show();
        shown = 1;
        until.tv_nsec += 500000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
    }
    pthread_mutex_unlock(&mutex);
    if (shown)
        dprintf(STDERR_FILENO, "\r\033[K");
    return NULL;
}

void bench_progress_begin(const char *format, ...)
{
    if (!enabled || running)
        return;
    char text[128];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    bench_text_show(what, text, strlen(text), "");
    over = 0;
    start_ms = clock_ms();
    atomic_store(&done_bytes, 0);
    atomic_store(&total_bytes, 0);
    running = !pthread_create(&thread, NULL, watch, NULL);
}

void bench_progress_bytes(void *arg, int64_t done, int64_t total)
{
    (void)arg;
    atomic_store(&done_bytes, done);
    atomic_store(&total_bytes, total);
}

void bench_progress_end(void)
{
    if (!running)
        return;
    pthread_mutex_lock(&mutex);
    over = 1;
    pthread_cond_signal(&ended);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    running = 0;
}
