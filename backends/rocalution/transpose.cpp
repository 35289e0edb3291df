// SPDX-License-Identifier: Apache-2.0
// A^T by rocALUTION's Transpose in CSR, on one thread. Every run makes a new matrix, and what that allocates is part of
// the time.
#include "rocalution_backend.h"

#include <algorithm>
#include <memory>

const char *const weft__rocalution_transpose_algos[] = {"csr", nullptr};

namespace
{

struct transposition {
    explicit transposition(const weft_csr *matrix) : from(matrix)
    {
    }
    virtual ~transposition() = default;
    virtual void drop() = 0; // before a run
    virtual void transpose() = 0;
    virtual bool read(weft_csr *out) const = 0; // false: the sizes are not those of the transpose

    const weft_csr *from; // borrowed
};

template <typename T>
struct transposition_of final : transposition {
    explicit transposition_of(const weft_csr *matrix) : transposition(matrix)
    {
        weft__rocalution_csr(a, matrix);
    }
    void drop() override
    {
        t.Clear();
    }
    void transpose() override
    {
        a.Transpose(&t);
    }
    bool read(weft_csr *out) const override
    {
        if (t.GetM() != from->n || t.GetN() != from->m || t.GetNnz() != from->nnz)
            return false;
        std::vector<int> ptr((size_t)from->n + 1);
        t.CopyToCSR(ptr.data(), out->col, static_cast<T *>(out->val));
        if (out->ofs == WEFT_OFS_64)
            std::copy(ptr.begin(), ptr.end(), static_cast<int64_t *>(out->row_ptr));
        else
            std::copy(ptr.begin(), ptr.end(), static_cast<int32_t *>(out->row_ptr));
        return true;
    }

    rocalution::LocalMatrix<T> a, t;
};

} // namespace

weft_status weft__rocalution_transpose_prepare(void **state, struct weft_context *, const struct weft_csr *a,
                                               const char *algo, const struct weft_backend_tune *tune,
                                               struct weft_backend_times *times, struct weft_error *err)
{
    *state = nullptr;
    if (weft__algo_find(weft__rocalution_transpose_algos, algo, tune, "backend rocalution has no transposition", err) <
        0)
        return WEFT_EINVAL;
    if (a->type == WEFT_TYPE_PATTERN)
        return weft__error(err, WEFT_EUNSUPPORTED, "rocALUTION has no matrices without values");
    if (weft_status status = weft__rocalution_check(a, err))
        return status;
    try {
        weft__rocalution_begin();
        const weft__rocalution_work work;
        std::unique_ptr<transposition> out;
        const double start = clock_ms();
        if (a->type == WEFT_TYPE_F64)
            out = std::make_unique<transposition_of<double>>(a);
        else // integers are moved as floats of their width
            out = std::make_unique<transposition_of<float>>(a);
        times->convert_ms = clock_ms() - start;
        *state = out.release();
        weft__pages_keep();
        return WEFT_OK;
    } catch (...) {
        return weft__rocalution_caught(err);
    }
}

weft_status weft__rocalution_transpose_run(void *state, double *ms, struct weft_error *err)
{
    auto *t = static_cast<transposition *>(state);
    try {
        const weft__rocalution_work work;
        t->drop();
        const double start = clock_ms();
        t->transpose();
        *ms = clock_ms() - start;
        return WEFT_OK;
    } catch (...) {
        return weft__rocalution_caught(err);
    }
}

weft_status weft__rocalution_transpose_poison(void *state, struct weft_error *err)
{
    try {
        const weft__rocalution_work work;
        static_cast<transposition *>(state)->drop();
        return WEFT_OK;
    } catch (...) {
        return weft__rocalution_caught(err);
    }
}

weft_status weft__rocalution_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *,
                                              struct weft_error *err)
{
    const auto *t = static_cast<const transposition *>(state);
    const weft_status status = weft_csr_alloc(out, weft_shape_transposed(weft_csr_shape(t->from)));
    if (status)
        return weft__error(err, status, "a copy of the transpose: %s", weft_status_text(status));
    try {
        const weft__rocalution_work work;
        if (t->read(out))
            return WEFT_OK;
        weft_csr_free(out);
        return weft__error(err, WEFT_EMATRIX, "rocALUTION gives a matrix of another size");
    } catch (...) {
        weft_csr_free(out);
        return weft__rocalution_caught(err);
    }
}

void weft__rocalution_transpose_finish(void **state)
{
    if (!state || !*state)
        return;
    delete static_cast<transposition *>(*state);
    weft__pages_give();
    *state = nullptr;
}
