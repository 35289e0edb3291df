// SPDX-License-Identifier: Apache-2.0
// How fast matrices come in: generate one, write it, read it back; medians of several runs.
//
//     input-speed [SPEC [REPS]]        default uniform:500000,500000,10000000 5; files go to $TMPDIR or /tmp
#include "host/internal/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <weft/generate.h>
#include <weft/mtx.h>

#define REPS_LIMIT 100

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *seconds, int count)
{
    qsort(seconds, (size_t)count, sizeof *seconds, ascending);
    return count % 2 ? seconds[count / 2] : (seconds[count / 2 - 1] + seconds[count / 2]) / 2;
}

static void stop(const char *why)
{
    fprintf(stderr, "input-speed: %s\n", why);
    exit(1);
}

// Print the median time of reading `path`, after comparing the matrix with `want`.
static void read_speed(const char *what, const char *path, const struct weft_csr *want, int threads, int reps)
{
    double seconds[REPS_LIMIT];
    struct weft_error err;
    struct weft_mtx_info info = {0};
    for (int r = 0; r < reps; r++) {
        struct weft_csr a;
        double begin = now();
        if (weft_mtx_read(&a, &info, path, weft_mtx_params(.type = want->type, .threads = threads), &err))
            stop(err.text);
        seconds[r] = now() - begin;
        if (!weft_csr_equal(&a, want))
            stop("another matrix was read than written");
        weft_csr_free(&a);
    }
    double s = median(seconds, reps);
    printf("read  %-6s %2d threads  %8.3f s  %8.0f MB of text a second\n", what, threads, s,
           (double)info.file_bytes / s * 1e-6);
}

int main(int count, char **words)
{
    const char *spec = count > 1 ? words[1] : "uniform:500000,500000,10000000", *folder = getenv("TMPDIR");
    int reps = count > 2 ? atoi(words[2]) : 5, threads = weft__threads(0);
    double seconds[REPS_LIMIT];
    struct weft_csr a = {0};
    struct weft_error err;
    if (count > 3 || reps < 1 || reps > REPS_LIMIT)
        stop("usage: input-speed [SPEC [REPS]]");
    for (int r = 0; r < reps; r++) {
        weft_csr_free(&a);
        double begin = now();
        if (weft_generate(&a, spec, NULL, &err))
            stop(err.text);
        seconds[r] = now() - begin;
    }
    printf("%s: %lld x %lld, %lld entries, f32\n", spec, (long long)a.m, (long long)a.n, (long long)a.nnz);
    printf("generate     %2d threads  %8.3f s\n", threads, median(seconds, reps));
    static const char *const kinds[] = {"mtx", "mtx.gz"};
    for (int k = 0; k < 2; k++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/weft-input-%ld.%s", folder ? folder : "/tmp", (long)getpid(), kinds[k]);
        double begin = now();
        if (weft_mtx_write(path, &a, &err))
            stop(err.text);
        printf("write %-6s %2d threads  %8.3f s\n", kinds[k], threads, now() - begin);
        read_speed(kinds[k], path, &a, threads, reps);
        if (threads > 1)
            read_speed(kinds[k], path, &a, 1, reps);
        unlink(path);
    }
    weft_csr_free(&a);
    return 0;
}
