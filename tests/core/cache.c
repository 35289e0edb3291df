// SPDX-License-Identifier: Apache-2.0
// The program cache on disk: what the key depends on, damaged and foreign files, many processes, processes that die
// while they write, folders that cannot be written; and whole contexts on top of it.
#include "host/internal/tests.h"
#include "tests/support/device.h"
#include "tests/support/fault.h"
#include "tests/support/rng.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rng rng;
static char dir[64] = "/tmp/weft-cache-XXXXXX";

// Path of the n-th file of the folder (n counts from 0); 0: there is none.
static int file_find(const char *folder, int n, char *path, size_t size)
{
    DIR *d = opendir(folder);
    int found = 0;
    for (struct dirent *entry; d && !found && (entry = readdir(d));)
        if (entry->d_name[0] != '.' && n-- == 0) {
            snprintf(path, size, "%.120s/%.255s", folder, entry->d_name);
            found = 1;
        }
    if (d)
        closedir(d);
    return found;
}

static void clear(void)
{
    char path[400];
    while (file_find(dir, 0, path, sizeof path) && !unlink(path))
        ;
}

static void test_key(void)
{
    const struct weft_device_info device = {
        .platform = "p", .platform_version = "pv", .name = "n", .vendor = "v", .driver = "d", .version = "dv"};
    static const char *const names[] = {"platform", "platform version", "name",    "vendor",
                                        "driver",   "device version",   "options", "text"};
    char *key = weft__cache_key(&device, "-o", "text");
    char *same = weft__cache_key(&device, "-o", "text");
    tap_is_str(key, same, "the same program has the same key");
    free(same);
    for (int i = 0; i < 8; i++) {
        struct weft_device_info other = device;
        char *fields[] = {other.platform, other.platform_version, other.name,
                          other.vendor,   other.driver,           other.version};
        if (i < 6)
            strcpy(fields[i], "else");
        char *changed = weft__cache_key(&other, i == 6 ? "-p" : "-o", i == 7 ? "texu" : "text");
        tap_ok(changed && strcmp(changed, key) != 0, "another %s, another key", names[i]);
        free(changed);
    }
    struct weft_device_info moved = device; // a word that moves from one field to the next
    strcpy(moved.name, "");
    strcpy(moved.vendor, "nv");
    char *changed = weft__cache_key(&moved, "-o", "text");
    tap_ok(strcmp(changed, key) != 0, "fields do not run into each other");
    free(changed);
    free(key);
}

// A binary of `size` bytes that says whose it is in each byte.
static unsigned char *binary_make(size_t size, unsigned char who)
{
    unsigned char *out = test_alloc(size);
    for (size_t i = 0; i < size; i++)
        out[i] = (unsigned char)(who + i * 31);
    return out;
}

static int binary_is(const unsigned char *got, size_t size, unsigned char who)
{
    for (size_t i = 0; got && i < size; i++)
        if (got[i] != (unsigned char)(who + i * 31))
            return 0;
    return got != NULL;
}

static char why[WEFT__CACHE_WHY];

static int reads(const char *key, size_t size, unsigned char who)
{
    size_t got_size = 0;
    unsigned char *got = weft__cache_read(dir, key, &got_size, why);
    int ok = got_size == size && binary_is(got, size, who);
    free(got);
    return ok;
}

static int misses(const char *key)
{
    size_t size = 77;
    unsigned char *got = weft__cache_read(dir, key, &size, why);
    int ok = got == NULL;
    free(got);
    return ok;
}

// The file after a change: cut to `size` bytes when it is not negative, else one bit of byte `at` turned.
static void damage(const char *path, const unsigned char *whole, size_t whole_size, int64_t size, size_t at)
{
    unsigned char *copy = test_alloc(whole_size);
    memcpy(copy, whole, whole_size);
    if (size < 0)
        copy[at] ^= (unsigned char)(1u << rng_below(&rng, 8));
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(copy, 1, size < 0 ? whole_size : (size_t)size, file) != (size < 0 ? whole_size : (size_t)size))
        tap_bail("%s: %s", path, strerror(errno));
    fclose(file);
    free(copy);
}

