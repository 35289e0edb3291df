// SPDX-License-Identifier: Apache-2.0
// weft COMMAND: the command line.
#include "host/common/list.h"
#include "host/common/order.h"
#include "host/common/progress.h"
#include "host/common/streams.h"
#include "host/common/word.h"
#include "host/internal/inside.h"
#include "tool.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPT_SEED = 256,
    OPT_INDEX,
    OPT_COMPLEX,
    OPT_LIMIT,
    OPT_JSON,
    OPT_ORDER,
    OPT_PRODUCTS,
    OPT_SIZE,
    OPT_FORCE,
    OPT_MEASURE,
    OPT_LITMUS,
    OPT_SECONDS,
    OPT_QUIET,
    OPT_VERSION
};

// Every option, with the text of the help. What a command lacks of them is an error there.
static const struct tool_option {
    const char *name, *value; // value NULL: none
    int id;
    const char *help;
} all_options[] = {
    {"output", "FILE", 'o', "write FILE (.png or .svg for a picture; `spmv`: the vector y)"},
    {"force", NULL, OPT_FORCE, "replace a file that exists"},
    {"size", "PIXELS", OPT_SIZE, "longer side of the picture, 300 to 10000 (default 1200)"},
    {"order", "ORDER", OPT_ORDER,
     "regular, row, row-gradient, col-gradient, row-col,\n"
     "degree, rcm, row-entries or row-col-entries"},
    {"seed", "S", OPT_SEED, "of random orders and generated matrices (default 0)"},
    {"device", "DEVICE", 'd',
     "its index in `weft devices`, or `gpu`, `cpu`, or a word of its line such as `nvidia`\n"
     "(default: WEFT_DEVICE, else the marked one)"},
    {"products", "N", OPT_PRODUCTS, "runs of SpMV expected with this matrix (default 0: not known)"},
    {"measure", NULL, OPT_MEASURE, "run every order on the device and say whether the advice was right"},
    {"litmus", NULL, OPT_LITMUS, "try how work-groups hand words to each other, and mutants of that"},
    {"seconds", "N", OPT_SECONDS, "how long --litmus takes beside compiling, 1 to 1000000 (default 64)"},
    {"generate", "SPEC", 'g',
     "a matrix made up in place of FILE: uniform:M,N,NNZ power:M,N,NNZ stencil5:K\n"
     "stencil7:K stencil27:K fem:K,D band:N,W dense:M,N heavy:M,N,NNZ,ROW\n"
     "rows:M,N,NNZ,K cols:M,N,NNZ,K web:M,NNZ rmat:M,NNZ block:M,NNZ,B kkt:M,NNZ\n"
     "circuit:M,NNZ lp:M,N,NNZ near:M,NNZ,W arrow:M,W;\n"
     "behind it +shuffled, +unsorted for rows and columns, or columns of a row, in a\n"
     "random order"},
    {"type", "TYPE", 't', "f32, f64, i32 or pattern (default: as the file; advise and generated: f32)"},
    {"index", "32|64", OPT_INDEX, "width of offsets (default 32)"},
    {"complex", "PART", OPT_COMPLEX, "of complex files take the parts `real` or `imag` (default: refuse them)"},
    {"limit", "SIZE", OPT_LIMIT,
     "most memory for what the file promises, such as 800M or 16G (default: 1000 times the\n"
     "bytes of the file, and at least 256M)"},
    {"json", "FILE", OPT_JSON,
     "the same as JSON (`-` or no FILE: standard output instead of the text);\n"
     "of several matrices an object a line"},
    {"quiet", NULL, OPT_QUIET, "no progress"},
};

enum { SEVERAL = 1000000 };

