#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gen_cffi.py OUT INCLUDE CC...: declarations of libweft for cffi, as a Python module that needs no compiler.

The public headers below INCLUDE go through the C preprocessor with empty system headers, so that every struct, enum and
function of theirs is known to cffi as the compiler knows it. The few calls of OpenCL that the package makes are here.
"""
import os
import re
import subprocess
import sys
import tempfile

SYSTEM = ("stddef.h", "stdint.h", "stdbool.h")
OPENCL_TYPES = """
typedef int32_t cl_int; typedef uint32_t cl_uint; typedef uint32_t cl_bool; typedef uint64_t cl_ulong;
typedef uint64_t cl_bitfield; typedef cl_bitfield cl_device_type; typedef cl_bitfield cl_mem_flags;
typedef struct _cl_platform_id *cl_platform_id; typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context; typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem; typedef struct _cl_event *cl_event;
"""
OPENCL_CALLS = """
cl_command_queue clCreateCommandQueue(cl_context, cl_device_id, cl_bitfield, cl_int *);
cl_int clReleaseCommandQueue(cl_command_queue);
cl_mem clCreateBuffer(cl_context, cl_mem_flags, size_t, void *, cl_int *);
cl_int clReleaseMemObject(cl_mem);
cl_int clEnqueueCopyBuffer(cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *);
void *clEnqueueMapBuffer(cl_command_queue, cl_mem, cl_bool, cl_bitfield, size_t, size_t, cl_uint, const cl_event *,
                         cl_event *, cl_int *);
cl_int clEnqueueUnmapMemObject(cl_command_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *);
cl_int clFinish(cl_command_queue);
"""


def preprocessed(cc, include):
    """The text of weft/weft.h after the preprocessor, without what system headers say."""
    with tempfile.TemporaryDirectory() as stubs:
        os.mkdir(os.path.join(stubs, "CL"))
        for name in (*SYSTEM, "CL/cl.h"):
            with open(os.path.join(stubs, name), "w", encoding="utf-8"):
                pass
        command = [*cc, "-E", "-P", "-nostdinc", "-undef", "-DWEFT_NO_LINK_CHECK", "-I", stubs, "-I", include, "-"]
        return subprocess.run(command, input="#include <weft/weft.h>\n", text=True, check=True, stdout=subprocess.PIPE).stdout


def without_bodies(text):
    """The declarations alone: static inline functions go."""
    out, at = [], 0
    for match in re.finditer(r"\bstatic\s+inline\b[^;{]*\{", text):
        if match.start() < at:
            continue
        out.append(text[at:match.start()])
        depth, at = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
    return "".join(out) + text[at:]


def main(target, include, *cc):
    from cffi import FFI
    ffi = FFI()
    ffi.cdef(OPENCL_TYPES + without_bodies(preprocessed(cc, include)) + OPENCL_CALLS)
    ffi.set_source("weft._cffi", None)
    ffi.emit_python_code(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
