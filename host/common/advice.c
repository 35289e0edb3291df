// SPDX-License-Identifier: Apache-2.0
// The model that predicts what another order of rows and columns gains, and what it needs to know of a matrix.
#include "host/common/advice.h"

#include <math.h>
#include <weft/measure.h>

enum { GROUP = 32, PARTS = 64 };

// A row for each kind of device, as bench/lab/advice_fit.py prints it: how it was fitted and how often it is right is in
// docs/randomization.md.
static const struct advice_model models[] = {
#include "host/common/advice_table.h"
};

// Rows whose length is not the one that followed the last time the same four lengths came before: what a processor that
// foresees branches by their history stumbles over.
static int64_t surprises_count(const struct weft_csr *a)
{
    static const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    int64_t foreseen[4096], last[4] = {0}, count = 0;
    for (size_t i = 0; i < sizeof foreseen / sizeof *foreseen; i++)
        foreseen[i] = -1;
    for (int64_t i = 0; i < a->m; i++) {
        const int64_t length = weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i);
        uint64_t hash = 0;
        for (int k = 0; k < 4; k++)
            hash = (hash ^ (uint64_t)last[k]) * odd;
        int64_t *at = &foreseen[hash >> 52];
        count += *at != length;
        *at = length;
        last[0] = last[1], last[1] = last[2], last[2] = last[3], last[3] = length;
    }
    return count;
}

// Places of groups of rows that are as long as their longest.
static int64_t places_count(const struct weft_csr *a)
{
    int64_t places = 0;
    for (int64_t i = 0; i < a->m; i += GROUP) {
        const int64_t end = i + GROUP < a->m ? i + GROUP : a->m;
        int64_t longest = 0;
        for (int64_t k = i; k < end; k++) {
            const int64_t length = weft_csr_ofs(a, k + 1) - weft_csr_ofs(a, k);
            longest = length > longest ? length : longest;
        }
        places += longest * (end - i);
    }
    return places;
}

weft_status advice_measure(struct advice_measures *out, const struct weft_csr *a, struct weft_error *err)
{
    struct weft_measures measures;
    weft_status status = weft_measure(&measures, a, 0, err);
    if (!status)
        status = weft_load_imbalance(&out->imbalance, a, PARTS, err);
    if (status)
        return status;
    const double entries = a->nnz ? (double)a->nnz : 1;
    out->entries = (double)a->nnz;
    out->rows = (double)a->m / entries;
    out->surprises = (double)surprises_count(a) / entries;
    out->waste = a->nnz ? (double)places_count(a) / entries : 1;
    out->x_lines = measures.x_lines;
    return WEFT_OK;
}

void advice_terms(double out[ADVICE_TERMS], const struct advice_measures *m, double x_bytes, double far_bytes)
{
    out[0] = m->rows;
    out[1] = m->surprises;
    out[2] = m->waste - 1;
    out[3] = m->x_lines;
    out[4] = x_bytes > far_bytes ? m->x_lines * log2(x_bytes / far_bytes) : 0;
    out[5] = 1000 / fmax(m->entries, 1);
}

const struct advice_model *advice_model_of(const struct weft_device_info *device)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (device->type & models[i].type)
            return &models[i];
    return NULL;
}

static double entry_cost(const struct advice_model *model, const struct advice_measures *m, double x_bytes)
{
    double terms[ADVICE_TERMS], cost = 1;
    advice_terms(terms, m, x_bytes, model->far_bytes);
    for (int i = 0; i < ADVICE_TERMS; i++)
        cost += model->cost[i] * terms[i];
    return cost;
}

int advice_pays(double ratio, double permute, int64_t products)
{
    return ratio + (products ? permute / (double)products : 0) < 1 - ADVICE_GAIN;
}

void advice_predict(struct advice *out, const struct advice_model *model, const struct advice_measures *regular,
                    const struct advice_measures *permuted, enum weft_order order, double x_bytes, int64_t products)
{
    out->ratio = entry_cost(model, permuted, x_bytes) / entry_cost(model, regular, x_bytes);
    out->low = out->ratio * exp(-1.96 * model->spread);
    out->high = out->ratio * exp(1.96 * model->spread);
    out->permute = model->permute[order] * pow(fmax(regular->entries, 1) / 1e5, model->permute_slope);
    out->permute_low = out->permute * exp(-1.96 * model->permute_spread);
    out->permute_high = out->permute * exp(1.96 * model->permute_spread);
    out->after = out->ratio < 1 ? ceil(out->permute / (1 - out->ratio)) : INFINITY;
    out->pays = advice_pays(out->ratio, out->permute, products);
}