static const struct tool_command {
    const char *name, *words, *line;
    int matrix, out; // matrix: how many may be given, 0: none; out: nonzero: OUT is a second word
    const char *options;
    int (*run)(const struct tool_options *o);
    const char *help;
} commands[] = {
    {"info", "FILE...", "shape, rows, symmetry, entropies, formats, and what weft would run", SEVERAL, 0,
     "seed device products generate type index complex limit json force quiet", tool_info,
     "Prints what there is to know of a matrix: shape, lengths of rows, symmetry, bandwidth, entropies, the bytes of\n"
     "each format, and which format and schedule weft would choose for SpMV on the device, and why."},
    {"spy", "FILE -o PICTURE", "picture of the pattern", 1, 0,
     "output force size order seed generate type index complex limit quiet", tool_spy,
     "Draws where the entries are: each pixel is a bucket of rows and columns, the darker the more entries it has.\n"
     "With --order it draws the permuted matrix."},
    {"entropy", "FILE [-o PICTURE]", "entropies of the pattern, as text and as a heat map", 1, 0,
     "output force size order seed generate type index complex limit json quiet", tool_entropy,
     "Prints the entropy H of the 2-D histogram of the entries and the entropies of its 2x2, 4x4 and 8x8 parts; the\n"
     "picture has the histogram as a heat map with the histograms of rows and columns beside it. With --order it\n"
     "permutes first, and prints the Jensen-Shannon distance to the matrix as it was."},
    {"permute", "--order ORDER FILE OUT", "write the matrix with its rows and columns in another order", 1, 1,
     "order seed force device generate type index complex limit quiet", tool_permute,
     "Writes OUT (.mtx, .mtx.gz, .npz, .rb or .weft; `-`: standard output) with rows and columns in another order,\n"
     "the same on every machine for one seed.\n"
     "With -d the device permutes, and the result is compared with that of the host."},
    {"convert", "FILE OUT", "write the matrix in another form", 1, 1,
     "seed force generate type index complex limit quiet", tool_convert,
     "Writes OUT: .mtx or .mtx.gz (`-`: standard output), .npz of scipy, .rb (Rutherford-Boeing), or .weft, the\n"
     "arrays as they lie in memory, which weft and weft-bench read as fast as the disk gives them, on machines of\n"
     "the same order of bytes."},
    {"transpose", "FILE OUT", "write the transpose, made on the device", 1, 1,
     "force seed device generate type index complex limit quiet", tool_transpose,
     "Transposes on the device, compares the result with the serial reference and writes OUT (.mtx, .mtx.gz,\n"
     ".npz, .rb or .weft; `-`: standard output)."},
    {"spmv", "FILE... [-o Y]", "multiply on the device: what it takes, and the result", SEVERAL, 0,
     "output force device products seed generate type index complex limit json quiet", tool_spmv,
     "Multiplies the matrix with a vector of ones on the device, in the format that weft chooses, compares the\n"
     "result with the reference and prints the time. -o writes y as a Matrix Market array (`-`: standard output)."},
    {"devices", "", "list the devices", 0, 0, "json force", tool_devices,
     "One line a device: index, platform, name, type, driver, memory, or why it cannot be used."},
    {"advise", "FILE...", "does another order of rows and columns pay?", SEVERAL, 0,
     "seed device products measure generate type index complex limit json force quiet", tool_advise,
     "Predicts for each order how the time of SpMV changes on the device, with the interval that holds 19 of 20\n"
     "matrices, what the permutation costs, and after how many runs it has paid. An order pays that saves more than\n"
     "5 % of the time, permuting included. --measure runs them as well."},
    {"selftest", "", "does the device compute right numbers?", 0, 0, "device litmus seconds json force quiet",
     tool_selftest,
     "Runs every operation on small problems, compares each result with the serial reference, and prints a line for\n"
     "each: its types, algorithm and kernels. The first run compiles every program, which may take minutes.\n"
     "--litmus tries instead the protocols by which work-groups of one launch hand words to each other, many\n"
     "million times, and mutants of them: one that fails shows that these runs find such a fault."},
};
enum { COMMANDS = sizeof commands / sizeof *commands, OPTIONS = sizeof all_options / sizeof *all_options };

static const char exits[] =
    "exit status: 0 done; 1 a result was wrong; 2 bad usage, a device that is not in the list, or a file "
    "that\ncannot be read or written; 3 there is no device, or it or its driver failed\n";

__attribute__((format(printf, 1, 2))) static int usage_fail(const char *format, ...)
{
    va_list args;
    char text[1024];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tool_complain("%s (weft help explains)", text);
    return TOOL_USAGE;
}

static int has_option(const struct tool_command *c, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = c->options; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && !strncmp(at, name, length))
            return 1;
    return 0;
}

