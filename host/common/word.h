// SPDX-License-Identifier: Apache-2.0
// Words of a command line that mean the same to the bench and to the tool.
#pragma once

#include <weft/mtx.h>
#include <weft/permute.h>

// Each gives 0, and leaves *out, where the word is none of its kind.

// A whole number that fills the text, in low .. high: 20, 1e6, 1.5M (k, M, G, T: powers of 1000).
int bench_word_number(int64_t *out, const char *text, int64_t low, int64_t high);
// "32" or "64": the width of offsets.
int bench_word_ofs(enum weft_ofs *out, const char *text);
// Bytes: a number from 1; K, M, G, T behind it are 2^10, 2^20, 2^30, 2^40.
int bench_word_size(int64_t *out, const char *text);
// "real" or "imag": the part of complex values that is taken.
int bench_word_complex(enum weft_mtx_complex *out, const char *text);
// "-": the standard input or output. NULL is no such word.
int bench_word_is_stream(const char *text);

// The FILE of an option that may go without: where the arguments end, or another option follows, "-". `option` is what getopt_long
// gave, ':' where the arguments end.
const char *bench_word_file(int option, char **argv);

// Whether that file, or one of an option that has always a value, is meant: one that begins with '-' is more likely an option whose
// FILE was left out. "-" and a NULL are.
int bench_word_is_file(const char *text);

// Where a message of the library says how to raise the limit of memory, --limit in place of the member of a struct. The
// text does not grow.
void bench_word_limit(char *text);

// What is wrong with a variable of the environment that the library reads and, where it cannot, passes over without a word:
// WEFT_STAGE, WEFT_SELFTEST. NULL: nothing.
const char *bench_word_environment(void);

// ": did you mean WORD?" with the nearest of some words (weft__word_nearest), or "".
struct bench_word_hint {
    char text[64];
};
struct bench_word_hint bench_word_hint(const char *text, size_t length, const void *words, size_t count, size_t stride);

// One line of --options, the tables of a program's options for what is made of them (packaging/pages.py): `count` fields, const
// char * each (NULL: ""), with tabs between them; a newline within is written \\n.
void bench_word_fields(int count, ...);
// Such lines, "word\tWORD\t", for the words that option `name` takes of itself: types, widths, parts, orders, devices.
void bench_word_values(const char *name);

// What getopt_long could not use, as it was written, for a message; `brief` has room for a letter.
const char *bench_word_refused(char brief[3], char **argv);
