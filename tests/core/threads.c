// SPDX-License-Identifier: Apache-2.0
// Host threads: a team does all of its work with the threads that it gets, none among them; the library never ends the
// process where the system gives none. The linker turns the library's calls of pthread_create into __wrap_pthread_create.
#include "host/internal/inside.h"
#include "tests/support/device.h"
#include "tests/support/tap.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/generate.h>
#include <weft/measure.h>
#include <weft/mtx.h>
#include <weft/permute.h>

int __real_pthread_create(pthread_t *out, const pthread_attr_t *attr, void *(*main)(void *), void *arg);
int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attr, void *(*main)(void *), void *arg);

static int granted = -1; // threads that are still given; negative: all
static int made, refused;

int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attr, void *(*main)(void *), void *arg)
{
    if (granted == 0) {
        refused++;
        return EAGAIN;
    }
    granted -= granted > 0;
    int error = __real_pthread_create(out, attr, main, arg);
    made += !error;
    return error;
}

static void test_count(void)
{
    static const struct {
        const char *text;
        int threads; // 0: as without the variable
    } texts[] = {{"1", 1}, {"3", 3}, {" 7", 7}, {"5,2", 5},  {"999", 256}, {"99999999999999999999", 256},
                 {"", 0},  {"0", 0}, {"-4", 0}, {"many", 0}, {"4x", 0}};
    unsetenv("OMP_NUM_THREADS");
    const int all = weft__threads(0);
    tap_ok(all >= 1 && all <= WEFT__THREADS_MOST, "%d threads unasked", all);
    tap_is_int(weft__threads(-1), all, "less than nothing is unasked");
    tap_is_int(weft__threads(100000), WEFT__THREADS_MOST, "100000 are the most there are");
    tap_is_int(weft__threads(3), 3, "three are three");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        setenv("OMP_NUM_THREADS", texts[i].text, 1);
        tap_is_int(weft__threads(0), texts[i].threads ? texts[i].threads : all, "OMP_NUM_THREADS=\"%s\"",
                   texts[i].text);
        tap_is_int(weft__threads(2), 2, "which what is asked for overrules");
    }
    unsetenv("OMP_NUM_THREADS");
}

#define PIECES 5000
static atomic_int hits[PIECES];

static void hit(void *arg, int64_t i)
{
    atomic_fetch_add((atomic_int *)arg + i, 1);
}

// Every piece of 0 .. count-1 was done once.
static int hit_once(int64_t count)
{
    int good = 1;
    for (int64_t i = 0; i < PIECES; i++)
        good = good && atomic_exchange(&hits[i], 0) == (i < count);
    return good;
}

static void test_each(void)
{
    static const int64_t counts[] = {0, 1, 2, 3, 7, 64, PIECES};
    for (int threads = 1; threads <= 9; threads += threads == 1 ? 1 : 3)
        for (int given = -1; given < 3; given++) {
            struct weft__team team;
            int good = 1;
            weft__team_begin(&team, threads);
            made = refused = 0;
            granted = given;
            for (int round = 0; round < 20; round++)
                for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                    weft__team_each(&team, INT64_MAX, counts[c], hit, hits);
                    good = hit_once(counts[c]) && good;
                }
            granted = -1;
            weft__team_end(&team);
            tap_ok(good, "%d threads wanted, %d given: every piece once", threads, given);
            tap_is_int(made, given >= 0 && given < threads - 1 ? given : threads - 1, "threads are made once");
            tap_ok(refused <= 1, "and once refused are not asked for again");
        }
    struct weft__team team;
    weft__team_begin(&team, 8);
    made = 0;
    weft__team_each(&team, WEFT__THREAD_WORK - 1, 100, hit, hits);
    tap_ok(hit_once(100) && !made, "little work wakes nobody");
    weft__team_each(&team, INT64_MAX, 2, hit, hits);
    tap_ok(hit_once(2) && made == 1, "two pieces take two threads");
    weft__team_end(&team);
}

struct masks {
    pthread_t caller;
    pthread_barrier_t both; // the caller waits for the helper
    int blocked[NSIG];
};

static void masks_look(void *arg)
{
    struct masks *m = arg;
    sigset_t mask;
    if (!pthread_equal(pthread_self(), m->caller)) {
        pthread_sigmask(SIG_SETMASK, NULL, &mask);
        for (int s = 1; s < NSIG; s++)
            m->blocked[s] = sigismember(&mask, s) == 1;
    }
    pthread_barrier_wait(&m->both);
}

