// SPDX-License-Identifier: Apache-2.0
// CUB's calls, timed by CUDA's events: what cub.h declares.
#include "cub.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>

namespace
{

// As the backend cusparse does: the stream is held back until all of a run is enqueued, so that the host's part is not
// in its time. 5 ms at most.
std::atomic<int> gate;

double now_ms()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

void CUDART_CB gate_wait(void *)
{
    double start = now_ms();
    while (!gate.load() && now_ms() - start < 5)
        ;
}

// Device memory of one run, all bytes 0xff; freed at the end of its scope.
struct Memory {
    void *at = nullptr;
    ~Memory()
    {
        cudaFree(at);
    }
    cudaError_t take(size_t bytes)
    {
        cudaError_t error = cudaMalloc(&at, bytes ? bytes : 1);
        return error == cudaSuccess ? cudaMemset(at, 0xff, bytes) : error;
    }
    template <typename T>
    T *as() const
    {
        return static_cast<T *>(at);
    }
};

struct Run {
    Memory in[2], out[2], work;
    size_t bytes = 0; // of work; 0: only asked for
};

// What a program writes that counts keys among a million bins: counts is all zero before.
__global__ void count_by_atomics(const int *keys, int *counts, int n)
{
    const int i = static_cast<int>(blockIdx.x) * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
    if (i < n)
        atomicAdd(&counts[keys[i]], 1);
}

cudaError_t count(const int *keys, int *counts, int n, int bins, cudaStream_t stream)
{
    const unsigned threads = 256;
    cudaError_t error = cudaMemsetAsync(counts, 0, static_cast<size_t>(bins) * sizeof *counts, stream);
    if (error != cudaSuccess)
        return error;
    count_by_atomics<<<(static_cast<unsigned>(n) + threads - 1) / threads, threads, 0, stream>>>(keys, counts, n);
    return cudaGetLastError();
}

// One call of CUB: with work.at == nullptr it only says how much it needs.
cudaError_t call(const cub_job *job, Run *run, cudaStream_t stream)
{
    int n = static_cast<int>(job->n), bins = static_cast<int>(job->bins);
    void *work = run->work.at;
    if (job->op == CUB_SCAN)
        return cub::DeviceScan::ExclusiveSum(work, run->bytes, run->in[0].as<int>(), run->out[0].as<int>(), n, stream);
    if (job->op == CUB_SORT)
        return cub::DeviceRadixSort::SortPairs(work, run->bytes, run->in[0].as<unsigned>(), run->out[0].as<unsigned>(),
                                               run->in[1].as<unsigned>(), run->out[1].as<unsigned>(), n, 0, 32, stream);
    int *counts = cub_counts(job->op) ? run->out[0].as<int>() : run->out[1].as<int>();
    size_t need = 0, given = run->bytes;
    cudaError_t error = cudaSuccess;
    const bool atomic = job->op == CUB_COUNT_ATOMIC || job->op == CUB_POINTERS_ATOMIC;
    if (cub_points(job->op) && !work)
        error = cub::DeviceScan::ExclusiveSum(nullptr, need, counts, run->out[0].as<int>(), bins + 1, stream);
    if (error == cudaSuccess && atomic)
        error = work ? count(run->in[0].as<int>(), counts, n, bins, stream) : cudaSuccess;
    else if (error == cudaSuccess)
        error = cub::DeviceHistogram::HistogramEven(work, given, run->in[0].as<int>(), counts, bins + 1, 0, bins, n,
                                                    stream);
    if (!work)
        run->bytes = given > need ? given : need;
    else if (error == cudaSuccess && cub_points(job->op))
        error = cub::DeviceScan::ExclusiveSum(work, given, counts, run->out[0].as<int>(), bins + 1, stream);
    return error;
}

cudaError_t run_once(const cub_job *job, Run *run, cudaStream_t stream, cudaEvent_t start, cudaEvent_t stop, double *ms)
{
    float span = 0;
    gate.store(0);
    cudaError_t error = cudaLaunchHostFunc(stream, gate_wait, nullptr);
    if (error == cudaSuccess)
        error = cudaEventRecord(start, stream);
    if (error == cudaSuccess)
        error = call(job, run, stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(stop, stream);
    gate.store(1);
    cudaError_t ended = cudaStreamSynchronize(stream);
    error = error == cudaSuccess ? ended : error;
    if (error == cudaSuccess)
        error = cudaEventElapsedTime(&span, start, stop);
    *ms = static_cast<double>(span);
    return error;
}

cudaError_t runs(cub_job *job, cudaStream_t stream, cudaEvent_t start, cudaEvent_t stop)
{
    Run run;
    size_t n = static_cast<size_t>(job->n) * 4, bins = static_cast<size_t>(job->bins) * 4;
    size_t out = cub_counts(job->op) ? bins : cub_points(job->op) ? bins + 4 : n;
    size_t more = job->op == CUB_SORT ? n : cub_points(job->op) ? bins + 4 : 0;
    cudaError_t error = run.in[0].take(n);
    if (error == cudaSuccess && job->op == CUB_SORT)
        error = run.in[1].take(n);
    if (error == cudaSuccess)
        error = run.out[0].take(out);
    if (error == cudaSuccess)
        error = run.out[1].take(more);
    if (error == cudaSuccess)
        error = call(job, &run, stream);
    if (error == cudaSuccess)
        error = run.work.take(run.bytes);
    for (int i = 0; i < 2 && error == cudaSuccess; i++)
        if (job->in[i])
            error = cudaMemcpy(run.in[i].at, job->in[i], n, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    double warm_up = 0;
    if (error == cudaSuccess)
        error = run_once(job, &run, stream, start, stop, &warm_up);
    for (int r = 0; r < job->reps && error == cudaSuccess; r++)
        error = run_once(job, &run, stream, start, stop, &job->ms[r]);
    if (error == cudaSuccess)
        error = cudaMemcpy(job->out[0], run.out[0].at, out, cudaMemcpyDeviceToHost);
    if (error == cudaSuccess && job->op == CUB_SORT)
        error = cudaMemcpy(job->out[1], run.out[1].at, n, cudaMemcpyDeviceToHost);
    job->workspace_bytes = run.bytes + (cub_points(job->op) ? more : 0);
    return error;
}

} // namespace

int cub_open(const char *like, char name[256], char driver[32], char why[256])
{
    int count = 0, version = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || !count) {
        std::snprintf(why, 256, "no CUDA device");
        return 0;
    }
    for (int device = 0; device < count; device++) {
        cudaDeviceProp prop;
        if (cudaGetDeviceProperties(&prop, device) != cudaSuccess || (*like && !std::strstr(like, prop.name)))
            continue;
        cudaDriverGetVersion(&version);
        std::snprintf(name, 256, "%s", prop.name);
        std::snprintf(driver, 32, "CUDA %d.%d", version / 1000, version % 1000 / 10);
        error = cudaSetDevice(device);
        if (error == cudaSuccess)
            return 1;
        std::snprintf(why, 256, "cudaSetDevice: %s", cudaGetErrorString(error));
        return 0;
    }
    std::snprintf(why, 256, "no CUDA device is named in \"%.200s\"", like);
    return 0;
}

const char *cub_version(void)
{
    static char text[32];
    std::snprintf(text, sizeof text, "CUB %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    return text;
}

int cub_run(cub_job *job, char why[256])
{
    cudaStream_t stream = nullptr;
    cudaEvent_t start = nullptr, stop = nullptr;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaEventCreate(&start);
    if (error == cudaSuccess)
        error = cudaEventCreate(&stop);
    if (error == cudaSuccess)
        error = runs(job, stream, start, stop);
    if (start)
        cudaEventDestroy(start);
    if (stop)
        cudaEventDestroy(stop);
    if (stream)
        cudaStreamDestroy(stream);
    cudaGetLastError();
    std::snprintf(why, 256, "CUDA: %s", cudaGetErrorString(error));
    return error == cudaSuccess ? 1 : error == cudaErrorMemoryAllocation ? -1 : 0;
}
