// SPDX-License-Identifier: Apache-2.0
// Everything of weft.
//
// Every function checks its arguments. Bad ones give WEFT_EINVAL, with the argument's name in the message: a NULL where
// an object, matrix, queue, buffer or result is needed; a negative size; a number that an enum does not have.
// Then nothing is written but zeros to what a function gives. `params`, `err` and `event` may always be NULL. Functions without a status do nothing for
// NULL, and give 0, NULL or all zeros. What lies behind a pointer is trusted where a comment says so.
//
// What takes an `event` sets *event to NULL first, so that after any error it is NULL. As in OpenCL, it does not lie in `wait`.
//
// Every enum weft_E has 0 as its default and two functions. weft_E_name gives the name of a value, "unknown" for a number
// that the enum does not have; never NULL. weft_E_parse is the way back: WEFT_EINVAL for any other text, NULL included,
// and *out stays as it was.
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <weft/canonical.h>
#include <weft/context.h>
#include <weft/convert.h>
#include <weft/device.h>
#include <weft/device_coo.h>
#include <weft/device_csr.h>
#include <weft/expand.h>
#include <weft/generate.h>
#include <weft/histogram.h>
#include <weft/key.h>
#include <weft/matrix.h>
#include <weft/measure.h>
#include <weft/merge.h>
#include <weft/mtx.h>
#include <weft/permute.h>
#include <weft/scan.h>
#include <weft/segsort.h>
#include <weft/selftest.h>
#include <weft/spmv.h>
#include <weft/status.h>
#include <weft/transpose.h>
#include <weft/validate.h>
#include <weft/version.h>

#endif
