// SPDX-License-Identifier: Apache-2.0
// The command line of weft-bench: what options mean.
#include "block.h"
#include "help.h"
#include "host/common/order.h"
#include "host/common/word.h"
#include "host/internal/inside.h"

#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/permute.h>

int bench_usage_fail(const char *format, ...)
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

// Next word of a list with commas, copied to `word`; NULL at the end. A word that does not fit is cut, and so unknown; behind a comma at
// the end there is one more, an empty one.
static const char *list_next(const char *list, char word[32])
{
    if (!list)
        return NULL;
    size_t length = strcspn(list, ",");
    snprintf(word, 32, "%.*s", (int)(length < 31 ? length : 31), list);
    return list + length + (list[length] == ',' && (!length || list[length + 1]));
}

static struct bench_word_hint op_hint(const char *word)
{
    const char *names[BENCH_ITEMS_MAX];
    size_t count = 0;
    for (const struct bench_op *const *op = bench_ops; *op && count < BENCH_ITEMS_MAX; op++)
        names[count++] = (*op)->name;
    return bench_word_hint(word, strlen(word), names, count, sizeof *names);
}

static struct bench_word_hint backend_hint(const char *word)
{
    const char *names[BENCH_ITEMS_MAX];
    size_t count = 0;
    for (const struct weft_backend *const *b = weft__backends; *b && count < BENCH_ITEMS_MAX; b++)
        names[count++] = (*b)->name;
    return bench_word_hint(word, strlen(word), names, count, sizeof *names);
}

static int ops_parse(struct bench_options *o, const struct option_row *row, const char *list)
{
    (void)row;
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
            return bench_usage_fail("no operation is named \"%s\"%s", word, op_hint(word).text);
    }
    return -1;
}

static int backends_parse(struct bench_options *o, const struct option_row *row, const char *list)
{
    (void)row;
    char word[32];
    int all = bench_list_has(list, "all");
    for (const char *at = list, *next; (next = list_next(at, word)), *at || at == list; at = next) {
        int found = !strcmp(word, "all");
        for (const struct weft_backend *const *b = weft__backends; *b; b++)
            found |= !strcmp((*b)->name, word);
        if (!found)
            return bench_usage_fail("no backend is named \"%s\"%s", word, backend_hint(word).text);
    }
    o->nbackends = 0;
    for (const struct weft_backend *const *b = weft__backends; *b && o->nbackends < BENCH_ITEMS_MAX; b++)
        if (all || bench_list_has(list, (*b)->name))
            o->backends[o->nbackends++] = *b;
    o->backends_given = !all;
    return -1;
}

static int types_parse(struct bench_options *o, const struct option_row *row, const char *list)
{
    (void)row;
    char word[32];
    o->ntypes = 0;
    for (const char *at = list, *next; (next = list_next(at, word)), *at || at == list; at = next) {
        int found = 0, all = !strcmp(word, "all");
        for (enum weft_type t = WEFT_TYPE_F32; t <= WEFT_TYPE_PATTERN; t++)
            if (all || !strcmp(word, weft_type_name(t))) {
                int there = 0;
                for (size_t i = 0; i < o->ntypes; i++)
                    there |= o->types[i] == t;
                if (!there)
                    o->types[o->ntypes++] = t;
                found = 1;
            }
        if (!found)
            return bench_usage_fail("no type is named \"%s\": f32, f64, i32, pattern", word);
    }
    return -1;
}

// By --device, or by WEFT_DEVICE, which has no row. A word that is no number is looked up among the devices (main.c).
static int device_parse(struct bench_options *o, const struct option_row *row, const char *text)
{
    int64_t index;
    o->device_word = NULL;
    if (!strcmp(text, "all")) {
        o->device = BENCH_ALL_DEVICES;
    } else if (!strcmp(text, "list")) {
        o->list = 1;
    } else if (bench_word_number(&index, text, 0, 9999)) {
        o->device = (int)index;
    } else if (strcspn(text, "0123456789-+") && *text) {
        o->device = BENCH_NAMED_DEVICE;
        o->device_word = text;
    } else {
        return bench_usage_fail("%s is \"%s\", not an index of --list, a word of a line there, `all` or `list`",
                                row ? "--device" : "WEFT_DEVICE", text);
    }
    return -1;
}

