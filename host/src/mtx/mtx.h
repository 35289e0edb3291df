// SPDX-License-Identifier: Apache-2.0
// Inside of the Matrix Market reader: a stream of text (file.c) is cut into blocks of whole lines, blocks are
// parsed independently (parse.c), and their entries become one matrix (read.c).
#pragma once

#include "host/src/core/limits.h"
#include "host/src/mtx/number.h"

#include <weft/mtx.h>

// The format limits lines to 1024 characters; comments may be as long as a block.
#define WEFT__MTX_LINE_LIMIT 1024
#define WEFT__MTX_BLOCK      WEFT__HOSTILE((size_t)1 << 20, (size_t)1 << 13)

// ---- streams ---------------------------------------------------------------------------------------------------

struct weft__mtx_stream {
    // Put up to `bytes` bytes of text at `to`. Returns how many, 0 at the end, -1 on failure with the cause in
    // err->text (without the name of the file) and err->status.
    int64_t (*read)(struct weft__mtx_stream *stream, char *to, size_t bytes, struct weft_error *err);
    void (*close)(struct weft__mtx_stream *stream); // frees the stream too
    size_t text_bytes;                              // length of the text, 0: not known
    int64_t done_bytes, total_bytes;                // progress, in bytes as they lie in the file; total 0: not known
    const char *peek;                               // (size peek_bytes) how the text begins, where that is known
    size_t peek_bytes;
    // Where the text is made of other lines: the line of the file behind a line of the text; index: behind the indices of its
    // entry, not its value. NULL: lines of the text are those of the file.
    int64_t (*line_of)(const struct weft__mtx_stream *stream, int64_t line, int index);
    int64_t error_line; // of the file, where `read` failed; 0: not known
};

// Text in memory, which must outlive the stream.
weft_status weft__mtx_open_memory(struct weft__mtx_stream **out, const void *text, size_t bytes);
// A file: plain, gzip, or (libarchive) a tar archive. Errors as weft_mtx_read, without the name of the file. limit: as
// weft_mtx_params has it, of what is unpacked before the matrix begins.
weft_status weft__mtx_open_file(struct weft__mtx_stream **out, const char *path, int64_t limit, struct weft_error *err);
// weft_mtx_write; fresh: a file that is there at the end is an error (WEFT_EIO).
weft_status weft__mtx_write(const char *path, int fresh, const struct weft_csr *a, struct weft_error *err);
// A descriptor to read `path` from, negative with errno; "/dev/stdin" is descriptor 0 also where no /proc is.
int weft__mtx_path_open(const char *path);
// The bytes of a file from its beginning, without its gzip, whatever they are; reading to the end checks its sums. again: what a
// pipe no longer has is an error.
weft_status weft__mtx_open_bytes(struct weft__mtx_stream **out, int *gzip, const char *path, int again,
                                 struct weft_error *err);
// The member NAME/NAME.mtx of an archive, or its only .mtx member (archive.c).
weft_status weft__mtx_open_archive(struct weft__mtx_stream **out, const char *path, int64_t limit,
                                   struct weft_error *err);

// Bytes of memory that reading may take: what the caller says, else by the bytes of the file.
int64_t weft__mtx_limit(int64_t given, int64_t file_bytes);
// The bytes of the file that a stream reads; of a pipe those that came.
int64_t weft__mtx_file_bytes(const struct weft__mtx_stream *stream);

// ---- other formats ---------------------------------------------------------------------------------------------

// *stream, where its text is a Rutherford-Boeing or Harwell-Boeing file by the type in its third line, becomes one whose text is
// Matrix Market; it is at most `limit` bytes long (0: the default). On failure it is closed. (rb.c)
weft_status weft__rb_open(struct weft__mtx_stream **stream, int64_t limit, struct weft_error *err);
// Write `a` as a Rutherford-Boeing file, as weft__mtx_write (rb_write.c).
weft_status weft__rb_write(const char *path, int fresh, const struct weft_csr *a, struct weft_error *err);
// scipy's save_npz: told by its first bytes, read with the rules of weft_mtx_read, written as csr (npz.c). They need libarchive.
int weft__npz_is(const char *path);
weft_status weft__npz_read(struct weft_csr *out, struct weft_mtx_info *info, const char *path,
                           const struct weft_mtx_params *params, struct weft_error *err);
