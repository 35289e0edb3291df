// SPDX-License-Identifier: Apache-2.0
// Transposition by CUB's stable sort of the columns: what cub_backend.h declares, for nvcc.
#include "cub_backend.h"

#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/version.cuh>

namespace
{

constexpr int WG = 256, ITEMS = 8, TILE = WG * ITEMS;
constexpr int OWN = 8; // so many pointers are written by the thread that finds them, more by its block

// What travels with a column: the row and the value, or where the entry was.
template <typename V>
struct alignas(sizeof(V) < 8 ? 8 : 16) Entry {
    V val;
    int row;
};

// The last row that begins at or before an entry.
__device__ int row_of(const int *row_ptr, int m, int entry)
{
    int low = 0, high = m; // row_ptr[low] <= entry < row_ptr[high]
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (row_ptr[middle] <= entry)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// take(entry, row) for every entry; a block has a tile of them.
template <typename Take>
__global__ __launch_bounds__(WG) void expand(const int *row_ptr, int m, int nnz, Take take)
{
    using Scan = cub::BlockScan<int, WG>;
    __shared__ typename Scan::TempStorage scan;
    __shared__ int rows[TILE], ends[2];
    const long long begin = static_cast<long long>(blockIdx.x) * TILE;
    const int end = static_cast<int>(begin + TILE < nnz ? begin + TILE : nnz), count = end - static_cast<int>(begin);
    if (threadIdx.x % 32 == 0 && threadIdx.x < 64)
        ends[threadIdx.x / 32] = row_of(row_ptr, m, threadIdx.x ? end - 1 : static_cast<int>(begin));
    for (int i = static_cast<int>(threadIdx.x); i < TILE; i += WG)
        rows[i] = 0;
    __syncthreads();
    // Of rows that begin at one entry all but the last are empty.
    for (int r = ends[0] + 1 + static_cast<int>(threadIdx.x); r <= ends[1]; r += WG)
        atomicMax(&rows[row_ptr[r] - static_cast<int>(begin)], r);
    __syncthreads();
    int mine[ITEMS];
    for (int i = 0; i < ITEMS; i++)
        mine[i] = rows[static_cast<int>(threadIdx.x) * ITEMS + i];
    if (threadIdx.x == 0)
        mine[0] = ends[0];
    Scan(scan).InclusiveScan(mine, mine, [](int a, int b) { return a > b ? a : b; });
    for (int i = 0; i < ITEMS; i++)
        rows[static_cast<int>(threadIdx.x) * ITEMS + i] = mine[i];
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < count; i += WG)
        take(static_cast<int>(begin) + i, rows[i]);
}

// give(entry) for every sorted column; out_ptr where one column ends and the next begins.
template <typename Give>
__global__ __launch_bounds__(WG) void collect(const int *col, int n, int nnz, int *out_ptr, Give give)
{
    __shared__ int at[WG], first[WG], last[WG], jobs;
    const long long begin = static_cast<long long>(blockIdx.x) * TILE;
    for (int k = 0; k < ITEMS; k++) {
        const long long i = begin + k * WG + threadIdx.x; // as far as nnz: behind the last entry
        if (threadIdx.x == 0)
            jobs = 0;
        __syncthreads();
        if (i <= nnz) {
            const int before = i ? col[i - 1] : -1, here = i < nnz ? col[i] : n;
            if (i < nnz)
                give(static_cast<int>(i));
            if (here - before > OWN) {
                const int job = atomicAdd(&jobs, 1);
                at[job] = static_cast<int>(i);
                first[job] = before + 1;
                last[job] = here;
            } else {
                for (int c = before + 1; c <= here; c++)
                    out_ptr[c] = static_cast<int>(i);
            }
        }
        __syncthreads();
        for (int job = 0; job < jobs; job++)
            for (long long c = static_cast<long long>(first[job]) + threadIdx.x; c <= last[job]; c += WG)
                out_ptr[c] = at[job];
        __syncthreads();
    }
}

// Parts of one allocation; without it, their sum.
struct Parts {
    char *at;
    size_t bytes = 0;
    template <typename T>
    T *take(size_t count)
    {
        const size_t begin = bytes;
        bytes += (count * sizeof(T) + 255) / 256 * 256;
        return at ? reinterpret_cast<T *>(at + begin) : nullptr;
    }
};

int blocks(long long entries)
{
    return static_cast<int>((entries + TILE - 1) / TILE);
}

template <typename P>
cudaError_t sort(const struct cub_transpose *t, Parts *parts, const P *in, P *out, int *col, cudaStream_t stream)
{
    int bits = 1;
    size_t bytes = 0;
    while (bits < 31 && (t->n - 1) >> bits)
        bits++;
    cudaError_t error = cub::DeviceRadixSort::SortPairs(nullptr, bytes, t->col, col, in, out, t->nnz, 0, bits, stream);
    void *work = parts->take<char>(bytes);
    if (error == cudaSuccess && parts->at)
        error = cub::DeviceRadixSort::SortPairs(work, bytes, t->col, col, in, out, t->nnz, 0, bits, stream);
    return error;
}

// Row and value travel through the sort.
template <typename V>
cudaError_t pairs(const struct cub_transpose *t, Parts *parts, cudaStream_t stream)
{
    using P = Entry<V>;
    const size_t nnz = static_cast<size_t>(t->nnz);
    int *col = parts->take<int>(nnz), *out_row = t->out_row;
    P *in = parts->take<P>(nnz), *out = parts->take<P>(nnz);
    const V *val = static_cast<const V *>(t->val);
    V *out_val = static_cast<V *>(t->out_val);
    if (parts->at)
        expand<<<blocks(t->nnz), WG, 0, stream>>>(t->row_ptr, t->m, t->nnz,
                                                  [=] __device__(int i, int row) { in[i] = P{val[i], row}; });
    const cudaError_t error = sort(t, parts, in, out, col, stream);
    if (error == cudaSuccess && parts->at)
        collect<<<blocks(t->nnz + 1LL), WG, 0, stream>>>(col, t->n, t->nnz, t->out_ptr, [=] __device__(int i) {
            const P p = out[i];
            out_row[i] = p.row;
            out_val[i] = p.val;
        });
    return error;
}

// A pattern: the row travels, and needs no place before.
cudaError_t pattern(const struct cub_transpose *t, Parts *parts, cudaStream_t stream)
{
    const size_t nnz = static_cast<size_t>(t->nnz);
    int *col = parts->take<int>(nnz), *in = parts->take<int>(nnz);
    if (parts->at)
        expand<<<blocks(t->nnz), WG, 0, stream>>>(t->row_ptr, t->m, t->nnz,
                                                  [=] __device__(int i, int row) { in[i] = row; });
    const cudaError_t error = sort(t, parts, in, t->out_row, col, stream);
    if (error == cudaSuccess && parts->at)
        collect<<<blocks(t->nnz + 1LL), WG, 0, stream>>>(col, t->n, t->nnz, t->out_ptr, [] __device__(int) {});
    return error;
}

// The place of an entry travels; row and value are fetched behind the sort.
template <typename V>
cudaError_t gather(const struct cub_transpose *t, Parts *parts, cudaStream_t stream)
{
    const size_t nnz = static_cast<size_t>(t->nnz);
    int *col = parts->take<int>(nnz), *in = parts->take<int>(nnz), *out = parts->take<int>(nnz);
    int *rows = parts->take<int>(nnz), *out_row = t->out_row;
    const V *val = static_cast<const V *>(t->val);
    V *out_val = static_cast<V *>(t->out_val);
    if (parts->at)
        expand<<<blocks(t->nnz), WG, 0, stream>>>(t->row_ptr, t->m, t->nnz, [=] __device__(int i, int row) {
            rows[i] = row;
            in[i] = i;
        });
    const cudaError_t error = sort(t, parts, in, out, col, stream);
    if (error == cudaSuccess && parts->at)
        collect<<<blocks(t->nnz + 1LL), WG, 0, stream>>>(col, t->n, t->nnz, t->out_ptr, [=] __device__(int i) {
            const int from = out[i];
            out_row[i] = rows[from];
            out_val[i] = val[from];
        });
    return error;
}

} // namespace

const char *weft__cub_number(void)
{
    static char text[32];
    snprintf(text, sizeof text, "CUB %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    return text;
}

cudaError_t weft__cub_transpose(const struct cub_transpose *t, cub_transpose_algo algo, void *work, size_t *bytes,
                                cudaStream_t stream)
{
    Parts parts = {static_cast<char *>(work)};
    cudaError_t error = cudaSuccess;
    if (!t->nnz) {
        if (work)
            error = cudaMemsetAsync(t->out_ptr, 0, (static_cast<size_t>(t->n) + 1) * sizeof(int), stream);
        parts.take<char>(1);
    } else if (t->value_bytes == 0) {
        error = pattern(t, &parts, stream);
    } else if (t->value_bytes == 4) {
        error = algo == CUB_PAIRS ? pairs<unsigned>(t, &parts, stream) : gather<unsigned>(t, &parts, stream);
    } else {
        error = algo == CUB_PAIRS ? pairs<unsigned long long>(t, &parts, stream)
                                  : gather<unsigned long long>(t, &parts, stream);
    }
    *bytes = parts.bytes;
    return error == cudaSuccess ? cudaGetLastError() : error;
}
