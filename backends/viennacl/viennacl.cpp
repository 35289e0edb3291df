// SPDX-License-Identifier: Apache-2.0
// ViennaCL on the device and in the context of weft, its kernels timed by their events.
#include "viennacl_backend.h"

#include <cstring>
#include <map>
#include <string>
#include <viennacl/version.hpp>

struct opencl_events *weft__viennacl_events;

cl_int weft__viennacl_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                             const size_t *global, const size_t *local, cl_uint nwait, const cl_event *wait,
                             cl_event *event)
{
    cl_event own = nullptr;
    const bool keep = weft__viennacl_events && !event;
    cl_int error =
        weft__cl.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, nwait, wait, keep ? &own : event);
    if (keep && error == CL_SUCCESS)
        weft__opencl_events_add(weft__viennacl_events, own);
    return error;
}

viennacl::ocl::context &weft__viennacl_context(struct weft_context *ctx)
{
    // ViennaCL notes for as long as the process lives, by the address of the cl_context, for which contexts it has
    // compiled what, and keeps references to its own contexts. So neither ever goes, lest another get the address.
    static auto &known = *new std::map<cl_context, viennacl::ocl::context>;
    auto [at, is_new] = known.try_emplace(ctx->cl);
    viennacl::ocl::context &out = at->second;
    if (is_new) {
        cl_int error;
        cl_command_queue queue =
            weft__cl.clCreateCommandQueue(ctx->cl, ctx->device.id, CL_QUEUE_PROFILING_ENABLE, &error);
        if (error != CL_SUCCESS) {
            known.erase(at);
            throw std::runtime_error(std::string("clCreateCommandQueue: ") + weft__cl_error_name(error));
        }
        out.add_device(ctx->device.id);
        out.init(ctx->cl);
        out.add_queue(ctx->device.id, queue);
        if (ctx->salt) // compilation is being timed: ask for what no cache knows
            out.build_options("-DWEFT_SALT=" + std::to_string(ctx->salt));
    }
    return out;
}

weft_status weft__viennacl_caught(struct weft_error *err) noexcept
{
    try {
        throw;
    } catch (const std::bad_alloc &) {
        return weft__error(err, WEFT_ENOMEM, "out of host memory for ViennaCL");
    } catch (const viennacl::ocl::mem_object_allocation_failure &) {
        return weft__error(err, WEFT_EDEVMEM, "out of device memory for ViennaCL");
    } catch (const std::exception &e) {
        static const char prefix[] = "ViennaCL: FATAL ERROR: ";
        const char *what = e.what();
        if (!strncmp(what, prefix, sizeof prefix - 1))
            what += sizeof prefix - 1;
        what += strspn(what, " \n");
        size_t length = strcspn(what, "\n");
        while (length && what[length - 1] == ' ')
            length--;
        return weft__error(err, WEFT_EDEVICE, "ViennaCL: %.*s", (int)length, what);
    } catch (...) {
        return weft__error(err, WEFT_EDEVICE, "ViennaCL failed without a word");
    }
}

static weft_status viennacl_probe(struct weft_context *ctx, struct weft_error *err)
{
    return ctx ? WEFT_OK : weft__error(err, WEFT_ENODEV, "no OpenCL device");
}

#define TEXT(x)       #x
#define TEXT_VALUE(x) TEXT(x)
static const char *viennacl_version()
{
    return "ViennaCL " TEXT_VALUE(VIENNACL_MAJOR_VERSION) "." TEXT_VALUE(VIENNACL_MINOR_VERSION) "." TEXT_VALUE(
        VIENNACL_PATCH_VERSION);
}

static constexpr weft_backend table()
{
    weft_backend out{};
    out.name = "viennacl";
    out.needs = "opencl";
    out.probe = viennacl_probe;
    out.version = viennacl_version;
    out.spmv.algos = weft__viennacl_spmv_algos;
    out.spmv.prepare = weft__viennacl_spmv_prepare;
    out.spmv.run = weft__viennacl_spmv_run;
    out.spmv.poison = weft__viennacl_spmv_poison;
    out.spmv.result = weft__viennacl_spmv_result;
    out.spmv.finish = weft__viennacl_spmv_finish;
    return out;
}
const struct weft_backend weft__backend_viennacl = table();
