// SPDX-License-Identifier: Apache-2.0
// Everything of weft.
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <weft/context.h>
#include <weft/convert.h>
#include <weft/device.h>
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
#include <weft/spmv.h>
#include <weft/status.h>
#include <weft/transpose.h>

#endif