weft_status weft__npz_write(const char *path, int fresh, const struct weft_csr *a, struct weft_error *err);

// ---- parsing ---------------------------------------------------------------------------------------------------

// What the lines of entries look like and what becomes of them.
struct weft__mtx_format {
    int64_t m, n;
    enum weft_mtx_field field;
    enum weft_mtx_symmetry symmetry;
    int array;
    int imaginary; // of complex values keep the imaginary part
    enum weft_type type;
    const struct weft__powers *powers;
    void *locale; // locale_t of "C"
};

struct weft__mtx_block {
    char *buffer;            // owned; freed after parsing
    const char *begin, *end; // whole lines inside it; WEFT__NUMBER_PAD bytes follow
    int64_t lines;           // line ends between begin and end
    int64_t entries;         // entries found, before the first error
    int32_t *row, *col;      // 0-based (size entries); NULL in array format
    void *val;               // (size entries); NULL when the field or the type is pattern
    weft_status status;      // of the first error
    int64_t error_line;      // its line, 0 for the first line of the block
    int error_index;         // nonzero: of an index
    char text[200];          // its message
};

// Blanks separate words; a carriage return is one, so that lines may end in "\r\n".
static inline int weft__is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

// Is a line from start to its '\n', beside that and a '\r' before it, longer than the format has them?
static inline int weft__mtx_line_long(const char *start, const char *end)
{
    return end - start > WEFT__MTX_LINE_LIMIT && (end - start > WEFT__MTX_LINE_LIMIT + 1 || end[-1] != '\r');
}
#define WEFT__MTX_LINE_LONG "the line is longer than %d characters", WEFT__MTX_LINE_LIMIT

static inline const char *weft__blanks_skip(const char *p)
{
    while (weft__is_blank(*p))
        p++;
    return p;
}

// One word, quoted for a message: at most 32 characters, control characters as \xNN.
struct weft__mtx_quote {
    char text[160];
};
struct weft__mtx_quote weft__mtx_quote(const char *p);
// The same of a string.
struct weft__mtx_quote weft__mtx_quote_string(const char *text);

// The header line "%%MatrixMarket matrix FORMAT FIELD SYMMETRY" and the size line; `p` starts the line, which ends
// with '\n'. On failure err->text says why, without file name and line.
weft_status weft__mtx_header_parse(struct weft_mtx_info *info, const char *p, struct weft_error *err);
weft_status weft__mtx_sizes_parse(struct weft_mtx_info *info, const char *p, struct weft_error *err);
// Parse a block, and free its text. Failures stay in the block.
void weft__mtx_block_parse(struct weft__mtx_block *block, const struct weft__mtx_format *format);
void weft__mtx_block_free(struct weft__mtx_block *block);

// The end of a long name, for messages: it says more than the beginning.
const char *weft__mtx_name_end(const char *name);
// weft_mtx_read from any stream, which is closed; `block_bytes` is the size of a block (0: default); row as below, or NULL:
// no row is left out.
weft_status weft__mtx_read_stream(struct weft_csr *out, struct weft_mtx_info *info, const char *name,
                                  struct weft__mtx_stream *stream, size_t block_bytes,
                                  const struct weft_mtx_params *params, int32_t **row, struct weft_error *err);
// weft_mtx_read, but where there are far more rows than entries those without entries are left out: out->m is then the number
// of rows that are there, info->m all, and *row the index of each (size out->m; free it). *row NULL: none is left out.
weft_status weft__mtx_read_rows(struct weft_csr *out, int32_t **row, struct weft_mtx_info *info, const char *path,
                                const struct weft_mtx_params *params, struct weft_error *err);
