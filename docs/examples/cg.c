// SPDX-License-Identifier: Apache-2.0
// cg [SPECIFICATION | FILE.mtx]: solve A*x = b by conjugate gradients, A symmetric and positive definite.
//
// The vectors and the scalars of the method live on the device: a round enqueues one product of weft and six small
// kernels of our own in one queue, and nothing waits until the residual is read to be printed. b is A times a vector of
// ones, so that the error is known at the end.
//
// Method: M. Hestenes, E. Stiefel, Methods of Conjugate Gradients for Solving Linear Systems, J. Res. NBS 49 (1952).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

#define ROUNDS 2000 // at most
#define SHOW   20   // rounds between two lines of output
#define GOAL   1e-5 // |r| / |b|
#define PARTS  1024 // partial sums of a scalar product

// Vectors of n floats; s holds scalars: s[0] and s[1] the squared length of r before and after a round, in turns, s[2]
// the product p*q.
static const char kernels[] =
    "__kernel void cg_set(__global float *a, float value, int n)\n"
    "{\n"
    "    for (int i = get_global_id(0); i < n; i += get_global_size(0))\n"
    "        a[i] = value;\n"
    "}\n"
    "__kernel void cg_dot(__global const float *a, __global const float *b, __global float *part, int n)\n"
    "{\n"
    "    float sum = 0;\n"
    "    for (int i = get_global_id(0); i < n; i += get_global_size(0))\n"
    "        sum += a[i] * b[i];\n"
    "    part[get_global_id(0)] = sum;\n"
    "}\n"
    "__kernel void cg_total(__global const float *part, __global float *s, int at, int parts)\n"
    "{\n"
    "    float sum = 0;\n"
    "    for (int i = 0; i < parts; i++)\n"
    "        sum += part[i];\n"
    "    s[at] = sum;\n"
    "}\n"
    "__kernel void cg_step(__global float *x, __global float *r, __global const float *p, __global const float *q,\n"
    "                   __global const float *s, int old, int n)\n"
    "{\n"
    "    const float a = s[2] != 0 ? s[old] / s[2] : 0;\n" // 0 / 0 once nothing is left to do
    "    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {\n"
    "        x[i] += a * p[i];\n"
    "        r[i] -= a * q[i];\n"
    "    }\n"
    "}\n"
    "__kernel void cg_turn(__global float *p, __global const float *r, __global const float *s, int old, int n)\n"
    "{\n"
    "    const float b = s[old] != 0 ? s[1 - old] / s[old] : 0;\n"
    "    for (int i = get_global_id(0); i < n; i += get_global_size(0))\n"
    "        p[i] = r[i] + b * p[i];\n"
    "}\n";

static struct weft_context *ctx;
static cl_command_queue queue;
static cl_program program;

static void fail(const char *what)
{
    fprintf(stderr, "cg: %s\n", what);
    exit(1);
}

// A call of weft that may fail.
static void check(weft_status status)
{
    struct weft_error err = {0};
    if (!status)
        return;
    weft_context_error(&err, ctx);
    fail(err.text);
}

static cl_kernel kernel_get(const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    if (error)
        fail("a kernel of our own is missing");
    return kernel;
}

static cl_mem floats(size_t count)
{
    cl_int error;
    cl_mem buffer = clCreateBuffer(weft_context_cl(ctx), CL_MEM_READ_WRITE, (count ? count : 1) * 4, NULL, &error);
    if (error)
        fail("the device gives no memory");
    return buffer;
}

// Enqueue a kernel over `items` work-items. Arguments: size, pointer, ...
#define ARG(value) sizeof(value), &(value)
#define LAUNCH(kernel, items, ...)                                                                                     \
    launch(kernel, items, (const struct arg[]){__VA_ARGS__},                                                           \
           sizeof((const struct arg[]){__VA_ARGS__}) / sizeof(struct arg))
struct arg {
    size_t size;
    const void *value;
};
static void launch(cl_kernel kernel, size_t items, const struct arg *args, size_t count)
{
    cl_int error = CL_SUCCESS;
    for (size_t i = 0; i < count && !error; i++)
        error = clSetKernelArg(kernel, (cl_uint)i, args[i].size, args[i].value);
    if (!error)
        error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
    if (error)
        fail("the device refuses a kernel of our own");
}

static float scalar_read(cl_mem s, int at)
{
    float value = NAN;
    clEnqueueReadBuffer(queue, s, CL_TRUE, (size_t)at * 4, 4, &value, 0, NULL, NULL);
    return value;
}

// What reads specifications and what reads files tell each other apart by their failures.
static void matrix_read(struct weft_csr *a, const char *name)
{
    struct weft_error err = {0};
    weft_status status =
        strstr(name, ".mtx") ? weft_mtx_read(a, NULL, name, NULL, &err) : weft_generate(a, name, NULL, &err);
    if (status)
        fail(err.text);
    if (a->m != a->n || a->type != WEFT_TYPE_F32)
        fail("the matrix is not square");
}

