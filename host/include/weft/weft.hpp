// SPDX-License-Identifier: Apache-2.0
// weft in C++17: objects that free themselves, failures as exceptions, matrices of the caller's own vectors.
//
// Every class holds one object of the C interface, can be moved and not copied, and gives it by get(). What the classes do not
// have is called with that: weft_spmv_run(plan.get(), ...). Parameters are the structs of C:
//   weft_spmv_params params{};
//   params.policy.products = 1000;
// Programs that read or write files link with weft-io too.
#ifndef WEFT_WEFT_HPP
#define WEFT_WEFT_HPP

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#include <weft/weft.h>

namespace weft {

// What failed: the status, and in what() one line.
class error : public std::runtime_error {
public:
    explicit error(const weft_error &err)
        : std::runtime_error(err.text[0] ? err.text : weft_status_text(err.status)), status_(err.status) {}
    error(weft_status status, const std::string &text) : std::runtime_error(text), status_(status) {}
    weft_status status() const noexcept { return status_; }

private:
    weft_status status_;
};

// Throws unless `status` is WEFT_OK.
inline void check(weft_status status, const weft_error &err)
{
    if (status != WEFT_OK)
        throw err.status == status ? error(err) : error(status, weft_status_text(status));
}
inline void check(weft_status status, weft_context *ctx)
{
    if (status == WEFT_OK)
        return;
    weft_error err{};
    if (ctx)
        weft_context_error(&err, ctx);
    check(status, err);
}

// The type of values that C++ type `value` is.
template <class value> constexpr weft_type type_of()
{
    static_assert(std::is_same_v<value, float> || std::is_same_v<value, double> || std::is_same_v<value, std::int32_t>,
                  "values are float, double or int32_t");
    return std::is_same_v<value, float> ? WEFT_TYPE_F32 : std::is_same_v<value, double> ? WEFT_TYPE_F64 : WEFT_TYPE_I32;
}

// One object of the C interface.
template <class object, void (*destroy)(object **)> class handle {
public:
    handle() = default;
    handle(handle &&other) noexcept : at_(std::exchange(other.at_, nullptr)) {}
    handle &operator=(handle &&other) noexcept
    {
        if (this != &other) {
            destroy(&at_);
            at_ = std::exchange(other.at_, nullptr);
        }
        return *this;
    }
    handle(const handle &) = delete;
    handle &operator=(const handle &) = delete;
    ~handle() { destroy(&at_); }
    object *get() const noexcept { return at_; }

protected:
    object *at_ = nullptr;
};

// A device with its compiled programs (weft/context.h).
class context : public handle<weft_context, weft_context_destroy> {
public:
    explicit context(const weft_context_params &params = {})
    {
        weft_error err{};
        check(weft_context_create(&at_, &params, &err), err);
    }
    const weft_device_info &device() const { return *weft_context_device(get()); }
    cl_context cl() const { return weft_context_cl(get()); }
};

// An in-order queue of a context, for programs that have none.
class queue {
public:
    explicit queue(const context &ctx, cl_command_queue_properties properties = 0)
    {
        cl_int code = CL_SUCCESS;
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // its successor is of OpenCL 2.0
#endif
        at_ = clCreateCommandQueue(ctx.cl(), ctx.device().id, properties, &code);
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
        if (code != CL_SUCCESS)
            throw error(WEFT_EDEVICE, "clCreateCommandQueue gives " + std::to_string(code));
    }
    queue(queue &&other) noexcept : at_(std::exchange(other.at_, nullptr)) {}
    queue &operator=(queue &&other) noexcept
    {
        std::swap(at_, other.at_);
        return *this;
    }
    queue(const queue &) = delete;
    queue &operator=(const queue &) = delete;
    ~queue()
    {
        if (at_)
            clReleaseCommandQueue(at_);
    }
    cl_command_queue get() const noexcept { return at_; }
    void finish()
    {
        const cl_int code = clFinish(at_);
        if (code != CL_SUCCESS)
            throw error(WEFT_EDEVICE, "clFinish gives " + std::to_string(code));
    }

private:
    cl_command_queue at_ = nullptr;
};

// A matrix of the caller's own vectors, which must outlive it; nothing is copied.
template <class offset, class value>
weft_csr view(std::int64_t m, std::int64_t n, const std::vector<offset> &row_ptr,
              const std::vector<std::int32_t> &col, const std::vector<value> &val)
{
    static_assert(std::is_same_v<offset, std::int32_t> || std::is_same_v<offset, std::int64_t>,
                  "offsets are int32_t or int64_t");
    if (m < 0 || row_ptr.size() != static_cast<std::size_t>(m) + 1 || val.size() != col.size())
        throw error(WEFT_EINVAL, "a matrix needs m+1 row pointers, and as many columns as values");
    weft_csr a{};
    a.m = m;
    a.n = n;
    a.nnz = static_cast<std::int64_t>(col.size());
    a.type = type_of<value>();
    a.ofs = sizeof(offset) == 8 ? WEFT_OFS_64 : WEFT_OFS_32;
    a.row_ptr = const_cast<offset *>(row_ptr.data());
    a.col = const_cast<std::int32_t *>(col.data());
    a.val = const_cast<value *>(val.data());
    return a;
}

// A matrix in memory of its own.
class csr {
public:
    csr() = default;
    explicit csr(const weft_csr &taken) : at_(taken) {} // frees its arrays, which weft_csr_alloc or a call of weft made
    csr(csr &&other) noexcept : at_(std::exchange(other.at_, weft_csr{})) {}
    csr &operator=(csr &&other) noexcept
    {
        std::swap(at_, other.at_);
        return *this;
    }
    csr(const csr &) = delete;
    csr &operator=(const csr &) = delete;
    ~csr() { weft_csr_free(&at_); }

