// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y by ViennaCL, in each of its formats. What its code would get wrong is refused, with the reason.
#include "viennacl_backend.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

const char *const weft__viennacl_spmv_algos[] = {"csr", "ell", "hyb", "sell", "coo", nullptr};

namespace
{

// weft's CSR with the iterators that viennacl::copy asks of a matrix on the host.
template <typename T>
class host_matrix
{
  public:
    using size_type = size_t;
    explicit host_matrix(const weft_csr *a) : a_(a)
    {
    }
    class const_iterator2
    {
      public:
        const_iterator2(const weft_csr *a, size_t row, int64_t at) : a_(a), row_(row), at_(at)
        {
        }
        size_t index1() const
        {
            return row_;
        }
        size_t index2() const
        {
            return (size_t)a_->col[at_];
        }
        T operator*() const
        {
            return a_->val ? static_cast<const T *>(a_->val)[at_] : T(1);
        }
        const_iterator2 &operator++()
        {
            at_++;
            return *this;
        }
        bool operator!=(const const_iterator2 &other) const
        {
            return at_ != other.at_;
        }

      private:
        const weft_csr *a_;
        size_t row_;
        int64_t at_;
    };
    class const_iterator1
    {
      public:
        const_iterator1(const weft_csr *a, size_t row) : a_(a), row_(row)
        {
        }
        size_t index1() const
        {
            return row_;
        }
        const_iterator2 begin() const
        {
            return {a_, row_, weft_csr_ofs(a_, (int64_t)row_)};
        }
        const_iterator2 end() const
        {
            return {a_, row_, weft_csr_ofs(a_, (int64_t)row_ + 1)};
        }
        const_iterator1 &operator++()
        {
            row_++;
            return *this;
        }
        bool operator!=(const const_iterator1 &other) const
        {
            return row_ != other.row_;
        }

      private:
        const weft_csr *a_;
        size_t row_;
    };
    size_t size1() const
    {
        return (size_t)a_->m;
    }
    size_t size2() const
    {
        return (size_t)a_->n;
    }
    const_iterator1 begin1() const
    {
        return {a_, 0};
    }
    const_iterator1 end1() const
    {
        return {a_, size1()};
    }

  private:
    const weft_csr *a_;
};

// Lengths of the rows, as far as they decide what ViennaCL can do.
struct shape {
    int64_t longest = 0;     // row
    int64_t first = 0;       // length of the first row that is not empty
    int64_t slices = 0;      // elements of sliced ELL, slices of 32 rows
    int64_t short_width = 0; // width of the ELL part of HYB: 4 of 5 rows are not longer
};

const int64_t slice_rows = 32;
// Elements of ELL and sliced ELL for each entry, which are the most, unless they are a million or less.
const double padding_most = 16, elements_free = 1 << 20;

shape shape_of(const weft_csr *a)
{
    shape out;
    int64_t slice = 0;
    auto length = [a](int64_t i) { return weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i); };
    for (int64_t i = 0; i < a->m; i++) {
        out.longest = std::max(out.longest, length(i));
        out.first = out.first ? out.first : length(i);
        slice = std::max(slice, length(i));
        if (i % slice_rows == slice_rows - 1 || i == a->m - 1) {
            out.slices += slice * slice_rows;
            slice = 0;
        }
    }
    std::vector<int64_t> count((size_t)out.longest + 1);
    for (int64_t i = 0; i < a->m; i++)
        count[(size_t)length(i)]++;
    auto is_most = [a](int64_t rows) { // reckoned in the type of the matrix
        return a->type == WEFT_TYPE_F64 ? (double)rows >= 0.8 * (double)a->m : (float)rows >= 0.8f * (float)a->m;
    };
    for (int64_t sum = count[0]; !is_most(sum); sum += count[(size_t)out.short_width])
        out.short_width++;
    return out;
}