static void test_damage(void)
{
    enum { SIZE = 3000 };
    const char *key = "a key\nof two lines";
    char path[400];
    unsigned char *binary = binary_make(SIZE, 1);
    tap_ok(misses(key), "an empty folder has nothing");
    weft__cache_write(dir, key, binary, SIZE);
    tap_ok(reads(key, SIZE, 1), "what is written is read");
    tap_ok(misses("another key"), "and not under another key");
    unsigned char *second = binary_make(SIZE / 2, 9);
    weft__cache_write(dir, key, second, SIZE / 2);
    tap_ok(reads(key, SIZE / 2, 9), "a second write takes its place");
    weft__cache_write(dir, key, binary, SIZE);
    tap_ok(file_find(dir, 0, path, sizeof path) && !file_find(dir, 1, path, sizeof path), "one key is one file");
    file_find(dir, 0, path, sizeof path);
    FILE *file = fopen(path, "rb");
    unsigned char whole[SIZE + 400];
    size_t size = file ? fread(whole, 1, sizeof whole, file) : 0;
    if (file)
        fclose(file);
    int ok = size > SIZE && size < sizeof whole;
    for (size_t cut = 0; ok && cut < size; cut += cut < 80 || size - cut < 20 ? 1 : 97) {
        damage(path, whole, size, (int64_t)cut, 0);
        ok = misses(key);
    }
    tap_ok(ok, "a file that is cut short is a miss");
    for (size_t at = 0; ok && at < size; at += test_sample() ? 13 : 1) {
        // Behind the format's name the magic is padding.
        damage(path, whole, size, -1, at);
        ok = misses(key) || (at > 20 && at < 24);
        if (!ok)
            tap_note("byte %zu", at);
    }
    tap_ok(ok, "a file with one wrong bit is a miss");
    damage(path, whole, size, 0, 0);
    file = fopen(path, "ab");
    for (int i = 0; file && i < 5000; i++)
        fputc((int)rng_below(&rng, 256), file);
    if (file)
        fclose(file);
    tap_ok(misses(key), "a foreign file is a miss");
    file = fopen(path, "wb");
    if (file) {
        fwrite(whole, 1, size, file);
        fputc(0, file);
        fclose(file);
    }
    tap_ok(misses(key), "a file with something behind it is a miss");
    unlink(path);
    tap_ok(!mkdir(path, 0700) && misses(key), "a folder in its place is a miss");
    weft__cache_write(dir, key, binary, SIZE);
    tap_ok(misses(key) && !file_find(dir, 1, path, sizeof path), "and cannot be written over, nor leaves a rest");
    file_find(dir, 0, path, sizeof path);
    rmdir(path);
    weft__cache_write(dir, key, binary, SIZE);
    tap_ok(reads(key, SIZE, 1), "the cache works on");
    free(binary);
    free(second);
    clear();
}

static void test_folders(void)
{
    char path[200];
    size_t size;
    unsigned char byte = 1;
    snprintf(path, sizeof path, "%s/not/there", dir);
    weft__cache_write(path, "key", &byte, 1);
    tap_ok(!weft__cache_read(path, "key", &size, why), "a folder that is not there holds nothing");
    weft__cache_write("/proc", "key", &byte, 1);
    tap_ok(!weft__cache_read("/proc", "key", &size, why), "a folder that cannot be written holds nothing");
    char *longest = test_alloc(5000);
    memset(longest, 'x', 4999);
    longest[4999] = 0;
    weft__cache_write(longest, "key", &byte, 1);
    tap_ok(!weft__cache_read(longest, "key", &size, why), "a path beyond all limits holds nothing");
    free(longest);
    clear();
}

