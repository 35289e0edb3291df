// SPDX-License-Identifier: Apache-2.0
// A contract test, not a result: the backend `cub` against a stand-in of CUDA's runtime, and of what nvcc compiles.
#include "cuda_contract.h"
#include "standin/cuda.h"
#include "tests/support/tap.h"

static const struct weft_backend *const backend = &weft__backend_cub;

static void refusal_test(void)
{
    struct weft_backend_times times = cuda_no_times();
    struct weft_error err = {0};
    struct weft_csr a;
    void *state = NULL;
    cuda_devices(2, 2, 0, 0);
    test_matrix_make(&a, &cuda_rng, TEST_UNIFORM, 9, 9, 30, WEFT_TYPE_F32, WEFT_OFS_64);
    tap_ok(backend->transpose.prepare(&state, &cuda_fake, &a, "pairs", NULL, &times, &err) == WEFT_EUNSUPPORTED &&
               !state,
           "64-bit offsets: %s", err.text);
    tap_ok(backend->transpose.prepare(&state, &cuda_fake, &a, "alg1", NULL, &times, &err) == WEFT_EINVAL && !state,
           "an algorithm of others: %s", err.text);
    weft_csr_free(&a);
    tap_ok(cuda_clean("refusals"), "refusals leave nothing");
}

int main(void)
{
    cuda_begin();
    cuda_probe_test(backend, "CUB 99.8.7");
    refusal_test();
    for (const char *const *algo = backend->transpose.algos; *algo; algo++)
        cuda_transpose_test(backend, *algo);
    standin_reset(0);
    return tap_done();
}