struct product {
    virtual ~product() = default;
    virtual void write_y() = 0; // before a run
    virtual void poison_y() = 0;
    virtual void multiply() = 0;
    virtual void read_y(void *y) = 0;

    weft_context *ctx = nullptr;
    cl_command_queue queue = nullptr;
    opencl_events events{};
};

template <typename T>
size_t bytes_of(const viennacl::compressed_matrix<T> &a)
{
    return a.handle().raw_size() + a.handle1().raw_size() + a.handle2().raw_size() + a.handle3().raw_size();
}
template <typename T>
size_t bytes_of(const viennacl::ell_matrix<T> &a)
{
    return a.handle().raw_size() + a.handle2().raw_size();
}
template <typename T>
size_t bytes_of(const viennacl::hyb_matrix<T> &a)
{
    return a.handle().raw_size() + a.handle2().raw_size() + a.handle3().raw_size() + a.handle4().raw_size() +
           a.handle5().raw_size();
}
template <typename T>
size_t bytes_of(const viennacl::sliced_ell_matrix<T> &a)
{
    return a.handle().raw_size() + a.handle1().raw_size() + a.handle2().raw_size() + a.handle3().raw_size();
}
template <typename T>
size_t bytes_of(const viennacl::coordinate_matrix<T> &a)
{
    return a.handle().raw_size() + a.handle12().raw_size() + a.handle3().raw_size();
}

template <typename T, typename Matrix>
struct product_of final : product {
    product_of(const viennacl::context &where, const weft_backend_spmv_job &job)
        : a(where), x((size_t)job.a->n, where), y((size_t)job.a->m, where), alpha((T)job.alpha), beta((T)job.beta),
          y0((size_t)job.a->m, std::numeric_limits<T>::quiet_NaN())
    {
        if (beta != 0)
            std::copy_n(static_cast<const T *>(job.y), job.a->m, y0.begin());
        else if (alpha != 1) // ViennaCL reads y here, and 0 times what is no number is none either
            std::fill(y0.begin(), y0.end(), T(0));
        weft__trace_own(1);
        product_of::write_y();
        weft__trace_own(0);
    }
    void write_y() override
    {
        viennacl::fast_copy(y0, y);
    }
    void poison_y() override
    {
        viennacl::fast_copy(std::vector<T>(y.size(), std::numeric_limits<T>::quiet_NaN()), y);
    }
    void multiply() override
    {
        viennacl::linalg::prod_impl(a, x, alpha, y, beta);
    }
    void read_y(void *out) override
    {
        viennacl::backend::memory_read(y.handle(), 0, sizeof(T) * y.size(), out);
    }

    Matrix a;
    viennacl::vector<T> x, y;
    T alpha, beta;
    std::vector<T> y0;
};

// CSR is written as it is; *whole tells whether ViennaCL has found a place for every row.
template <typename T>
void matrix_set(viennacl::compressed_matrix<T> &out, const weft_csr *a, bool *whole)
{
    std::vector<cl_uint> narrow;
    std::vector<T> ones;
    if (a->ofs == WEFT_OFS_64) {
        narrow.resize((size_t)a->m + 1);
        for (int64_t i = 0; i <= a->m; i++)
            narrow[(size_t)i] = (cl_uint)weft_csr_ofs(a, i);
    }
    if (!a->val)
        ones.assign((size_t)a->nnz, T(1));
    out.set(narrow.empty() ? a->row_ptr : narrow.data(), a->col, a->val ? static_cast<const T *>(a->val) : ones.data(),
            (size_t)a->m, (size_t)a->n, (size_t)a->nnz);
    cl_uint last = 0;
    weft__trace_own(1);
    viennacl::backend::memory_read(out.handle3(), sizeof last * out.blocks1(), sizeof last, &last);
    weft__trace_own(0);
    *whole = last == (size_t)a->m;
}
template <typename T, typename Matrix>
void matrix_convert(Matrix &out, const weft_csr *a)
{
    viennacl::copy(host_matrix<T>(a), out);
}

