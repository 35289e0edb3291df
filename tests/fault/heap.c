// SPDX-License-Identifier: Apache-2.0
// Allocations between the test and malloc: one fails, the others are counted, and what is not written or freed is not zero.
#include "heap.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
char *__real_strdup(const char *text);
void __real_free(void *old);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
char *__wrap_strdup(const char *text);
void __wrap_free(void *old);

static atomic_int until_failure = -1; // calls that still succeed; negative: all do
static atomic_int live, failed;
static atomic_bool for_ever; // later calls fail too

static int fails(void)
{
    const int left = atomic_load(&until_failure);
    const int fail = left == 0 && atomic_load(&for_ever) ? 1 : left >= 0 && atomic_fetch_sub(&until_failure, 1) == 0;
    atomic_fetch_or(&failed, fail);
    return fail;
}

static void *counted(void *fresh)
{
    atomic_fetch_add(&live, fresh != NULL);
    return fresh;
}

// What is not yet written, or no longer there, is not zero.
void *__wrap_malloc(size_t bytes)
{
    void *fresh = fails() ? NULL : counted(__real_malloc(bytes));
    if (fresh)
        memset(fresh, 0xa5, bytes);
    return fresh;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : counted(__real_calloc(count, bytes));
}

void *__wrap_realloc(void *old, size_t bytes)
{
    if (fails())
        return NULL;
    void *fresh = __real_realloc(old, bytes);
    return old ? fresh : counted(fresh);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : counted(__real_strdup(text));
}

void __wrap_free(void *old)
{
    atomic_fetch_sub(&live, old != NULL);
    if (old)
        memset(old, 0x5a, malloc_usable_size(old));
    __real_free(old);
}

void heap_fail_after(int count, bool ever)
{
    atomic_store(&failed, 0);
    atomic_store(&for_ever, ever);
    atomic_store(&until_failure, count);
}

int heap_failed(void)
{
    atomic_store(&until_failure, -1);
    return atomic_load(&failed);
}

int heap_live(void)
{
    return atomic_load(&live);
}
