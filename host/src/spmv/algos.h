// SPDX-License-Identifier: Apache-2.0
// The one list of SpMV's algorithms: names, methods, and what the bench runs beside them.
#pragma once

// X(enumerator, name, method, method of processors, whether it may be mostly padding). Methods are objects weft__spmv_METHOD;
// `none`: another one is chosen.
// ALSO(name): no algorithm of the library but a form of SpMV that the bench takes by name. In the order of the bench.
// clang-format off
#define WEFT__SPMV_ALGOS(X, ALSO) \
    X(AUTO, "auto", none, none, 0) \
    ALSO("tuned") \
    X(CSR, "csr", none, none, 0) \
    X(CSR_SCALAR, "csr_scalar", csr_scalar, csr_scalar, 0) \
    X(CSR_LANES, "csr_lanes", csr_lanes, csr_cpu, 0) \
    X(CSR_MERGE, "csr_merge", csr_merge, csr_cpu, 0) \
    X(ELL, "ell", ell, ell, 1) \
    X(SELL, "sell", sell, sell, 1) \
    X(SELL16, "sell16", sell16, sell16, 1) \
    X(SDIA, "sdia", sdia, sdia, 1) \
    X(PANELS, "panels", panels, panels_cpu, 1) \
    X(HYB, "hyb", hyb, hyb, 1) \
    ALSO("hyb_host") \
    X(COO, "coo", coo, coo, 0) \
    X(COO_ATOMIC, "coo_atomic", coo_atomic, coo_atomic, 0) \
    X(CSR_FIXED, "csr_fixed", csr_fixed, csr_fixed, 0) \
    X(CSR_FLAGS, "csr_flags", csr_flags, csr_flags_cpu, 0) \
    X(CSR_HUBS, "csr_hubs", csr_hubs, csr_flags_cpu, 0) \
    X(CSR_NODES, "csr_nodes", csr_nodes, csr_nodes, 0) \
    ALSO("csr_naive") \
    ALSO("csr_private")
// clang-format on
#define WEFT__SPMV_NONE(name) // for ALSO: without them
