// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y by rocALUTION, in each of its formats that weft has too.
#include "rocalution_backend.h"

#include <algorithm>
#include <climits>
#include <limits>
#include <memory>

const char *const weft__rocalution_spmv_algos[] = {"csr", "coo", "ell", "hyb", nullptr};

namespace
{

const unsigned formats[] = {rocalution::CSR, rocalution::COO, rocalution::ELL, rocalution::HYB};

// Width and elements of the part of a format that is ELL, and entries of the part that is coordinates.
struct shape {
    int64_t width = 0, elements = 0, coordinates = 0;
};

shape shape_of(const weft_csr *a, unsigned format)
{
    auto length = [a](int64_t i) { return weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i); };
    shape out;
    if (format == rocalution::COO)
        out.coordinates = a->nnz;
    if (format == rocalution::ELL)
        for (int64_t i = 0; i < a->m; i++)
            out.width = std::max(out.width, length(i));
    if (format == rocalution::HYB) {
        out.width = (a->nnz - 1) / a->m + 1; // the mean of the rows, rounded up: its own choice
        for (int64_t i = 0; i < a->m; i++)
            out.coordinates += std::max<int64_t>(length(i) - out.width, 0);
    }
    out.elements = out.width * a->m;
    return out;
}

struct product {
    virtual ~product() = default;
    virtual void poison_y() = 0;
    virtual void write_y() = 0; // before a run
    virtual void multiply() = 0;
    virtual void read_y(void *y) const = 0;
};

template <typename T>
struct product_of final : product {
    explicit product_of(const weft_backend_spmv_job &of) : job(of), alpha((T)of.alpha), beta((T)of.beta)
    {
        x.Allocate("x", (int)job.a->n);
        y.Allocate("y", (int)job.a->m);
        x.CopyFromData(static_cast<const T *>(job.x));
        poison_y();
    }
    void poison_y() override
    {
        const std::vector<T> none((size_t)job.a->m, std::numeric_limits<T>::quiet_NaN());
        y.CopyFromData(none.data());
    }
    void write_y() override
    {
        if (beta != 0)
            y.CopyFromData(static_cast<const T *>(job.y));
    }
    void multiply() override
    {
        if (beta == 0) {
            a.Apply(x, &y);
            if (alpha != 1)
                y.Scale(alpha);
            return;
        }
        if (beta != 1)
            y.Scale(beta);
        a.ApplyAdd(x, alpha, &y);
    }
    void read_y(void *out) const override
    {
        y.CopyToData(static_cast<T *>(out));
    }

    weft_backend_spmv_job job;
    T alpha, beta;
    rocalution::LocalMatrix<T> a;
    rocalution::LocalVector<T> x, y;
};

template <typename T>
weft_status product_make(std::unique_ptr<product> &out, const weft_backend_spmv_job &job, unsigned format,
                         weft_backend_times *times, weft_error *err)
{
    const shape s = shape_of(job.a, format);
    if (s.elements > INT_MAX)
        return weft__error(err, WEFT_EUNSUPPORTED, "rocALUTION takes %d elements at most, this would be %lld", INT_MAX,
                           (long long)s.elements);
    const char *const kept = "rocALUTION keeps CSR where a row is longer than five times the mean";
    if (format == rocalution::ELL && s.width > 5 * (job.a->nnz / job.a->m)) // and says so in a line of its own
        return weft__error(err, WEFT_EUNSUPPORTED, "%s", kept);
    auto made = std::make_unique<product_of<T>>(job);
    const double start = clock_ms();
    weft__rocalution_csr(made->a, job.a);
    made->a.ConvertTo(format);
    times->convert_ms = clock_ms() - start;
    if (made->a.GetFormat() != format)
        return weft__error(err, WEFT_EUNSUPPORTED, "%s", kept);
    times->format_bytes =
        format == rocalution::CSR
            ? (job.a->m + 1) * (int64_t)sizeof(int) + job.a->nnz * (int64_t)(sizeof(int) + sizeof(T))
            : s.elements * (int64_t)(sizeof(int) + sizeof(T)) + s.coordinates * (int64_t)(2 * sizeof(int) + sizeof(T));
    out = std::move(made);
    return WEFT_OK;
}

} // namespace

weft_status weft__rocalution_spmv_prepare(void **state, struct weft_context *, const struct weft_backend_spmv_job *job,
                                          const char *algo, struct weft_backend_times *times, struct weft_error *err)
{
    *state = nullptr;
    const int k = weft__algo_find(weft__rocalution_spmv_algos, algo, job->tune, "backend rocalution has no SpMV", err);
    if (k < 0)
        return WEFT_EINVAL;
    if (job->a->type == WEFT_TYPE_I32)
        return weft__error(err, WEFT_EUNSUPPORTED, "rocALUTION has no SpMV of integers");
    if (weft_status status = weft__rocalution_check(job->a, err))
        return status;
    try {
        weft__rocalution_begin();
        const weft__rocalution_work work;
        std::unique_ptr<product> out;
        const weft_status status = job->a->type == WEFT_TYPE_F64
                                       ? product_make<double>(out, *job, formats[k], times, err)
                                       : product_make<float>(out, *job, formats[k], times, err);
        *state = out.release();
        return status;
    } catch (...) {
        return weft__rocalution_caught(err);
    }
}

weft_status weft__rocalution_spmv_run(void *state, double *ms, struct weft_error *err)
{
    auto *p = static_cast<product *>(state);
    try {
        const weft__rocalution_work work;
        p->write_y();
        const double start = clock_ms();
        p->multiply();
        *ms = clock_ms() - start;
        return WEFT_OK;
    } catch (...) {
        return weft__rocalution_caught(err);
    }
}

weft_status weft__rocalution_spmv_poison(void *state, struct weft_error *err)
{
    try {
        const weft__rocalution_work work;
        static_cast<product *>(state)->poison_y();
        return WEFT_OK;
    } catch (...) {
        return weft__rocalution_caught(err);
    }
}

weft_status weft__rocalution_spmv_result(void *state, void *y, struct weft_backend_times *, struct weft_error *err)
{
    try {
        const weft__rocalution_work work;
        static_cast<const product *>(state)->read_y(y);
        return WEFT_OK;
    } catch (...) {
        return weft__rocalution_caught(err);
    }
}

void weft__rocalution_spmv_finish(void **state)
{
    if (!state || !*state)
        return;
    delete static_cast<product *>(*state);
    *state = nullptr;
}