static void test_signals(void)
{
    static const int others[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGCHLD, SIGPIPE, SIGUSR1, SIGPROF, SIGWINCH};
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct masks m = {.caller = pthread_self()};
    struct weft__team team;
    sigset_t before, after;
    int all = 1, none = 1, same = 1;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    pthread_barrier_init(&m.both, NULL, 2);
    weft__team_begin(&team, 2);
    weft__team_run(&team, 2, masks_look, &m);
    weft__team_end(&team);
    pthread_barrier_destroy(&m.both);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        all = all && m.blocked[others[i]];
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        none = none && !m.blocked[own[i]];
    for (int s = 1; s < NSIG; s++)
        same = same && sigismember(&before, s) == sigismember(&after, s);
    tap_ok(all, "helpers get no signals");
    tap_ok(none, "but those of their own faults");
    tap_ok(same, "the caller's mask stays");
}

// ---- what uses them --------------------------------------------------------------------------------------------

static char *text; // a matrix of 300000 entries as a file
static size_t text_bytes;
static struct weft_csr whole;

static char path[] = "/tmp/weft-threads-XXXXXX.mtx";

static int text_read(int threads, struct weft_error *err)
{
    struct weft_csr a;
    weft_status status = weft_mtx_parse(&a, NULL, "text", text, text_bytes, weft_mtx_params(.threads = threads), err);
    if (status)
        return status;
    status = weft_csr_equal(&a, &whole) ? WEFT_OK : WEFT_EMATRIX;
    weft_csr_free(&a);
    return status;
}

// Everything of the host that is threaded, beside a run with one thread; in a sample with one matrix, in turn. 0, or the first
// status.
static weft_status everything(int threads)
{
    static const char *const specs[] = {"uniform:20000,30000,300000", "power:20000,20000,300000", "stencil5:300"};
    static size_t turn;
    struct weft_error err;
    weft_status status = (weft_status)text_read(threads, &err);
    const size_t first = test_sample() ? turn++ % 3 : 0, last = test_sample() ? first : 2;
    for (size_t i = first; i <= last && !status; i++) {
        struct weft_csr a = {0}, b = {0}, moved = {0};
        struct weft_permutation p = {0};
        struct weft_measures figures;
        struct weft_density d = {0};
        struct weft_distance distance;
        status = weft_generate(&a, specs[i], NULL, &err);
        if (!status)
            status = weft_measure(&figures, &a, threads, &err);
        if (!status)
            status = weft_density_alloc(&d, &a, weft_density_params(.threads = threads), &err);
        if (!status)
            status = weft_distance(&distance, d.row, d.col, d.rows < d.cols ? d.rows : d.cols, NULL, &err);
        if (!status)
            status = weft_permutation_alloc(&p, WEFT_ORDER_ROW_COL, &a, 1, &err);
        if (!status)
            status = weft_csr_permute(&moved, &a, &p, weft_permute_params(.threads = threads), &err);
        if (!status)
            status = weft_mtx_write(path, &moved, &err);
        if (!status)
            status = weft_mtx_read(&b, NULL, path, weft_mtx_params(.threads = threads), &err);
        if (!status && !weft_csr_equal(&moved, &b))
            status = WEFT_EMATRIX;
        weft_density_free(&d);
        weft_permutation_free(&p);
        weft_csr_free(&a);
        weft_csr_free(&b);
        weft_csr_free(&moved);
    }
    return status;
}

static void text_make(void)
{
    struct weft_error err;
    int fd = mkstemps(path, 4);
    if (fd < 0)
        tap_bail("mkstemps");
    close(fd);
    if (weft_generate(&whole, "uniform:20000,30000,300000", NULL, &err) || weft_mtx_write(path, &whole, &err))
        tap_bail("%s", err.text);
    FILE *file = fopen(path, "rb");
    text = malloc(8 << 20);
    text_bytes = file && text ? fread(text, 1, 8 << 20, file) : 0;
    if (file)
        fclose(file);
    tap_ok(text_bytes > (2 << 20), "a text of %zu bytes", text_bytes);
}

