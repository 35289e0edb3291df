// SPDX-License-Identifier: Apache-2.0
// Objects that are known after their end, and device memory at addresses where the host has none.
#include "gpu.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Where device memory seems to be: no process maps anything there, so that the host cannot read it by mistake.
#define DEVICE_BASE UINT64_C(0x200000000000)

struct block {
    uint64_t device;
    size_t bytes;
    char *host; // NULL: freed
};
static struct {
    int devices, device;
    long alive, calls, fail;
    char complaint[256];
    struct standin_object *objects;
    struct block *blocks;
    size_t nblocks;
    uint64_t next; // device address of the next block
} all;

void standin_reset(int devices)
{
    for (struct standin_object *o = all.objects, *next; o; o = next) {
        next = o->next;
        free(o);
    }
    for (size_t i = 0; i < all.nblocks; i++)
        free(all.blocks[i].host);
    free(all.blocks);
    memset(&all, 0, sizeof all);
    all.devices = devices;
    all.device = -1;
    all.next = DEVICE_BASE;
    standin_reset_runtime();
}

long standin_alive(void)
{
    return all.alive;
}

const char *standin_complaint(void)
{
    return all.complaint[0] ? all.complaint : NULL;
}

void standin_fail(long call)
{
    all.fail = call ? all.calls + call : 0;
}

long standin_calls(void)
{
    return all.calls;
}

int standin_device(void)
{
    return all.device;
}

int standin_enter(void)
{
    return ++all.calls == all.fail;
}

void standin_complain(const char *format, ...)
{
    va_list args;
    if (all.complaint[0])
        return;
    va_start(args, format);
    vsnprintf(all.complaint, sizeof all.complaint, format, args);
    va_end(args);
}

int standin_devices(void)
{
    return all.devices;
}

int standin_set_device(int device)
{
    if (device < 0 || device >= all.devices)
        return 0;
    all.device = device;
    return 1;
}

// ---- objects ----

void *standin_create(enum standin_kind kind, size_t bytes)
{
    struct standin_object *object = calloc(1, bytes);
    if (!object)
        abort();
    *object = (struct standin_object){kind, 1, all.objects};
    all.objects = object;
    all.alive++;
    return object;
}

static struct standin_object *find(const void *object, enum standin_kind kind)
{
    for (struct standin_object *o = all.objects; o; o = o->next)
        if (o == object && o->kind == kind && o->alive)
            return o;
    standin_complain("an object of kind %d is asked for, and this is none or not alive", (int)kind);
    return NULL;
}

int standin_is(const void *object, enum standin_kind kind)
{
    return find(object, kind) != NULL;
}

int standin_destroy(const void *object, enum standin_kind kind)
{
    struct standin_object *found = find(object, kind);
    if (!found)
        return 0;
    found->alive = 0;
    all.alive--;
    return 1;
}

// ---- memory ----

void *standin_alloc(size_t bytes)
{
    struct block *grown = realloc(all.blocks, (all.nblocks + 1) * sizeof *grown);
    char *host = malloc(bytes + 1);
    if (!grown || !host)
        abort();
    const uint64_t device = all.next;
    all.blocks = grown;
    all.blocks[all.nblocks++] = (struct block){device, bytes, host};
    all.next += (bytes + 0x1fff) & ~UINT64_C(0xfff); // a page lies between two blocks
    all.alive++;
    return (void *)(uintptr_t)device;
}

// The live block that holds this address, or ends there.
static struct block *block_of(const void *device)
{
    const uint64_t at = (uint64_t)(uintptr_t)device;
    for (size_t i = 0; i < all.nblocks; i++)
        if (all.blocks[i].host && at >= all.blocks[i].device && at - all.blocks[i].device <= all.blocks[i].bytes)
            return &all.blocks[i];
    return NULL;
}

int standin_free(void *device, const char *what)
{
    struct block *block = block_of(device);
    if (!block || block->device != (uint64_t)(uintptr_t)device) {
        standin_complain("%s: no block begins at %p", what, device);
        return 0;
    }
    free(block->host);
    block->host = NULL;
    all.alive--;
    return 1;
}

void *standin_at(const void *device, size_t bytes, const char *what)
{
    const struct block *block = block_of(device);
    if (!block) {
        standin_complain("%s is not in device memory", what);
        return NULL;
    }
    const size_t offset = (size_t)((uint64_t)(uintptr_t)device - block->device);
    if (bytes > block->bytes - offset) {
        standin_complain("%s has %zu bytes, %zu are needed", what, block->bytes - offset, bytes);
        return NULL;
    }
    return block->host + offset;
}

int standin_on_device(const void *address)
{
    return block_of(address) != NULL;
}
