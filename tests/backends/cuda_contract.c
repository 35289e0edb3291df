// SPDX-License-Identifier: Apache-2.0
// The contract of a backend on CUDA with the stand-in of CUDA's runtime: the choice of the GPU, and every transposition on edge
// shapes with every failing call.
#include "cuda_contract.h"
#include "host/internal/inside.h"
#include "standin/cuda.h"

#include <stdlib.h>
#include <string.h>

struct weft_context cuda_fake = {.device = {.name = "GPU"}};
struct rng cuda_rng;

// ---- an OpenCL device that knows its UUID, or with an old driver only its bus ------------------------------------

static int cl_uuid, cl_bus, cl_domain; // 0: not known
static cl_int CL_API_CALL device_info(cl_device_id id, cl_device_info what, size_t bytes, void *out, size_t *got)
{
    (void)id;
    (void)got;
    cl_uint value = what == 0x4008 ? (cl_uint)cl_bus : (cl_uint)cl_domain;
    if (what == 0x106A && cl_uuid && bytes == 16)
        memset(out, cl_uuid, 16);
    else if (((what == 0x4008 && cl_bus) || (what == 0x400A && cl_domain)) && bytes == sizeof value)
        memcpy(out, &value, sizeof value);
    else
        return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

void cuda_devices(int count, int uuid, int bus, int domain)
{
    standin_reset(count);
    cl_uuid = uuid;
    cl_bus = bus;
    cl_domain = domain;
}

void cuda_probe_test(const struct weft_backend *backend, const char *version)
{
    struct weft_error err = {0};
    cuda_devices(0, 1, 0, 0);
    tap_ok(backend->probe(&cuda_fake, &err) == WEFT_ENODEV && !strncmp(err.text, "no CUDA device (", 16), "no GPU: %s",
           err.text);
    cuda_devices(2, 3, 0, 0);
    tap_ok(backend->probe(&cuda_fake, &err) == WEFT_ENODEV && strstr(err.text, "GPU is no CUDA device"),
           "GPUs, but not this one: %s", err.text);
    cuda_devices(2, 0, 0, 0);
    tap_ok(backend->probe(&cuda_fake, &err) == WEFT_ENODEV, "a device that knows neither UUID nor bus: %s", err.text);
    tap_ok(backend->probe(NULL, &err) == WEFT_ENODEV && strstr(err.text, "OpenCL"), "no OpenCL device: %s", err.text);
    cuda_devices(2, 2, 0, 0);
    tap_ok(!backend->probe(&cuda_fake, &err), "the same UUID");
    cuda_devices(2, 0, 0x20, 1);
    tap_ok(!backend->probe(&cuda_fake, &err), "the same bus and domain");
    cuda_devices(2, 0, 0x20, 0);
    tap_ok(backend->probe(&cuda_fake, &err) == WEFT_ENODEV, "the same bus in another domain");
    tap_is_str(backend->version(), version, "the library's version");
}

// After finish: nothing is alive and no rule was broken. Nonzero when so; else says what.
int cuda_clean(const char *what)
{
    const char *complaint = standin_complaint();
    if (complaint || standin_alive())
        tap_note("%s: %ld alive, %s", what, standin_alive(), complaint ? complaint : "no complaint");
    return !complaint && !standin_alive();
}

struct weft_backend_times cuda_no_times(void)
{
    return (struct weft_backend_times)WEFT_BACKEND_NO_TIMES;
}

const struct cuda_shape cuda_shapes[CUDA_SHAPES] = {
    {1, 1, 0},      {1, 1, 1},      {5, 7, 0},       {1, 300, 200}, {300, 1, 200},   {33, 31, 1000},  {64, 64, 4096},
    {70, 90, 2000}, {257, 255, 90}, {1000, 8, 7000}, {8, 1000, 70}, {100, 100, 350}, {40, 1000, 2500}};

// One transposition with the fail-th call failing (0: none). Nonzero when right, or when the failure came back whole.
static int transpose_once(const struct weft_backend *backend, const struct weft_csr *a, const char *algo, long fail,
                          long *calls)
{
    struct weft_backend_times times = cuda_no_times();
    struct weft_error err = {0};
    struct weft_csr want = {0}, out = {0}, whole = {0};
    void *state = NULL;
    double ms = -1;
    cuda_devices(3, 2, 0, 0);
    standin_fail(fail);
    weft_status status = backend->transpose.prepare(&state, &cuda_fake, a, algo, NULL, &times, &err);
    for (int run = 0; run < 2 && !status; run++)
        status = backend->transpose.run(state, &ms, &err);
    if (!status)
        status = backend->transpose.poison(state, &err);
    int stays = 0;                              // what the runs before have left
    if (!status && strcmp(algo, "alg2") != 0) { // whose columns are sorted, if they are any
        struct weft_csr left = {0}, right;
        if (weft__ref_transpose(&right, a))
            tap_bail("no memory");
        status = backend->transpose.result(state, &left, &times, &err);
        stays = !status && weft_csr_equal(&right, &left);
        weft_csr_free(&left);
        weft_csr_free(&right);
    }
    if (!status)
        status = backend->transpose.run(state, &ms, &err);
    if (!status)
        status = backend->transpose.plain(state, 1, &err);
    const int open = strstr(times.chosen, "unordered") != NULL; // its columns are not in order before they are sorted
    if (!status)
        status = backend->transpose.call(state, &whole, &err);
    if (status == WEFT_EUNSUPPORTED && open)
        status = WEFT_OK;
    if (!status)
        status = backend->transpose.result(state, &out, &times, &err);
    *calls = standin_calls();
    int good = fail ? status == WEFT_EDEVICE || status == WEFT_EDEVMEM : !status;
    if (!good || (fail && (!err.text[0] || strchr(err.text, '\n'))))
        tap_note("call %ld: status %d, \"%s\"", fail, status, err.text);
    if (!fail && good) {
        if (weft__ref_transpose(&want, a))
            tap_bail("no memory");
        good = !stays && weft_csr_equal(&want, &out) && (open ? !whole.row_ptr : weft_csr_equal(&want, &whole)) &&
               ms == 1 && standin_device() == 1 && times.write_ms >= 0 && times.read_ms >= 0 &&
               open == !strcmp(algo, "alg2") && (times.workspace_bytes > 0) == (strcmp(algo, "csr2csc") != 0);
    }
    backend->transpose.finish(&state);
    weft_csr_free(&want);
    weft_csr_free(&out);
    weft_csr_free(&whole);
    return cuda_clean("transposition") && good;
}

void cuda_transpose_test(const struct weft_backend *backend, const char *algo)
{
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_I32, WEFT_TYPE_PATTERN};
    struct weft_csr a;
    int good = 1, cases = 0, caught = 1;
    long calls = 0, ignored;
    for (int k = 0; k < CUDA_SHAPES * 4; k++) {
        test_matrix_make(&a, &cuda_rng, (enum test_spread)(k / 4 % TEST_SPREADS), cuda_shapes[k / 4].m,
                         cuda_shapes[k / 4].n, cuda_shapes[k / 4].nnz, types[k % 4], WEFT_OFS_32);
        good &= transpose_once(backend, &a, algo, 0, &calls);
        for (long fail = 1; fail <= calls && k == 4 * 7; fail++)
            caught &= transpose_once(backend, &a, algo, fail, &ignored);
        cases++;
        weft_csr_free(&a);
    }
    tap_ok(good, "transpose by %s: %d matrices", algo, cases);
    tap_ok(calls > 20 && caught, "transpose by %s: each of %ld calls fails once", algo, calls);
}

void cuda_begin(void)
{
    cuda_rng = rng_start();
    weft__cl.clGetDeviceInfo = device_info;
}
