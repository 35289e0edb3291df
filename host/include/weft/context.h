// SPDX-License-Identifier: Apache-2.0
// A device with its compiled programs and the last error: what every other object is made from.
#ifndef WEFT_CONTEXT_H
#define WEFT_CONTEXT_H

#include <stdbool.h>
#include <weft/device.h>

#ifdef __cplusplus
extern "C" {
#endif

// A device, its OpenCL context, the compiled programs and the last error. Every other object belongs to one.
// Threads: a context may be shared by threads; plans and operations may not run in two threads at once.
struct weft_context;

// Which form of each algorithm to run.
enum weft_schedule {
    WEFT_SCHEDULE_AUTO = 0, // by the type of the device
    WEFT_SCHEDULE_GPU,      // work-groups that share local memory
    WEFT_SCHEDULE_CPU       // one contiguous chunk per work-item, no barriers
};
// "auto" "gpu" "cpu"
WEFT_API const char *weft_schedule_name(enum weft_schedule schedule);
WEFT_API weft_status weft_schedule_parse(enum weft_schedule *out, const char *text);

struct weft_context_params {
    cl_context context; // the caller's own, retained; default: a new one. The device is then one of this context
    // Of the list; default: what `select` means. With `context` also a part of such a device (clCreateSubDevices), which has
    // to outlive the weft context, and is best named even where it is alone.
    cl_device_id device;
    // Which device, as weft_device_find takes it: "1", "gpu", "nvidia"; default: weft_device_default. A text, because a
    // number would need a second member to tell device 0 from the default, and programs have a text from their users.
    const char *select;
    enum weft_schedule schedule; // default: by the type of the device
    // Implementation of lane operations; default: the best that works here. WEFT_LANES_LOCAL is possible everywhere. What the
    // device has and its driver fails on becomes WEFT_LANES_LOCAL.
    enum weft_lanes lanes;
    int wave; // with WEFT_LANES_SUBGROUPS: their size, 32 or 64; default: the device's own
    // Program cache on disk; NULL: $XDG_CACHE_HOME/weft or ~/.cache/weft; "": none. Made for the user alone where it is
    // missing; but a home that is not there is not made, and nothing is kept. Folders of the environment that are no absolute
    // path are as if not set. The folder and its files hold native code. They are used if they belong to the effective user,
    // are no links, and neither group nor others may write to them. Otherwise, and where the folder cannot be made, a line of
    // the log says so and kernels are compiled.
    const char *cache_dir;
    // Tuning values of the user's own, as weft-bench --tune writes them; plans take them where the caller gives none.
    // NULL: the file that the environment's WEFT_TUNE names, else $XDG_CONFIG_HOME/weft/tune.tsv or
    // ~/.config/weft/tune.tsv where there is one, under the rules of cache_dir; "": none. A file named here may be anybody's.
    // Lines that cannot be read, and values that the device refuses, are left out with a line of the log.
    const char *tune_file;
    // One line per failure; default: none. Called by the thread that met it, by several at once where a context is shared;
    // `text` is that thread's, during the call.
    void (*log)(void *arg, const char *text);
    void *log_arg;
    // Plans then run without a self-test. Else the first plan with programs that this device, driver and library have not run
    // before solves a small problem with them. After a wrong result another algorithm takes its place where none was asked
    // for and there is one, with a line of the log; else it is WEFT_EDEVICE. What was right is recorded in cache_dir.
    // WEFT_SELFTEST=0 in the environment does the same.
    bool no_selftest;
};
#define weft_context_params(...) (&(struct weft_context_params){__VA_ARGS__})

// Errors: WEFT_ENODEV no such device, or none of params.context; WEFT_EINVAL out, params.schedule, params.lanes or
//         params.wave that the device lacks, params.schedule that its driver fails on, params.device that is not in
//         params.context; WEFT_EDEVICE the driver refused; WEFT_ENOMEM. params and err may be NULL.
WEFT_API weft_status weft_context_create(struct weft_context **out, const struct weft_context_params *params,
                                         struct weft_error *err);
// Accepts NULL and *ctx == NULL. Every object made from the context must be gone.
WEFT_API void weft_context_destroy(struct weft_context **ctx);

// Give back what calls that block leave for the next one, which makes it again. Where the device does not share the host's
// memory they leave 32 MiB of pinned memory of the host, threads, a queue, and a plan and buffers. These take at most 1 GiB
// and a 16th of the device's memory. No other call of the context may run. Accepts NULL.
WEFT_API void weft_context_trim(struct weft_context *ctx);

WEFT_API const struct weft_device_info *weft_context_device(const struct weft_context *ctx);
WEFT_API cl_context weft_context_cl(const struct weft_context *ctx);
WEFT_API enum weft_schedule weft_context_schedule(const struct weft_context *ctx);
// Copy of the last error of any call that had this context: status, code and text are those of one failure, of whichever
// thread met it last; of NULL, that ctx is NULL.
WEFT_API void weft_context_error(struct weft_error *out, struct weft_context *ctx);

// Called for each kernel enqueued through this context with its event, which is valid during the call; retain it to
// keep it. Also called for the copy that an SpMV with host_rest begins with ("copy of x"). NULL: none. The queue must
// have CL_QUEUE_PROFILING_ENABLE for the event to carry times.
// Threads: set it while no other call of this context runs. It is called by the thread that launches, so by several at once
//          where several threads run plans.
typedef void weft_launch_fn(void *arg, const char *kernel, size_t global, size_t wg, cl_event event);
WEFT_API void weft_context_on_launch(struct weft_context *ctx, weft_launch_fn *fn, void *arg);

// What compiling has cost so far.
struct weft_build_stats {
    int compiled;      // programs compiled from source
    int loaded;        // programs loaded from the disk cache
    double compile_ms; // host time of both
    double load_ms;
};
WEFT_API void weft_context_build_stats(struct weft_build_stats *out, struct weft_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
