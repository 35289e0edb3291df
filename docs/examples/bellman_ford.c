// SPDX-License-Identifier: Apache-2.0
// bellman_ford [--reach] SPECIFICATION | FILE.mtx [FROM]: shortest paths from a vertex (counted from 1) by products with
// the matrix in (min, +), or with --reach what can be reached at all, by products in (or, and).
//
// Entry (i, j) of the matrix is an edge from i to j as long as the value's absolute. A product with the transpose,
//     y[j] = min(y[j], min over i of x[i] + a[i][j]),
// lets all paths grow by one edge. Method: R. Bellman, On a Routing Problem, Quart. Appl. Math. 16 (1958).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

static struct weft_context *ctx;

static void fail(const char *what)
{
    fprintf(stderr, "bellman_ford: %s\n", what);
    exit(1);
}

static void check(weft_status status)
{
    struct weft_error err = {0};
    if (!status)
        return;
    weft_context_error(&err, ctx);
    fail(err.text);
}

// Distances from vertex `from`, or 1 for what can be reached; gives the number of rounds.
static int64_t distances(float *d, const struct weft_csr *graph, int64_t from, int reach)
{
    const size_t bytes = (size_t)graph->n * sizeof *d;
    struct weft_device_csr a;
    struct weft_spmv_plan *plan = NULL;
    cl_int error;
    cl_command_queue queue = clCreateCommandQueue(weft_context_cl(ctx), weft_context_device(ctx)->id, 0, &error);
    if (error)
        fail("the device gives no queue");
    check(weft_device_csr_alloc(&a, ctx, weft_csr_shape(graph)));
    check(weft_device_csr_write_sync(&a, ctx, queue, graph));
    check(weft_spmv_plan_create(
        &plan, ctx, queue, &a,
        weft_spmv_params(.problem.semiring = reach ? WEFT_SPMV_SEMIRING_OR_AND : WEFT_SPMV_SEMIRING_MIN_PLUS,
                         .problem.transpose = WEFT_SPMV_TRANSPOSE_BY_COPY, .policy.products = 30)));
    // Distances of this round and of the one before. What x has is never lost, though y is older: distances only fall,
    // so the product with x is no longer than the one that x came from.
    cl_mem x = NULL, y = NULL;
    float *before = malloc(bytes);
    for (int64_t i = 0; i < graph->n; i++)
        d[i] = reach ? i == from : i == from ? 0 : INFINITY;
    x = clCreateBuffer(weft_context_cl(ctx), CL_MEM_COPY_HOST_PTR, bytes, d, &error);
    y = error ? NULL : clCreateBuffer(weft_context_cl(ctx), CL_MEM_COPY_HOST_PTR, bytes, d, &error);
    if (error || !before)
        fail("there is not enough memory");
    int64_t round = 0;
    do {
        memcpy(before, d, bytes);
        check(weft_spmv_run(plan, queue, y, 1, x, 1, 0, NULL, NULL));
        if (clEnqueueReadBuffer(queue, y, CL_TRUE, 0, bytes, d, 0, NULL, NULL))
            fail("the distances cannot be read");
        cl_mem swap = x;
        x = y;
        y = swap;
    } while (++round < graph->n && memcmp(before, d, bytes));

    free(before);
    clReleaseMemObject(x);
    clReleaseMemObject(y);
    weft_spmv_plan_destroy(&plan);
    weft_device_csr_free(&a);
    clReleaseCommandQueue(queue);
    return round;
}

int main(int argc, char **argv)
{
    struct weft_csr graph = {0};
    struct weft_error err = {0};
    const int reach = argc > 1 && !strcmp(argv[1], "--reach");
    const char *name = argc > 1 + reach ? argv[1 + reach] : NULL, *device = getenv("WEFT_DEVICE");
    const int64_t from = argc > 2 + reach ? atoll(argv[2 + reach]) - 1 : 0;
    if (!name)
        fail("usage: bellman_ford [--reach] SPECIFICATION | FILE.mtx [FROM]");
    if (strstr(name, ".mtx") ? weft_mtx_read(&graph, NULL, name, NULL, &err) : weft_generate(&graph, name, NULL, &err))
        fail(err.text);
    if (graph.m != graph.n || from < 0 || from >= graph.n || graph.type != WEFT_TYPE_F32)
        fail("the matrix is not square, or it has no such vertex");
    for (int64_t p = 0; p < graph.nnz; p++)
        ((float *)graph.val)[p] = fabsf(((float *)graph.val)[p]);
    if (weft_context_create(&ctx, weft_context_params(.select = device), &err))
        fail(err.text);
    float *d = malloc((size_t)graph.n * sizeof *d), farthest = 0;
    if (!d)
        fail("there is not enough memory");
    const int64_t rounds = distances(d, &graph, from, reach);
    int64_t reached = 0;
    for (int64_t i = 0; i < graph.n; i++) {
        const int there = reach ? d[i] != 0 : d[i] < INFINITY;
        reached += there;
        farthest = there && d[i] > farthest ? d[i] : farthest;
        if (graph.n <= 20 && there && !reach)
            printf("%lld %g\n", (long long)i + 1, (double)d[i]);
        else if (graph.n <= 20 && there)
            printf("%lld\n", (long long)i + 1);
    }
    printf("%lld of %lld vertices reached in %lld rounds", (long long)reached, (long long)graph.n, (long long)rounds);
    if (reach)
        printf("\n");
    else
        printf(", the farthest at %.6g\n", (double)farthest);
    free(d);
    weft_csr_free(&graph);
    weft_context_destroy(&ctx);
    return 0;
}
