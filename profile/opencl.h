// SPDX-License-Identifier: Apache-2.0
// OpenCL as of 3.0: a layer stands before programs of any version. The project's own files are of 1.2.
#pragma once

#if defined(CL_TARGET_OPENCL_VERSION) && CL_TARGET_OPENCL_VERSION < 300 && !defined(__OPENCL_CL_H)
#undef CL_TARGET_OPENCL_VERSION
#endif
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#endif
#include <CL/cl.h>