template <typename T, typename Matrix>
std::unique_ptr<product> product_make(weft_context *ctx, const weft_backend_spmv_job &job, weft_backend_times *times,
                                      bool *whole)
{
    viennacl::ocl::context &ocl = weft__viennacl_context(ctx);
    cl_command_queue queue = ocl.get_queue().handle().get();
    auto out = std::make_unique<product_of<T, Matrix>>(viennacl::context(ocl), job);
    out->ctx = ctx;
    out->queue = queue;
    weft__cl.clFinish(queue);
    double start = clock_ms();
    viennacl::backend::memory_write(out->x.handle(), 0, sizeof(T) * (size_t)job.a->n, job.x);
    weft__cl.clFinish(queue);
    times->write_ms = clock_ms() - start;
    start = clock_ms();
    if constexpr (std::is_same_v<Matrix, viennacl::compressed_matrix<T>>)
        matrix_set(out->a, job.a, whole);
    else
        matrix_convert<T>(out->a, job.a);
    weft__cl.clFinish(queue);
    if (std::is_same_v<Matrix, viennacl::compressed_matrix<T>>) // no conversion
        times->write_ms += clock_ms() - start;
    else
        times->convert_ms = clock_ms() - start;
    times->format_bytes = (int64_t)bytes_of(out->a);
    times->workspace_bytes = 0;
    return out;
}

template <typename T>
std::unique_ptr<product> product_make_any(weft_context *ctx, const weft_backend_spmv_job &job, const std::string &algo,
                                          weft_backend_times *times, bool *whole)
{
    if (algo == "csr")
        return product_make<T, viennacl::compressed_matrix<T>>(ctx, job, times, whole);
    if (algo == "ell")
        return product_make<T, viennacl::ell_matrix<T>>(ctx, job, times, whole);
    if (algo == "hyb")
        return product_make<T, viennacl::hyb_matrix<T>>(ctx, job, times, whole);
    if (algo == "sell")
        return product_make<T, viennacl::sliced_ell_matrix<T>>(ctx, job, times, whole);
    return product_make<T, viennacl::coordinate_matrix<T>>(ctx, job, times, whole);
}

// What ViennaCL cannot do, or does wrong.
weft_status refuse(const weft_context *ctx, const weft_backend_spmv_job &job, const std::string &algo, weft_error *err)
{
    const weft_csr *a = job.a;
    if (weft__algo_find(weft__viennacl_spmv_algos, algo.c_str(), job.tune, "backend viennacl has no SpMV", err) < 0)
        return WEFT_EINVAL;
    if (a->type == WEFT_TYPE_I32)
        return weft__error(err, WEFT_EUNSUPPORTED, "ViennaCL has no SpMV of integers");
    if (a->type == WEFT_TYPE_F64 && !ctx->device.fp64)
        return weft__error(err, WEFT_EUNSUPPORTED, "the device has no double precision");
    if (!a->nnz)
        return weft__error(err, WEFT_EUNSUPPORTED, "ViennaCL takes no matrix without entries");
    // Sizes of buffers are unsigned int.
    const int64_t limit = std::min((int64_t)UINT32_MAX, ctx->device.max_alloc_bytes);
    const shape s = shape_of(a);
    const int64_t rows = (int64_t)weft__round_up((size_t)a->m, viennacl::dense_padding_size);
    const size_t element = a->type == WEFT_TYPE_F64 ? sizeof(double) : sizeof(float);
    const double entries = algo == "ell"    ? (double)rows * (double)s.longest
                           : algo == "hyb"  ? std::max((double)rows * (double)s.short_width, (double)a->nnz)
                           : algo == "sell" ? (double)s.slices
                                            : (double)a->nnz;
    const double bytes = std::max({entries * (double)std::max(element, algo == "coo" ? 2 * sizeof(cl_uint) : 0),
                                   ((double)rows + 1) * (double)element, (double)a->n * (double)element});
    if (bytes > (double)limit)
        return weft__error(err, WEFT_EUNSUPPORTED, "%s takes a buffer of %.0f bytes, %lld is the most", algo.c_str(),
                           bytes, (long long)limit);
    if ((algo == "ell" || algo == "sell") && entries > std::max(padding_most * (double)a->nnz, elements_free))
        return weft__error(err, WEFT_EUNSUPPORTED, "%s takes %.1f elements for an entry, %g are the most", algo.c_str(),
                           entries / (double)a->nnz, padding_most);
    if (algo == "hyb" && s.longest > a->n) // it counts rows by their length in an array of n + 1
        return weft__error(err, WEFT_EUNSUPPORTED, "ViennaCL converts no row with more entries than columns to HYB");
    if (algo == "hyb" && !s.short_width)
        return weft__error(err, WEFT_EUNSUPPORTED, "ViennaCL makes no HYB where four rows of five are empty");
    if (algo == "coo" && s.first == 1) // groups with nothing to do write what they have not computed
        return weft__error(err, WEFT_EUNSUPPORTED, "ViennaCL's COO kernel fails where the first row has one entry");
    return WEFT_OK;
}

} // namespace

