// SPDX-License-Identifier: Apache-2.0
// Runs the waves of a launch, instruction by instruction, in an order that a seed shuffles.
//
//     WEFT_AMD_GROUPS    work-groups that are resident at a time (default 4)
//     WEFT_AMD_QUANTUM   a wave runs up to so many instructions before the next one is drawn (default 64; 0: up to a barrier)
//     WEFT_AMD_SEED      of the order (default 1)
//     WEFT_AMD_LIMIT     instructions of a launch that are taken for a hang (default 2000000000)
#include "code.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LDS_MOST 65536
// The emulator loads for lanes that are off too, from whatever address they hold: all that 32 bits and an offset can say.
#define LDS_SPAN      ((size_t)9 << 29)
#define WAVES_MOST    16
#define NEVER_WRITTEN 0xA5 // registers and local memory before the first write

struct wave {
    uint32_t *sgpr;
    void *memory[AMD_MEMORIES];
    int done, waits;
};

struct group {
    struct wave wave[WAVES_MOST];
    unsigned char *local, *private;
    int live;
};

struct launch {
    const struct amd_code *code;
    const struct amd_kernel *kernel;
    size_t groups, group_size, waves, local;
    const void *args;
    uint64_t packet[8];
    uint32_t resource2, user[16];
    unsigned users;
    uint64_t entry, random;
};

static struct {
    unsigned long long launches, waves, instructions;
} total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// What runs, for the message of a signal.
static const struct launch *running;
static const struct wave *running_wave;

static uint64_t draw(struct launch *l, uint64_t below)
{
    l->random ^= l->random << 13;
    l->random ^= l->random >> 7;
    l->random ^= l->random << 17;
    return (l->random >> 11) % below;
}

static uint64_t pc_of(const struct launch *l, const struct wave *w)
{
    return w->sgpr[l->code->pc] | (uint64_t)w->sgpr[l->code->pc + 1] << 32;
}

static void pc_set(const struct launch *l, const struct wave *w, uint64_t pc)
{
    w->sgpr[l->code->pc] = (uint32_t)pc;
    w->sgpr[l->code->pc + 1] = (uint32_t)(pc >> 32);
}

// What the command processor tells a wave in its first registers, by the kernel descriptor (LLVM's AMDGPU usage).
static void launch_users(struct launch *l)
{
    static const unsigned words[7] = {4, 2, 2, 2, 2, 2, 1};
    const unsigned char *descriptor = l->code->image + l->kernel->descriptor;
    int64_t entry;
    uint16_t properties;
    memcpy(&entry, descriptor + 16, sizeof entry);
    memcpy(&l->resource2, descriptor + 52, sizeof l->resource2);
    memcpy(&properties, descriptor + 56, sizeof properties);
    l->entry = (uint64_t)(uintptr_t)descriptor + (uint64_t)entry;
    for (unsigned i = 0; i < 7; i++) {
        const uint64_t address = (uint64_t)(uintptr_t)(i == 1 ? (const void *)l->packet : i == 3 ? l->args : NULL);
        if (!(properties >> i & 1))
            continue;
        for (unsigned j = 0; j < words[i] && l->users < 16; j++)
            l->user[l->users++] = j < 2 ? (uint32_t)(address >> (32 * j)) : 0;
    }
    // hsa_kernel_dispatch_packet_t: one dimension, sizes, private and local bytes, arguments
    const uint16_t sizes[6] = {0, 1, (uint16_t)l->group_size, 1, 1, 0};
    const uint32_t grid[5] = {(uint32_t)(l->groups * l->group_size), 1, 1, (uint32_t)l->kernel->private,
                              (uint32_t)l->local};
    memcpy(l->packet, sizes, sizeof sizes);
    memcpy((char *)l->packet + 12, grid, sizeof grid);
    l->packet[5] = (uint64_t)(uintptr_t)l->args;
}

