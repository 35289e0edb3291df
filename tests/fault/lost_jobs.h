// SPDX-License-Identifier: Apache-2.0
// Plans of every operation for tests of a lost device: what is run, and whether the next run is right.
#pragma once

#include "tests/support/csr.h"
#include "tests/support/fault.h"
#include "tests/support/problem.h"

#include <weft/canonical.h>
#include <weft/convert.h>
#include <weft/expand.h>
#include <weft/histogram.h>
#include <weft/merge.h>
#include <weft/permute.h>
#include <weft/scan.h>
#include <weft/segsort.h>
#include <weft/validate.h>

// A plan, that of the operation, and what it runs on.
struct lost_job {
    struct test_device *dev;
    cl_command_queue queue; // of the runs
    struct weft_scan_plan *scan;
    struct weft_histogram_plan *histogram;
    struct weft_expand_plan *expand;
    struct weft_merge_plan *merge;
    struct weft_segsort_plan *segsort;
    struct weft_transpose_plan *transpose;
    struct weft_transpose_refill *refill;
    struct weft_canonical_plan *canonical;
    struct weft_permute_plan *permute;
    struct weft_coo_to_csr *convert;
    struct weft_validate_plan *validate;
    struct weft_spmv_plan *spmv;
    struct test_buffer in, half, offsets, out, row;
    struct test_csr from, to;
    struct test_problem problem;
    struct weft_spmv_params params;
};

extern const struct lost_operation {
    const char *name;
    weft_status (*run)(struct lost_job *j, cl_uint nwait, const cl_event *wait, cl_event *event);
    int form;       // of the operation: its algorithm
    bool gpu;       // of that schedule alone
    bool host_rest; // of a hybrid
    bool blocks;    // a run waits for what it is to wait for
    enum weft_spmv_transpose transpose;
} lost_operations[];
extern const size_t lost_count;

// Inputs, and what comes out by the reference: before the first job, and behind the last.
void lost_make(void);
void lost_free(void);
const struct weft_csr *lost_matrix(void);
const struct weft_csr *lost_transposed(void);

// A job on the queue of the device, whose first run is a check of the test. false: that failed. Ends with lost_end.
bool lost_begin(struct lost_job *j, struct test_device *dev, const struct lost_operation *o);
void lost_end(struct lost_job *j);
void lost_plan_destroy(struct lost_job *j);
// Results are overwritten, so that what a run leaves out is seen.
void lost_poison(struct lost_job *j, const struct lost_operation *o);
// Nothing was written since.
bool lost_untouched(struct lost_job *j, const struct lost_operation *o);
// Is the next run of the plan, without a fault, right?
int lost_next_right(struct lost_job *j, const struct lost_operation *o);
