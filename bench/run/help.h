// SPDX-License-Identifier: Apache-2.0
// The options of weft-bench as rows of a table, and the pages printed from it: --help, and --options for programs.
#pragma once

#include "options.h"

#include <stddef.h>

#define BENCH_DEFAULT_SPEC "uniform:500000,500000,10000000"

// One option. `parse` gives -1 to go on, REFUSED for the message that `wants` ends, else the exit status.
enum { REFUSED = -2 };
struct option_row {
    const char *name, *argument; // argument NULL: none
    const char *help;            // lines; NULL: help_more prints all that is behind the name
    int (*parse)(struct bench_options *o, const struct option_row *row, const char *text); // NULL: a line of the help
    size_t at;         // offset in bench_options of what parse fills
    const char *wants; // "--NAME is "...", not ..."
    int64_t low, high;
    const char *group; // headline above the option
    void (*help_more)(void);
    int brief;    // the letter; 0: none
    int optional; // nonzero: the argument may be missing
    int file;     // nonzero: and is "-" then (bench_word_file)
    size_t given; // offset of an int of bench_options that becomes 1; 0: none
};

// In the order of the help, which has the first `helped` of them.
extern const struct option_row bench_option_rows[];
extern const size_t bench_option_count, bench_option_helped;

// Complain in one line, which --help explains; gives BENCH_USAGE.
__attribute__((format(printf, 1, 2))) int bench_usage_fail(const char *format, ...);
// -1, or BENCH_USAGE after a complaint of options that do not go together; `words`: how many stand beside the options.
int bench_options_check(const struct bench_options *o, int words);

// Names behind an option's help.
void bench_help_ops(void);
void bench_help_backends(void);
void bench_help_algos(void);
// `parse` of --help and --options.
int bench_help_print(struct bench_options *o, const struct option_row *row, const char *text);
int bench_help_fields(struct bench_options *o, const struct option_row *row, const char *text);