static void wave_start(const struct launch *l, struct group *g, size_t number, size_t id)
{
    const struct amd_code *c = l->code;
    struct wave *w = &g->wave[number];
    const size_t first = number * (size_t)c->wave, left = l->group_size - first;
    const size_t lanes = left < (size_t)c->wave ? left : (size_t)c->wave;
    const uint64_t exec = lanes == 64 ? UINT64_MAX : ((uint64_t)1 << lanes) - 1;
    uint32_t *vgpr = w->memory[AMD_VGPR];
    unsigned at = l->resource2 >> 1 & 31;
    w->done = w->waits = 0;
    memcpy(w->sgpr, c->start, (size_t)c->sgprs * sizeof *w->sgpr);
    memset(w->sgpr, NEVER_WRITTEN, 124 * sizeof *w->sgpr);
    memset(vgpr, NEVER_WRITTEN, (size_t)(c->vgprs * c->wave) * sizeof *vgpr);
    memset(w->memory[AMD_ACC], NEVER_WRITTEN, (size_t)(c->vgprs * c->wave) * sizeof *vgpr);
    memcpy(w->sgpr, l->user, l->users * sizeof *w->sgpr);
    if (c->ttmp9 >= 0) {
        w->sgpr[c->ttmp9] = (uint32_t)id;
        w->sgpr[c->ttmp7] = 0;
    } else {
        for (int i = 0; i < 3; i++)
            if (l->resource2 >> (7 + i) & 1)
                w->sgpr[at++] = i == 0 ? (uint32_t)id : 0;
    }
    w->sgpr[c->exec] = (uint32_t)exec;
    w->sgpr[c->exec + 1] = (uint32_t)(exec >> 32);
    w->sgpr[c->stride] = (uint32_t)l->kernel->private;
    for (size_t i = 0; i < lanes; i++)
        vgpr[i] = (uint32_t)(first + i);
    pc_set(l, w, l->entry);
}

// Functions of the emulator count on memory that begins a page.
static void *page_alloc(size_t bytes)
{
    const size_t page = 4096;
    return aligned_alloc(page, (bytes + page) / page * page);
}

