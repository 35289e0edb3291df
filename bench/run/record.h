// SPDX-License-Identifier: Apache-2.0
// One result, and its two forms for programs: a line of JSON, a row of CSV. docs/reference/records.md says what each
// key means.
#pragma once

#include <stdint.h>
#include <stdio.h>

// Every key in its order: X(kind, name). A key that does not apply is absent:
//   text    const char *, NULL is absent
//   count   int64_t, negative is absent
//   number  double, NaN is absent
//   flag    int, always there
#define BENCH_FIELDS(X)                                                                                                \
    X(text, matrix)                                                                                                    \
    X(count, m)                                                                                                        \
    X(count, n)                                                                                                        \
    X(count, nnz)                                                                                                      \
    X(text, op)                                                                                                        \
    X(text, backend)                                                                                                   \
    X(text, algo)                                                                                                      \
    X(text, chosen)                                                                                                    \
    X(text, tune)                                                                                                      \
    X(text, type)                                                                                                      \
    X(count, index)                                                                                                    \
    X(text, device)                                                                                                    \
    X(count, device_index)                                                                                             \
    X(text, platform)                                                                                                  \
    X(text, driver)                                                                                                    \
    X(text, version)                                                                                                   \
    X(count, seed)                                                                                                     \
    X(flag, verified)                                                                                                  \
    X(text, error)                                                                                                     \
    X(text, fault)                                                                                                     \
    X(text, skipped)                                                                                                   \
    X(count, samples)                                                                                                  \
    X(text, stop)                                                                                                      \
    X(text, clock)                                                                                                     \
    X(number, median_ms)                                                                                               \
    X(number, min_ms)                                                                                                  \
    X(number, max_ms)                                                                                                  \
    X(number, noise)                                                                                                   \
    X(number, end_to_end_ms)                                                                                           \
    X(count, calls)                                                                                                    \
    X(number, run_ms)                                                                                                  \
    X(number, b2b_ms)                                                                                                  \
    X(number, b2b_low_ms)                                                                                              \
    X(number, b2b_high_ms)                                                                                             \
    X(number, first_ms)                                                                                                \
    X(number, write_ms)                                                                                                \
    X(number, read_ms)                                                                                                 \
    X(number, convert_ms)                                                                                              \
    X(number, analyse_ms)                                                                                              \
    X(number, tune_ms)                                                                                                 \
    X(number, compile_cold_ms)                                                                                         \
    X(number, compile_cached_ms)                                                                                       \
    X(count, bytes_min)                                                                                                \
    X(number, gbps)                                                                                                    \
    X(number, gflops)                                                                                                  \
    X(number, copy_gbps)                                                                                               \
    X(number, roof)                                                                                                    \
    X(number, speedup_ref)                                                                                             \
    X(number, speedup_best_vendor)                                                                                     \
    X(number, regret)                                                                                                  \
    X(count, workspace_bytes)                                                                                          \
    X(count, format_bytes)                                                                                             \
    X(count, peak_bytes)                                                                                               \
    X(count, products)                                                                                                 \
    X(number, products_ms)                                                                                             \
    X(text, hash)                                                                                                      \
    X(text, date)                                                                                                      \
    X(text, command)

struct bench_record {
#define BENCH_TYPE_text          const char *
#define BENCH_TYPE_count         int64_t
#define BENCH_TYPE_number        double
#define BENCH_TYPE_flag          int
#define BENCH_MEMBER(kind, name) BENCH_TYPE_##kind name;
    BENCH_FIELDS(BENCH_MEMBER)
#undef BENCH_MEMBER
};

// Every key absent.
void bench_record_clear(struct bench_record *record);
// One line of JSON, flushed; 0 when it could not be written.
int bench_record_json(FILE *out, const struct bench_record *record);
// The names of the columns, and a row; a key that is absent is an empty cell.
int bench_record_csv_head(FILE *out);
int bench_record_csv(FILE *out, const struct bench_record *record);
