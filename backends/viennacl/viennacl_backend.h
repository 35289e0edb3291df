// SPDX-License-Identifier: Apache-2.0
// Operations of backend `viennacl`, as backend.h describes them, and what its files share. No exception leaves them.
#pragma once

extern "C" {
#include "backends/algo.h"
#include "host/common/clock.h"
#include "backends/trace.h"
#include "backends/opencl/opencl_backend.h"
#include "host/internal/inside.h"
}

// ViennaCL launches without events; this stands in its headers for clEnqueueNDRangeKernel and gives the event of every
// launch to what weft__viennacl_events points to, if anything.
cl_int weft__viennacl_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                             const size_t *global, const size_t *local, cl_uint nwait, const cl_event *wait,
                             cl_event *event);
extern struct opencl_events *weft__viennacl_events;

#define VIENNACL_WITH_OPENCL
#define clEnqueueNDRangeKernel weft__viennacl_launch
// The rest that moves data, allocates, compiles or waits goes through weft's table as weft's own calls do.
#define clBuildProgram            weft__cl.clBuildProgram
#define clCreateBuffer            weft__cl.clCreateBuffer
#define clCreateKernel            weft__cl.clCreateKernel
#define clCreateProgramWithSource weft__cl.clCreateProgramWithSource
#define clEnqueueCopyBuffer       weft__cl.clEnqueueCopyBuffer
#define clEnqueueReadBuffer       weft__cl.clEnqueueReadBuffer
#define clEnqueueWriteBuffer      weft__cl.clEnqueueWriteBuffer
#define clFinish                  weft__cl.clFinish
#define clSetKernelArg            weft__cl.clSetKernelArg
#include <viennacl/compressed_matrix.hpp>
#include <viennacl/coordinate_matrix.hpp>
#include <viennacl/ell_matrix.hpp>
#include <viennacl/hyb_matrix.hpp>
#include <viennacl/sliced_ell_matrix.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/vector.hpp>
#undef clEnqueueNDRangeKernel
#undef clBuildProgram
#undef clCreateBuffer
#undef clCreateKernel
#undef clCreateProgramWithSource
#undef clEnqueueCopyBuffer
#undef clEnqueueReadBuffer
#undef clEnqueueWriteBuffer
#undef clFinish
#undef clSetKernelArg

// ViennaCL's view of ctx, with one in-order queue that keeps times. Throws.
viennacl::ocl::context &weft__viennacl_context(struct weft_context *ctx);

// The status of the exception being handled, with its text in err.
weft_status weft__viennacl_caught(struct weft_error *err) noexcept;