weft_status weft__viennacl_spmv_prepare(void **state, struct weft_context *ctx, const struct weft_backend_spmv_job *job,
                                        const char *algo, struct weft_backend_times *times, struct weft_error *err)
{
    *state = nullptr;
    try {
        const std::string name = algo ? algo : weft__viennacl_spmv_algos[0];
        bool whole = true;
        if (weft_status status = refuse(ctx, *job, name, err))
            return status;
        auto out = job->a->type == WEFT_TYPE_F64 ? product_make_any<double>(ctx, *job, name, times, &whole)
                                                 : product_make_any<float>(ctx, *job, name, times, &whole);
        if (!whole)
            return weft__error(err, WEFT_EUNSUPPORTED, "ViennaCL loses the empty rows at the end of this matrix");
        *state = out.release();
        return WEFT_OK;
    } catch (...) {
        return weft__viennacl_caught(err);
    }
}

weft_status weft__viennacl_spmv_run(void *state, double *ms, struct weft_error *err)
{
    auto *p = static_cast<product *>(state);
    weft_status status = WEFT_OK;
    try {
        weft__trace_own(1);
        p->write_y();
        weft__cl.clFinish(p->queue);
        weft__trace_own(0);
        weft__opencl_events_begin(&p->events, p->ctx);
        weft__viennacl_events = &p->events;
        p->multiply();
    } catch (...) {
        status = weft__viennacl_caught(err);
    }
    weft__viennacl_events = nullptr;
    weft_status ended = weft__opencl_events_end(&p->events, p->ctx, p->queue, ms);
    return status ? status : weft__opencl_fail(p->ctx, ended, err);
}

weft_status weft__viennacl_spmv_poison(void *state, struct weft_error *err)
{
    auto *p = static_cast<product *>(state);
    weft_status status = WEFT_OK;
    weft__trace_own(1);
    try {
        p->poison_y();
        weft__cl.clFinish(p->queue);
    } catch (...) {
        status = weft__viennacl_caught(err);
    }
    weft__trace_own(0);
    return status;
}

weft_status weft__viennacl_spmv_result(void *state, void *y, struct weft_backend_times *times, struct weft_error *err)
{
    auto *p = static_cast<product *>(state);
    try {
        double start = clock_ms();
        p->read_y(y);
        times->read_ms = clock_ms() - start;
        times->host_clock = p->events.untimed;
        return WEFT_OK;
    } catch (...) {
        return weft__viennacl_caught(err);
    }
}

void weft__viennacl_spmv_finish(void **state)
{
    if (!state || !*state)
        return;
    auto *p = static_cast<product *>(*state);
    weft__opencl_events_free(&p->events);
    delete p;
    *state = nullptr;
}