// "wg=128,ipt=8"
static int tune_parse(struct bench_options *o, const char *text)
{
    if ((size_t)snprintf(o->tune_text, sizeof o->tune_text, "%s", text) >= sizeof o->tune_text)
        return bench_usage_fail("--tune is too long");
    o->ntune = 0;
    char *save = NULL;
    for (char *word = strtok_r(o->tune_text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        char *value = strchr(word, '=');
        int64_t number;
        if (!value || value == word || !bench_word_number(&number, value + 1, 1, INT32_MAX))
            return bench_usage_fail("--tune wants AXIS=VALUE,..., not \"%s\"", word);
        if (o->ntune == BENCH_AXES_MAX)
            return bench_usage_fail("--tune names more than %d axes", BENCH_AXES_MAX);
        *value = 0;
        for (int i = 0; i < o->ntune; i++)
            if (!strcmp(o->tune[i].name, word))
                return bench_usage_fail("--tune names %s twice", word);
        o->tune[o->ntune].name = word;
        o->tune[o->ntune++].value = (int)number;
    }
    return o->ntune ? -1 : bench_usage_fail("--tune is empty");
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
            return bench_usage_fail("M N NNZ are three numbers, here %s %d", count == 1 ? "is" : "are", count);
        for (int i = 0; i < 3; i++)
            if (!bench_word_number(&size[i], words[i], 0, limits[i]))
                return bench_usage_fail("%s is \"%s\", not a number from 0 to %lld",
                                        i == 0   ? "M"
                                        : i == 1 ? "N"
                                                 : "NNZ",
                                        words[i], (long long)limits[i]);
        snprintf(o->spec, sizeof o->spec, "uniform:%lld,%lld,%lld", (long long)size[0], (long long)size[1],
                 (long long)size[2]);
        return source_add(o, o->spec, 1);
    }
    for (int i = 0; i < count && status < 0; i++)
        if (!*words[i])
            return bench_usage_fail("FILE %d is empty", i + 1);
    for (int i = 0; i < count && status < 0; i++)
        status = source_add(o, bench_word_is_stream(words[i]) ? "/dev/stdin" : words[i], 0);
    if (status < 0 && !o->nsources)
        status = source_add(o, BENCH_DEFAULT_SPEC, 1);
    return status;
}

// Every word of --orders is an order.
static int orders_check(const char *list)
{
    char word[32];
    for (const char *at = list, *next; (next = list_next(at, word)), *at || at == list; at = next) {
        int order;
        char known[160];
        if (strcmp(word, "all") && !bench_order_parse(&order, word, known, sizeof known))
            return bench_usage_fail("'%s': expected an order: %s", word, known);
    }
    return -1;
}

// What a study has where nothing else is given.
static int study_settle(struct bench_options *o)
{
    if (!o->types_given) {
        o->types[1] = WEFT_TYPE_F64;
        o->ntypes = 2;
    }
    o->trials = o->trials ? o->trials : 32;
    o->trial_s = o->trial_s > 0 ? o->trial_s : 0.1;
    return ops_parse(o, NULL, "spmv");
}

// ---- the options -----------------------------------------------------------------------------------------------

static void *member(struct bench_options *o, const struct option_row *row)
{
    return (char *)o + row->at;
}

static int flag_set(struct bench_options *o, const struct option_row *row, const char *text)
{
    (void)text;
    *(int *)member(o, row) = 1;
    return -1;
}

static int text_set(struct bench_options *o, const struct option_row *row, const char *text)
{
    *(const char **)member(o, row) = text;
    return -1;
}

static int file_set(struct bench_options *o, const struct option_row *row, const char *text)
{
    if (!bench_word_is_file(text))
        return bench_usage_fail(
            "--%s wants a FILE, here is \"%s\": `-` is the standard output, a file of that name is ./%s", row->name,
            text, text);
    return text_set(o, row, text);
}

// No file has an empty name, which a script gives whose variable is not set.
static int out_set(struct bench_options *o, const struct option_row *row, const char *text)
{
    return *text ? file_set(o, row, text) : REFUSED;
}

static int int_set(struct bench_options *o, const struct option_row *row, const char *text)
{
    int64_t number;
    if (!bench_word_number(&number, text, row->low, row->high))
        return REFUSED;
    *(int *)member(o, row) = (int)number;
    return -1;
}

static int int64_set(struct bench_options *o, const struct option_row *row, const char *text)
{
    return bench_word_number(member(o, row), text, row->low, row->high) ? -1 : REFUSED;
}

