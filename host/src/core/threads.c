// SPDX-License-Identifier: Apache-2.0
// The threads of a team, and how work is dealt out to them.
#include "host/src/core/threads.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define STACK_BYTES (1 << 20)

// Processors that the process may run on.
static int processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) ? 0 : CPU_COUNT(&set);
    if (count < 1) // more processors than a cpu_set_t has room for
        count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count;
}

// The first number of OMP_NUM_THREADS, which may be a list of them; 0: none.
static int named(void)
{
    const char *text = getenv("OMP_NUM_THREADS");
    char *end;
    if (!text)
        return 0;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || (*end && *end != ',' && *end != ' ') || value < 1)
        return 0;
    return errno || value > WEFT__THREADS_MOST ? WEFT__THREADS_MOST : (int)value;
}

int weft__threads(int asked)
{
    int threads = asked > 0 ? asked : named();
    if (threads < 1)
        threads = processors();
    return threads < WEFT__THREADS_MOST ? threads : WEFT__THREADS_MOST;
}

int weft__thread_start(pthread_t *out, void *(*main)(void *arg), void *arg)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}; // blocked, they would end the process
    sigset_t all, before;
    pthread_attr_t attr;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&all, own[i]);
    if (pthread_attr_init(&attr))
        return 0;
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before); // the new thread inherits it
    int error = pthread_create(out, &attr, main, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return !error;
}

void weft__team_begin(struct weft__team *team, int asked)
{
    team->most = weft__threads(asked);
    team->helpers = team->refused = team->places = team->busy = team->quit = 0;
    team->run = 0;
}

static void *helper_main(void *arg)
{
    struct weft__team *team = arg;
    uint64_t done = 0; // the last run that this thread took part in
    pthread_mutex_lock(&team->mutex);
    while (!team->quit) {
        if (!team->places || team->run == done) {
            pthread_cond_wait(&team->begin, &team->mutex);
            continue;
        }
        done = team->run;
        team->places--;
        team->busy++;
        pthread_mutex_unlock(&team->mutex);
        team->work(team->arg);
        pthread_mutex_lock(&team->mutex);
        if (!--team->busy)
            pthread_cond_signal(&team->end);
    }
    pthread_mutex_unlock(&team->mutex);
    return NULL;
}

// Start helpers until there are `wanted`, or as many as the system gives.
static void helpers_start(struct weft__team *team, int wanted)
{
    if (team->refused || team->helpers >= wanted)
        return;
    if (!team->helpers) {
        pthread_mutex_init(&team->mutex, NULL);
        pthread_cond_init(&team->begin, NULL);
        pthread_cond_init(&team->end, NULL);
    }
    while (!team->refused && team->helpers < wanted) {
        team->refused = !weft__thread_start(&team->thread[team->helpers], helper_main, team);
        team->helpers += !team->refused;
    }
    if (!team->helpers) {
        pthread_cond_destroy(&team->end);
        pthread_cond_destroy(&team->begin);
        pthread_mutex_destroy(&team->mutex);
    }
}

void weft__team_end(struct weft__team *team)
{
    if (!team->helpers)
        return;
    pthread_mutex_lock(&team->mutex);
    team->quit = 1;
    pthread_cond_broadcast(&team->begin);
    pthread_mutex_unlock(&team->mutex);
    for (int i = 0; i < team->helpers; i++)
        pthread_join(team->thread[i], NULL);
    team->helpers = 0;
    pthread_cond_destroy(&team->end);
    pthread_cond_destroy(&team->begin);
    pthread_mutex_destroy(&team->mutex);
}

int weft__team_threads(const struct weft__team *team, int64_t steps)
{
    int64_t useful = 1 + steps / WEFT__THREAD_WORK;
    return team->most < useful ? team->most : (int)useful;
}

void weft__team_run(struct weft__team *team, int threads, void (*work)(void *arg), void *arg)
{
    int wanted = (threads < team->most ? threads : team->most) - 1;
    helpers_start(team, wanted);
    if (wanted < 1 || !team->helpers) {
        work(arg);
        return;
    }
    pthread_mutex_lock(&team->mutex);
    team->work = work;
    team->arg = arg;
    team->run++;
    team->places = wanted < team->helpers ? wanted : team->helpers;
    pthread_cond_broadcast(&team->begin);
    pthread_mutex_unlock(&team->mutex);
    work(arg);
    pthread_mutex_lock(&team->mutex);
    team->places = 0; // who has not come is not waited for
    while (team->busy)
        pthread_cond_wait(&team->end, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
}

struct each {
    struct weft__loop loop;
    void (*each)(void *arg, int64_t i);
    void *arg;
};

static void each_work(void *arg)
{
    struct each *e = arg;
    int64_t i, end;
    while (weft__next(&e->loop, 1, &i, &end))
        e->each(e->arg, i);
}

void weft__team_each(struct weft__team *team, int64_t steps, int64_t count, void (*each)(void *arg, int64_t i),
                     void *arg)
{
    struct each e = {.loop = {.count = count}, .each = each, .arg = arg};
    int threads = weft__team_threads(team, steps);
    weft__team_run(team, threads < count ? threads : (int)count, each_work, &e);
}
