// SPDX-License-Identifier: Apache-2.0
// The private parts of the library that have tests of their own, with the rest of the inside.
#pragma once

#include "inside.h"

// clang-format off
#include "host/src/core/cache.h"            // program binaries on disk
#include "host/src/core/device.h"           // sub-groups of a device
#include "host/src/core/keep.h"             // what stays from one blocking call to the next
#include "host/src/core/lanes_probe.h"      // which lane operations work
#include "host/src/core/lend.h"             // host arrays as buffers
#include "host/src/core/limits.h"           // limits of a device and its kernels
#include "host/src/core/own.h"              // files that are trusted
#include "host/src/core/quirks.h"           // devices with known bugs
#include "host/src/matrix/csr_build.h"      // CSR from coordinates
#include "host/src/primitive/scan.h"        // the scan inside other operations
#include "host/src/spmv/again.h"            // how often a matrix reads x again
#include "host/src/spmv/choose.h"           // the choice of an algorithm by figures
#include "host/src/spmv/columns.h"          // how panels are cut
#include "host/src/spmv/hubs.h"             // columns with many entries
#include "host/src/spmv/push.h"             // how its rows are cut
#include "host/src/spmv/tune.h"             // an SpMV plan, the key of its record
#include "host/src/transpose/scan_layout.h" // how ScanTrans cuts a shape
#include "host/src/transpose/trial.h"       // its self-test
// clang-format on