static int help_all(void)
{
    fputs("usage: weft COMMAND [options]\n\n", stdout);
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].line);
    printf("  %-10s %s\n", "help", "explain a command: weft help COMMAND");
    fputs(
        "\nFILE is a Matrix Market file, .mtx or .mtx.gz, a SuiteSparse .tar.gz, scipy's .npz, Rutherford-Boeing .rb,\n"
        "or a .weft; `-` is the standard input, as OUT the standard output.\n\n",
        stdout);
    fputs(exits, stdout);
    return TOOL_OK;
}

static int help_command(const struct tool_command *c)
{
    printf("usage: weft %s [options]%s%s\n\n%s\n%s", c->name, *c->words ? " " : "", c->words, c->help,
           *c->options ? "\n" : "");
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct tool_option *o = &all_options[i];
        char head[40];
        if (!has_option(c, o->name))
            continue;
        char brief[8] = "   ";
        if (o->id < 256)
            snprintf(brief, sizeof brief, "-%c,", o->id);
        snprintf(head, sizeof head, "%s --%s %s", brief, o->name, o->value ? o->value : "");
        printf("  %-22s ", head);
        for (const char *at = o->help; *at; at += *at == '\n') {
            const int length = (int)strcspn(at, "\n");
            printf("%*s%.*s\n", at == o->help ? 0 : 25, "", length, at);
            at += length;
        }
    }
    printf("\n%s", exits);
    return TOOL_OK;
}

static int command_unknown(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (strchr(name, '/') || (dot && dot > name) || !access(name, F_OK))
        return usage_fail("no command is named \"%s\": did you mean weft info %s?", name, name);
    return usage_fail("no command is named \"%s\"%s", name,
                      bench_word_hint(name, strlen(name), commands, COMMANDS, sizeof *commands).text);
}

static const struct tool_command *command_find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    return NULL;
}

// A word that is no number is looked up among the devices. Where they cannot be listed, it is kept for the command that wants the
// device, which says why; `info` prints the rest.
static int device_parse(struct tool_options *o, const char *text, const char *from)
{
    struct weft_device_info *list = NULL;
    size_t count = 0;
    int64_t index;
    o->device_word = NULL;
    if (bench_word_number(&index, text, 0, 9999)) {
        o->device = (int)index;
        return -1;
    }
    if (!strcspn(text, "0123456789-+"))
        return usage_fail("%s is \"%s\", not an index of `weft devices` or a word of a line there", from, text);
    if (!strcmp(text, "all"))
        return usage_fail("%s is \"all\", which weft-bench takes; weft runs on one device, which -d names", from);
    const weft_status status = weft_devices_list(&list, &count, NULL);
    o->device = bench_list_find(list, count, text);
    weft_devices_free(&list);
    if (status)
        o->device_word = text;
    if (status || o->device >= 0)
        return -1;
    char why[BENCH_LIST_WHY];
    bench_list_absent(why, sizeof why, count, text, from);
    tool_complain("%s (weft devices)", why);
    return TOOL_USAGE;
}

// The name of an order, in letters of any case.
static int order_parse(struct tool_options *o, const char *text)
{
    char name[32], known[160];
    size_t i = 0;
    for (; text[i] && i + 1 < sizeof name; i++)
        name[i] = (char)tolower((unsigned char)text[i]);
    name[i] = 0;
    o->order_given = bench_order_parse(&o->order, name, known, sizeof known);
    return o->order_given ? -1 : usage_fail("'%s': expected an order: %s", name, known);
}