    // "uniform:M,N,NNZ" and the like (weft/generate.h).
    static csr generate(const std::string &spec, const weft_generate_params &params = {})
    {
        csr out;
        weft_error err{};
        check(weft_generate(&out.at_, spec.c_str(), &params, &err), err);
        return out;
    }
    // Library weft-io (weft/mtx.h).
    static csr read(const std::string &path, const weft_mtx_params &params = {})
    {
        csr out;
        weft_error err{};
        check(weft_mtx_read(&out.at_, nullptr, path.c_str(), &params, &err), err);
        return out;
    }
    void write(const std::string &path) const
    {
        weft_error err{};
        check(weft_mtx_write(path.c_str(), &at_, &err), err);
    }

    std::int64_t rows() const noexcept { return at_.m; }
    std::int64_t columns() const noexcept { return at_.n; }
    std::int64_t entries() const noexcept { return at_.nnz; }
    std::int64_t row_ptr(std::int64_t row) const { return weft_csr_ofs(&at_, row); }
    const std::int32_t *col() const noexcept { return at_.col; }
    template <class value> const value *val() const
    {
        if (at_.type != type_of<value>())
            throw error(WEFT_EINVAL, std::string("the values of the matrix are ") + weft_type_name(at_.type));
        return static_cast<const value *>(at_.val);
    }
    const weft_csr &get() const noexcept { return at_; }
    weft_csr *out() noexcept // for functions of C that allocate the arrays
    {
        weft_csr_free(&at_);
        return &at_;
    }

private:
    weft_csr at_{};
};

// Transpose in host memory.
inline csr transpose(const context &ctx, const weft_csr &a, const weft_transpose_params &params = {})
{
    csr out;
    check(weft_transpose_sync(out.out(), ctx.get(), &a, &params), ctx.get());
    return out;
}
inline csr transpose(const context &ctx, const csr &a, const weft_transpose_params &params = {})
{
    return transpose(ctx, a.get(), params);
}

// y = alpha*A*x + beta*y in host memory; y must have its size where beta is not 0, and gets it where it is.
template <class value>
void spmv(std::vector<value> &y, const context &ctx, double alpha, const weft_csr &a, const std::vector<value> &x,
          double beta, const weft_spmv_params &params = {})
{
    const bool turned = params.problem.transpose != WEFT_SPMV_TRANSPOSE_PLAIN;
    const auto in = static_cast<std::size_t>(turned ? a.m : a.n), out = static_cast<std::size_t>(turned ? a.n : a.m);
    if ((a.type == WEFT_TYPE_PATTERN ? params.problem.vec_type : a.type) != type_of<value>())
        throw error(WEFT_EINVAL, "the vectors are of another type than the matrix");
    if (x.size() != in || (beta != 0 && y.size() != out))
        throw error(WEFT_EINVAL, "the vectors have not the size of the matrix");
    y.resize(out);
    check(weft_spmv_sync(y.data(), ctx.get(), alpha, &a, x.data(), beta, &params), ctx.get());
}

// A matrix in device memory.
class device_csr {
public:
    device_csr(const context &ctx, const queue &q, const weft_csr &from)
    {
        check(weft_device_csr_alloc(&at_, ctx.get(), weft_csr_shape(&from)), ctx.get());
        const weft_status status = weft_device_csr_write_sync(&at_, ctx.get(), q.get(), &from);
        if (status != WEFT_OK)
            weft_device_csr_free(&at_);
        check(status, ctx.get());
    }
    // Contents not set.
    device_csr(const context &ctx, const weft_shape &shape)
    {
        check(weft_device_csr_alloc(&at_, ctx.get(), shape), ctx.get());
    }
    device_csr(device_csr &&other) noexcept : at_(std::exchange(other.at_, weft_device_csr{})) {}
    device_csr &operator=(device_csr &&other) noexcept
    {
        std::swap(at_, other.at_);
        return *this;
    }
    device_csr(const device_csr &) = delete;
    device_csr &operator=(const device_csr &) = delete;
    ~device_csr() { weft_device_csr_free(&at_); }
    csr read(const context &ctx, const queue &q) const
    {
        weft_csr raw{};
        const weft_status status = weft_csr_alloc(&raw, shape());
        if (status != WEFT_OK)
            throw error(status, weft_status_text(status));
        csr out(raw);
        check(weft_device_csr_read_sync(&raw, ctx.get(), q.get(), &at_), ctx.get());
        return out;
    }
    weft_shape shape() const noexcept { return weft_device_csr_shape(&at_); }
    const weft_device_csr &get() const noexcept { return at_; }

private:
    weft_device_csr at_{};
};

// Transposition of matrices of one shape (weft/transpose.h).
class transpose_plan : public handle<weft_transpose_plan, weft_transpose_plan_destroy> {
public:
    transpose_plan(const context &ctx, const weft_shape &shape, const weft_transpose_params &params = {})
        : ctx_(ctx.get())
    {
        check(weft_transpose_plan_create(&at_, ctx_, shape, &params), ctx_);
    }
    void run(const queue &q, const device_csr &at, const device_csr &a) const
    {
        check(weft_transpose_run(get(), q.get(), &at.get(), &a.get(), 0, nullptr, nullptr), ctx_);
    }
    const weft_transpose_info &info() const { return *weft_transpose_plan_info(get()); }

private:
    weft_context *ctx_;
};

// SpMV with one matrix (weft/spmv.h).
class spmv_plan : public handle<weft_spmv_plan, weft_spmv_plan_destroy> {
public:
    spmv_plan(const context &ctx, const queue &q, const device_csr &a, const weft_spmv_params &params = {})
        : ctx_(ctx.get())
    {
        check(weft_spmv_plan_create(&at_, ctx_, q.get(), &a.get(), &params), ctx_);
    }
    void run(const queue &q, cl_mem y, double alpha, cl_mem x, double beta) const
    {
        check(weft_spmv_run(get(), q.get(), y, alpha, x, beta, 0, nullptr, nullptr), ctx_);
    }
    const weft_spmv_info &info() const { return *weft_spmv_plan_info(get()); }

private:
    weft_context *ctx_;
};

} // namespace weft
#endif
