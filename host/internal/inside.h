// SPDX-License-Identifier: Apache-2.0
// The library's inside, as far as backends, bench, profiler, tool and tests may use it. Outside host/src only
// host/internal includes headers of host/src; tests of private parts include tests.h, which has more.
#pragma once

// clang-format off
#include "host/src/core/buffer.h"   // buffers on the device
#include "host/src/core/cl_table.h" // the table of OpenCL calls, which may be replaced one by one
#include "host/src/core/context.h"  // what a context holds, its error
#include "host/src/core/error.h"    // errors, checked sizes
#include "host/src/core/tunable.h"  // the description of a tuning value
#ifndef __cplusplus // the headers above are C++ too
#include "host/src/core/copy.h"           // copies that block
#include "host/src/core/device.h"         // why a device is not in the list
#include "host/src/core/fill.h"           // fill a buffer with a word
#include "host/src/core/program.h"        // program texts, kernels, launches by name
#include "host/src/core/random.h"         // draws as a hash of seed, stream and counter
#include "host/src/core/stage.h"          // large copies through pinned memory
#include "host/src/core/threads.h"        // teams of host threads
#include "host/src/core/tune.h"           // the tune file
#include "host/src/core/variants.h"       // every kernel with every set of defines, all tuning values
#include "host/src/core/word.h"           // counts with units, names that were meant
#include "host/src/matrix/device_csr.h"   // copies between host and device
#include "host/src/matrix/measure.h"      // figures of matrices whose empty rows are left out
#include "host/src/measure/copy.h"        // kernels that measure ceilings
#include "host/src/measure/csr_pair.h"    // SpMV of one work-item a row, for the profiler's page
#include "host/src/measure/litmus.h"      // words between work-groups of one launch
#include "host/src/mtx/mtx.h"             // streams of Matrix Market text, reading without empty rows
#include "host/src/ref/ref.h"             // oracles
#include "host/src/spmv/algos.h"          // names of SpMV's algorithms
#include "host/src/spmv/cost.h"           // figures of the rows of a matrix, what schedules cost
#include "host/src/spmv/ell.h"            // work-items of sliced ELL
#include "host/src/spmv/hyb.h"            // the width of a hybrid, and what is left beside it
#include "host/src/transpose/method.h"    // the shape of a transposition, forms from and to COO
#include "out.h"
#endif
// clang-format on
