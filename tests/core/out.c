// SPDX-License-Identifier: Apache-2.0
// Places of files that are written: long names, links, folders, what is there already; the file is whole, or nothing has changed.
// And files that are trusted only where they and their folder are the user's own.
#include "host/internal/tests.h"
#include "tests/support/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The error of a file that cannot be opened at `path`.
static void refused(const char *what, const char *path, int fresh, int want)
{
    struct weft__out out;
    const int error = weft__out_open(&out, path, fresh);
    tap_ok(error == want && out.fd < 0, "%s: %s", what, strerror(error));
    weft__out_close(&out);
}

static int holds(const char *path, const char *want)
{
    char text[64] = "";
    FILE *file = fopen(path, "r");
    const size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    return got == strlen(want) && !strcmp(text, want);
}

// Written there, then found at `real`.
static void written(const char *what, const char *path, int fresh, const char *real)
{
    struct weft__out out;
    int error = weft__out_open(&out, path, fresh);
    if (!error)
        error = weft__out_write(&out, "new", 3);
    if (!error)
        error = weft__out_commit(&out);
    const int late = weft__out_close(&out);
    tap_ok(!error && !late && holds(real, "new"), "%s: %s", what, strerror(error ? error : late));
    unlink(real);
}

static void test_links(void)
{
    char longest[PATH_MAX + 8], target[PATH_MAX], folder[280];
    memset(longest, 'a', sizeof longest - 1);
    for (size_t i = 0; i < sizeof longest; i += 100)
        longest[i] = '/';
    longest[sizeof longest - 1] = 0;
    refused("a name longer than names may be", longest, 0, ENAMETOOLONG);
    refused("no name", "", 0, ENOENT);
    refused("a folder that is not there", "none/.", 0, EISDIR);
    refused("the name of a folder that is not there", "none/", 0, EISDIR);
    refused("a folder", ".", 0, EISDIR);
    if (symlink("b", "a") || symlink("a", "b") || symlink("new", "link") || mkdir("folder", 0777) ||
        symlink("../new", "folder/link") || symlink("/dev/null/x", "folder/astray"))
        tap_bail("no links: %s", strerror(errno));
    refused("a circle of links", "a", 0, ELOOP);
    refused("a link below what is no folder", "folder/astray", 0, ENOTDIR);
    written("a link to what is not there", "link", 1, "new");
    written("a link out of a folder", "folder/link", 0, "new");
    written("a file of the folder above all", "/tmp/../tmp/weft-test-out", 0, "/tmp/weft-test-out");
    // A link whose place has too long a name: each part is short enough.
    memset(folder, 'd', sizeof folder);
    folder[200] = 0;
    if (mkdir(folder, 0777))
        tap_bail("no folder: %s", strerror(errno));
    size_t used = 0;
    while (used + 202 < sizeof target - 100)
        used += (size_t)snprintf(target + used, sizeof target - used, "%s/../", folder);
    snprintf(target + used, sizeof target - used, "%.90s", folder);
    char inside[300];
    snprintf(inside, sizeof inside, "%s/link", folder);
    if (symlink(target, inside))
        tap_bail("no link: %s", strerror(errno));
    refused("a link to a name that is too long", inside, 0, ENAMETOOLONG);
    unlink(inside);
    rmdir(folder);
    unlink("a");
    unlink("b");
    unlink("link");
    unlink("folder/link");
    unlink("folder/astray");
    rmdir("folder");
}

// A file that comes while another is written: it stays where the new one is to be fresh.
static void test_late(void)
{
    struct weft__out out;
    if (weft__out_open(&out, "late", 1) || weft__out_write(&out, "new", 3))
        tap_bail("no file");
    const int fd = open("late", O_WRONLY | O_CREAT, 0666);
    if (fd < 0 || write(fd, "old", 3) != 3 || close(fd))
        tap_bail("no file");
    const int error = weft__out_commit(&out);
    tap_ok(error == EEXIST && weft__out_commit(&out) == EEXIST, "a file that came meanwhile: %s", strerror(error));
    tap_ok(weft__out_write(&out, "more", 4) == EEXIST && weft__out_flush(&out) == EEXIST,
           "nothing works behind an error");
    weft__out_close(&out);
    tap_ok(holds("late", "old"), "it is what it was");
    written("and is written over where that is asked for", "late", 0, "late");
}

// The file that is standard error already is written to as a stream.
static void test_stream(void)
{
    struct weft__out out;
    const int kept = dup(STDERR_FILENO), fd = open("err", O_WRONLY | O_CREAT, 0666);
    if (kept < 0 || fd < 0 || dup2(fd, STDERR_FILENO) < 0)
        tap_bail("no file");
    int error = weft__out_open(&out, "err", 1);
    if (!error)
        error = weft__out_write(&out, "new", 3);
    if (!error)
        error = weft__out_commit(&out);
    weft__out_close(&out);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(fd);
    tap_ok(!error && holds("err", "new"), "a file that is standard error: %s", strerror(error));
    unlink("err");
}

// More files at once than are noted for signals.
static void test_many(void)
{
    enum { MANY = 70 };
    static struct weft__out out[MANY];
    char name[16];
    int good = 1;
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many%d", i);
        good = good && !weft__out_open(&out[i], name, 0) && !weft__out_write(&out[i], "new", 3);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many%d", i);
        good = good && !weft__out_commit(&out[i]) && !weft__out_close(&out[i]) && holds(name, "new");
        unlink(name);
    }
    tap_ok(good, "%d files at once", MANY);
}

static void own(const char *what, const char *path, const char *want)
{
    const char *why = NULL;
    const int fd = weft__own_path(path, &why);
    tap_ok(want ? fd < 0 && why && !strcmp(why, want) : fd >= 0 && !why, "%s: %s", what, why ? why : "the user's own");
    if (fd >= 0)
        close(fd);
}

static void test_own(void)
{
    static char longest[5000];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 9] = '/';
    const int fd = open("mine", O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || close(fd) || mkdir("open", 0700) || chmod("open", 0777) || mkdir("theirs", 0700))
        tap_bail("no files: %s", strerror(errno));
    own("a file of the folder where it runs", "mine", NULL);
    own("a folder", "open", "no regular file");
    own("a path that is too long", longest, "the path is too long");
    own("a file in a folder that all may write to", "open/file", "group or others may write to its folder");
    if (geteuid() == 0 && !chown("theirs", 65534, 65534))
        own("a file in a folder of another user", "theirs/file", "its folder belongs to another user");
    else
        tap_skip("a folder of another user: only root makes one");
    tap_ok(weft__own_folder_make("") && weft__own_folder_make(longest) && weft__own_folder_make("mine/deep/deeper"),
           "no folder is made of no name, of one that is too long, and none below a file");
    tap_is_int(weft__own_folder_make("/proc/nowhere/deeper"), ENOENT,
               "of several the first that cannot be made is told");
    tap_ok(!weft__own_folder_make("deep/deeper") && !rmdir("deep/deeper") && !rmdir("deep"),
           "a folder is made with those above it, where the path is short");
    unlink("mine");
    rmdir("open");
    rmdir("theirs");
}

int main(void)
{
    char folder[] = "/tmp/weft-test-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder))
        tap_bail("no folder: %s", strerror(errno));
    test_links();
    test_late();
    test_stream();
    test_many();
    test_own();
    tap_ok(!chdir("/") && !rmdir(folder), "nothing is left");
    return tap_done();
}
