// SPDX-License-Identifier: Apache-2.0
// Matrices as they lie in memory, in a file (.weft): read as fast as the disk or the page cache gives them.
#pragma once

#include <weft/mtx.h>

// Whether `path` is a file that bench_binary_write made, by its first bytes; pipes are none.
int bench_binary_is(const char *path);

// The matrix, with values of `type` (as_stored: of those in the file) and offsets of `ofs`. info gets sizes, field and bytes.
// Every index is checked. limit: bytes of memory, 0: as weft_mtx_params.
// Errors, with the path in err->text: WEFT_EIO; WEFT_EFORMAT the file is cut, of another machine's order of bytes, or no matrix;
//         WEFT_ERANGE a value or the entries do not fit the type or ofs, or memory the limit; WEFT_ENOMEM.
weft_status bench_binary_read(struct weft_csr *out, struct weft_mtx_info *info, const char *path, enum weft_type type,
                              int as_stored, enum weft_ofs ofs, int64_t limit, struct weft_error *err);

// Write `a` whole or not at all; fresh: a file that is there is an error. WEFT_EIO with the system's reason.
weft_status bench_binary_write(const char *path, int fresh, const struct weft_csr *a, struct weft_error *err);
