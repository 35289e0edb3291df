// SPDX-License-Identifier: Apache-2.0
// What meson.build asks nvcc for before it takes it: these flags, these architectures, CUB's headers.
#include <cub/version.cuh>

static_assert(CUB_VERSION >= 100000, "a release of CUB");

template <typename F>
__global__ void probe(F f)
{
    f();
}

void probe_launch(int *out)
{
    probe<<<1, 1>>>([out] __device__() { *out = 1; });
}
