// SPDX-License-Identifier: Apache-2.0
// A program on plain OpenCL that ends while two of its threads still enqueue, and whose locale writes a comma before the
// decimals, where such a one is there (it prints which).
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static cl_command_queue queues[2];
static cl_mem buffers[2];
static atomic_int calls;

static void *work(void *arg)
{
    const int i = (int)((size_t)arg & 1), zero = 0;
    for (;;) {
        clEnqueueWriteBuffer(queues[i], buffers[i], CL_TRUE, 0, sizeof zero, &zero, 0, NULL, NULL);
        calls++;
    }
    return NULL;
}

int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int error = CL_SUCCESS;
    const int zero = 0;
    const char *locale = setlocale(LC_ALL, "");
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return puts("no device"), 0;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    for (size_t i = 0; i < 2 && error == CL_SUCCESS; i++) {
        queues[i] = clCreateCommandQueue(context, device, 0, &error);
        if (error == CL_SUCCESS)
            buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(int), NULL, &error);
        if (error == CL_SUCCESS) // each queue has a command, whichever thread is faster
            error = clEnqueueWriteBuffer(queues[i], buffers[i], CL_TRUE, 0, sizeof zero, &zero, 0, NULL, NULL);
    }
    for (size_t i = 0; i < 2 && error == CL_SUCCESS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)i))
            error = CL_OUT_OF_HOST_MEMORY;
    }
    while (error == CL_SUCCESS && calls < 1000)
        usleep(100);
    printf("%d %s %.1f\n", error, locale ? locale : "C", 0.5);
    fflush(stdout);
    return error != CL_SUCCESS;
}