int main(int argc, char **argv)
{
    struct weft_csr a = {0};
    struct weft_device_csr d;
    struct weft_error err = {0};
    struct weft_spmv_plan *plan = NULL;
    cl_int error;
    const char *device = getenv("WEFT_DEVICE");
    matrix_read(&a, argc > 1 ? argv[1] : "stencil27:40");
    if (weft_context_create(&ctx, weft_context_params(.select = device), &err))
        fail(err.text);
    cl_device_id id = weft_context_device(ctx)->id;
    queue = clCreateCommandQueue(weft_context_cl(ctx), id, 0, &error);
    program = error ? NULL : clCreateProgramWithSource(weft_context_cl(ctx), 1, &(const char *){kernels}, NULL, &error);
    if (error || clBuildProgram(program, 1, &id, "", NULL, NULL))
        fail("our own kernels do not compile");
    cl_kernel set = kernel_get("cg_set"), dot = kernel_get("cg_dot"), total = kernel_get("cg_total"),
              step = kernel_get("cg_step"), turn = kernel_get("cg_turn");

    // The matrix on the device, and a plan that may convert it, since it will be used often.
    check(weft_device_csr_alloc(&d, ctx, weft_csr_shape(&a)));
    check(weft_device_csr_write_sync(&d, ctx, queue, &a));
    check(weft_spmv_plan_create(&plan, ctx, queue, &d, weft_spmv_params(.policy.products = 500)));
    const struct weft_spmv_info *info = weft_spmv_plan_info(plan);
    printf("%lld unknowns, %lld entries, %s on %s\n", (long long)a.m, (long long)a.nnz,
           weft_spmv_algo_name(info->params.policy.algo), weft_context_device(ctx)->name);

    const cl_int n = (cl_int)a.n, parts = PARTS;
    const cl_float zero = 0, one = 1;
    const cl_int two = 2, first = 0;
    cl_mem x = floats((size_t)n), r = floats((size_t)n), p = floats((size_t)n), q = floats((size_t)n),
           part = floats(PARTS), s = floats(3);

    // x = 0; r = p = b = A*ones; s[0] = r*r
    LAUNCH(set, PARTS, {ARG(x)}, {ARG(one)}, {ARG(n)});
    check(weft_spmv_run(plan, queue, r, 1, x, 0, 0, NULL, NULL));
    check(weft_spmv_run(plan, queue, p, 1, x, 0, 0, NULL, NULL));
    LAUNCH(set, PARTS, {ARG(x)}, {ARG(zero)}, {ARG(n)});
    LAUNCH(dot, PARTS, {ARG(r)}, {ARG(r)}, {ARG(part)}, {ARG(n)});
    LAUNCH(total, 1, {ARG(part)}, {ARG(s)}, {ARG(first)}, {ARG(parts)});
    const double b_length = sqrt(scalar_read(s, 0));
    double residual = n > 0 ? 1 : 0; // without unknowns there is nothing to solve
    int round = 0;
    for (; round < ROUNDS && residual > GOAL && b_length > 0; round++) {
        const cl_int old = round % 2, new = 1 - old;
        check(weft_spmv_run(plan, queue, q, 1, p, 0, 0, NULL, NULL)); // q = A*p
        LAUNCH(dot, PARTS, {ARG(p)}, {ARG(q)}, {ARG(part)}, {ARG(n)});
        LAUNCH(total, 1, {ARG(part)}, {ARG(s)}, {ARG(two)}, {ARG(parts)});
        LAUNCH(step, PARTS, {ARG(x)}, {ARG(r)}, {ARG(p)}, {ARG(q)}, {ARG(s)}, {ARG(old)}, {ARG(n)});
        LAUNCH(dot, PARTS, {ARG(r)}, {ARG(r)}, {ARG(part)}, {ARG(n)});
        LAUNCH(total, 1, {ARG(part)}, {ARG(s)}, {ARG(new)}, {ARG(parts)});
        LAUNCH(turn, PARTS, {ARG(p)}, {ARG(r)}, {ARG(s)}, {ARG(old)}, {ARG(n)});
        if (round % SHOW != SHOW - 1)
            continue;
        residual = sqrt(scalar_read(s, new)) / b_length;
        printf("round %4d  |r|/|b| %.3e\n", round + 1, residual);
    }

    // How far from the ones?
    float *got = malloc((size_t)n * 4 + 4);
    double worst = 0;
    if (!got || clEnqueueReadBuffer(queue, x, CL_TRUE, 0, (size_t)n * 4, got, 0, NULL, NULL))
        fail("x cannot be read");
    for (cl_int i = 0; i < n; i++)
        worst = fmax(worst, fabs((double)got[i] - 1));
    printf("%s after %d rounds, largest error %.2e\n", residual <= GOAL ? "converged" : "NOT converged", round, worst);

    free(got);
    cl_mem buffers[] = {x, r, p, q, part, s};
    cl_kernel made[] = {set, dot, total, step, turn};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        clReleaseMemObject(buffers[i]);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        clReleaseKernel(made[i]);
    clReleaseProgram(program);
    weft_spmv_plan_destroy(&plan);
    weft_device_csr_free(&d);
    weft_csr_free(&a);
    clReleaseCommandQueue(queue);
    weft_context_destroy(&ctx);
    return residual > GOAL;
}