// What is not the user's own is a miss with its reason, and neither read nor waited for.
static void test_foreign(void)
{
    enum { SIZE = 3000 };
    static const struct {
        mode_t file, folder;
        const char *why; // NULL: a hit
    } modes[] = {{0600, 0700, NULL},
                 {0644, 0755, NULL},
                 {0400, 0500, NULL},
                 {0660, 0700, "group or others"},
                 {0602, 0700, "group or others"},
                 {0600, 0770, "group or others"},
                 {0600, 0702, "group or others"},
                 {0600, 01777, "group or others"}};
    const char *key = "foreign";
    char path[400], other[420], all[300];
    unsigned char *binary = binary_make(SIZE, 3);
    alarm(60); // a FIFO waits for its writer
    weft__cache_write(dir, key, binary, SIZE);
    file_find(dir, 0, path, sizeof path);
    struct stat about;
    tap_ok(!stat(path, &about) && (about.st_mode & 0777) == 0600, "a stored file is for its user alone");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        chmod(path, modes[i].file);
        chmod(dir, modes[i].folder);
        int good = modes[i].why ? misses(key) && strstr(why, modes[i].why) : reads(key, SIZE, 3) && !*why;
        tap_ok(good, "file %o in a folder %o: %s", (unsigned)modes[i].file, (unsigned)modes[i].folder,
               *why ? why : "read");
        if (modes[i].folder & 022) {
            weft__cache_write(dir, "another key", binary, SIZE);
            tap_ok(!file_find(dir, 1, other, sizeof other), "nothing is written there either");
        }
    }
    chmod(path, 0600);
    chmod(dir, 0700);
    if (geteuid()) {
        tap_skip("only root gives files away");
    } else {
        int good = !chown(path, 65534, 0) && misses(key) && strstr(why, "another user") && !chown(path, 0, 0);
        tap_ok(good, "a file of another user: %s", why);
        good = !chown(dir, 65534, 0) && misses(key) && strstr(why, "another user") && !chown(dir, 0, 0);
        tap_ok(good, "a folder of another user: %s", why);
    }
    snprintf(other, sizeof other, "%s.moved", path);
    tap_ok(!rename(path, other) && !symlink(other, path) && misses(key) && strstr(why, "link"), "a link: %s", why);
    tap_ok(!unlink(path) && !symlink("nowhere", path) && misses(key) && strstr(why, "link"), "a dangling link: %s",
           why);
    tap_ok(!unlink(path) && !mkfifo(path, 0600) && misses(key) && strstr(why, "regular"), "a FIFO: %s", why);
    weft__cache_write(dir, key, binary, SIZE);
    tap_ok(reads(key, SIZE, 3), "which the next store replaces");
    unlink(path);
    if (geteuid())
        tap_skip("only root makes devices");
    else if (mknod(path, S_IFCHR | 0600, makedev(1, 5))) // zeros without end
        tap_skip("no device can be made here");
    else
        tap_ok(misses(key) && strstr(why, "regular"), "a device: %s", why);
    unlink(path);
    tap_ok(!mkdir(path, 0700) && misses(key) && strstr(why, "regular") && !rmdir(path), "a folder: %s", why);
    tap_ok(misses(key) && !*why, "nothing there is no news");
    snprintf(all, sizeof all, "%s.link", dir);
    tap_ok(!rename(other, path) && !symlink(dir, all) && !weft__cache_read(all, key, &(size_t){0}, why) && *why,
           "a link to the folder: %s", why);
    unlink(all);
    tap_ok(!weft__cache_read(path, key, &(size_t){0}, why) && *why, "a file for a folder: %s", why);
    tap_ok(reads(key, SIZE, 3), "moved back it is read");
    alarm(0);
    free(binary);
    clear();
}

// Several processes write and read one key: every read is one whole binary of one of them, or nothing.
static void test_processes(void)
{
    enum { PROCESSES = 6, SIZE = 200000 };
    const char *key = "shared";
    int rounds = test_sample() ? 20 : 150, ok = 1;
    pid_t pids[PROCESSES];
    fflush(stdout);
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            unsigned char *binary = binary_make(SIZE, (unsigned char)i);
            int good = 1;
            for (int round = 0; good && round < rounds; round++) {
                size_t size = 0;
                weft__cache_write(dir, key, binary, SIZE);
                unsigned char *got = weft__cache_read(dir, key, &size, why);
                good = got && size == SIZE && got[0] < PROCESSES && binary_is(got, SIZE, got[0]);
                free(got);
            }
            free(binary);
            _exit(good ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        ok = pids[i] > 0 && waitpid(pids[i], &status, 0) == pids[i] && status == 0 && ok;
    }
    char path[400];
    tap_ok(ok, "%d processes at once read whole binaries only", PROCESSES);
    tap_ok(!file_find(dir, 1, path, sizeof path), "and leave one file");
    clear();
}