static int group_make(const struct launch *l, struct group *g)
{
    const size_t registers = (size_t)(l->code->vgprs * l->code->wave) * sizeof(uint32_t);
    g->local = mmap(NULL, LDS_SPAN, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    // What lies beyond can be read alone, so that a write there ends the process.
    if (g->local == MAP_FAILED || mprotect(g->local, LDS_MOST, PROT_READ | PROT_WRITE))
        return 0;
    for (size_t i = 0; i < l->waves; i++) {
        struct wave *w = &g->wave[i];
        w->sgpr = page_alloc(512 * sizeof *w->sgpr);
        w->memory[AMD_SGPR] = w->sgpr;
        w->memory[AMD_VGPR] = page_alloc(registers);
        w->memory[AMD_GLOBAL] = NULL; // addresses are the host's
        w->memory[AMD_LOCAL] = g->local;
        w->memory[AMD_PRIVATE] = page_alloc(64 * (l->kernel->private + 1));
        w->memory[AMD_ACC] = l->code->wave == 64 ? page_alloc(registers) : w->memory[AMD_VGPR];
        if (!w->sgpr || !w->memory[AMD_VGPR] || !w->memory[AMD_PRIVATE] || !w->memory[AMD_ACC])
            return 0;
    }
    return 1;
}

static void group_free(const struct launch *l, struct group *g)
{
    for (size_t i = 0; i < l->waves; i++) {
        struct wave *w = &g->wave[i];
        if (w->memory[AMD_ACC] != w->memory[AMD_VGPR])
            free(w->memory[AMD_ACC]);
        free(w->memory[AMD_VGPR]);
        free(w->memory[AMD_PRIVATE]);
        free(w->sgpr);
    }
    if (g->local && g->local != MAP_FAILED)
        munmap(g->local, LDS_SPAN);
}

static void group_start(const struct launch *l, struct group *g, size_t id)
{
    memset(g->local, NEVER_WRITTEN, l->local);
    for (size_t i = 0; i < l->waves; i++)
        wave_start(l, g, i, id);
    g->live = 1;
}

// An address that is no memory: which instruction of which kernel had it.
static void bad_address(int number)
{
    char text[256];
    const int bytes =
        snprintf(text, sizeof text, "amd: %s of %s: a bad address, instruction at %#llx\n", running->kernel->name,
                 running->code->name,
                 (unsigned long long)(pc_of(running, running_wave) - (uint64_t)(uintptr_t)running->code->image));
    if (write(2, text, (size_t)bytes) < 0)
        _exit(3);
    signal(number, SIG_DFL);
    raise(number);
}

// Up to `most` instructions of a wave; how many there were, 0 where one cannot be run.
static unsigned long wave_run(const struct launch *l, struct wave *w, unsigned long most)
{
    const uint64_t base = (uint64_t)(uintptr_t)l->code->image;
    running_wave = w;
    for (unsigned long n = 0; n < most;) {
        const uint64_t pc = pc_of(l, w), at = pc - base;
        if (pc == UINT64_MAX) {
            w->done = 1;
            return n ? n : 1;
        }
        const struct amd_step *s = at < l->code->bytes ? &l->code->steps[at / 4] : NULL;
        n++;
        if (!s || s->kind == AMD_NONE || s->kind == AMD_FAULT) {
            fprintf(stderr, "amd: %s of %s: no function for the instruction at %#llx\n", l->kernel->name, l->code->name,
                    (unsigned long long)at);
            return 0;
        }
        if (s->kind > AMD_FAULT)
            amd_own(l->code, s, w->sgpr, w->memory[AMD_VGPR]);
        if (s->run)
            s->run(w->memory[s->of[0]], w->memory[s->of[1]], w->memory[s->of[2]], w->memory[s->of[3]],
                   w->memory[s->of[4]], w->memory[s->of[5]]);
        else
            pc_set(l, w, pc + s->size);
        if (s->kind == AMD_BARRIER) {
            w->waits = 1;
            return n;
        }
    }
    return most;
}

// A wave of a group that can go on, drawn; when none can the barrier opens, or the group has ended: then NULL.
static struct wave *wave_draw(struct launch *l, struct group *g)
{
    size_t ready[WAVES_MOST], count = 0, done = 0;
    for (int again = 0; again < 2 && count == 0; again++) {
        for (size_t i = 0; i < l->waves; i++) {
            done += (size_t)g->wave[i].done;
            if (again)
                g->wave[i].waits = 0;
            if (!g->wave[i].done && !g->wave[i].waits)
                ready[count++] = i;
        }
        if (done == l->waves)
            return NULL;
    }
    return &g->wave[ready[draw(l, count)]];
}

static int launch_run(struct launch *l, struct group *group, size_t resident)
{
    const unsigned long quantum = amd_number("QUANTUM", 64), limit = amd_number("LIMIT", 2000000000);
    unsigned long instructions = 0;
    size_t next = 0, live = 0;
    for (; next < l->groups && live < resident; next++, live++)
        group_start(l, &group[next], next);
    while (live) {
        struct group *g = &group[draw(l, resident)];
        struct wave *w = g->live ? wave_draw(l, g) : NULL;
        if (w) {
            const unsigned long n = wave_run(l, w, quantum ? 1 + draw(l, quantum) : ~0UL);
            instructions += n;
            if (!n)
                return 0;
            if (instructions > limit) {
                fprintf(stderr, "amd: %s of %s: %lu instructions and no end\n", l->kernel->name, l->code->name, limit);
                return 0;
            }
        } else if (g->live) {
            g->live = next < l->groups;
            live -= (size_t)!g->live;
            if (g->live)
                group_start(l, g, next++);
        }
    }
    total.instructions += instructions;
    return 1;
}

int amd_run(const struct amd_code *code, const struct amd_kernel *kernel, const void *args, size_t args_size,
            size_t groups, size_t group_size, size_t local)
{
    size_t resident = amd_number("GROUPS", 4);
    if (resident > groups)
        resident = groups;
    unsigned char *whole = calloc(1, kernel->args_size + args_size + 64);
    struct group *group = calloc(resident, sizeof *group);
    struct launch l = {.code = code, .kernel = kernel, .groups = groups, .group_size = group_size, .args = whole};
    l.waves = (group_size + (size_t)code->wave - 1) / (size_t)code->wave;
    l.local = kernel->local + local;
    int good = whole && group && l.waves <= WAVES_MOST && l.local <= LDS_MOST;
    pthread_mutex_lock(&lock);
    l.random = (amd_number("SEED", 1) + 1) * UINT64_C(0x9e3779b97f4a7c15) + ++total.launches;
    if (good) {
        memcpy(whole, args, args_size);
        for (size_t i = 0; i < kernel->args; i++) {
            const struct amd_arg *a = &kernel->arg[i];
            const uint64_t value = a->kind == AMD_BLOCKS ? groups : a->kind == AMD_GROUP_SIZE ? group_size : 1;
            if (a->kind == AMD_BLOCKS || a->kind == AMD_GROUP_SIZE || a->kind == AMD_ONE)
                memcpy(whole + a->offset, &value, a->size);
        }
        launch_users(&l);
    }
    for (size_t i = 0; i < resident && good; i++)
        good = group_make(&l, &group[i]);
    running = &l;
    void (*before)(int) = signal(SIGSEGV, bad_address);
    good = good && launch_run(&l, group, resident);
    signal(SIGSEGV, before);
    for (size_t i = 0; i < resident && group; i++)
        group_free(&l, &group[i]);
    total.waves += groups * l.waves;
    pthread_mutex_unlock(&lock);
    free(group);
    free(whole);
    return !good;
}

void amd_report(const char *chip)
{
    fprintf(stderr, "amd: %s: %llu launches, %llu waves, %llu instructions\n", chip, total.launches, total.waves,
            total.instructions);
}