static void test_refused(void)
{
    setenv("OMP_NUM_THREADS", "4", 1);
    for (int given = 0; given < 12; given++) {
        refused = 0;
        granted = given;
        weft_status status = everything(6);
        granted = -1;
        tap_is_int(status, WEFT_OK, "the system gives %d threads", given);
        tap_ok(refused > 0, "and refused %d", refused);
    }
    unsetenv("OMP_NUM_THREADS");
}

static void test_asked(void)
{
    struct weft_error err = {0};
    tap_is_int(everything(100000), WEFT_OK, "100000 threads are asked for");
    tap_is_int(text_read(-1, &err), WEFT_EINVAL, "-1 threads of the reader");
    tap_ok(strstr(err.text, "threads") != NULL, "%s", err.text);
    struct weft_measures figures;
    tap_is_int(weft_measure(&figures, &whole, -1, &err), WEFT_EINVAL, "-1 threads of measures");
}

// Run `fn` in a child; its exit status, or -1 where it did not exit by itself.
static int child(int (*fn)(int64_t arg), int64_t arg)
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        alarm(120);
        _exit(fn(arg));
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void *nothing(void *arg)
{
    return arg;
}

// No process nor thread beyond this one. Root has no such limit, so another user it is.
static int nproc(int64_t arg)
{
    const struct rlimit none = {1, 1};
    pthread_t thread;
    (void)arg;
    if (setrlimit(RLIMIT_NPROC, &none) || (!geteuid() && (setgroups(0, NULL) || setresuid(65534, 65534, 65534))))
        return 77;
    if (!__real_pthread_create(&thread, NULL, nothing, NULL)) // the limit holds for nobody here
        return 77;
    struct weft_error err;
    return text_read(8, &err) == WEFT_OK ? 42 : 1;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static int64_t address_space(void)
{
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

// A process of its own, in which nothing is left of earlier work, reads `file` with `more` bytes of memory beside its own.
static int memory_main(const char *file, int64_t more)
{
    const int64_t now = address_space();
    const struct rlimit limit = {(rlim_t)(now + more), (rlim_t)(now + more)};
    struct weft_error err = {0};
    struct weft_csr a;
    if (!now || setrlimit(RLIMIT_AS, &limit))
        return 77;
    weft_status status = weft_mtx_read(&a, NULL, file, weft_mtx_params(.threads = 64), &err);
    if (status)
        return status == WEFT_ENOMEM && err.text[0] ? 43 : 1;
    status = a.nnz == 300000 ? WEFT_OK : WEFT_EMATRIX;
    weft_csr_free(&a);
    return status ? 1 : 42;
}

static int memory(int64_t more)
{
    char bytes[32];
    snprintf(bytes, sizeof bytes, "%lld", (long long)more);
    execl("/proc/self/exe", "test-threads", "memory", path, bytes, (char *)NULL);
    return 1;
}

static int again(int64_t arg)
{
    return everything((int)arg) == WEFT_OK ? 42 : 1;
}

static void test_limits(void)
{
    int status = child(nproc, 0);
    struct weft_error err;
    if (weft_mtx_write(path, &whole, &err))
        tap_bail("%s", err.text);
    if (status == 77)
        tap_skip("no limit of processes to be set here");
    else
        tap_is_int(status, 42, "no thread beyond the first: the file is read all the same");
    if (SANITIZED) {
        tap_skip("the sanitizer needs address space of its own");
    } else {
        int good = 1, read = 0, none = 0;
        for (int64_t bytes = 0; bytes <= 512 << 20; bytes += bytes < 32 << 20 ? 1 << 20 : 32 << 20) {
            status = child(memory, bytes);
            good = good && (status == 42 || status == 43);
            read += status == 42;
            none += status == 43;
            if (!good)
                tap_note("%lld bytes: %d", (long long)bytes, status);
        }
        tap_ok(good && read && none, "short of memory: %d times read, %d times WEFT_ENOMEM, nothing else", read, none);
    }
    tap_is_int(child(again, 3), 42, "a child of a process with threads has its own");
}

int main(int count, char **words)
{
    if (count == 4 && !strcmp(words[1], "memory"))
        return memory_main(words[2], atoll(words[3]));
    test_count();
    test_each();
    test_signals();
    text_make();
    test_refused();
    test_asked();
    test_limits();
    unlink(path);
    weft_csr_free(&whole);
    free(text);
    return tap_done();
}
