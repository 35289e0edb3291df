// SPDX-License-Identifier: Apache-2.0
// A stand-in for what backend rocalution uses of rocALUTION 2.1. It computes on one thread and complains, by gpu.h, of what the
// library leaves undone or ends the program for.
#pragma once

extern "C" {
#include "../../gpu.h"
}

#include <algorithm>
#include <iostream>
#include <new>
#include <omp.h>
#include <string>
#include <vector>

#define __ROCALUTION_VER_MAJOR 99
#define __ROCALUTION_VER_MINOR 8
#define __ROCALUTION_VER_PATCH 7

namespace rocalution
{

enum { DENSE = 0, CSR = 1, COO = 4, ELL = 6, HYB = 7 };

struct standin_state {
    bool begun = false, bound = true, accelerated = true;
    std::streambuf *const out = std::cout.rdbuf(); // the standard output, which is the caller's
};
inline standin_state standin;

// One call: it leaves one thread and says something, and the one that is to fail throws.
inline void standin_call()
{
    if (!standin.begun)
        standin_complain("a call before init_rocalution");
    omp_set_num_threads(1);
    if (std::cout.rdbuf() == standin.out)
        standin_complain("words on the standard output");
    if (standin_enter())
        throw std::bad_alloc();
}
inline void standin_rule(bool kept, const char *rule)
{
    if (!kept)
        standin_complain("not so: %s", rule);
}

inline void set_omp_affinity_rocalution(bool bound)
{
    standin.bound = bound;
}
inline void disable_accelerator_rocalution(bool off = true)
{
    standin.accelerated = !off;
}
inline int init_rocalution(int = -1, int = 1)
{
    standin_rule(!standin.begun, "begun once");
    standin_rule(!standin.bound && !standin.accelerated, "begun without affinity and accelerator");
    standin.begun = true;
    standin_rule(std::cout.rdbuf() != standin.out, "words at the start are kept from the standard output");
    omp_set_num_threads(1);
    return 0;
}
inline int stop_rocalution()
{
    return 0;
}

// What is alive between construction and destruction.
class standin_alive_object
{
  public:
    explicit standin_alive_object(standin_kind kind) : object_(standin_create(kind, sizeof(standin_object)))
    {
        standin_rule(standin.begun, "no object before init_rocalution");
    }
    standin_alive_object(const standin_alive_object &) = delete;
    standin_alive_object &operator=(const standin_alive_object &) = delete;
    ~standin_alive_object()
    {
        standin_destroy(object_, static_cast<const standin_object *>(object_)->kind);
    }

  private:
    void *object_;
};

template <typename T>
class LocalVector
{
  public:
    void Allocate(std::string, long size)
    {
        standin_call();
        values.assign((size_t)size, T(0));
    }
    void CopyFromData(const T *data)
    {
        standin_call();
        standin_rule(data, "data to copy");
        std::copy_n(data, values.size(), values.begin());
    }
    void CopyToData(T *data) const
    {
        standin_call();
        std::copy(values.begin(), values.end(), data);
    }
    void Scale(T alpha)
    {
        standin_call();
        for (T &v : values)
            v *= alpha;
    }
    std::vector<T> values;

  private:
    standin_alive_object alive_{STANDIN_VECTOR};
};

template <typename T>
class LocalMatrix
{
  public:
    void CopyFromHostCSR(const int *ptr, const int *col, const T *val, const std::string &, int nnz, int m, int n)
    {
        standin_call();
        standin_rule(nnz > 0 && m > 0 && n > 0, "a matrix with entries");
        standin_rule(ptr[0] == 0 && ptr[m] == nnz && std::is_sorted(ptr, ptr + m + 1), "offsets ascend to the entries");
        standin_rule(std::all_of(col, col + nnz, [n](int j) { return j >= 0 && j < n; }), "columns inside");
        ptr_.assign(ptr, ptr + m + 1);
        col_.assign(col, col + nnz);
        val_.assign(val, val + nnz);
        n_ = n;
        format_ = CSR;
    }
    void ConvertTo(unsigned format, int = 1)
    {
        standin_call();
        int longest = 0;
        for (size_t i = 1; i < ptr_.size(); i++)
            longest = std::max(longest, ptr_[i] - ptr_[i - 1]);
        const bool kept = format == ELL && longest > 5 * (GetNnz() / GetM());
        standin_rule(!kept, "no ELL of a row longer than five times the mean");
        format_ = kept ? unsigned(CSR) : format;
    }
    unsigned GetFormat() const
    {
        return format_;
    }
    long GetM() const
    {
        return (long)ptr_.size() - 1;
    }
    long GetN() const
    {
        return n_;
    }
    long GetNnz() const
    {
        return (long)col_.size();
    }
    void Apply(const LocalVector<T> &x, LocalVector<T> *y) const
    {
        standin_call();
        std::fill(y->values.begin(), y->values.end(), T(0));
        add(x, T(1), y);
    }
    void ApplyAdd(const LocalVector<T> &x, T scalar, LocalVector<T> *y) const
    {
        standin_call();
        add(x, scalar, y);
    }
    void Clear()
    {
        ptr_.assign(1, 0);
        col_.clear();
        val_.clear();
    }
    void Transpose(LocalMatrix *out) const
    {
        standin_call();
        standin_rule(format_ == CSR && !out->GetNnz(), "CSR to an empty matrix");
        out->ptr_.assign((size_t)n_ + 1, 0);
        out->col_.resize(col_.size());
        out->val_.resize(val_.size());
        out->n_ = GetM();
        for (int j : col_)
            out->ptr_[(size_t)j + 1]++;
        for (size_t j = 0; j < (size_t)n_; j++)
            out->ptr_[j + 1] += out->ptr_[j];
        std::vector<int> next(out->ptr_);
        for (size_t i = 0; i + 1 < ptr_.size(); i++)
            for (int p = ptr_[i]; p < ptr_[i + 1]; p++) {
                const auto at = (size_t)next[(size_t)col_[(size_t)p]]++;
                out->col_[at] = (int)i;
                out->val_[at] = val_[(size_t)p];
            }
    }
    void CopyToCSR(int *ptr, int *col, T *val) const
    {
        standin_call();
        standin_rule(format_ == CSR, "CSR out of CSR");
        std::copy(ptr_.begin(), ptr_.end(), ptr);
        std::copy(col_.begin(), col_.end(), col);
        std::copy(val_.begin(), val_.end(), val);
    }

  private:
    void add(const LocalVector<T> &x, T scalar, LocalVector<T> *y) const
    {
        standin_rule((long)x.values.size() == n_ && (long)y->values.size() == GetM(), "vectors as long as the sides");
        for (size_t i = 0; i + 1 < ptr_.size(); i++)
            for (int p = ptr_[i]; p < ptr_[i + 1]; p++)
                y->values[i] += scalar * val_[(size_t)p] * x.values[(size_t)col_[(size_t)p]];
    }

    standin_alive_object alive_{STANDIN_MATRIX};
    std::vector<int> ptr_{0}, col_;
    std::vector<T> val_;
    long n_ = 0;
    unsigned format_ = CSR;
};

} // namespace rocalution
