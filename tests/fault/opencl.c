// SPDX-License-Identifier: Apache-2.0
// Every OpenCL call and every allocation of a whole life of the library (with the argument `spmv` of SpMV, with `permute` of
// permuting, with `canonical` of sorting and summing, with `operations` of each primitive and other operations) fails, once and for ever: the answer is the status that it deserves, with a
// message, or the right result where the call can be done without; nothing is left alive.
#include "heap.h"
#include "lives.h"
#include "tests/support/fault.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char cache_dir[64] = "/tmp/weft-fault-XXXXXX";
static life_fn *life = transpose_life;
static bool stages; // the device does not share the host's memory, so that calls keep buffers and a ring of pinned ones

// Statuses that a fault may end in; WEFT_OK where the library can do without the call.
static int allowed(enum fault_call call, weft_status status)
{
    switch (call) {
    case FAULT_clBuildProgram: // the first is that of a cached binary, which is then compiled
        return status == WEFT_OK || status == WEFT_EBUILD;
    case FAULT_clCreateProgramWithBinary:
    case FAULT_clGetPlatformInfo:
    case FAULT_clGetProgramInfo:
    case FAULT_clGetProgramBuildInfo:
        return status == WEFT_OK;
    case FAULT_clCreateBuffer: // one of the ring, which then has fewer
        return (stages && status == WEFT_OK) || status == WEFT_EDEVMEM;
    case FAULT_clGetMemObjectInfo: // of a buffer that is then not kept for the next call
        return (stages && status == WEFT_OK) || status == WEFT_EDEVICE;
    case FAULT_clEnqueueWriteBuffer:
    case FAULT_clCreateProgramWithSource:
    case FAULT_clEnqueueBarrierWithWaitList:
    case FAULT_clEnqueueCopyBuffer:
    case FAULT_clEnqueueMarkerWithWaitList:
    case FAULT_clEnqueueNDRangeKernel:
    case FAULT_clFlush:
        return status == WEFT_EDEVMEM;
    case FAULT_clCreateCommandQueue: // of a device that is tried: it cannot be used
        return status == (life == devices_life ? WEFT_EDEVICE : WEFT_ENOMEM);
    case FAULT_clCreateKernel:
    case FAULT_clCreateUserEvent:
    case FAULT_clEnqueueReadBuffer:
        return status == WEFT_ENOMEM;
    case FAULT_clGetPlatformIDs:
        return status == WEFT_ENODEV;
    case FAULT_clGetDeviceIDs: // a platform that fails is listed, and does not hide the others
        return status == WEFT_OK || status == WEFT_ENODEV;
    case FAULT_clGetDeviceInfo: // what is not known is taken for not there, or for zero
        if (life == operation_life && !strcmp(lives_operation_name(lives.number), "chained scan") &&
            status == WEFT_EUNSUPPORTED) // without atomics of 64 bits
            return 1;
        return status == WEFT_OK || status == WEFT_ENODEV || status == WEFT_ERANGE || status == WEFT_EINVAL;
    case FAULT_clReleaseCommandQueue: // nobody can do anything about these
    case FAULT_clReleaseContext:
    case FAULT_clReleaseEvent:
    case FAULT_clReleaseKernel:
    case FAULT_clReleaseMemObject:
    case FAULT_clReleaseProgram:
        return status == WEFT_OK;
    case FAULT_clGetEventInfo: // of x on its way to the host, which is then waited for
        return status == (life == spmv_life ? WEFT_OK : WEFT_EDEVICE);
    case FAULT_clFinish: // of a queue that is given up: nothing is lost
        return status == WEFT_OK || status == WEFT_EDEVMEM;
    case FAULT_clGetKernelWorkGroupInfo: // the kernel's limit is then the device's
    case FAULT_clGetEventProfilingInfo:
    case FAULT_clRetainEvent:
    case FAULT_clWaitForEvents:
    case FAULT_clSetUserEventStatus:
        return status == WEFT_OK || status == WEFT_EDEVICE;
    default:
        return status == WEFT_EDEVICE;
    }
}

static void cache_clear(void)
{
    DIR *dir = opendir(cache_dir);
    char path[400];
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", cache_dir, entry->d_name);
            unlink(path);
        }
    if (dir)
        closedir(dir);
}

// What is alive: the test's own device has a context of its own.
struct alive {
    int allocations, objects;
};

static struct alive alive_now(void)
{
    return (struct alive){heap_live(), fault_live()};
}

static int good(const char *what, int n, weft_status status, const struct weft_error *err, int right, int is_allowed,
                struct alive before)
{
    int left = heap_live() - before.allocations, objects = fault_live() - before.objects;
    int clean = !objects && !left;
    int told = !status || err->text[0];
    if (!clean || !told || !right || !is_allowed)
        tap_note("%s number %d: status %d (%s), %s, %d OpenCL objects and %d allocations left", what, n, (int)status,
                 err->text, right ? "right" : "wrong", objects, left);
    return clean && told && right && is_allowed;
}

// `cold`: with an empty cache each time, so that programs are compiled and stored.
// The next one to fail after the nth: each, or in a sample the first three, every third up to the twelfth, every tenth beyond.
static int next_failure(int n)
{
    if (!test_sample() || n < 3)
        return n + 1;
    return n + (n < 12 ? 3 : 10);
}

// Is there also a life in which that one and all later ones fail? In a sample of the first two, and of some others.
static int takes_ever(int n)
{
    return !test_sample() || n <= 2 || n % 40 == 12;
}

