// SPDX-License-Identifier: Apache-2.0
// The command line of weft-bench: what options mean, what excludes what, and the help.
#include "block.h"
#include "host/common/word.h"

#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/permute.h>

#define DEFAULT_SPEC "uniform:500000,500000,10000000"

// Print `separator`, a space (not at the start of a line) and `text`; where that gets too long, on a new line.
static void help_word(int *column, int indent, const char *separator, const char *text)
{
    *column += printf("%s", separator);
    if (*column + (int)strlen(text) > 103)
        *column = printf("\n%*s", indent, "") - 1;
    *column += printf("%s%s", *column > indent ? " " : "", text);
}

static void help_print(void)
{
    int column = 26;
    fputs("usage: weft-bench [options]             " DEFAULT_SPEC "\n"
          "       weft-bench [options] M N NNZ     uniform random entries, that shape\n"
          "       weft-bench [options] FILE...     .mtx, .mtx.gz, or a SuiteSparse .tar.gz; - is standard input\n"
          "       weft-bench --compare A.json B.json\n"
          "                                        two files of results side by side, of --json or --profile --json\n"
          "\n"
          "Times sparse operations on every device and backend. Each result is compared with the serial\n"
          "reference before it is printed.\n"
          "\n"
          "what to run\n"
          "  -l, --list              list the devices: index, platform, name, type, driver, memory; then the backends\n"
          "  -d, --device INDEX      device by its index in --list, `all`, or `list` (default: WEFT_DEVICE,\n"
          "                          else the one that --list marks: a GPU where there is one)\n"
          "  -o, --op LIST           operations, or `all` (default transpose)\n",
          stdout);
    for (const struct bench_op *const *op = bench_ops; *op; op++)
        printf("                            %-10s %s\n", (*op)->name, (*op)->help);
    fputs("  -b, --backend LIST      ", stdout);
    for (const struct weft_backend *const *b = weft__backends; *b; b++)
        help_word(&column, 26, b == weft__backends ? "" : ",", (*b)->name);
    help_word(&column, 26, "", "(default: every one that can run)");
    fputs("\n"
          "  -a, --algo LIST         algorithms of the operation, or `all`; a backend that has none of them runs its\n"
          "                          first one, so that a comparison stays (default: the first one of ref and omp,\n"
          "                          the usual ones of opencl, all of a vendor)\n",
          stdout);
    for (const struct bench_op *const *op = bench_ops; *op; op++) {
        int named = 0;
        for (const struct weft_backend *const *b = weft__backends; *b; b++)
            for (const char *const *first = (*op)->algos(*b), *const *a = first; a && *a; a++) {
                char word[80];
                snprintf(word, sizeof word, "%s%s%s", a == first ? (*b)->name : "", a == first ? ": " : "", *a);
                if (!named++)
                    column = printf("                            %-10s ", (*op)->name);
                help_word(&column, 39, named == 1 ? "" : a == first ? ";" : ",", word);
            }
        if (named)
            putchar('\n');
    }
    fputs(
        "\n"
        "matrices\n"
        "  -g, --generate SPEC     uniform:M,N,NNZ  power:M,N,NNZ  stencil5:K  stencil27:K  band:N,W  dense:M,N\n"
        "                          heavy:M,N,NNZ,ROW  web:M,NNZ\n"
        "                          (may be given several times, and with files)\n"
        "      --seed S            of generated matrices and data (default 0)\n"
        "  -t, --type LIST         f32, f64, i32, pattern, or `all` (default f32)\n"
        "      --index 32|64       width of offsets (default 32)\n"
        "      --complex PART      of complex files take the parts `real` or `imag` (default: refuse them)\n"
        "      --limit SIZE        most memory for what a file promises, such as 800M or 16G (default: 1000 times the\n"
        "                          bytes of the file, and at least 256M)\n"
        "\n"
        "measuring\n"
        "      --reps N            take N samples (default: at least 10 and 0.5 s, until the median is settled to\n"
        "                          1 %, 15 s at most)\n"
        "      --min-time S        sample for S seconds\n"
        "      --regret            run every algorithm of opencl, then auto, which is compared with the best of them;\n"
        "                          what the library refuses is left out\n"
        "      --sweep             run every point of the operation's tuning axes; a table, the best marked\n"
        "      --tune AXIS=V,...   run one tuning point, e.g. wg=128,ipt=8\n"
        "      --tune              find values for the device, and write them to the file that the library reads;\n"
        "                          of the operations of --op, by default all\n"
        "      --tune-time S       in about S seconds (default 60)\n"
        "      --tune-file FILE    there; without --tune: the file that is read (default: WEFT_TUNE, else\n"
        "                          ~/.config/weft/tune.tsv)\n"
        "      --profile           end to end, 10 times (--reps): write, kernel, read and the rest, each kernel, "
        "bytes\n"
        "                          beside the least; --json and --csv then hold that record (docs/profiling.md)\n"
        "      --overhead          of --profile: as often unrecorded in between, for what recording costs\n"
        "      --no-compile        do not measure compilation, cold and from the cache, for --json and --csv\n"
        "      --products N        products expected of a plan (spmv; default: not known)\n"
        "      --no-roof           do not measure the copy bandwidth\n"
        "      --study permute     products in several orders of rows and columns, f32 and f64 unless -t says else:\n"
        "                          GFLOP/s of many independent trials of each kernel (docs/randomization.md)\n"
        "      --orders LIST       of the study, beside regular: row, row-gradient, col-gradient, row-col, degree,\n"
        "                          rcm (default: all)\n"
        "      --trials N          of each order (default 32)\n"
        "      --trial-time S      a trial repeats the product for S seconds (default 0.1)\n"
        "\n"
        "output\n"
        "      --json FILE         a line of JSON for each result (`-`: standard output instead of the table)\n"
        "      --csv FILE          a row for each result (`-`: likewise)\n"
        "      --trace FILE        of --profile: every command, for Perfetto or chrome://tracing\n"
        "      --html FILE         of --profile: a report with pictures, one file that opens offline\n"
        "      --hash              print a 64-bit hash of each transpose and product\n"
        "      --quiet             no table, no progress\n"
        "      --version\n"
        "  -h, --help\n"
        "\n"
        "exit status: 0 all results verified and printed; 1 a result was wrong; 2 bad usage or unreadable input;\n"
        "3 device or driver failed\n",
        stdout);
}

