// SPDX-License-Identifier: Apache-2.0
// What schedules cost by bytes and steps, from the pattern alone: the judge of what `auto` chooses. It shares no code and no
// figures of analysis with the library.
#pragma once

#include <weft/matrix.h>
#include <weft/spmv.h>

// A device that does nothing but wait for memory, and as a CPU also passes rows and guesses wrongly where those of CSR end.
struct cost_device {
    int cpu;
    int units;
    double bytes_per_us; // of all units
    double launch_us;
    double step_us; // GPU: a read that the next one waits for
    int warps;      // GPU: groups of 32 lanes that a unit has in flight
    int joins;      // GPU: rows that tiles cut take a second launch
};
// 132 units, 4270 GB/s; 16 cores, 160 GB/s.
extern const struct cost_device cost_gpu, cost_cpu;

// Microseconds of a product by an algorithm (lanes: of csr_lanes on a GPU); INFINITY: it would be refused.
double cost_spmv(const struct cost_device *device, const struct weft_csr *a, enum weft_spmv_algo algo, int lanes);
// The least of all of them, without those that convert where `csr` is set, with panels and nodes where `lanes` is. *algo: which.
double cost_spmv_best(const struct cost_device *device, const struct weft_csr *a, int csr, int lanes,
                      enum weft_spmv_algo *algo);

// Bytes for an entry that a transposition moves on a GPU: by scan; by looking for each image in its row.
double cost_scan_bytes(const struct weft_csr *a);
double cost_mirror_bytes(const struct weft_csr *a);
