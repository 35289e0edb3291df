// SPDX-License-Identifier: Apache-2.0
// The kernels of SpMV but for those that one format defines beside its method: K(name of the spec, entry, file of cl/spmv, shared files; NULL: none).
#pragma once

#include "host/src/core/program.h"

// clang-format off
#define WEFT__SPMV_KERNELS(K)                                             \
    K(rows_stats,        rows_stats,         rows_stats,    ROWS)         \
    K(rows_stats_cpu,    rows_stats_cpu,     rows_stats_cpu, ROWS)        \
    K(rows_tiles,        rows_tiles,         rows_tiles,    NULL)         \
    K(spmv_join,         spmv_join,          join,          SPMV)         \
    K(spmv_scalar,       spmv_csr_scalar,    csr_scalar,    SPMV)         \
    K(spmv_gaps,         spmv_csr_gaps,      csr_gaps,      SPMV)         \
    K(spmv_lanes,        spmv_csr_lanes,     csr_lanes,     SPMV)         \
    K(spmv_merge,        spmv_csr_merge,     csr_merge,     SPMV, SHARE)  \
    K(spmv_cpu,          spmv_csr_cpu,       csr_cpu,       SPMV)         \
    K(spmv_gaps_cpu,     spmv_csr_gaps_cpu,  csr_cpu,       SPMV)         \
    K(ell_sort,          ell_sort,           ell_sort,      NULL)         \
    K(ell_sort_cpu,      ell_sort_cpu,       ell_sort_cpu,  NULL)         \
    K(ell_width,         ell_width,          ell_width,     NULL)         \
    K(ell_fill,          ell_fill,           ell_fill,      NULL)         \
    K(ell_fill_cpu,      ell_fill_cpu,       ell_fill_cpu,  NULL)         \
    K(spmv_ell,          spmv_ell,           ell,           SPMV, ELL)    \
    K(spmv_ell_packed,   spmv_ell_packed,    ell,           SPMV, ELL)    \
    K(spmv_ell_cpu,      spmv_ell_cpu,       ell_cpu,       SPMV, ELL)    \
    K(sdia_count,        sdia_count,         sdia_pack_gpu, NULL)         \
    K(sdia_count_cpu,    sdia_count_cpu,     sdia_pack_cpu, NULL)         \
    K(sdia_fill,         sdia_fill,          sdia_pack_gpu, NULL)         \
    K(sdia_fill_cpu,     sdia_fill_cpu,      sdia_pack_cpu, NULL)         \
    K(spmv_sdia,         spmv_sdia,          sdia,          SPMV)         \
    K(spmv_sdia_cpu,     spmv_sdia_cpu,      sdia_cpu,      SPMV)         \
    K(hyb_count,         hyb_count,          hyb_rest,      NULL)         \
    K(hyb_rest,          hyb_rest,           hyb_rest,      NULL)         \
    K(spmv_segment,      spmv_coo_segment,   coo_segment,   SPMV)         \
    K(spmv_coo_cpu,      spmv_coo_cpu,       coo_cpu,       SPMV)         \
    K(spmv_coo_join,     spmv_coo_join,      coo_join,      SPMV)         \
    K(spmv_atomic,       spmv_coo_atomic,    coo_atomic,    SPMV)         \
    K(spmv_scatter,      spmv_csr_scatter,   csr_scatter,   SPMV)         \
    K(spmv_scale,        spmv_scale,         scale,         SPMV)         \
    K(spmv_add,          spmv_add,           add,           SPMV)         \
    K(spmv_fixed,        spmv_csr_fixed,     csr_fixed,     SPMV)         \
    K(spmv_fixed_cpu,    spmv_csr_fixed_cpu, csr_fixed_cpu, SPMV)         \
    K(spmv_fixed_join,   spmv_fixed_join,    fixed_join,    SPMV)         \
    K(rows_flags,        rows_flags,         rows_flags,    NULL)         \
    K(rows_flags_count,  rows_flags_count,   rows_flags,    NULL)         \
    K(rows_flags_before, rows_flags_before,  rows_flags,    NULL)         \
    K(rows_flags_rows,   rows_flags_rows,    rows_flags,    NULL)         \
    K(rows_flags_cross,  rows_flags_cross,   rows_flags,    NULL)         \
    K(spmv_flags,        spmv_csr_flags,     csr_flags,     SPMV, SHARE)  \
    K(spmv_flags_join,   spmv_flags_join,    flags_join,    SPMV)
// clang-format on
#define WEFT__SPMV_SPEC_DECLARE(name, entry, file, ...) extern const struct weft__kernel_spec weft__##name##_spec;
WEFT__SPMV_KERNELS(WEFT__SPMV_SPEC_DECLARE)