static void test_call(enum fault_call call, int cold, const char *where)
{
    struct weft_error err;
    struct alive before = alive_now();
    int n = 1, ok = 1, hit = 1, failed = 0, right;
    for (; ok && hit && n < 100000; n = next_failure(n))
        for (int ever = 0; ok && hit && ever <= takes_ever(n); ever++) {
            if (cold)
                cache_clear();
            if (ever)
                fault_set_ever(call, n);
            else
                fault_set(call, n);
            weft_status status = life(&err, &right);
            hit = fault_hit();
            failed += hit;
            ok = good(fault_name(call), n, status, &err, right, hit ? allowed(call, status) : !status, before);
            if (!ok && ever)
                tap_note("and all later ones");
        }
    fault_set(call, 0);
    tap_ok(ok && failed && !hit, // the last life, in which nothing failed any more, was good
           "%s: %s failed %d times%s", where, fault_name(call), failed, cold ? ", empty cache" : "");
}

static void test_memory(const char *where)
{
    struct weft_error err;
    struct alive before = alive_now();
    int n = 0, ok = 1, hit = 1, failed = 0, right;
    for (; ok && hit && n < 100000; n = next_failure(n))
        for (int ever = 0; ok && hit && ever <= takes_ever(n); ever++) {
            heap_fail_after(n, ever);
            weft_status status = life(&err, &right);
            hit = heap_failed();
            failed += hit;
            // The cache can do without memory, and a device without extensions is one that cannot be used.
            ok = good("allocation", n, status, &err, right,
                      !status || (hit && (status == WEFT_ENOMEM || status == WEFT_ENODEV)), before);
            if (!ok && ever)
                tap_note("and all later ones");
        }
    tap_ok(ok && failed > (life == devices_life ? 3 : 9), "%s: %d allocations failed", where, failed);
}

// Calls whose failure no algorithm sees: finding platforms and devices comes before, storing a program cannot fail. They
// are tried with the algorithm of fewer programs alone.
static int is_common(enum fault_call call)
{
    return call == FAULT_clGetPlatformIDs || call == FAULT_clGetPlatformInfo || call == FAULT_clGetDeviceIDs ||
           call == FAULT_clGetProgramInfo;
}

// Each call of the life fails once, or those alone that the kind of life matters for; with `compiling` also on the way
// to a compiled program.
static void test_life(const char *where, int common, int compiling)
{
    struct weft_error err;
    int right, calls[FAULT_COUNT];
    fault_set(FAULT_clFlush, 0);
    struct alive before = alive_now();
    life(&err, &right); // fills the cache
    fault_set(FAULT_clFlush, 0);
    weft_status status = life(&err, &right);
    if (!tap_ok(good("no fault", 0, status, &err, right, !status, before), "%s: without faults", where))
        return;
    for (int call = 0; call < FAULT_COUNT; call++)
        calls[call] = fault_calls((enum fault_call)call);
    for (int call = 0; call < FAULT_COUNT; call++)
        if (calls[call] && (common || !is_common((enum fault_call)call)))
            test_call((enum fault_call)call, 0, where);
    static const enum fault_call making[] = {FAULT_clBuildProgram, FAULT_clCreateProgramWithSource,
                                             FAULT_clGetProgramInfo};
    for (size_t i = 0; compiling && i < sizeof making / sizeof *making; i++)
        if (common || !is_common(making[i]))
            test_call(making[i], 1, where);
    test_memory(where);
}

static void test_device(struct test_device *dev)
{
    char where[300];
    fault_install(); // here, since the table is another one for each device and schedule
    stages = !weft_context_device(dev->ctx)->unified;
    lives.device = weft_context_device(dev->ctx)->id;
    lives.schedule = weft_context_schedule(dev->ctx);
    for (int merge = 0; life == transpose_life && merge <= 1; merge++) {
        lives.algo = merge ? WEFT_TRANSPOSE_ALGO_MERGE : WEFT_TRANSPOSE_ALGO_SCAN;
        snprintf(where, sizeof where, "%s, %s", dev->name, merge ? "merge" : "scan");
        test_life(where, merge, 1);
    }
    for (size_t i = 0; life == spmv_life && lives_spmv_name(i); i++) {
        if (test_sample() &&
            (i + (size_t)(lives.schedule == WEFT_SCHEDULE_CPU)) % 2) // a sample: every other one on each schedule
            continue;
        lives.number = i;
        snprintf(where, sizeof where, "%s, %s", dev->name, lives_spmv_name(i));
        test_life(where, 0, 0);
    }
    for (size_t i = 0; life == operation_life && lives_operation_name(i); i++) {
        if (test_sample() && (i + (size_t)(lives.schedule == WEFT_SCHEDULE_CPU)) % 2)
            continue;
        lives.number = i;
        snprintf(where, sizeof where, "%s, %s", dev->name, lives_operation_name(i));
        test_life(where, 0, 0);
    }
    if (life == operation_life) {
        life = devices_life;
        snprintf(where, sizeof where, "%s, devices", dev->name);
        test_life(where, 1, 0);
        life = operation_life;
    }
    if (life == permute_life || life == canonical_life)
        test_life(dev->name, 0, 0);
    fault_remove();
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "spmv"))
        life = spmv_life;
    if (argc > 1 && !strcmp(argv[1], "permute"))
        life = permute_life;
    if (argc > 1 && !strcmp(argv[1], "canonical"))
        life = canonical_life;
    if (argc > 1 && !strcmp(argv[1], "operations"))
        life = operation_life;
    struct rng rng = rng_start();
    if (!mkdtemp(cache_dir))
        tap_bail("%s: %s", cache_dir, strerror(errno));
    lives.cache_dir = cache_dir;
    const enum weft_type type = life == spmv_life ? WEFT_TYPE_I32 : WEFT_TYPE_F32;
    lives_make(&rng, type);
    lives_operations_make(&rng);
    test_device_each(test_device);
    lives_free();
    cache_clear();
    rmdir(cache_dir);
    return tap_done();
}
