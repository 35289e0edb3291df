// SPDX-License-Identifier: Apache-2.0
// Figures of the pattern of a matrix: row lengths, entropy, bandwidth, symmetry, balance.
#ifndef WEFT_MEASURE_H
#define WEFT_MEASURE_H

#include <weft/matrix.h>

#ifdef __cplusplus
extern "C" {
#endif

// Figures of the pattern of a matrix, computed on the host. Each takes a matrix whose arrays are checked as by
// weft_csr_validate; `threads` is 0 for every processor (below 0: WEFT_EINVAL), and no result depends on it.

// Entries of each row (out: m counts) and of each column (out: n counts).
// Errors: WEFT_EMATRIX, WEFT_EINVAL arrays of `a`; WEFT_ENOMEM.
WEFT_API weft_status weft_row_histogram(int64_t *out, const struct weft_csr *a, struct weft_error *err);
WEFT_API weft_status weft_col_histogram(int64_t *out, const struct weft_csr *a, int threads, struct weft_error *err);

// Shannon entropy -sum p*ln(p), p = count/sum, in nats (divide by ln 2 for bits); 0 when the sum is 0. Counts below 0
// count as 0, and any counts may be added up. The order of the sum is fixed.
WEFT_API double weft_entropy(const int64_t *count, int64_t buckets);

// ---- two-dimensional histogram -----------------------------------------------------------------------------------

struct weft_density_params {
    // Buckets along the rows and along the columns, of equal parts of the matrix: bucket of row i is i*rows/m. At most
    // m and n are used. Default 0 for both is the rule of the paper (docs/randomization.md): as many buckets as
    // entries, of the proportions of the matrix. The formula: height = max(1, floor(sqrt(area*m/n))) rows by
    // floor(area/height) columns, where area = floor(m*n/nnz); bucket of row i is i/height.
    int64_t rows, cols;
    int threads; // default 0
};
#define weft_density_params(...) (&(struct weft_density_params){__VA_ARGS__})

// How many entries lie in each bucket. Arrays are owned.
struct weft_density {
    int64_t m, n, nnz;
    int64_t rows, cols;    // buckets along the rows and along the columns; both 0 for a matrix without rows or columns
    int64_t height, width; // rows and columns of a bucket; 0: equal parts (params.rows, .cols)
    int64_t *count;        // entries of bucket (r, c) at [r*cols + c] (size rows*cols)
    int64_t *row;          // entries of each row of buckets: the height histogram (size rows)
    int64_t *col;          // the width histogram (size cols)
};
// Count. params may be NULL. On failure *out is all zero.
// Errors: WEFT_EINVAL a negative number of buckets, one of the two missing; WEFT_EMATRIX, WEFT_EINVAL arrays of `a`;
//         WEFT_ERANGE, WEFT_ENOMEM too many buckets.
WEFT_API weft_status weft_density_alloc(struct weft_density *out, const struct weft_csr *a,
                                        const struct weft_density_params *params, struct weft_error *err);
// Free the arrays and zero the struct; accepts NULL and an all-zero struct.
WEFT_API void weft_density_free(struct weft_density *d);
// The paper's H: entropy of d->count, in nats.
WEFT_API double weft_density_entropy(const struct weft_density *d);
// The share of H that each of parts x parts blocks of buckets has: out[r*parts + c] = -sum over its buckets of p*ln(p),
// p = count/nnz. They add up to H. Bucket row r belongs to block floor(r*parts/rows), columns alike.
//   out  parts*parts values; parts 1 or more (the paper draws 1, 2, 4, 8)
// Errors: WEFT_EINVAL parts outside 1 .. 2^31-1, arrays of `d`.
WEFT_API weft_status weft_density_hierarchy(double *out, const struct weft_density *d, int64_t parts);
// The bucket before which the histogram is steepest: where |gradient - mean| is largest among inner buckets, the
// gradient being half the difference of the two neighbours; the first of equals. 0: fewer than 3 buckets, or all
// gradients equal. Rows before the cut are result*d->height (gradient orders of permute.h cut there).
WEFT_API int64_t weft_histogram_cut(const int64_t *count, int64_t buckets);

// ---- comparison --------------------------------------------------------------------------------------------------

// Jensen-Shannon distance of two histograms with the same number of buckets: the square root of the divergence in bits.
// 0 for equal distributions, 1 for disjoint ones, symmetric. Counts below 0 count as 0.
// An empty histogram is at distance 0 from an empty one and 1 from any other.
WEFT_API double weft_jensen_shannon(const int64_t *a, const int64_t *b, int64_t buckets);

struct weft_distance_params {
    uint64_t seed; // of the resampling; default 0
    int trials;    // default 0: 200
    double level;  // of confidence, 0 < level < 1; default 0: 0.95
};
#define weft_distance_params(...) (&(struct weft_distance_params){__VA_ARGS__})

// Distance of two histograms, and how sure it is.
struct weft_distance {
    double distance; // weft_jensen_shannon
    double low,
        high;      // bootstrap interval at `level` around the distance: quantiles of the distance when both histograms
                   // are drawn again, less `bias`, within 0 .. 1
    double bias;   // median of these less the distance. Counting at random makes histograms differ, so the distance of
                   // what the counts are a sample of is less than `distance`, by about as much
    double chance; // quantile `level` of the distance of two draws from the joint distribution: what counting alone
                   // brings about. distance > chance: the histograms differ significantly
    double p;      // share of those draws with a distance as large as this one, (1 + them)/(1 + trials)
    int trials;
    double level;
};
// Bootstrap by Poisson draws: each count is drawn anew around its value, independently. params may be NULL.
// Two matrices are compared on densities with the same params.rows and .cols.
// Errors: WEFT_EINVAL buckets < 0, a negative count, trials < 0, level outside 0..1; WEFT_ENOMEM.
WEFT_API weft_status weft_distance(struct weft_distance *out, const int64_t *a, const int64_t *b, int64_t buckets,
                                   const struct weft_distance_params *params, struct weft_error *err);

// ---- all figures of one matrix -----------------------------------------------------------------------------------

#define WEFT_MEASURE_QUANTILES 7 // at 0, 0.05, 0.25, 0.5, 0.75, 0.95, 1

// Lengths of rows or of columns. Quantile q is the length at place round-half-up(q*(lines-1)) of the sorted lengths.
struct weft_lengths {
    int64_t lines, empty;
    int64_t quantile[WEFT_MEASURE_QUANTILES];
    double mean, deviation; // population standard deviation
    double entropy;         // of the lengths as a histogram over lines, nats; ln(lines) when all are equal
};

struct weft_measures {
    int64_t m, n, nnz;
    struct weft_lengths row, col;
    int64_t lower, upper;    // largest i-j and largest j-i of an entry, not below 0: the bandwidths
    int64_t profile;         // sum over rows of i - (least column), where that is positive: the lower profile
    double spread;           // mean over entries of |j - i*n/m|: distance from the diagonal, in columns
    double pattern_symmetry; // of distinct off-diagonal places (i, j), the share whose (j, i) is stored too; 1 if there
                             // are none, -1 for a matrix that is not square
    double value_symmetry;   // the share whose (j, i) is stored with an equal value (duplicates added up); equal to
                             // pattern_symmetry for a pattern
    double entropy;          // the paper's H: weft_density_entropy with default params, nats
    int64_t bucket_rows, bucket_cols; // buckets of H
    // Locality of x: distinct lines of 64 bytes of 4-byte elements that WEFT_MEASURE_WINDOW consecutive entries touch,
    // divided by the entries, mean over such windows. 1: each entry its own line; 1/16 and less: contiguous. 0 when
    // there are no entries.
    double x_lines;
};
#define WEFT_MEASURE_WINDOW 4096

// Errors: WEFT_EMATRIX, WEFT_EINVAL arrays of `a`; WEFT_ERANGE, WEFT_ENOMEM.
WEFT_API weft_status weft_measure(struct weft_measures *out, const struct weft_csr *a, int threads,
                                  struct weft_error *err);

// Entries of the fullest of `parts` parts of equal numbers of rows (part k begins at row floor(m*k/parts)), divided by
// nnz/parts: 1 is balanced, `parts` is everything in one part. 1 when there are no entries.
// Errors: WEFT_EINVAL parts outside 1 .. 2^31-1, arrays of `a`; WEFT_EMATRIX.
WEFT_API weft_status weft_load_imbalance(double *out, const struct weft_csr *a, int64_t parts, struct weft_error *err);

#ifdef __cplusplus
}
#endif
#endif
