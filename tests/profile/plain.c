// SPDX-License-Identifier: Apache-2.0
// A program on plain OpenCL, without weft, for the layer to record: two threads with a context each, queues made without
// profiling, in order and out of order, blocking and not, events of its own and none. Prints what it computed, which
// no layer may change. The bytes it moves are in tests/profile/layer.py.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 16, TIMES = 3 };

static const char source[] =
    "__kernel void twice(__global int *a, int add) { a[get_global_id(0)] = 2 * a[get_global_id(0)] + add; }"
    "__kernel void join(__global int *to, __global const int *from) {"
    "    to[get_global_id(0)] ^= from[get_global_id(0)]; }";

static void need(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: %d\n", what, error);
        exit(1);
    }
}

struct worker {
    cl_platform_id platform;
    cl_device_id device;
    cl_command_queue_properties props;
    unsigned sum;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    cl_int error;
    cl_context_properties props[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)w->platform, 0};
    cl_context context = clCreateContext(props, 1, &w->device, NULL, NULL, &error);
    need(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, w->device, w->props, &error);
    if (error == CL_INVALID_QUEUE_PROPERTIES)
        queue = clCreateCommandQueue(context, w->device, 0, &error);
    need(error, "clCreateCommandQueue");
    const char *text = source;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    need(error, "clCreateProgramWithSource");
    need(clBuildProgram(program, 1, &w->device, "", NULL, NULL), "clBuildProgram");
    cl_kernel twice = clCreateKernel(program, "twice", &error), mix = clCreateKernel(program, "join", &error);
    need(error, "clCreateKernel");
    int *data = malloc(N * sizeof *data), *back = malloc(N * sizeof *back);
    for (int i = 0; i < N; i++)
        data[i] = i * 7;
    cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, N * sizeof *data, NULL, &error);
    cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, N * sizeof *data, data, &error);
    need(error, "clCreateBuffer");
    for (int k = 0; k < TIMES; k++) {
        cl_event written, doubled, mixed;
        size_t global = N, local = 64;
        need(clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, N * sizeof *data, data, 0, NULL, &written), "write");
        need(clSetKernelArg(twice, 0, sizeof a, &a), "arg");
        need(clSetKernelArg(twice, 1, sizeof k, &k), "arg");
        need(clEnqueueNDRangeKernel(queue, twice, 1, NULL, &global, NULL, 1, &written, &doubled), "twice");
        need(clSetKernelArg(mix, 0, sizeof b, &b), "arg");
        need(clSetKernelArg(mix, 1, sizeof a, &a), "arg");
        need(clEnqueueNDRangeKernel(queue, mix, 1, NULL, &global, &local, 1, &doubled, &mixed), "join");
        need(clEnqueueCopyBuffer(queue, b, a, 0, 0, 4096, 1, &mixed, NULL), "copy");
        need(clFinish(queue), "clFinish");
        clReleaseEvent(written);
        clReleaseEvent(doubled);
        clReleaseEvent(mixed);
    }
    need(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, N * sizeof *back, back, 0, NULL, NULL), "read");
    int *mapped = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ, 0, 4096, 0, NULL, NULL, &error);
    need(error, "map");
    for (int i = 0; i < N; i++)
        w->sum = w->sum * 31 + (unsigned)back[i];
    for (int i = 0; i < 1024; i++)
        w->sum = w->sum * 31 + (unsigned)mapped[i];
    need(clEnqueueUnmapMemObject(queue, a, mapped, 0, NULL, NULL), "unmap");
    need(clFinish(queue), "clFinish");
    free(data);
    free(back);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    clReleaseKernel(twice);
    clReleaseKernel(mix);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return NULL;
}

int main(void)
{
    cl_platform_id platforms[8];
    cl_uint count = 0;
    struct worker workers[2] = {{.props = 0}, {.props = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}};
    if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS)
        count = 0;
    for (cl_uint i = 0; i < count && i < 8 && !workers[0].device; i++)
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &workers[0].device, NULL) == CL_SUCCESS)
            workers[0].platform = platforms[i];
    if (!workers[0].device) {
        puts("no device");
        return 0;
    }
    workers[1].platform = workers[0].platform;
    workers[1].device = workers[0].device;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &workers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%08x %08x\n", workers[0].sum, workers[1].sum);
    return 0;
}