// A process is killed while it writes: what is read afterwards is whole, and can be written again.
static void test_killed(void)
{
    enum { SIZE = 4000000 };
    const char *key = "killed";
    int ok = 1, rounds = test_sample() ? 5 : 40;
    unsigned char *binary = binary_make(SIZE, 7);
    weft__cache_write(dir, key, binary, SIZE);
    fflush(stdout);
    for (int round = 0; ok && round < rounds; round++) {
        pid_t pid = fork();
        if (pid == 0)
            for (;;)
                weft__cache_write(dir, key, binary, SIZE);
        usleep((useconds_t)rng_below(&rng, 15000));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        ok = pid > 0 && reads(key, SIZE, 7);
    }
    tap_ok(ok, "killed %d times while writing, the cache stays whole", rounds);
    weft__cache_write(dir, key, binary, SIZE);
    tap_ok(reads(key, SIZE, 7), "and can be written");
    free(binary);
    clear();
}

// One kernel on a context with this folder; what it cost in *stats.
static weft_status build(struct test_device *dev, const char *folder, struct weft_build_stats *stats)
{
    struct weft_context *ctx = NULL;
    struct weft__kernel *kernel = NULL;
    // Lanes of AMD devices and sub-groups are probed by a program of their own, which would count.
    weft_status status = weft_context_create(&ctx,
                                             weft_context_params(.device = weft_context_device(dev->ctx)->id,
                                                                 .lanes = WEFT_LANES_LOCAL, .cache_dir = folder),
                                             NULL);
    if (!status)
        status = weft__fill_create(&kernel, ctx);
    if (!status) { // and it works
        cl_mem buffer = NULL;
        struct weft__stream stream;
        uint32_t got[3] = {0};
        cl_command_queue queue = clCreateCommandQueue(weft_context_cl(ctx), weft_context_device(ctx)->id, 0, NULL);
        status = weft__buffer_create(&buffer, ctx, 12, "a test");
        if (!status)
            status = weft__stream_begin(&stream, ctx, queue, 0, NULL, NULL);
        if (!status)
            status = weft__fill(&stream, kernel, buffer, 0, 3, 42);
        if (!status && (clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 12, got, 0, NULL, NULL) != CL_SUCCESS ||
                        got[0] != 42 || got[2] != 42))
            status = WEFT_EDEVICE;
        clReleaseCommandQueue(queue);
        weft__buffer_release(&buffer);
    }
    if (ctx)
        weft_context_build_stats(stats, ctx);
    weft__kernel_release(&kernel);
    weft_context_destroy(&ctx);
    return status;
}

static int costs(struct test_device *dev, const char *folder, int compiled, int loaded)
{
    struct weft_build_stats stats = {0};
    weft_status status = build(dev, folder, &stats);
    if (status || stats.compiled != compiled || stats.loaded != loaded)
        tap_note("status %d, %d compiled, %d loaded", (int)status, stats.compiled, stats.loaded);
    return !status && stats.compiled == compiled && stats.loaded == loaded;
}

static char logged[4096];

static void log_keep(void *arg, const char *text)
{
    (void)arg;
    snprintf(logged + strlen(logged), sizeof logged - strlen(logged), "%s\n", text);
}

static int lines_of(const char *word)
{
    int lines = 0;
    for (const char *at = logged; (at = strstr(at, word)); at++)
        lines++;
    return lines;
}