static int option_parse(struct tool_options *o, int option)
{
    int64_t number;
    switch (option) {
    case 'o':
        if (o->out)
            return usage_fail("--output is given twice");
        o->out = optarg;
        return -1;
    case 'd':
        o->device_given = 1;
        return device_parse(o, optarg, "--device");
    case 'g':
        if (o->source)
            return usage_fail("one matrix at a time: -g is given twice");
        o->source = optarg;
        o->generated = 1;
        return -1;
    case 't':
        o->type_given = !weft_type_parse(&o->type, optarg);
        return o->type_given ? -1 : usage_fail("no type is named \"%s\": f32, f64, i32, pattern", optarg);
    case OPT_SEED:
        if (!bench_word_number(&number, optarg, 0, INT64_MAX))
            return usage_fail("--seed is \"%s\", not a number from 0 to 2^63-1", optarg);
        o->seed = (uint64_t)number;
        return -1;
    case OPT_INDEX:
        return bench_word_ofs(&o->ofs, optarg) ? -1 : usage_fail("--index is \"%s\", not 32 or 64", optarg);
    case OPT_COMPLEX:
        return bench_word_complex(&o->complex, optarg) ? -1
                                                       : usage_fail("--complex is \"%s\", not real or imag", optarg);
    case OPT_LIMIT:
        return bench_word_size(&o->limit, optarg)
                   ? -1
                   : usage_fail("--limit is \"%s\", not a size such as 800M or 16G", optarg);
    case OPT_JSON: // options_parse took it
        return -1;
    case OPT_ORDER:
        return order_parse(o, optarg);
    case OPT_PRODUCTS:
        if (!bench_word_number(&o->products, optarg, 0, INT64_MAX))
            return usage_fail("--products is \"%s\", not a number from 0 to 2^63-1", optarg);
        return -1;
    case OPT_SIZE:
        if (!bench_word_number(&number, optarg, 300, 10000))
            return usage_fail("--size is \"%s\", not a number of pixels from 300 to 10000", optarg);
        o->size = (int)number;
        return -1;
    case OPT_FORCE:
        o->force = 1;
        return -1;
    case OPT_LITMUS:
        o->litmus = 1;
        return -1;
    case OPT_SECONDS:
        return bench_word_number(&o->seconds, optarg, 1, 1000000)
                   ? -1
                   : usage_fail("--seconds is \"%s\", not a number from 1 to 1000000", optarg);
    case OPT_MEASURE:
        o->measure = 1;
        return -1;
    default:
        o->quiet = 1;
        return -1;
    }
}

// The words beside the options: matrices, and for some commands the file to write. No file has an empty name, which a script
// gives whose variable is not set.
static int words_parse(struct tool_options *o, const struct tool_command *c, int count, char **words)
{
    const int want = (c->matrix && !o->generated) + c->out;
    if ((o->json && !*o->json) || (o->out && !*o->out))
        return usage_fail("%s is empty: it wants a file", o->json && !*o->json ? "--json" : "--output");
    for (int i = 0; i < 2; i++) {
        const char *const file = i ? o->json : o->out;
        if (!bench_word_is_file(file))
            return usage_fail(
                "%s wants a FILE, here is \"%s\": `-` is the standard output, a file of that name is ./%s",
                i ? "--json" : "--output", file, file);
    }
    for (int i = 0; i < count; i++)
        if (!*words[i])
            return usage_fail("word %d of FILE and OUT is empty", i + 1);
    if (!count && want && o->json && !bench_word_is_stream(o->json))
        return usage_fail("no matrix is given: \"%s\" was taken as the file of --json; use --json -, or --json last",
                          o->json);
    if (count < want || count > (c->matrix && !o->generated ? c->matrix : 0) + c->out)
        return usage_fail("usage: weft %s [options] %s%s", c->name, c->words,
                          c->matrix ? ", with -g SPEC instead of FILE for a matrix made up" : "");
    if (count > want && (o->out || (o->json && !bench_word_is_stream(o->json))))
        return usage_fail("%s takes one matrix, here are %d", o->out ? "--output" : "--json FILE", count);
    if (c->matrix && !o->generated) {
        o->sources = words;
        o->nsources = count - c->out;
        words += o->nsources;
    }
    if (c->out)
        o->out = *words;
    return -1;
}

static int option_unknown(const struct tool_command *c, const char *name)
{
    const char *names[OPTIONS], *word = name + strspn(name, "-"), *meant = NULL;
    size_t count = 0;
    for (size_t i = 0; i < OPTIONS; i++)
        if (has_option(c, all_options[i].name))
            names[count++] = all_options[i].name;
    if (name[1] == '-')
        meant = weft__word_nearest(word, strcspn(word, "="), names, count, sizeof *names);
    return usage_fail("unknown option %s%s%s%s", name, meant ? ": did you mean --" : "", meant ? meant : "",
                      meant ? "?" : "");
}

