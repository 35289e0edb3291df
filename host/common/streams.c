// SPDX-License-Identifier: Apache-2.0
// Standard streams that show no control characters, and the end of a program whose output was not taken.
#include "host/common/streams.h"
#include "host/common/name.h"
#include "host/internal/out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- what people read ------------------------------------------------------------------------------------------

#ifdef __GLIBC__ // which lets another stream take the place of a standard one
// One of each standard stream; the bytes of a character may come in two writes.
static struct screen {
    int fd;
    char held[4];
    size_t count;
    int error; // errno of the first write that failed
} screens[] = {{STDOUT_FILENO, "", 0, 0}, {STDERR_FILENO, "", 0, 0}};

static int all_write(int fd, const char *data, size_t bytes)
{
    while (bytes) {
        ssize_t done = write(fd, data, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return 0;
        data += done;
        bytes -= (size_t)done;
    }
    return 1;
}

static ssize_t screen_write(void *cookie, const char *data, size_t bytes)
{
    struct screen *s = cookie;
    const size_t size = s->count + bytes;
    char *text = malloc(size + 1), *shown = malloc(BENCH_TEXT_GROWS * size + 1);
    int good = text && shown;
    if (good) {
        memcpy(text, s->held, s->count);
        memcpy(text + s->count, data, bytes);
        const size_t used = bench_text_show(shown, text, size, "\n\t");
        good = all_write(s->fd, shown, strlen(shown));
        s->count = size - used;
        memcpy(s->held, text + used, s->count);
    }
    const int error = errno;
    if (!good && !s->error)
        s->error = error;
    free(text);
    free(shown);
    errno = error;
    return good ? (ssize_t)bytes : 0;
}

// In the place of the standard stream.
static void screen_open(FILE **stream, struct screen *s)
{
    FILE *shown = fopencookie(s, "w", (cookie_io_functions_t){.write = screen_write});
    if (!shown)
        return;
    setvbuf(shown, NULL, s->fd == STDERR_FILENO ? _IONBF : isatty(s->fd) ? _IOLBF : _IOFBF, BUFSIZ);
    *stream = shown;
}
#endif

void bench_streams_complain(const char *program, const char *format, va_list args)
{
    char *text = NULL, *shown = NULL;
    int length = vasprintf(&text, format, args);
    if (length >= 0)
        shown = malloc(BENCH_TEXT_GROWS * (size_t)length + 1);
    if (shown)
        bench_text_show(shown, text, (size_t)length, "");
    fprintf(stderr, "%s: %s\n", program, shown ? shown : strerror(ENOMEM));
    if (length >= 0)
        free(text);
    free(shown);
}

// ---- the end ---------------------------------------------------------------------------------------------------

static void end_by(int number)
{
    weft__out_abandon();
    raise(number); // the default by now, as soon as this handler is left
}

void bench_streams_begin(void)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGXCPU};
    int fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/dev/null", O_RDONLY);
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before, mine = {.sa_handler = end_by, .sa_flags = (int)SA_RESETHAND};
        sigfillset(&mine.sa_mask);
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &mine, NULL);
    }
    signal(SIGXFSZ, SIG_IGN); // a write past the limit fails with EFBIG, which is told in a line
#ifdef __GLIBC__
    screen_open(&stdout, &screens[0]);
    screen_open(&stderr, &screens[1]);
#endif
}

int bench_streams_end(const char *program, int status, int failed)
{
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    int error = errno;
#ifdef __GLIBC__
    if (screens[0].error) // earlier, and the stream does not keep why
        error = screens[0].error;
#endif
    if (!status) // else there was a line already
        fprintf(stderr, "%s: standard output cannot be written%s%s\n", program, error ? ": " : "",
                error ? strerror(error) : "");
    return status ? status : failed;
}
