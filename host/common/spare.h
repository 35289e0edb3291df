// SPDX-License-Identifier: Apache-2.0
// Files that results must not replace.
#pragma once

// Whether a file that is not empty is there, and looks like a matrix: by its first bytes, or by the ending of its name. A
// slip of the fingers names such a file as an output.
int bench_spare_matrix(const char *path);