__attribute__((format(printf, 1, 2))) static int usage_fail(const char *format, ...)
{
    va_list args;
    char text[1024];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    bench_complain("%s (--help explains)", text);
    return BENCH_USAGE;
}

int bench_list_has(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, name, length) && (at[length] == 0 || at[length] == ','))
            return 1;
    return 0;
}

// Next word of a list with commas, copied to `word`; NULL at the end. A word that does not fit is cut, and so unknown.
static const char *list_next(const char *list, char word[32])
{
    if (!list)
        return NULL;
    size_t length = strcspn(list, ",");
    snprintf(word, 32, "%.*s", (int)(length < 31 ? length : 31), list);
    return list + length + (list[length] == ',');
}

static int ops_parse(struct bench_options *o, const char *list)
{
    char word[32];
    o->nops = 0;
    o->all_ops = bench_list_has(list, "all");
    for (const char *at = list, *next; (next = list_next(at, word)), *at || at == list; at = next) {
        int found = 0, all = !strcmp(word, "all");
        for (const struct bench_op *const *op = bench_ops; *op; op++)
            if (all || !strcmp((*op)->name, word)) {
                int there = 0;
                for (size_t i = 0; i < o->nops; i++)
                    there |= o->ops[i] == *op;
                if (!there && o->nops < BENCH_ITEMS_MAX)
                    o->ops[o->nops++] = *op;
                found = 1;
            }
        if (!found)
            return usage_fail("no operation is named \"%s\"", word);
    }
    return -1;
}

