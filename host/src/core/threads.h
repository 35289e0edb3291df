// SPDX-License-Identifier: Apache-2.0
// Host threads: a team for the duration of one call, made of the caller's thread and of helpers. Work is dealt out
// piece by piece, so that any number of helpers does all of it, none as well: where the system gives no thread the
// caller's does everything.
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum {
    WEFT__THREADS_MOST = 256,  // of a team, whatever was asked
    WEFT__THREAD_WORK = 65536, // small steps for which waking another thread pays
};

// Threads to use when the caller asks for `asked`, at most WEFT__THREADS_MOST. 0 or less: as many as processors that the
// process may run on, or as OMP_NUM_THREADS names.
int weft__threads(int asked);

// Start a thread that no signal but those of its own faults reaches, with a stack of 1 MiB. 0: the system gives none.
int weft__thread_start(pthread_t *out, void *(*main)(void *arg), void *arg);

struct weft__team {
    int most; // threads, the caller's among them
    int helpers;
    int refused; // the system gave no thread: no more is asked for
    pthread_mutex_t mutex;
    pthread_cond_t begin, end;
    uint64_t run; // number of the current or last one
    int places;   // helpers that may still join it
    int busy;     // helpers in it
    int quit;
    void (*work)(void *arg);
    void *arg;
    pthread_t thread[WEFT__THREADS_MOST - 1];
};

// A team of up to weft__threads(asked). Helpers start when a run wants them. The team stays where it is until its end.
void weft__team_begin(struct weft__team *team, int asked);
void weft__team_end(struct weft__team *team);

// Threads that `steps` small steps are worth: 1 .. team->most.
int weft__team_threads(const struct weft__team *team, int64_t steps);
// Call work(arg) in the caller's thread and, at the same time, in up to threads - 1 helpers; return when all have
// returned. The calls share out what there is to do among themselves: one of them must be able to do all of it.
void weft__team_run(struct weft__team *team, int threads, void (*work)(void *arg), void *arg);
// Call each(arg, i) once for every i of 0 .. count-1, in any order, where the whole is `steps` small steps.
void weft__team_each(struct weft__team *team, int64_t steps, int64_t count, void (*each)(void *arg, int64_t i),
                     void *arg);

// A loop whose threads need something of their own, as memory: weft__team_run, and in `work` weft__next until it gives
// 0. Zeros begin a loop.
struct weft__loop {
    _Atomic int64_t next;
    int64_t count;
};
// Take the next up to `many` indices, *begin .. *end-1; 0: there are none left.
static inline int weft__next(struct weft__loop *loop, int64_t many, int64_t *begin, int64_t *end)
{
    int64_t at = atomic_fetch_add_explicit(&loop->next, many, memory_order_relaxed);
    *begin = at;
    *end = at + many < loop->count ? at + many : loop->count;
    return at < loop->count;
}
// Nonzero: every index was taken.
static inline int weft__loop_done(struct weft__loop *loop)
{
    return atomic_load_explicit(&loop->next, memory_order_relaxed) >= loop->count;
}
