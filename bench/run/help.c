// SPDX-License-Identifier: Apache-2.0
// Prints the options of weft-bench: --help for people, --options for programs.
#include "help.h"
#include "block.h"
#include "host/common/word.h"
#include "host/internal/inside.h"

#include <stdio.h>
#include <string.h>

enum { HELP_COLUMN = 26, HELP_WORDS = HELP_COLUMN + 2 };

// Print `separator`, a space (not at the start of a line) and `text`; where that gets too long, on a new line.
static void help_word(int *column, int indent, const char *separator, const char *text)
{
    *column += printf("%s", separator);
    if (*column + (int)strlen(text) > 103)
        *column = printf("\n%*s", indent, "") - 1;
    *column += printf("%s%s", *column > indent ? " " : "", text);
}

void bench_help_ops(void)
{
    for (const struct bench_op *const *op = bench_ops; *op; op++)
        printf("%*s%-10s %s\n", HELP_WORDS, "", (*op)->name, (*op)->help);
}

void bench_help_backends(void)
{
    int column = HELP_COLUMN;
    for (const struct weft_backend *const *b = weft__backends; *b; b++)
        help_word(&column, HELP_COLUMN, b == weft__backends ? "" : ",", (*b)->name);
    help_word(&column, HELP_COLUMN, "", "(default: every one that can run)");
    putchar('\n');
}

void bench_help_algos(void)
{
    for (const struct bench_op *const *op = bench_ops; *op; op++) {
        int named = 0, column = 0;
        for (const struct weft_backend *const *b = weft__backends; *b; b++)
            for (const char *const *first = (*op)->algos(*b), *const *a = first; a && *a; a++) {
                char word[80];
                snprintf(word, sizeof word, "%s%s%s", a == first ? (*b)->name : "", a == first ? ": " : "", *a);
                if (!named++)
                    column = printf("%*s%-10s ", HELP_WORDS, "", (*op)->name);
                help_word(&column, 39, named == 1 ? "" : a == first ? ";" : ",", word);
            }
        if (named)
            putchar('\n');
    }
}

int bench_help_print(struct bench_options *o, const struct option_row *row, const char *text)
{
    (void)o, (void)row, (void)text;
    fputs("usage: weft-bench [options]             " BENCH_DEFAULT_SPEC "\n"
          "       weft-bench [options] M N NNZ     uniform random entries, that shape\n"
          "       weft-bench [options] FILE...     .mtx, .mtx.gz, or a SuiteSparse .tar.gz; - is standard input\n"
          "       weft-bench --compare A.json B.json\n"
          "                                        two files of results side by side, of --json or --profile --json\n"
          "\n"
          "Times sparse operations on every device and backend. Each result is compared with the serial\n"
          "reference before it is printed.\n",
          stdout);
    for (const struct option_row *r = bench_option_rows; r < bench_option_rows + bench_option_helped; r++) {
        if (r->group)
            printf("\n%s\n", r->group);
        char brief[8] = "   ";
        if (r->brief)
            snprintf(brief, sizeof brief, "-%c,", r->brief);
        const int head =
            printf("  %s --%s%s%s", brief, r->name, r->argument ? " " : "", r->argument ? r->argument : "");
        if (r->help || r->help_more)
            printf("%*s", HELP_COLUMN - head, "");
        for (const char *line = r->help ? r->help : ""; *line; line += *line == '\n') {
            const int length = (int)strcspn(line, "\n");
            printf("%*s%.*s\n", line == r->help ? 0 : HELP_COLUMN, "", length, line);
            line += length;
        }
        if (r->help_more)
            r->help_more();
        else if (!r->help)
            putchar('\n');
    }
    fputs("\n"
          "exit status: 0 all results verified and printed; 1 a result was wrong; 2 bad usage or unreadable input;\n"
          "3 device or driver failed\n",
          stdout);
    return BENCH_OK;
}

static void algos_print(void)
{
    const char *seen[256];
    size_t count = 0;
    for (const struct bench_op *const *op = bench_ops; *op; op++)
        for (const struct weft_backend *const *b = weft__backends; *b; b++)
            for (const char *const *a = (*op)->algos(*b); a && *a && count < sizeof seen / sizeof *seen; a++) {
                size_t i = 0;
                while (i < count && strcmp(seen[i], *a))
                    i++;
                if (i == count) {
                    seen[count++] = *a;
                    bench_word_fields(3, "word", *a, "");
                }
            }
}

// The rows, with the words that each takes (bench_word_fields).
int bench_help_fields(struct bench_options *o, const struct option_row *row, const char *text)
{
    (void)o, (void)row, (void)text;
    bench_word_fields(3, "program", "weft-bench", WEFT_VERSION);
    for (const struct option_row *r = bench_option_rows; r < bench_option_rows + bench_option_count - 1; r++) {
        const char brief[2] = {(char)r->brief, 0};
        bench_word_fields(7, "option", r->name, brief, r->argument, r->optional ? "optional" : "", r->group, r->help);
        bench_word_values(r->name);
        if (!strcmp(r->name, "op"))
            for (const struct bench_op *const *op = bench_ops; *op; op++)
                bench_word_fields(3, "word", (*op)->name, (*op)->help);
        else if (!strcmp(r->name, "backend"))
            for (const struct weft_backend *const *b = weft__backends; *b; b++)
                bench_word_fields(3, "word", (*b)->name, "");
        else if (!strcmp(r->name, "algo"))
            algos_print();
        else if (!strcmp(r->name, "study"))
            bench_word_fields(3, "word", r->argument, "");
    }
    return BENCH_OK;
}
