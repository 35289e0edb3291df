// SPDX-License-Identifier: Apache-2.0
// What the library takes from POSIX and Windows lacks: there host/meson.build puts it before every file.
#pragma once

#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- files -----------------------------------------------------------------------------------------------------

#define O_CLOEXEC   (O_NOINHERIT | O_BINARY) // every open of the library says it, and every file is bytes
#define O_NONBLOCK  0
#define O_NOCTTY    0
#define O_NOFOLLOW  0x1000000 // a link is not followed: errno is ELOOP
#define O_DIRECTORY 0x2000000
#define ELOOP       114

// open and fstat of the C library know no folders and no owners. Here a file has S_IWOTH where somebody else may write to it,
// and another st_uid than geteuid() where it is another user's. New files get what their folder hands down.
int weft__windows_open(const char *path, int flags, ...);
int weft__windows_fstat(int fd, struct stat *out);
#undef fstat
#define open(...)      weft__windows_open(__VA_ARGS__)
#define fstat(fd, out) weft__windows_fstat(fd, out)
#define geteuid()      0

int openat(int folder, const char *name, int flags, ...);
int renameat(int from_folder, const char *from, int to_folder, const char *to); // also onto a file
int unlinkat(int folder, const char *name, int flags);
int mkdirat(const char *path);
#define mkdir(path, mode) mkdirat(path)

#define F_DUPFD_CLOEXEC 1030
int fcntl(int fd, int command, int least); // F_DUPFD_CLOEXEC alone
int fsync(int fd);
ssize_t pread(int fd, void *out, size_t bytes, off_t at); // moves the place of the next read

// LOCALAPPDATA for XDG_CACHE_HOME and XDG_CONFIG_HOME that are not set.
char *secure_getenv(const char *name);

// ---- text, memory ----------------------------------------------------------------------------------------------

#define __printf__ __gnu_printf__ // by which formats are checked; _GNU_SOURCE asks MinGW for that printf
char *strcasestr(const char *text, const char *part);
char *strsep(char **rest, const char *ends);
void *memrchr(const void *text, int wanted, size_t bytes);
int posix_memalign(void **out, size_t alignment,
                   size_t bytes); // the alignment is a wish: free() takes malloc's memory alone

#define LC_ALL_MASK LC_ALL
typedef char *locale_t; // a name
locale_t newlocale(int mask, const char *name, locale_t base);
locale_t uselocale(locale_t locale); // valid in this thread until the next call with another one
void freelocale(locale_t locale);
double strtod_l(const char *text, char **end, locale_t locale);
float strtof_l(const char *text, char **end, locale_t locale);

// ---- threads ---------------------------------------------------------------------------------------------------

typedef unsigned long long cpu_set_t;
int sched_getaffinity(int process, size_t bytes, cpu_set_t *out);
#define CPU_COUNT(set)       __builtin_popcountll(*(set))
#define _SC_NPROCESSORS_ONLN 0
#define sysconf(name)        pthread_num_processors_np()

// No signal reaches a thread.
typedef int sigset_t;
#undef pthread_sigmask
#define pthread_sigmask(how, set, before) ((void)(before))
#define sigfillset(set)                   (*(set) = 1)
#define sigdelset(set, one)               ((void)(set), (void)(one))
#define SIGBUS                            SIGSEGV
#define SIGTRAP                           SIGSEGV
#define SIGSYS                            SIGSEGV