static int seconds_set(struct bench_options *o, const struct option_row *row, const char *text)
{
    char *end;
    const double seconds = strtod(text, &end);
    if (end == text || *end || !isfinite(seconds) || seconds <= 0)
        return REFUSED;
    *(double *)member(o, row) = seconds;
    return -1;
}

static int spec_add(struct bench_options *o, const struct option_row *row, const char *text)
{
    (void)row;
    return source_add(o, text, 1);
}

static int ofs_set(struct bench_options *o, const struct option_row *row, const char *text)
{
    return bench_word_ofs(member(o, row), text) ? -1 : REFUSED;
}

static int complex_set(struct bench_options *o, const struct option_row *row, const char *text)
{
    return bench_word_complex(member(o, row), text) ? -1 : REFUSED;
}

static int size_set(struct bench_options *o, const struct option_row *row, const char *text)
{
    return bench_word_size(member(o, row), text) ? -1 : REFUSED;
}

static int tune_set(struct bench_options *o, const struct option_row *row, const char *text)
{
    (void)row;
    o->tune_write |= !text;
    return text ? tune_parse(o, text) : -1;
}

static int study_set(struct bench_options *o, const struct option_row *row, const char *text)
{
    if (strcmp(text, row->argument))
        return bench_usage_fail("no study is named \"%s\": %s", text, row->argument);
    return text_set(o, row, text);
}

static int orders_set(struct bench_options *o, const struct option_row *row, const char *text)
{
    text_set(o, row, text);
    return orders_check(text);
}

static int version_print(struct bench_options *o, const struct option_row *row, const char *text)
{
    (void)o, (void)row, (void)text;
    puts("weft-bench " WEFT_VERSION);
    return BENCH_OK;
}

