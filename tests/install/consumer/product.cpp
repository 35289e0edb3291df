// SPDX-License-Identifier: Apache-2.0
// A program in C++17 that uses weft/weft.hpp: every class once, and what they throw. Where no device is it says so.
#include <cstdio>
#include <weft/weft.hpp>

static int failed;

static void expect(bool right, const char *what)
{
    if (!right)
        std::printf("wrong: %s\n", what);
    failed |= !right;
}

template <class call>
static void expect_status(weft_status wanted, const char *what, call &&run)
{
    try {
        run();
        expect(false, what);
    } catch (const weft::error &e) {
        expect(e.status() == wanted && e.what()[0], what);
    }
}

static void hosts(void)
{
    weft_generate_params params{};
    params.type = WEFT_TYPE_F64;
    weft::csr a = weft::csr::generate("uniform:20,30,100", params);
    expect(a.rows() == 20 && a.columns() == 30 && a.entries() == 100 && a.row_ptr(20) == 100, "a generated matrix");
    a.write("product.mtx");
    weft_mtx_params reading{};
    reading.type = WEFT_TYPE_F64;
    weft::csr b = weft::csr::read("product.mtx", reading);
    std::remove("product.mtx");
    expect(weft_csr_equal(&a.get(), &b.get()), "written and read");
    weft::csr c = std::move(a);
    expect(!a.get().row_ptr && c.entries() == 100 && c.val<double>()[0] == b.val<double>()[0], "moved");
    b = std::move(c);
    expect(b.entries() == 100, "moved again");
    expect_status(WEFT_EINVAL, "another type", [&] { b.val<float>(); });
    expect_status(WEFT_EIO, "no such file", [] { weft::csr::read("no/such/file.mtx"); });
    expect_status(WEFT_EINVAL, "too few row pointers",
                  [] { weft::view(3, 3, std::vector<std::int32_t>{0}, {}, std::vector<float>{}); });
}

static void devices(void)
{
    const weft::context ctx;
    weft::queue queue(ctx);
    const std::vector<std::int32_t> row_ptr{0, 2, 3}, col{0, 1, 1}; // 2 1 0
    const std::vector<float> val{2, 1, 3};                          // 0 3 0
    const weft_csr a = weft::view(2, 3, row_ptr, col, val);
    std::vector<float> x{1, 10, 100}, y;
    weft::spmv(y, ctx, 1, a, x, 0);
    expect(y == std::vector<float>{12, 30}, "spmv");
    expect_status(WEFT_EINVAL, "x too short", [&] {
        std::vector<float> shorter{1};
        weft::spmv(y, ctx, 1, a, shorter, 0);
    });
    expect_status(WEFT_EINVAL, "vectors of another type", [&] {
        std::vector<double> wide(3), out;
        weft::spmv(out, ctx, 1, a, wide, 0);
    });
    const weft::csr at = weft::transpose(ctx, a);
    expect(at.rows() == 3 && at.row_ptr(3) == 3 && at.val<float>()[1] == 1 && at.col()[1] == 0, "transpose");
    const weft::device_csr on(ctx, queue, a);
    weft::device_csr turned(ctx, weft_shape_transposed(weft_csr_shape(&a)));
    weft::transpose_plan plan(ctx, on.shape());
    plan.run(queue, turned, on);
    weft::csr back = turned.read(ctx, queue);
    expect(weft_csr_equal(&back.get(), &at.get()) && plan.info().passes > 0, "transpose_plan");
    weft::spmv_plan product(ctx, queue, on);
    expect(product.info().max_row == 2, "spmv_plan");
    cl_int code = CL_SUCCESS;
    cl_mem in = clCreateBuffer(ctx.cl(), CL_MEM_COPY_HOST_PTR, x.size() * 4, x.data(), &code);
    cl_mem out = clCreateBuffer(ctx.cl(), CL_MEM_READ_WRITE, 8, nullptr, &code);
    product.run(queue, out, 2, in, 0);
    clEnqueueReadBuffer(queue.get(), out, CL_TRUE, 0, 8, y.data(), 0, nullptr, nullptr);
    queue.finish();
    expect(y == std::vector<float>{24, 60}, "a plan's run");
    expect_status(WEFT_EINVAL, "no x", [&] { product.run(queue, out, 1, nullptr, 0); });
    clReleaseMemObject(in);
    clReleaseMemObject(out);
}

int main()
{
    hosts();
    try {
        devices();
    } catch (const weft::error &e) {
        std::printf("%s\n", e.what());
        return e.status() == WEFT_ENODEV && !failed ? 0 : 1;
    }
    std::puts(failed ? "wrong" : "right");
    return failed;
}
