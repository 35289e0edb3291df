// SPDX-License-Identifier: Apache-2.0
// Matrix Market files, plain, .gz and .tar.gz: read and written; Rutherford-Boeing and scipy's .npz are read.
#ifndef WEFT_MTX_H
#define WEFT_MTX_H

#include <weft/matrix.h>

#ifdef __cplusplus
extern "C" {
#endif

// What to do with complex values.
enum weft_mtx_complex {
    WEFT_MTX_COMPLEX_REFUSE = 0, // error WEFT_EUNSUPPORTED, in one line
    WEFT_MTX_COMPLEX_REAL,       // keep the real parts
    WEFT_MTX_COMPLEX_IMAG        // keep the imaginary parts
};
// "refuse" "real" "imag"
WEFT_API const char *weft_mtx_complex_name(enum weft_mtx_complex complex);
WEFT_API weft_status weft_mtx_complex_parse(enum weft_mtx_complex *out, const char *text);

// Field and symmetry as the header line of the file states them.
enum weft_mtx_field { WEFT_MTX_FIELD_REAL = 0, WEFT_MTX_FIELD_INTEGER, WEFT_MTX_FIELD_PATTERN, WEFT_MTX_FIELD_COMPLEX };
// "real" "integer" "pattern" "complex", as in the file
WEFT_API const char *weft_mtx_field_name(enum weft_mtx_field field);
WEFT_API weft_status weft_mtx_field_parse(enum weft_mtx_field *out, const char *text);
enum weft_mtx_symmetry {
    WEFT_MTX_SYMMETRY_GENERAL = 0,
    WEFT_MTX_SYMMETRY_SYMMETRIC,
    WEFT_MTX_SYMMETRY_SKEW,
    WEFT_MTX_SYMMETRY_HERMITIAN
};
// "general" "symmetric" "skew-symmetric" "hermitian", as in the file
WEFT_API const char *weft_mtx_symmetry_name(enum weft_mtx_symmetry symmetry);
WEFT_API weft_status weft_mtx_symmetry_parse(enum weft_mtx_symmetry *out, const char *text);

struct weft_mtx_params {
    enum weft_type type;           // type of the values in memory; a pattern file gives ones; default WEFT_TYPE_F32
    enum weft_ofs ofs;             // default WEFT_OFS_32
    enum weft_mtx_complex complex; // default: refuse
    bool keep_symmetric;           // give the stored triangle only; default: expand
    int threads; // 0: every processor that the process may run on, or OMP_NUM_THREADS; 256 at most, fewer where the
                 // system gives no more
    // Most bytes of memory that reading may take, and of text that a compressed file may unpack to: what a few bytes promise
    // is not believed. Default 0: 1000 times the bytes of the file, and at least 256 MiB.
    int64_t limit_bytes;
    // How far reading the file is, in bytes of the file; total 0: not known. Called by one thread at a time, not
    // always by the caller's. May be NULL.
    void (*progress)(void *arg, int64_t done_bytes, int64_t total_bytes);
    void *progress_arg;
};
#define weft_mtx_params(...) (&(struct weft_mtx_params){__VA_ARGS__})

// What the file said about itself.
struct weft_mtx_info {
    int64_t m, n, stored; // size line: rows, columns, entries (an array file: numbers that it must hold)
    enum weft_mtx_field field;
    enum weft_mtx_symmetry symmetry;
    bool array;          // array format
    int64_t file_bytes;  // bytes of text read, after decompression
    int64_t limit_bytes; // the limit that held: that of the parameters, or the default for this file
};

// Read a Matrix Market file (ISO: R. Boisvert, R. Pozo, K. Remington, "The Matrix Market Exchange Formats",
// NISTIR 5935) into CSR: coordinate or array; real, integer, pattern or complex; general, symmetric,
// skew-symmetric or hermitian. The file may be plain, gzip or a SuiteSparse archive (.tar.gz with NAME/NAME.mtx or
// a single .mtx file inside; needs libarchive), which is told from its first bytes. Entries of a row keep the order
// of the file, with each mirrored entry where its origin is; duplicates and zeros stay. Numbers are rounded
// correctly whatever the locale. A pattern is taken from complex values too; docs/input.md has the rules in full.
// Also read, told by their content: assembled Rutherford-Boeing and Harwell-Boeing files, plain or gzip; csr, csc and coo of
// scipy's save_npz (needs libarchive).
// Errors, each with file name and line number in err->text: WEFT_EIO cannot be opened or decompressed;
// WEFT_EFORMAT header, counts, indices or numbers are wrong; WEFT_EUNSUPPORTED complex values refused, a form
// of those formats that is not read, or no libarchive in this build; WEFT_ERANGE sizes or values do not fit the types asked for, or limit_bytes; WEFT_ENOMEM;
// WEFT_EINVAL.
// params may be NULL, info may be NULL. On failure *out is all zero.
WEFT_API weft_status weft_mtx_read(struct weft_csr *out, struct weft_mtx_info *info, const char *path,
                                   const struct weft_mtx_params *params, struct weft_error *err);

// The same from `bytes` bytes of memory; `name` stands for the file name in messages.
WEFT_API weft_status weft_mtx_parse(struct weft_csr *out, struct weft_mtx_info *info, const char *name,
                                    const void *text, size_t bytes, const struct weft_mtx_params *params,
                                    struct weft_error *err);

// Write `a` as a coordinate general file (real, integer or pattern) so that reading it back gives equal arrays
// bit for bit, provided the rows are read back in this order. NaN and infinities are written as nan, inf, -inf
// and read back. A path ending in .gz is compressed. The file appears whole or not at all; an existing file is
// replaced and gives its mode to the new one, and of a link what it leads to. Where nothing can take the place of an
// existing file (its folder cannot be written, a file system is mounted on it) it is written in place, as devices and
// pipes are.
// Errors: WEFT_EINVAL; WEFT_EMATRIX as weft_csr_validate; WEFT_EIO with the system's reason; WEFT_ENOMEM.
WEFT_API weft_status weft_mtx_write(const char *path, const struct weft_csr *a, struct weft_error *err);

// The same text to an open file, pipe or socket, compressed with `gzip`; `name` stands for it in messages. The
// descriptor stays open; what was written before a failure stays written. Errors as above.
WEFT_API weft_status weft_mtx_write_fd(int fd, const char *name, const struct weft_csr *a, bool gzip,
                                       struct weft_error *err);

#ifdef __cplusplus
}
#endif
#endif