#define AT(name)      .at = offsetof(struct bench_options, name)
#define SECONDS(name) .parse = seconds_set, AT(name), .wants = "a number of seconds above 0"
#define GIVEN(name)   .given = offsetof(struct bench_options, name)
#define FLAG(name)    .parse = flag_set, AT(name)
#define TEXT(name)    .parse = text_set, AT(name)
#define OUT(name)     .parse = out_set, AT(name), .wants = "a file"
// clang-format off
// In the order of the help.
const struct option_row bench_option_rows[] = {
    {"list", NULL, "list the devices: index, platform, name, type, driver, memory; then the backends", FLAG(list),
     .brief = 'l', .group = "what to run"},
    {"device", "DEVICE", "its index in --list, `gpu`, `cpu` or a word of its line such as nvidia; `all`;\n"
     "`list` (default: WEFT_DEVICE, else the one that --list marks)", device_parse, .brief = 'd', GIVEN(device_given)},
    {"op", "LIST", "operations, or `all` (default transpose)", ops_parse, .brief = 'o', GIVEN(ops_given),
     .help_more = bench_help_ops},
    {"backend", "LIST", NULL, backends_parse, .brief = 'b', .help_more = bench_help_backends},
    {"algo", "LIST", "algorithms of the operation, or `all`; a backend that has none of them runs its\n"
     "first one, so that a comparison stays (default: the first one of ref and omp,\n"
     "the usual ones of opencl, all of a vendor)", TEXT(algos), .brief = 'a', .help_more = bench_help_algos},
    {"generate", "SPEC", "uniform:M,N,NNZ  power:M,N,NNZ  stencil5:K  stencil7:K  stencil27:K  fem:K,D\n"
     "band:N,W  dense:M,N  heavy:M,N,NNZ,ROW  rows:M,N,NNZ,K  cols:M,N,NNZ,K\n"
     "web:M,NNZ  rmat:M,NNZ  block:M,NNZ,B  kkt:M,NNZ  circuit:M,NNZ  lp:M,N,NNZ\n"
     "near:M,NNZ,W  arrow:M,W; behind it\n"
     "+shuffled, +unsorted for rows and columns, or columns of a row, in a random order\n"
     "(may be given several times, and with files)", spec_add, .brief = 'g', .group = "matrices"},
    {"seed", "S", "of generated matrices and data (default 0)", int64_set, AT(seed),
     .wants = "a number from 0 to 2^63-1", .high = INT64_MAX},
    {"type", "LIST", "f32, f64, i32, pattern, or `all` (default f32)", types_parse, .brief = 't', GIVEN(types_given)},
    {"index", "32|64", "width of offsets (default 32)", ofs_set, AT(ofs), .wants = "32 or 64"},
    {"complex", "PART", "of complex files take the parts `real` or `imag` (default: refuse them)", complex_set,
     AT(complex), .wants = "real or imag"},
    {"limit", "SIZE", "most memory for what a file promises, such as 800M or 16G (default: 1000 times the\n"
     "bytes of the file, and at least 256M)", size_set, AT(limit), .wants = "a size such as 800M or 16G"},
    {"reps", "N", "take N samples (default: at least 10 and 0.5 s, until the median is settled to\n"
     "1 %, 15 s at most)", int_set, AT(stop.reps), .wants = "a number from 1", .low = 1, .high = INT32_MAX,
     .group = "measuring"},
    {"min-time", "S", "sample for S seconds", SECONDS(stop.min_s)},
    {"calls", "N", "end to end by N calls from host to host (default: write + run + read)", int_set, AT(calls),
     .wants = "a number from 1 to 10000", .low = 1, .high = 10000},
    {"regret", NULL, "run every algorithm of opencl, then auto, which is compared with the best of them;\n"
     "what the library refuses is left out", FLAG(regret)},
    {"sweep", NULL, "run every point of the operation's tuning axes; a table, the best marked;\n"
     "with --tune AXIS=V,... of the other axes", FLAG(sweep)},
    {"tune", "AXIS=V,...", "run one tuning point, e.g. wg=128,ipt=8", tune_set, .optional = 1},
    {"tune", NULL, "find values for the device, and write them to the file that the library reads;\n"
     "of the operations of --op, by default all", .parse = NULL},
    {"tune-time", "S", "in about S seconds (default 60)", SECONDS(tune_s)},
    {"tune-file", "FILE", "there; without --tune: the file that is read (default: WEFT_TUNE, else\n"
     "~/.config/weft/tune.tsv)", .parse = file_set, AT(tune_file)},
    {"profile", NULL, "end to end, 10 times (--reps): write, kernel, read and the rest, each kernel, bytes\n"
     "beside the least; --json and --csv then hold that record (docs/profiling.md)", FLAG(profile)},
    {"overhead", NULL, "of --profile: as often unrecorded in between, for what recording costs", FLAG(overhead)},
    {"no-compile", NULL, "do not measure compilation, cold and from the cache, for --json and --csv", FLAG(no_compile)},
    {"products", "N", "runs of SpMV expected of a plan (default: not known)", int64_set, AT(products),
     .wants = "a number from 0", .high = INT64_MAX},
    {"hyb-width", "N", "entries of a row in the ELL part of opencl hyb and hyb_host (default: weft's choice)",
     int64_set, AT(hyb_width), .wants = "a number from 1", .low = 1, .high = INT32_MAX},
    {"no-roof", NULL, "do not measure the copy bandwidth", FLAG(no_roof)},
    {"study", "permute", "SpMV in several orders of rows and columns, f32 and f64 unless -t says else:\n"
     "GFLOP/s of many independent trials of each kernel (docs/randomization.md)", study_set, AT(study)},
    {"orders", "LIST", "of the study, beside regular: row, row-gradient, col-gradient, row-col, degree,\n"
     "rcm, row-entries, row-col-entries (default: all)", orders_set, AT(orders)},
    {"trials", "N", "of each order (default 32)", int_set, AT(trials), .wants = "a number from 1 to 10000", .low = 1,
     .high = 10000},
    {"trial-time", "S", "a trial repeats SpMV for S seconds (default 0.1)", SECONDS(trial_s)},
    {"json", "FILE", "a line of JSON for each result (`-` or no FILE: standard output, no table)", OUT(json),
     .file = 1, .group = "output"},
    {"csv", "FILE", "a row for each result (`-`: likewise)", OUT(csv)},
    {"trace", "FILE", "of --profile: every command, for Perfetto or chrome://tracing", OUT(trace)},
    {"html", "FILE", "of --profile: a report with pictures, one file that opens offline", OUT(html)},
    {"hash", NULL, "print a 64-bit hash of each transpose and each y of SpMV", FLAG(hash)},
    {"quiet", NULL, "no table, no progress", FLAG(quiet)},
    {"version", NULL, NULL, .parse = version_print},
    {"help", NULL, NULL, bench_help_print, .brief = 'h'},
    {"compare", NULL, NULL, FLAG(compare)}, // in the usage
    {"options", NULL, NULL, .parse = bench_help_fields}, // for packaging/pages.py
};
// clang-format on
enum { ROWS = sizeof bench_option_rows / sizeof *bench_option_rows };
_Static_assert(ROWS <= 64, "bench_options.given has a bit for each");
const size_t bench_option_count = ROWS, bench_option_helped = ROWS - 2;