static int backends_parse(struct bench_options *o, const char *list)
{
    char word[32];
    int all = bench_list_has(list, "all");
    for (const char *at = list, *next; (next = list_next(at, word)), *at || at == list; at = next) {
        int found = !strcmp(word, "all");
        for (const struct weft_backend *const *b = weft__backends; *b; b++)
            found |= !strcmp((*b)->name, word);
        if (!found)
            return usage_fail("no backend is named \"%s\"", word);
    }
    o->nbackends = 0;
    for (const struct weft_backend *const *b = weft__backends; *b && o->nbackends < BENCH_ITEMS_MAX; b++)
        if (all || bench_list_has(list, (*b)->name))
            o->backends[o->nbackends++] = *b;
    o->backends_given = !all;
    return -1;
}

static int types_parse(struct bench_options *o, const char *list)
{
    char word[32];
    o->ntypes = 0;
    for (const char *at = list, *next; (next = list_next(at, word)), *at || at == list; at = next) {
        int found = 0, all = !strcmp(word, "all");
        for (enum weft_type t = WEFT_F32; t <= WEFT_PATTERN; t++)
            if (all || !strcmp(word, weft_type_name(t))) {
                int there = 0;
                for (size_t i = 0; i < o->ntypes; i++)
                    there |= o->types[i] == t;
                if (!there)
                    o->types[o->ntypes++] = t;
                found = 1;
            }
        if (!found)
            return usage_fail("no type is named \"%s\": f32, f64, i32, pattern", word);
    }
    return -1;
}

static int device_parse(struct bench_options *o, const char *text, const char *from)
{
    int64_t index;
    if (!strcmp(text, "all")) {
        o->device = BENCH_ALL_DEVICES;
    } else if (!strcmp(text, "list")) {
        o->list = 1;
    } else if (bench_word_number(&index, text, 0, 9999)) {
        o->device = (int)index;
    } else {
        return usage_fail("%s is \"%s\", not an index of --list, `all` or `list`", from, text);
    }
    return -1;
}

