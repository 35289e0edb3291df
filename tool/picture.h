// SPDX-License-Identifier: Apache-2.0
// The pictures of weft spy and weft entropy, PNG or SVG by the end of the path; picture_absent.c stands in where the
// build has no cairo.
#pragma once

#include <weft/measure.h>

struct picture {
    const char *path;
    int size;  // pixels of the longer side
    int force; // nonzero: replace a file that exists
    const char *title, *line;
    int64_t longest_row, longest_col; // of picture_entropy: entries; -1: not known
};

// Whether the picture can be drawn: TOOL_OK, or TOOL_USAGE after a complaint. Call it before what takes time.
int picture_check(const char *path, int force);
// Buckets along rows and columns that fill the picture of weft spy, or the map of weft entropy, for an m x n matrix.
void picture_spy_buckets(int64_t *rows, int64_t *cols, int size, int64_t m, int64_t n);
void picture_map_buckets(int64_t *rows, int64_t *cols, int size, int64_t m, int64_t n);
// Draw and write; TOOL_OK or the exit status after a complaint.
//   d       what picture_..._buckets asked for
//   parts   the shares of the entropy in 2x2, 4x4 and 8x8 parts, row by row
int picture_spy(const struct picture *p, const struct weft_density *d);
int picture_entropy(const struct picture *p, const struct weft_density *d, const double *const parts[3]);