static int options_parse(struct tool_options *o, const struct tool_command *c, int argc, char **argv)
{
    struct option longs[OPTIONS + 2] = {{"help", no_argument, NULL, 'h'}};
    for (size_t i = 0; i < OPTIONS; i++)
        longs[i + 1] = (struct option){all_options[i].name, all_options[i].value ? required_argument : no_argument,
                                       NULL, all_options[i].id};
    const char *device = getenv("WEFT_DEVICE");
    int status = -1, option;
    opterr = 0;
    while (status < 0 && (option = getopt_long(argc, argv, ":o:d:g:t:h", longs, NULL)) != -1) {
        char brief[3];
        const char *name = bench_word_refused(brief, argv);
        size_t i = 0;
        if (option == OPT_JSON || (option == ':' && optopt == OPT_JSON)) {
            if (o->json)
                return usage_fail("--json is given twice");
            o->json = bench_word_file(option, argv);
            option = OPT_JSON;
        }
        while (i < OPTIONS && all_options[i].id != option)
            i++;
        if (option == 'h')
            status = help_command(c);
        else if (option == ':')
            status = usage_fail("%s wants a value", name);
        else if (i == OPTIONS)
            status = option_unknown(c, name);
        else if (!has_option(c, all_options[i].name))
            status = usage_fail("weft %s has no option --%s", c->name, all_options[i].name);
        else
            status = option_parse(o, option);
    }
    if (status < 0 && device && *device && !o->device_given && has_option(c, "device"))
        status = device_parse(o, device, "WEFT_DEVICE");
    return status < 0 ? words_parse(o, c, argc - optind, argv + optind) : status;
}

// The tables above (bench_word_fields).
static int options_print(void)
{
    bench_word_fields(3, "program", "weft", WEFT_VERSION);
    for (size_t i = 0; i < COMMANDS; i++) {
        const struct tool_command *c = &commands[i];
        bench_word_fields(5, "command", c->name, c->words, c->line, c->help);
        for (size_t k = 0; k < OPTIONS; k++) {
            const char brief[2] = {(char)(all_options[k].id < 256 ? all_options[k].id : 0), 0};
            if (!has_option(c, all_options[k].name))
                continue;
            bench_word_fields(7, "option", all_options[k].name, brief, all_options[k].value, "", "",
                              all_options[k].help);
            bench_word_values(all_options[k].name);
        }
    }
    return TOOL_OK;
}

static int run(int argc, char **argv)
{
    struct tool_options o = {.size = 1200, .device = -1};
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "--version") && argc > 2)
        return usage_fail("--version stands alone, here is \"%s\"", argv[2]);
    if (!strcmp(name, "--version"))
        return puts("weft " WEFT_VERSION), TOOL_OK;
    if (!strcmp(name, "--options")) // for packaging/pages.py
        return options_print();
    if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h")) {
        if (argc > 3)
            return usage_fail("help is of one command, here are %d", argc - 2);
        const int all = argc < 3 || !strcmp(argv[2], "help") || !strcmp(argv[2], "--help") || !strcmp(argv[2], "-h");
        const struct tool_command *about = all ? NULL : command_find(argv[2]);
        if (!all && !about)
            return command_unknown(argv[2]);
        return about ? help_command(about) : help_all();
    }
    const struct tool_command *c = command_find(name);
    if (!c)
        return *name ? command_unknown(name) : usage_fail("which command?");
    const int status = options_parse(&o, c, argc - 1, argv + 1);
    if (status >= 0)
        return status;
    const char *const wrong = bench_word_environment();
    if (wrong)
        return usage_fail("%s", wrong);
    if (o.seconds && !o.litmus)
        return usage_fail("--seconds goes with --litmus");
    if (o.json && tool_out_check(o.json, o.force))
        return TOOL_USAGE;
    if (o.json && o.out && tool_out_same(o.json, o.out))
        return bench_word_is_stream(o.out)
                   ? usage_fail("one of --json and --output can go to the standard output, not both")
                   : usage_fail("--json and --output are the same file, %s", o.out);
    bench_progress_enable(o.quiet);
    int code = o.nsources ? TOOL_OK : c->run(&o);
    for (int i = 0; i < o.nsources; i++) { // one that fails leaves the others
        o.source = bench_word_is_stream(o.sources[i]) ? "/dev/stdin" : o.sources[i];
        const int one = c->run(&o);
        o.follows |= !one && !o.json;
        code = code ? code : one;
    }
    return code;
}

int main(int argc, char **argv)
{
    bench_streams_begin();
    return bench_streams_end("weft", run(argc, argv), TOOL_USAGE);
}