// "wg=128,ipt=8"
static int tune_parse(struct bench_options *o, const char *text)
{
    if ((size_t)snprintf(o->tune_text, sizeof o->tune_text, "%s", text) >= sizeof o->tune_text)
        return usage_fail("--tune is too long");
    o->ntune = 0;
    char *save = NULL;
    for (char *word = strtok_r(o->tune_text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        char *value = strchr(word, '=');
        int64_t number;
        if (!value || value == word || !bench_word_number(&number, value + 1, 1, INT32_MAX))
            return usage_fail("--tune wants AXIS=VALUE,..., not \"%s\"", word);
        if (o->ntune == BENCH_AXES_MAX)
            return usage_fail("--tune names more than %d axes", BENCH_AXES_MAX);
        *value = 0;
        o->tune[o->ntune].name = word;
        o->tune[o->ntune++].value = (int)number;
    }
    return o->ntune ? -1 : usage_fail("--tune is empty");
}

static int source_add(struct bench_options *o, const char *text, int generated)
{
    struct bench_source *grown = realloc(o->sources, (o->nsources + 1) * sizeof *grown);
    if (!grown) {
        bench_complain("out of host memory");
        return BENCH_DEVICE;
    }
    o->sources = grown;
    o->sources[o->nsources++] = (struct bench_source){text, generated};
    return -1;
}

// M N NNZ when the first one is a number, else files.
static int positionals_parse(struct bench_options *o, int count, char **words)
{
    int64_t size[3];
    const int64_t limits[] = {INT32_MAX, INT32_MAX, INT64_MAX};
    int status = -1;
    if (count && bench_word_number(size, words[0], INT64_MIN, INT64_MAX)) {
        if (count != 3)
            return usage_fail("M N NNZ are three numbers, here %s %d", count == 1 ? "is" : "are", count);
        for (int i = 0; i < 3; i++)
            if (!bench_word_number(&size[i], words[i], 0, limits[i]))
                return usage_fail("%s is \"%s\", not a number from 0 to %lld",
                                  i == 0   ? "M"
                                  : i == 1 ? "N"
                                           : "NNZ",
                                  words[i], (long long)limits[i]);
        snprintf(o->spec, sizeof o->spec, "uniform:%lld,%lld,%lld", (long long)size[0], (long long)size[1],
                 (long long)size[2]);
        return source_add(o, o->spec, 1);
    }
    for (int i = 0; i < count && status < 0; i++)
        status = source_add(o, bench_word_is_stream(words[i]) ? "/dev/stdin" : words[i], 0);
    if (status < 0 && !o->nsources)
        status = source_add(o, DEFAULT_SPEC, 1);
    return status;
}

enum {
    OPT_SEED = 256,
    OPT_INDEX,
    OPT_REPS,
    OPT_MIN_TIME,
    OPT_JSON,
    OPT_CSV,
    OPT_TRACE,
    OPT_HTML,
    OPT_TUNE,
    OPT_TUNE_TIME,
    OPT_TUNE_FILE,
    OPT_PRODUCTS,
    OPT_COMPLEX,
    OPT_LIMIT,
    OPT_STUDY,
    OPT_ORDERS,
    OPT_TRIALS,
    OPT_TRIAL_TIME,
    OPT_VERSION
};

// Every word of --orders is an order.
static int orders_check(const char *list)
{
    char word[32];
    for (const char *at = list, *next; (next = list_next(at, word)), *at || at == list; at = next) {
        enum weft_order order;
        struct weft_error err = {0};
        if (strcmp(word, "all") && weft_order_parse(&order, word, &err))
            return usage_fail("%s", err.text);
    }
    return -1;
}

// What only a study has, without one, or what a study lacks.
static int study_check(struct bench_options *o)
{
    if (!o->study)
        return o->orders || o->trials || o->trial_s > 0 ? usage_fail("--orders, --trials and --trial-time want --study")
                                                        : -1;
    if (o->sweep || o->ntune || o->stop.reps || o->stop.min_s > 0 || o->products || o->hash)
        return usage_fail("--study has its own measuring: no --sweep, --tune, --reps, --min-time, --products, --hash");
    if (!o->types_given) {
        o->types[1] = WEFT_F64;
        o->ntypes = 2;
    }
    for (size_t t = 0; t < o->ntypes; t++)
        if (o->types[t] == WEFT_I32)
            return usage_fail("--study has no i32");
    o->trials = o->trials ? o->trials : 32;
    o->trial_s = o->trial_s > 0 ? o->trial_s : 0.1;
    return ops_parse(o, "spmv");
}

static int option_parse(struct bench_options *o, int option, const char *name)
{
    int64_t number;
    char *end;
    switch (option) {
    case 'd':
        return device_parse(o, optarg, "--device");
    case 'o':
        o->ops_given = 1;
        return ops_parse(o, optarg);
    case 'b':
        return backends_parse(o, optarg);
    case 'a':
        o->algos = optarg;
        return -1;
    case 'g':
        return source_add(o, optarg, 1);
    case 't':
        o->types_given = 1;
        return types_parse(o, optarg);
    case OPT_TUNE:
        o->tune_write |= !optarg;
        return optarg ? tune_parse(o, optarg) : -1;
    case OPT_TUNE_TIME:
        o->tune_s = strtod(optarg, &end);
        if (end == optarg || *end || !isfinite(o->tune_s) || o->tune_s <= 0)
            return usage_fail("--tune-time is \"%s\", not a number of seconds above 0", optarg);
        return -1;
    case OPT_TUNE_FILE:
        o->tune_file = optarg;
        return -1;
    case OPT_JSON:
        o->json = optarg;
        return -1;
    case OPT_CSV:
        o->csv = optarg;
        return -1;
    case OPT_TRACE:
        o->trace = optarg;
        return -1;
    case OPT_HTML:
        o->html = optarg;
        return -1;
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
    case OPT_REPS:
        if (!bench_word_number(&number, optarg, 1, INT32_MAX))
            return usage_fail("--reps is \"%s\", not a number from 1", optarg);
        o->stop.reps = (int)number;
        return -1;
    case OPT_MIN_TIME:
        o->stop.min_s = strtod(optarg, &end);
        if (end == optarg || *end || !isfinite(o->stop.min_s) || o->stop.min_s <= 0)
            return usage_fail("--min-time is \"%s\", not a number of seconds above 0", optarg);
        return -1;
    case OPT_PRODUCTS:
        if (!bench_word_number(&o->products, optarg, 0, INT64_MAX))
            return usage_fail("--products is \"%s\", not a number from 0", optarg);
        return -1;
    case OPT_STUDY:
        if (strcmp(optarg, "permute"))
            return usage_fail("no study is named \"%s\": permute", optarg);
        o->study = optarg;
        return -1;
    case OPT_ORDERS:
        o->orders = optarg;
        return orders_check(optarg);
    case OPT_TRIALS:
        if (!bench_word_number(&number, optarg, 1, 10000))
            return usage_fail("--trials is \"%s\", not a number from 1 to 10000", optarg);
        o->trials = (int)number;
        return -1;
    case OPT_TRIAL_TIME:
        o->trial_s = strtod(optarg, &end);
        if (end == optarg || *end || !isfinite(o->trial_s) || o->trial_s <= 0)
            return usage_fail("--trial-time is \"%s\", not a number of seconds above 0", optarg);
        return -1;
    case ':':
        return usage_fail("%s wants a value", name);
    default:
        return usage_fail("unknown option %s", name);
    }
}

int bench_options_parse(struct bench_options *out, int argc, char **argv)
{
    *out = (struct bench_options){.device = BENCH_DEFAULT_DEVICE, .types = {WEFT_F32}, .ntypes = 1};
    struct bench_options *o = out;
    int no_compile = 0;
    const struct option longs[] = {{"list", no_argument, &o->list, 1},
                                   {"device", required_argument, NULL, 'd'},
                                   {"op", required_argument, NULL, 'o'},
                                   {"backend", required_argument, NULL, 'b'},
                                   {"algo", required_argument, NULL, 'a'},
                                   {"generate", required_argument, NULL, 'g'},
                                   {"type", required_argument, NULL, 't'},
                                   {"seed", required_argument, NULL, OPT_SEED},
                                   {"index", required_argument, NULL, OPT_INDEX},
                                   {"complex", required_argument, NULL, OPT_COMPLEX},
                                   {"limit", required_argument, NULL, OPT_LIMIT},
                                   {"reps", required_argument, NULL, OPT_REPS},
                                   {"min-time", required_argument, NULL, OPT_MIN_TIME},
                                   {"json", required_argument, NULL, OPT_JSON},
                                   {"csv", required_argument, NULL, OPT_CSV},
                                   {"trace", required_argument, NULL, OPT_TRACE},
                                   {"html", required_argument, NULL, OPT_HTML},
                                   {"profile", no_argument, &o->profile, 1},
                                   {"overhead", no_argument, &o->overhead, 1},
                                   {"tune", optional_argument, NULL, OPT_TUNE},
                                   {"tune-time", required_argument, NULL, OPT_TUNE_TIME},
                                   {"tune-file", required_argument, NULL, OPT_TUNE_FILE},
                                   {"products", required_argument, NULL, OPT_PRODUCTS},
                                   {"study", required_argument, NULL, OPT_STUDY},
                                   {"orders", required_argument, NULL, OPT_ORDERS},
                                   {"trials", required_argument, NULL, OPT_TRIALS},
                                   {"trial-time", required_argument, NULL, OPT_TRIAL_TIME},
                                   {"quiet", no_argument, &o->quiet, 1},
                                   {"hash", no_argument, &o->hash, 1},
                                   {"compare", no_argument, &o->compare, 1},
                                   {"sweep", no_argument, &o->sweep, 1},
                                   {"regret", no_argument, &o->regret, 1},
                                   {"no-compile", no_argument, &no_compile, 1},
                                   {"no-roof", no_argument, &o->no_roof, 1},
                                   {"version", no_argument, NULL, OPT_VERSION},
                                   {"help", no_argument, NULL, 'h'},
                                   {NULL, 0, NULL, 0}};
    int status = ops_parse(o, "transpose"), option;
    if (status < 0)
        status = backends_parse(o, "all");
    const char *device = getenv("WEFT_DEVICE");
    opterr = 0;
    while (status < 0 && (option = getopt_long(argc, argv, ":ld:o:b:a:g:t:h", longs, NULL)) != -1) {
        char brief[3];
        const char *name = bench_word_refused(brief, argv);
        if (option == 'h') {
            help_print();
            status = BENCH_OK;
        } else if (option == OPT_VERSION) {
            puts("weft-bench " WEFT_VERSION);
            status = BENCH_OK;
        } else if (option == 'l') {
            o->list = 1;
        } else if (option) {
            if (option == 'd')
                device = NULL; // --device says another
            if (option == OPT_TUNE && !optarg && optind < argc && *argv[optind] != '-' && strchr(argv[optind], '='))
                optarg = argv[optind++]; // a point
            status = option_parse(o, option, name);
        }
    }
    if (status < 0 && device && *device && !o->list)
        status = device_parse(o, device, "WEFT_DEVICE");
    o->sources_given = o->nsources || (optind < argc && status < 0);
    if (status < 0)
        status = positionals_parse(o, argc - optind, argv + optind);
    if (status < 0 && o->compare && (argc - optind != 2 || o->nsources != 2))
        status = usage_fail("--compare wants two files");
    if (status < 0 && o->compare && (o->csv || o->profile || o->sweep || o->study))
        status = usage_fail("--compare goes with --json and --quiet");
    if (status < 0 && o->stop.reps && o->stop.min_s > 0)
        status = usage_fail("--reps and --min-time exclude each other");
    if (status < 0 && o->profile && (o->sweep || o->study || o->stop.min_s > 0 || o->hash))
        status = usage_fail("--profile goes without --sweep, --study, --min-time and --hash");
    if (status < 0 && !o->profile && (o->trace || o->html || o->overhead))
        status = usage_fail("%s needs --profile", o->trace ? "--trace" : o->html ? "--html" : "--overhead");
    if (status < 0 && o->regret && (o->sweep || o->ntune || o->tune_write || o->profile || o->study || o->compare))
        status = usage_fail("--regret goes without --sweep, --tune, --profile, --study and --compare");
    if (status < 0 && o->regret && !o->backends_given)
        status = backends_parse(o, "opencl");
    if (status < 0 && o->sweep && (o->ntune || o->tune_write))
        status = usage_fail("--sweep and --tune exclude each other");
    if (status < 0 && o->ntune && o->tune_write)
        status = usage_fail("--tune runs a point or finds the best, not both");
    if (status < 0 && o->tune_s > 0 && !o->tune_write)
        status = usage_fail("--tune-time goes with --tune");
    if (status < 0 && bench_word_is_stream(o->json) + bench_word_is_stream(o->csv) + bench_word_is_stream(o->trace) +
                              bench_word_is_stream(o->html) >
                          1)
        status = usage_fail("one of --json, --csv, --trace and --html can go to the standard output, not several");
    if (status < 0)
        status = study_check(o);
    o->compile = (o->json || o->csv) && !no_compile && !o->sweep && !o->tune_write && !o->profile;
    if (status >= 0)
        bench_options_free(o);
    return status;
}

void bench_options_free(struct bench_options *options)
{
    free(options->sources);
    options->sources = NULL;
    options->nsources = 0;
}
