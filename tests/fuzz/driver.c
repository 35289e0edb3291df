// SPDX-License-Identifier: Apache-2.0
// The main of a fuzz target without libFuzzer: runs every input of a corpus once, then for some seconds changed ones.
//
//     fuzz-TARGET [--seconds N] [--seed S] FILE-OR-FOLDER...
//
// The changes are random, and know nothing of what the target ran: for more, compile with clang's libFuzzer (./dev fuzz).
// An input that ends the program is left in crash-TARGET.
#include "fuzz.h"
#include "tests/support/rng.h"
#include "tests/support/tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 20, INPUTS = 4096 };

static struct input {
    uint8_t *data;
    size_t bytes;
} inputs[INPUTS];
static size_t count;
static const uint8_t *running;
static size_t running_bytes;
static char crash[256];

static void on_end(int number)
{
    const int fd = open(crash, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0 && write(fd, running, running_bytes) < 0)
        _exit(3);
    signal(number, SIG_DFL);
    raise(number);
}

// Once, from memory of exactly that size, so that sanitizers see reading past the end.
static void run(const uint8_t *data, size_t bytes)
{
    uint8_t *exact = malloc(bytes ? bytes : 1);
    if (!exact)
        tap_bail("out of memory");
    memcpy(exact, data, bytes);
    running = exact;
    running_bytes = bytes;
    LLVMFuzzerTestOneInput(exact, bytes);
    free(exact);
}

static void input_read(const char *path)
{
    static uint8_t data[MOST];
    FILE *file = fopen(path, "rb");
    if (!file || count == INPUTS)
        tap_bail("cannot open %s", path);
    struct input *in = &inputs[count++];
    in->bytes = fread(data, 1, sizeof data, file);
    in->data = malloc(in->bytes + 1);
    fclose(file);
    if (!in->data)
        tap_bail("out of memory");
    memcpy(in->data, data, in->bytes);
    run(in->data, in->bytes);
    tap_ok(1, "%s", path); // anything else aborts
}

static void folder_read(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) {
        input_read(path);
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        char name[1024];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            input_read(name);
    }
    closedir(dir);
}

// A few changes: bits, bytes of interest, pieces taken out, doubled, or of another input. Returns the length.
static size_t change(struct rng *rng, uint8_t *data, size_t bytes)
{
    static const char interest[] = "\0\1\x7f\x80\xff -+.eE019%\n\t{}[]\",:";
    for (uint64_t k = rng_below(rng, 6) + 1; k > 0; k--) {
        const size_t at = bytes ? rng_below(rng, bytes) : 0, left = bytes - at;
        const struct input *other = &inputs[rng_below(rng, count)];
        const size_t from = other->bytes ? rng_below(rng, other->bytes) : 0;
        size_t n = rng_below(rng, 16) + 1;
        switch (rng_below(rng, 6)) {
        case 0:
            if (bytes)
                data[at] ^= (uint8_t)(1u << rng_below(rng, 8));
            break;
        case 1:
            if (bytes)
                data[at] = (uint8_t)interest[rng_below(rng, sizeof interest - 1)];
            break;
        case 2:
            if (bytes)
                data[at] = (uint8_t)rng_u64(rng);
            break;
        case 3: // out
            n = n < left ? n : left;
            memmove(data + at, data + at + n, left - n);
            bytes -= n;
            break;
        case 4: // in, of another
            n = n < other->bytes - from ? n : other->bytes - from;
            if (bytes + n > MOST)
                break;
            memmove(data + at + n, data + at, left);
            memcpy(data + at, other->data + from, n);
            bytes += n;
            break;
        default: // over, of another
            n = n < other->bytes - from ? n : other->bytes - from;
            n = n < left ? n : left;
            memcpy(data + at, other->data + from, n);
        }
    }
    return bytes;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    static uint8_t data[MOST];
    double seconds = 0;
    const char *name = strrchr(argv[0], '/');
    snprintf(crash, sizeof crash, "crash-%s", name ? name + 1 : argv[0]);
    const int ends[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        signal(ends[i], on_end);
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--seconds") && i + 1 < argc)
            seconds = atof(argv[++i]);
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            setenv("WEFT_SEED", argv[++i], 1);
        else
            folder_read(argv[i]);
    if (!count)
        tap_bail("no input");
    struct rng rng = rng_start();
    const double begin = now();
    uint64_t runs = count;
    for (; now() - begin < seconds; runs++) {
        const struct input *in = &inputs[rng_below(&rng, count)];
        memcpy(data, in->data, in->bytes);
        run(data, change(&rng, data, in->bytes));
    }
    tap_note("executions: %llu in %.1f s", (unsigned long long)runs, now() - begin);
    for (size_t i = 0; i < count; i++)
        free(inputs[i].data);
    return tap_done();
}
