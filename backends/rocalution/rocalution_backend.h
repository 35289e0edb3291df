// SPDX-License-Identifier: Apache-2.0
// What the operations of backend `rocalution` share: the library's start, a matrix of it. No exception leaves them.
#pragma once

extern "C" {
#include "backends/algo.h"
#include "backends/pages.h"
#include "host/common/clock.h"
#include "host/internal/inside.h"
}

#include <iostream>
#include <omp.h>
#include <rocalution/rocalution.hpp>
#include <vector>

// Start the library, once in a process, on the host alone. Errors: none.
void weft__rocalution_begin();

// Refuses, with the reason in err, what the library leaves unwritten or cannot count: WEFT_EUNSUPPORTED.
weft_status weft__rocalution_check(const struct weft_csr *a, struct weft_error *err);

// The status of the exception being handled, with its text in err.
weft_status weft__rocalution_caught(struct weft_error *err) noexcept;

// Stands while the library works. What that would leave behind is put back: the number of OpenMP threads, which it sets by
// the size of each step. What it says goes where errors go: std::cout may be a file of records.
class weft__rocalution_work
{
  public:
    explicit weft__rocalution_work(std::streambuf *says = std::cerr.rdbuf()) : out_(std::cout.rdbuf(says))
    {
    }
    weft__rocalution_work(const weft__rocalution_work &) = delete;
    weft__rocalution_work &operator=(const weft__rocalution_work &) = delete;
    ~weft__rocalution_work()
    {
        std::cout.rdbuf(out_);
        omp_set_num_threads(threads_);
    }

  private:
    std::streambuf *const out_;
    const int threads_ = omp_get_max_threads();
};

// Copies of a in CSR, with ones where it is a pattern. T has the bytes of its values. Throws std::bad_alloc.
template <typename T>
void weft__rocalution_csr(rocalution::LocalMatrix<T> &out, const struct weft_csr *a)
{
    std::vector<int> ptr;
    std::vector<T> ones;
    if (a->ofs == WEFT_OFS_64) {
        ptr.reserve((size_t)a->m + 1);
        for (int64_t i = 0; i <= a->m; i++)
            ptr.push_back((int)weft_csr_ofs(a, i));
    }
    if (!a->val)
        ones.assign((size_t)a->nnz, T(1));
    out.CopyFromHostCSR(ptr.empty() ? static_cast<const int *>(a->row_ptr) : ptr.data(), a->col,
                        a->val ? static_cast<const T *>(a->val) : ones.data(), "A", (int)a->nnz, (int)a->m, (int)a->n);
}