// A folder that is not the user's own: kernels are compiled, the log says it once however many they are.
static void test_refused(struct test_device *dev)
{
    struct weft_context *ctx = NULL;
    char path[400];
    clear();
    logged[0] = 0;
    chmod(dir, 0777);
    weft_status status =
        weft_context_create(&ctx,
                            weft_context_params(.device = weft_context_device(dev->ctx)->id, .lanes = WEFT_LANES_LOCAL,
                                                .cache_dir = dir, .log = log_keep),
                            NULL);
    for (int wg = 32; !status && wg <= 128; wg *= 2) {
        struct weft__defines d = {0};
        struct weft__kernel *kernel = NULL;
        weft__define(&d, "WEFT_WG", "%d", wg);
        status = weft__kernel_create(&kernel, ctx, &weft__fill_spec, &d);
        weft__kernel_release(&kernel);
    }
    struct weft_build_stats stats = {0};
    struct weft_error err = {0};
    if (ctx) {
        weft_context_build_stats(&stats, ctx);
        weft_context_error(&err, ctx);
    }
    tap_ok(!status && stats.compiled >= 3 && !stats.loaded && !err.status && !file_find(dir, 0, path, sizeof path),
           "%s: a folder that others write to is not used", dev->name);
    tap_is_int(lines_of("is not used"), 1, "%s: which is one line of the log: %s", dev->name, logged);
    weft_context_destroy(&ctx);
    chmod(dir, 0700);
    snprintf(path, sizeof path, "%s/some/folder", dir);
    const mode_t mask = umask(0);
    int ok = costs(dev, path, 1, 0);
    umask(mask);
    struct stat about = {0};
    tap_ok(ok && !stat(path, &about) && (about.st_mode & 0777) == 0700, "%s: a new folder is the user's alone",
           dev->name);
    char file[800];
    if (file_find(path, 0, file, sizeof file))
        unlink(file);
    rmdir(path);
    *strrchr(path, '/') = 0;
    rmdir(path);
}

static void test_contexts(struct test_device *dev)
{
    char path[400], deep[400];
    clear();
    tap_ok(costs(dev, "", 1, 0) && !file_find(dir, 0, path, sizeof path), "%s: without a cache", dev->name);
    tap_ok(costs(dev, dir, 1, 0) && file_find(dir, 0, path, sizeof path), "%s: the first compiles and stores",
           dev->name);
    tap_ok(costs(dev, dir, 0, 1), "%s: the second loads", dev->name);
    // A binary that is whole but that the driver rejects is compiled anew.
    fault_install();
    fault_set(FAULT_clCreateProgramWithBinary, 1);
    int ok = costs(dev, dir, 1, 0) && fault_hit();
    fault_set(FAULT_clBuildProgram, 1);
    ok = ok && costs(dev, dir, 1, 0) && fault_hit();
    fault_remove();
    tap_ok(ok, "%s: a binary that the driver rejects is rebuilt", dev->name);
    ok = file_find(dir, 0, path, sizeof path) && truncate(path, 100) == 0;
    tap_ok(ok && costs(dev, dir, 1, 0) && costs(dev, dir, 0, 1), "%s: a damaged file is replaced", dev->name);
    snprintf(deep, sizeof deep, "%s/some/way/down", dir);
    tap_ok(costs(dev, deep, 1, 0) && costs(dev, deep, 0, 1), "%s: folders are made", dev->name);
    if (file_find(deep, 0, path, sizeof path))
        unlink(path);
    for (int i = 0; i < 3; i++) {
        rmdir(deep);
        *strrchr(deep, '/') = 0;
    }
    clear();
    tap_ok(costs(dev, "/proc/none/such", 1, 0), "%s: a folder that cannot be made does no harm", dev->name);
    // The folder of the environment.
    const char *kept = getenv("XDG_CACHE_HOME");
    char *old = kept ? strdup(kept) : NULL;
    setenv("XDG_CACHE_HOME", dir, 1);
    ok = costs(dev, NULL, 1, 0) && costs(dev, NULL, 0, 1);
    snprintf(deep, sizeof deep, "%s/weft", dir);
    ok = ok && file_find(deep, 0, path, sizeof path) && !unlink(path) && !rmdir(deep);
    tap_ok(ok, "%s: $XDG_CACHE_HOME/weft by default", dev->name);
    if (old)
        setenv("XDG_CACHE_HOME", old, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    free(old);
    clear();
    test_refused(dev);
}

int main(void)
{
    rng = rng_start();
    if (!mkdtemp(dir))
        tap_bail("%s: %s", dir, strerror(errno));
    test_key();
    test_damage();
    test_folders();
    test_foreign();
    test_processes();
    test_killed();
    test_device_each(test_contexts);
    clear();
    rmdir(dir);
    return tap_done();
}
