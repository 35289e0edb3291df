// SPDX-License-Identifier: Apache-2.0
// weft, the command-line tool: what its commands share.
#pragma once

#include "host/internal/out.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <weft/context.h>
#include <weft/matrix.h>
#include <weft/mtx.h>
#include <weft/permute.h>

// Exit statuses, those of weft-bench.
enum { TOOL_OK = 0, TOOL_WRONG = 1, TOOL_USAGE = 2, TOOL_DEVICE = 3 };

// The command line. A command reads the members that its options fill (tool/main.c).
struct tool_options {
    const char *source; // path of the matrix, or a specification for weft_generate
    char **sources;     // the paths that were given, of which `source` is one
    int nsources;
    int follows;             // nonzero: text of an earlier one is printed
    int generated;           // nonzero: a specification
    const char *out;         // file to write; NULL: none
    const char *json;        // path, "-": standard output instead of the text; NULL: none
    int device;              // index, -1: the default
    const char *device_word; // what the device is called, where no list told its index; NULL: `device` is it
    int device_given;        // nonzero: by -d, not by WEFT_DEVICE
    enum weft_type type;
    int type_given;
    enum weft_ofs ofs;
    enum weft_mtx_complex complex;
    int64_t limit; // bytes; 0: the default of weft_mtx_params
    uint64_t seed;
    int order; // of host/common/order.h
    int order_given;
    int64_t products; // 0: not known
    int size;         // pixels of the longer side of a picture
    int litmus;       // nonzero: words between work-groups instead of operations
    int64_t seconds;  // 0: the default
    int force, measure, quiet;
};

// A matrix and what is known of where it came from.
struct tool_matrix {
    struct weft_csr a;
    int32_t *row; // tool_matrix_get_rows: the index of each row of `a` in the matrix; NULL: no row is left out
    int64_t m;    // rows of the matrix
    struct weft_mtx_info file; // of a file
    int from_file;
    int valueless;  // nonzero: a complex file of which neither part was asked for
    int binary;     // nonzero: a file of weft convert, whose values are as they are there
    char name[256]; // "cage11" of "/data/cage11.mtx.gz"; a specification as it is
};

// A device in use.
struct tool_device {
    struct weft_context *ctx;
    cl_command_queue queue; // in order, with profiling
};

// One line on stderr, "weft: ...".
__attribute__((format(printf, 1, 2))) void tool_complain(const char *format, ...);
// The exit status for a status of the library: the device's fault, or the input's.
int tool_exit(weft_status status);
// Complain with err->text, or the status when there is none, and give the exit status. Call it outside progress.
int tool_fail(weft_status status, const struct weft_error *err);
// The same with the last error of the context.
int tool_fail_device(weft_status status, struct weft_context *ctx);

// Read or generate the matrix; gives TOOL_OK or the exit status after a complaint. Without --type a file gives values of
// the type that holds them: pattern, i32 or f64; a specification f32. *out is free of memory after a failure.
int tool_matrix_get(struct tool_matrix *out, const struct tool_options *o);
// The same without the values of a file, for what does not look at them: complex files are read, too.
int tool_pattern_get(struct tool_matrix *out, const struct tool_options *o);
// As tool_matrix_get, but rows without entries may be left out, so that memory follows the entries (weft__mtx_read_rows), and the
// values of a complex file are, where no part of them is asked for and the file is no pipe.
int tool_matrix_get_rows(struct tool_matrix *out, const struct tool_options *o);
// TOOL_OK where `bytes` bytes, which `what` takes for each row and column, are within the limit of the file; else TOOL_USAGE
// after a complaint. A matrix made up has a limit only by --limit.
int tool_limit_check(const struct tool_matrix *m, const struct tool_options *o, const char *what, size_t bytes);
// That limit; 0: none.
int64_t tool_limit(const struct tool_matrix *m, const struct tool_options *o);
void tool_matrix_free(struct tool_matrix *m);
// The matrix in o->order, within the limit of memory; *p: as bench_order_make. Says what is wrong.
int tool_order_make(struct weft_csr *out, struct weft_permutation *p, const struct tool_matrix *m,
                    const struct tool_options *o);
// Replace the matrix by its permutation of o->order and o->seed; as tool_matrix_get.
int tool_matrix_permute(struct tool_matrix *m, const struct tool_options *o);

// Open device o->device, or the default one; `err` says why not. WEFT_ERANGE: the list has devices, but not that one.
weft_status tool_device_open(struct tool_device *out, const struct tool_options *o, struct weft_error *err);
void tool_device_close(struct tool_device *device);

// Whether `path` may be written: TOOL_OK (also for a stream), or TOOL_USAGE after a complaint when it exists and --force
// is not given, or lies in no folder.
int tool_out_check(const char *path, int force);
// Whether two outputs are one: the same file, also where it is not there yet, or both the standard output.
int tool_out_same(const char *a, const char *b);
// OUT of a vector is plain text: TOOL_USAGE after a complaint where `path` has an ending other than .mtx and .txt.
int tool_out_text_check(const char *path);
// Complain of an errno; gives TOOL_USAGE.
int tool_out_fail(const char *path, int error);
// Open what takes its place at the commit; without force only where nothing is then. TOOL_OK or TOOL_USAGE after a
// complaint.
int tool_out_open(struct weft__out *out, const char *path, int force);
// Write `size` bytes so that the file appears whole or not at all; as tool_out_open.
int tool_out_write(const char *path, const void *data, size_t size, int force);
// Print the object as JSON to o->json and delete it: indented, or in one line where several matrices were given. TOOL_OK or
// TOOL_USAGE after a complaint.
int tool_json_write(const struct tool_options *o, cJSON *object);
// Before the text of a matrix: a blank line where that of another one stands above.
void tool_text_begin(const struct tool_options *o);
// "12 345 678" with narrow groups of digits.
const char *tool_count_text(char text[32], int64_t count);

// The commands; each gives the exit status.
int tool_info(const struct tool_options *o);
int tool_spy(const struct tool_options *o);
int tool_entropy(const struct tool_options *o);
int tool_permute(const struct tool_options *o);
int tool_transpose(const struct tool_options *o);
int tool_devices(const struct tool_options *o);
int tool_advise(const struct tool_options *o);
int tool_spmv(const struct tool_options *o);
int tool_selftest(const struct tool_options *o);
int tool_convert(const struct tool_options *o);