enum { FIRST = 256 }; // of the numbers that getopt_long gives for rows

// The rows as getopt_long wants them: long options, and the letters in `briefs`.
static void getopt_fill(struct option longs[ROWS + 1], char briefs[2 * ROWS + 2])
{
    size_t count = 0;
    *briefs++ = ':';
    for (int i = 0; i < ROWS; i++) {
        const struct option_row *row = &bench_option_rows[i];
        if (!row->parse)
            continue;
        const int has = !row->argument ? no_argument : row->optional ? optional_argument : required_argument;
        longs[count++] = (struct option){row->name, has, NULL, FIRST + i};
        if (row->brief)
            *briefs++ = (char)row->brief;
        if (row->brief && row->argument)
            *briefs++ = ':';
    }
    longs[count] = (struct option){NULL, 0, NULL, 0};
    *briefs = 0;
}

// The row of what getopt_long gave; NULL: none.
static const struct option_row *row_of(int option)
{
    for (int i = 0; i < ROWS; i++)
        if (option == FIRST + i || (option && option == bench_option_rows[i].brief))
            return &bench_option_rows[i];
    return NULL;
}

static int unknown_option(const char *name)
{
    const char *word = name + strspn(name, "-");
    const struct option_row *rows = bench_option_rows;
    const char *meant = name[1] == '-' ? weft__word_nearest(word, strcspn(word, "="), rows, ROWS, sizeof *rows) : NULL;
    return bench_usage_fail("unknown option %s%s%s%s", name, meant ? ": did you mean --" : "", meant ? meant : "",
                            meant ? "?" : "");
}

static int option_parse(struct bench_options *o, int option, int argc, char **argv)
{
    char brief[3];
    const char *name = bench_word_refused(brief, argv);
    const struct option_row *row = row_of(option == ':' ? optopt : option);
    if (row && row->file)
        optarg = (char *)bench_word_file(option, argv);
    else if (option == ':')
        row = NULL;
    if (!row)
        return option == ':' ? bench_usage_fail("%s wants a value", name) : unknown_option(name);
    if (row->optional && !optarg && optind < argc && *argv[optind] != '-' && strchr(argv[optind], '='))
        optarg = argv[optind++]; // a point
    if (row->parse == out_set && o->given >> (row - bench_option_rows) & 1)
        return bench_usage_fail("--%s is given twice: one file takes all results", row->name);
    o->given |= UINT64_C(1) << (row - bench_option_rows);
    if (row->given)
        *(int *)((char *)o + row->given) = 1;
    const int status = row->parse(o, row, optarg);
    return status == REFUSED ? bench_usage_fail("--%s is \"%s\", not %s", row->name, optarg, row->wants) : status;
}

int bench_options_parse(struct bench_options *out, int argc, char **argv)
{
    *out = (struct bench_options){.device = BENCH_DEFAULT_DEVICE, .types = {WEFT_TYPE_F32}, .ntypes = 1};
    struct bench_options *o = out;
    struct option longs[ROWS + 1];
    char briefs[2 * ROWS + 2];
    int status = ops_parse(o, NULL, "transpose"), option;
    if (status < 0)
        status = backends_parse(o, NULL, "all");
    const char *device = getenv("WEFT_DEVICE");
    opterr = 0;
    getopt_fill(longs, briefs);
    while (status < 0 && (option = getopt_long(argc, argv, briefs, longs, NULL)) != -1)
        status = option_parse(o, option, argc, argv);
    if (status < 0 && device && *device && !o->device_given && !o->list)
        status = device_parse(o, NULL, device);
    o->sources_given = o->nsources || (optind < argc && status < 0);
    if (status < 0)
        status = positionals_parse(o, argc - optind, argv + optind);
    if (status < 0 && o->regret && !o->backends_given)
        status = backends_parse(o, NULL, "opencl");
    if (status < 0)
        status = bench_options_check(o, argc - optind);
    if (status < 0 && o->study)
        status = study_settle(o);
    o->compile = (o->json || o->csv) && !o->no_compile && !o->sweep && !o->tune_write && !o->profile;
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
