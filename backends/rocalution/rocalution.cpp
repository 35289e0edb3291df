// SPDX-License-Identifier: Apache-2.0
// rocALUTION on the threads of the host: its host back end, whether or not it was built with another.
#include "rocalution_backend.h"

#include <climits>
#include <cstdlib>
#include <exception>
#include <new>

static void rocalution_end()
{
    rocalution::stop_rocalution();
}

void weft__rocalution_begin()
{
    static bool begun;
    if (begun)
        return;
    begun = true;
    const weft__rocalution_work quiet(nullptr);     // it tells of cores and of the accelerator
    rocalution::set_omp_affinity_rocalution(false); // it would bind the threads that all backends share
    rocalution::disable_accelerator_rocalution(true);
    rocalution::init_rocalution();
    atexit(rocalution_end);
}

weft_status weft__rocalution_check(const struct weft_csr *a, struct weft_error *err)
{
    if (!a->nnz)
        return weft__error(err, WEFT_EUNSUPPORTED, "rocALUTION does nothing for a matrix without entries");
    if (a->nnz > INT_MAX)
        return weft__error(err, WEFT_EUNSUPPORTED, "rocALUTION takes %d entries at most", INT_MAX);
    return WEFT_OK;
}

weft_status weft__rocalution_caught(struct weft_error *err) noexcept
{
    try {
        throw;
    } catch (const std::bad_alloc &) {
        return weft__error(err, WEFT_ENOMEM, "out of host memory for rocALUTION");
    } catch (const std::exception &e) {
        return weft__error(err, WEFT_EDEVICE, "rocALUTION: %s", e.what());
    } catch (...) {
        return weft__error(err, WEFT_EDEVICE, "rocALUTION failed without a word");
    }
}

static weft_status rocalution_probe(struct weft_context *, struct weft_error *)
{
    return WEFT_OK;
}

#define TEXT(x)       #x
#define TEXT_VALUE(x) TEXT(x)
static const char *rocalution_version()
{
    return "rocALUTION " TEXT_VALUE(__ROCALUTION_VER_MAJOR) "." TEXT_VALUE(__ROCALUTION_VER_MINOR) "." TEXT_VALUE(
        __ROCALUTION_VER_PATCH);
}

static constexpr weft_backend table()
{
    weft_backend out{};
    out.name = "rocalution";
    out.needs = "host";
    out.probe = rocalution_probe;
    out.version = rocalution_version;
    out.transpose.algos = weft__rocalution_transpose_algos;
    out.transpose.prepare = weft__rocalution_transpose_prepare;
    out.transpose.run = weft__rocalution_transpose_run;
    out.transpose.poison = weft__rocalution_transpose_poison;
    out.transpose.result = weft__rocalution_transpose_result;
    out.transpose.finish = weft__rocalution_transpose_finish;
    out.spmv.algos = weft__rocalution_spmv_algos;
    out.spmv.prepare = weft__rocalution_spmv_prepare;
    out.spmv.run = weft__rocalution_spmv_run;
    out.spmv.poison = weft__rocalution_spmv_poison;
    out.spmv.result = weft__rocalution_spmv_result;
    out.spmv.finish = weft__rocalution_spmv_finish;
    return out;
}
const struct weft_backend weft__backend_rocalution = table();
