// SPDX-License-Identifier: Apache-2.0
// What the tests of suite huge share beside the pattern: options, the device, buffers in pieces, times.
#pragma once

#include "pattern.h"
#include "tests/support/tap.h"

#include <weft/transpose.h>

// Options of the command line, `--name value` each; what is not given keeps its default. Unknown ones bail out.
struct huge_options {
    int64_t entries; // --entries, also 2.2e9
    enum weft_type type;
    enum weft_ofs ofs;
    enum huge_kind kind;  // --pattern
    const char *generate; // a specification of weft_generate; NULL: the pattern
    int64_t columns;      // of pattern narrow; 0: its default
    const char *what;     // --what: names with commas between
    enum weft_schedule schedule;
    int local; // --lanes local
};
void huge_options_read(struct huge_options *o, int argc, char **argv);
// Is `name` in the list o->what?
int huge_wanted(const struct huge_options *o, const char *name);

// Without WEFT_HUGE=1 and without options the program says so, skips everything and ends.
void huge_skip_unless_wanted(int argc);

// The device WEFT_DEVICE (default: a GPU before other devices), or skip everything.
struct huge_device {
    struct weft_context *ctx;
    cl_command_queue queue;
    int64_t device_bytes, host_bytes; // free to use; one memory where the device is a processor
    int shared;
    void *stage[2]; // host memory of HUGE_STAGE bytes each
};
#define HUGE_STAGE ((int64_t)256 << 20)
// Entries of a piece, whatever their type.
#define HUGE_PIECE (HUGE_STAGE / 8)
void huge_device_open(struct huge_device *d, const struct huge_options *o);
void huge_device_close(struct huge_device *d);
// Nonzero when `device` and `host` bytes are to be had, and `largest` in one buffer; else a skipped test that says what is
// missing.
int huge_fits(const struct huge_device *d, int64_t device, int64_t largest, int64_t host, const char *what);
// The context's last error.
const char *huge_error(const struct huge_device *d);

// Buffers: bail out when the device refuses.
cl_mem huge_buffer(struct huge_device *d, int64_t bytes);
void huge_release(cl_mem *buffer);
void huge_write(struct huge_device *d, cl_mem to, int64_t first_byte, const void *from, int64_t bytes);
void huge_read(struct huge_device *d, cl_mem from, int64_t first_byte, void *to, int64_t bytes);
// A filled with the pattern: row pointers, columns and values as `type` says, written in pieces; *row_ptr stays on the host.
void huge_upload(struct huge_device *d, struct weft_device_csr *a, const struct huge_pattern *p,
                 const struct huge_offsets *row_ptr, uint32_t salt);
// A test: at is the transpose of the pattern. col may be NULL (only val is looked at).
void huge_check_transpose(struct huge_device *d, const struct huge_pattern *p, cl_mem row_ptr, cl_mem col, cl_mem val,
                          int64_t nnz, enum weft_type type, enum weft_ofs ofs, uint32_t salt, const char *name);

// Wall clock from begin to a note "# what: 1.23 s"; device times of the kernels since begin, if there were any, each by name.
void huge_time_begin(struct huge_device *d);
void huge_time_note(struct huge_device *d, const char *format, ...) TAP_FORMAT(2, 3);
