// SPDX-License-Identifier: Apache-2.0
// Reading Matrix Market text: what is read, what is refused and where, and that neither depends on blocks or threads.
#include "host/internal/tests.h"
#include "tests/support/rng.h"
#include "tests/support/tap.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static weft_status parse(struct weft_csr *out, struct weft_mtx_info *info, const char *text,
                         const struct weft_mtx_params *params, struct weft_error *err)
{
    return weft_mtx_parse(out, info, "file", text, strlen(text), params, err);
}

// ---- what is read ----------------------------------------------------------------------------------------------

struct good {
    const char *name, *text;
    enum weft_mtx_complex complex;
    int keep_symmetric;
    int64_t m, n;
    const char *rows; // "(row, col) value" of each entry in CSR order, 0-based
};

static const struct good goods[] = {
    {"coordinate real", "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1.5\n2 3 -2e0\n1 3 .25\n", 0, 0, 2,
     3, "0,0:1.5 0,2:0.25 1,2:-2 "},
    {"coordinate integer", "%%MatrixMarket matrix coordinate integer general\n2 2 2\n2 1 -7\n1 2 +3\n", 0, 0, 2, 2,
     "0,1:3 1,0:-7 "},
    {"coordinate unsigned-integer, as scipy writes it",
     "%%MatrixMarket matrix coordinate unsigned-integer general\n2 2 2\n2 1 2000000000\n1 2 3\n", 0, 0, 2, 2,
     "0,1:3 1,0:2e+09 "},
    {"array unsigned-integer", "%%MatrixMarket matrix array Unsigned-Integer general\n1 1\n-1\n", 0, 0, 1, 1,
     "0,0:-1 "},
    {"coordinate pattern", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n2 1\n1 2\n", 0, 0, 2, 2,
     "0,1:1 1,0:1 "},
    {"duplicates and the order of a row stay",
     "%%MatrixMarket matrix coordinate real general\n1 3 4\n1 3 1\n1 1 2\n1 3 3\n1 2 0\n", 0, 0, 1, 3,
     "0,2:1 0,0:2 0,2:3 0,1:0 "},
    {"symmetric", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n3 1 2\n3 2 3\n", 0, 0, 3, 3,
     "0,0:1 0,2:2 1,2:3 2,0:2 2,1:3 "},
    {"symmetric, stored triangle", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n3 1 2\n3 2 3\n", 0,
     1, 3, 3, "0,0:1 2,0:2 2,1:3 "},
    {"symmetric pattern", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n", 0, 0, 2, 2,
     "0,1:1 1,0:1 1,1:1 "},
    {"skew-symmetric", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 4\n3 2 -5\n", 0, 0, 3, 3,
     "0,1:-4 1,0:4 1,2:5 2,1:-5 "},
    {"skew-symmetric with a zero on the diagonal",
     "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 2\n1 1 0\n2 1 4\n", 0, 0, 2, 2,
     "0,0:0 0,1:-4 1,0:4 "},
    {"hermitian of real values", "%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n2 1 4\n", 0, 0, 2, 2,
     "0,1:4 1,0:4 "},
    {"complex, real parts", "%%MatrixMarket matrix coordinate complex general\n1 2 2\n1 1 1 2\n1 2 3 4\n",
     WEFT_MTX_COMPLEX_REAL, 0, 1, 2, "0,0:1 0,1:3 "},
    {"complex, imaginary parts", "%%MatrixMarket matrix coordinate complex general\n1 2 2\n1 1 1 2\n1 2 3 4\n",
     WEFT_MTX_COMPLEX_IMAG, 0, 1, 2, "0,0:2 0,1:4 "},
    {"complex symmetric, imaginary parts", "%%MatrixMarket matrix coordinate complex symmetric\n2 2 1\n2 1 3 4\n",
     WEFT_MTX_COMPLEX_IMAG, 0, 2, 2, "0,1:4 1,0:4 "},
    {"hermitian, real parts", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 9 0\n2 1 3 4\n",
     WEFT_MTX_COMPLEX_REAL, 0, 2, 2, "0,0:9 0,1:3 1,0:3 "},
    {"hermitian, imaginary parts", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 9 0\n2 1 3 4\n",
     WEFT_MTX_COMPLEX_IMAG, 0, 2, 2, "0,0:0 0,1:-4 1,0:4 "},
    {"complex skew-symmetric, imaginary parts",
     "%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n2 1 3 4\n", WEFT_MTX_COMPLEX_IMAG, 0, 2, 2,
     "0,1:-4 1,0:4 "},
    {"array", "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n", 0, 0, 2, 3,
     "0,0:1 0,1:3 0,2:5 1,0:2 1,1:4 1,2:6 "},
    {"array symmetric", "%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", 0, 0, 3, 3,
     "0,0:1 0,1:2 0,2:3 1,0:2 1,1:4 1,2:5 2,0:3 2,1:5 2,2:6 "},
    {"array symmetric, stored triangle", "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n", 0, 1, 2, 2,
     "0,0:1 1,0:2 1,1:3 "},
    {"array skew-symmetric", "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n", 0, 0, 3, 3,
     "0,1:-1 0,2:-2 1,0:1 1,2:-3 2,0:2 2,1:3 "},
    {"array complex", "%%MatrixMarket matrix array complex general\n2 1\n1 2\n3 4\n", WEFT_MTX_COMPLEX_IMAG, 0, 2, 1,
     "0,0:2 1,0:4 "},
    {"array of one skew-symmetric number", "%%MatrixMarket matrix array real skew-symmetric\n1 1\n", 0, 0, 1, 1, ""},
    {"comments, blank lines, blanks",
     "%%MatrixMarket matrix coordinate real general\n% comment\n\n   % another\n\t \n  2\t2   2  \n\n%\n  1 1  1  \n\n "
     "% x "
     "\n\t2  2\t2\t\n\n%end",
     0, 0, 2, 2, "0,0:1 1,1:2 "},
    {"carriage returns", "%%MatrixMarket matrix coordinate real general\r\n% c\r\n\r\n2 2 1\r\n1 2 3\r\n\r\n", 0, 0, 2,
     2, "0,1:3 "},
    {"words in any case", "%%matrixmarket MATRIX Coordinate REAL General\n1 1 1\n1 1 1E1\n", 0, 0, 1, 1, "0,0:10 "},
    {"no line end at the end", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 2", 0, 0, 2, 2, "1,1:1 "},
    {"leading zeros", "%%MatrixMarket matrix coordinate real general\n002 02 1\n0000000000000000000000001 02 007.50\n",
     0, 0, 2, 2, "0,1:7.5 "},
    {"no entries", "%%MatrixMarket matrix coordinate real general\n5 4 0\n", 0, 0, 5, 4, ""},
    {"0 x 0", "%%MatrixMarket matrix coordinate pattern symmetric\n0 0 0", 0, 0, 0, 0, ""},
    {"0 x 3 array", "%%MatrixMarket matrix array real general\n0 3\n", 0, 0, 0, 3, ""},
    {"the largest size", "%%MatrixMarket matrix coordinate real general\n1 2147483647 1\n1 2147483647 1\n", 0, 0, 1,
     2147483647, "0,2147483646:1 "},
};

static void describe(char *text, size_t room, const struct weft_csr *a)
{
    size_t used = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1) && used < room; p++) {
            double v = a->type == WEFT_TYPE_F32   ? (double)((float *)a->val)[p]
                       : a->type == WEFT_TYPE_F64 ? ((double *)a->val)[p]
                       : a->type == WEFT_TYPE_I32 ? ((int32_t *)a->val)[p]
                                                  : 1;
            used += (size_t)snprintf(text + used, room - used, "%lld,%d:%g ", (long long)i, a->col[p], v + 0.0);
        }
}

static void test_goods(void)
{
    for (size_t i = 0; i < COUNT(goods); i++) {
        struct weft_error err = {0};
        for (int type = WEFT_TYPE_F32; type <= WEFT_TYPE_PATTERN; type++) {
            const struct good *g = &goods[i];
            struct weft_csr a;
            struct weft_mtx_info info;
            char text[512];
            int fraction = strstr(g->rows, ".") != NULL;
            weft_status status =
                parse(&a, &info, g->text,
                      weft_mtx_params(.type = (enum weft_type)type, .complex = g->complex,
                                      .keep_symmetric = g->keep_symmetric, .ofs = i % 2 ? WEFT_OFS_64 : WEFT_OFS_32),
                      &err);
            if (type == WEFT_TYPE_I32 && fraction) {
                tap_is_int(status, WEFT_ERANGE, "%s: fractions do not fit i32", g->name);
                continue;
            }
            if (!tap_ok(!status, "%s, %s is read", g->name, weft_type_name((enum weft_type)type))) {
                tap_note("%s", err.text);
                continue;
            }
            tap_ok(a.m == g->m && a.n == g->n && info.m == g->m && info.n == g->n && !weft_csr_validate(&a, NULL) &&
                       info.file_bytes == (int64_t)strlen(g->text),
                   "%s: sizes", g->name);
            describe(text, sizeof text, &a);
            if (type == WEFT_TYPE_PATTERN)
                tap_ok(!a.val, "%s: a pattern has no values", g->name);
            else
                tap_is_str(text, g->rows, "%s: entries", g->name);
            weft_csr_free(&a);
        }
    }
}

// ---- what is refused -------------------------------------------------------------------------------------------

#define REAL "%%MatrixMarket matrix coordinate real general\n"

struct bad {
    const char *name, *text;
    weft_status status;
    const char *message; // its beginning: file name and line
};

static const struct bad bads[] = {
    {"empty file", "", WEFT_EFORMAT, "file:1: the file is empty"},
    {"not Matrix Market", "hello\n", WEFT_EFORMAT, "file:1: not a Matrix Market file"},
    {"one percent sign", "%MatrixMarket matrix coordinate real general\n1 1 0\n", WEFT_EFORMAT, "file:1: not a"},
    {"blank first line", "\n" REAL "1 1 0\n", WEFT_EFORMAT, "file:1: not a"},
    {"object", "%%MatrixMarket vector coordinate real general\n", WEFT_EFORMAT,
     "file:1: header: expected 'matrix', found 'vector'"},
    {"format", "%%MatrixMarket matrix dense real general\n", WEFT_EFORMAT, "file:1: header: expected 'coordinate' or"},
    {"field", "%%MatrixMarket matrix array double general\n", WEFT_EFORMAT, "file:1: header: expected 'real',"},
    {"fraction in an unsigned-integer file",
     "%%MatrixMarket matrix coordinate unsigned-integer general\n1 1 1\n1 1 .5\n", WEFT_EFORMAT,
     "file:3: '.5' is not an integer"},
    {"symmetry", "%%MatrixMarket matrix array real diagonal\n", WEFT_EFORMAT, "file:1: header: expected 'general',"},
    {"header too short", "%%MatrixMarket matrix coordinate\n", WEFT_EFORMAT, "file:1: header: expected 'real',"},
    {"header too long", "%%MatrixMarket matrix coordinate real general x\n", WEFT_EFORMAT,
     "file:1: header: unexpected 'x'"},
    {"carriage returns only", "%%MatrixMarket matrix coordinate real general\r1 1 1\r1 1 1\r", WEFT_EFORMAT,
     "file:1: lines end in a carriage return alone"},
    {"pattern array", "%%MatrixMarket matrix array pattern general\n1 1\n", WEFT_EFORMAT, "file:1: header: a pattern"},
    {"skew pattern", "%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n", WEFT_EFORMAT,
     "file:1: header: a pattern"},
    {"header only", REAL, WEFT_EFORMAT, "file:1: the file ends before its size line"},
    {"header and comments only", REAL "%\n\n", WEFT_EFORMAT, "file:3: the file ends before its size line"},
    {"size line too short", REAL "% c\n1 1\n", WEFT_EFORMAT, "file:3: size line: the number of entries is missing"},
    {"size line too long", REAL "1 1 1 1\n", WEFT_EFORMAT, "file:2: size line: unexpected '1'"},
    {"negative size", REAL "-1 1 1\n", WEFT_EFORMAT, "file:2: size line: '-1' is not a number of rows"},
    {"size with a point", REAL "1 1.0 1\n", WEFT_EFORMAT, "file:2: size line: '1.0' is not a number of columns"},
    {"rows past 31 bits", REAL "2147483648 1 0\n", WEFT_ERANGE, "file:2: 2147483648 x 1: rows and columns"},
    {"columns past 31 bits", REAL "1 99999999999 0\n", WEFT_ERANGE, "file:2: 1 x 99999999999: rows and columns"},
    {"entries past 31 bits", REAL "9 9 2147483648\n", WEFT_ERANGE, "file:2: 32-bit offsets cannot count 2147483648"},
    {"entries past 64 bits", REAL "9 9 9223372036854775808\n", WEFT_ERANGE,
     "file:2: size line: the number of entries exceeds"},
    {"array past 31 bits", "%%MatrixMarket matrix array real general\n99999 99999\n", WEFT_ERANGE,
     "file:2: 32-bit offsets"},
    {"symmetric rectangle", "%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n", WEFT_EFORMAT,
     "file:2: a matrix of 2 x 3"},
    {"more rows than the file can use", REAL "2000000000 1 1\n1 1 1\n", WEFT_ERANGE, "file:2: far more rows"},
    {"row index 0", REAL "2 2 1\n0 1 1\n", WEFT_EFORMAT, "file:3: row index '0' is outside 1 .. 2"},
    {"row index too large", REAL "2 2 1\n3 1 1\n", WEFT_EFORMAT, "file:3: row index '3' is outside 1 .. 2"},
    {"column index 0", REAL "2 2 1\n1 0 1\n", WEFT_EFORMAT, "file:3: column index '0' is outside 1 .. 2"},
    {"column index too large", REAL "2 2 2\n1 2 1\n%\n1 3 1\n", WEFT_EFORMAT,
     "file:5: column index '3' is outside 1 .. 2"},
    {"index that wraps around 64 bits", REAL "2 2 1\n18446744073709551617 1 1\n", WEFT_EFORMAT,
     "file:3: row index '18446744073709551617'"},
    {"index in an empty matrix", REAL "0 2 1\n1 1 1\n", WEFT_EFORMAT, "file:3: row index '1': the matrix has none"},
    {"negative index", REAL "2 2 1\n-1 1 1\n", WEFT_EFORMAT, "file:3: '-1' is not a row index"},
    {"index with a point", REAL "2 2 1\n1 1.0 1\n", WEFT_EFORMAT, "file:3: '1.0' is not a column index"},
    {"word for an index", REAL "2 2 1\nx 1 1\n", WEFT_EFORMAT, "file:3: 'x' is not a row index"},
    {"column missing", REAL "2 2 1\n1\n", WEFT_EFORMAT, "file:3: the line ends where a column index"},
    {"value missing", REAL "2 2 1\n1 1\n", WEFT_EFORMAT, "file:3: the line ends where a value"},
    {"word for a value", REAL "2 2 1\n1 1 one\n", WEFT_EFORMAT, "file:3: 'one' is not a number"},
    {"garbage after a value", REAL "2 2 1\n1 1 1.5x\n", WEFT_EFORMAT, "file:3: '1.5x' is not a number"},
    {"decimal comma", REAL "2 2 1\n1 1 1,5\n", WEFT_EFORMAT, "file:3: '1,5' is not a number"},
    {"hexadecimal value", REAL "2 2 1\n1 1 0x10\n", WEFT_EFORMAT, "file:3: '0x10' is not a number"},
    {"words after an entry", REAL "2 2 1\n1 1 1 1\n", WEFT_EFORMAT, "file:3: unexpected '1' after the entry"},
    {"comment after an entry", REAL "2 2 1\n1 1 1 % one\n", WEFT_EFORMAT, "file:3: unexpected '%' after the entry"},
    {"value in a pattern", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1\n", WEFT_EFORMAT,
     "file:3: unexpected '1'"},
    {"two numbers on a line of an array", "%%MatrixMarket matrix array real general\n2 1\n1 2\n", WEFT_EFORMAT,
     "file:3: unexpected '2'"},
    {"fraction in an integer file", "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n", WEFT_EFORMAT,
     "file:3: '1.5' is not an integer"},
    {"control characters", REAL "2 2 1\n1 1 \x01\x1b\n", WEFT_EFORMAT, "file:3: '\\x01\\x1b' is not a number"},
    {"value past f32", REAL "1 1 1\n1 1 1e39\n", WEFT_ERANGE, "file:3: '1e39' exceeds the range of f32"},
    {"above the diagonal", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", WEFT_EFORMAT,
     "file:3: entry (1, 2) above"},
    {"skew diagonal", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n", WEFT_EFORMAT,
     "file:3: entry (2, 2): the diagonal"},
    {"too few entries", REAL "2 2 3\n1 1 1\n2 2 2\n", WEFT_EFORMAT,
     "file:2: 3 entries are announced here, and the file holds 2"},
    {"too many entries", REAL "2 2 1\n1 1 1\n2 2 2\n", WEFT_EFORMAT,
     "file:2: 1 entries are announced here, and the file holds more"},
    {"far fewer entries than announced", REAL "2 2 2000000000\n1 1 1\n", WEFT_EFORMAT,
     "file:2: 2000000000 entries are"},
    {"far fewer numbers than announced", "%%MatrixMarket matrix array real general\n40000 40000\n1\n", WEFT_EFORMAT,
     "file:2: 1600000000 entries are"},
    {"too few numbers", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", WEFT_EFORMAT,
     "file:2: 4 entries are"},
    {"too many numbers", "%%MatrixMarket matrix array real symmetric\n1 1\n1\n2\n", WEFT_EFORMAT,
     "file:2: 1 entries are"},
    {"the first of two errors counts", REAL "2 2 2\n1 1 x\n9 9 9\n", WEFT_EFORMAT, "file:3: 'x'"},
    {"complex without being asked", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n",
     WEFT_EUNSUPPORTED, "file:1: complex values do not fit f32"},
};

static void test_bads(void)
{
    for (size_t i = 0; i < COUNT(bads); i++) {
        struct weft_csr a;
        struct weft_error err = {0};
        static const struct weft_csr zero;
        weft_status status = parse(&a, NULL, bads[i].text, NULL, &err);
        int same = !strncmp(err.text, bads[i].message, strlen(bads[i].message));
        if (!tap_ok(status == bads[i].status && err.status == status && same && !memcmp(&a, &zero, sizeof a),
                    "refused: %s", bads[i].name))
            tap_note("status %d, expected %d; \"%s\", expected \"%s\"", status, bads[i].status, err.text,
                     bads[i].message);
        weft_csr_free(&a);
    }
}

static void refused_as(const char *name, const char *text, size_t bytes, const struct weft_mtx_params *params,
                       weft_status want, const char *message)
{
    struct weft_csr a;
    struct weft_error err = {0};
    weft_status status = weft_mtx_parse(&a, NULL, "file", text, bytes, params, &err);
    if (!tap_ok(status == want && strstr(err.text, message), "refused: %s", name))
        tap_note("status %d, expected %d; \"%s\"", status, want, err.text);
    weft_csr_free(&a);
}

static void test_special(void)
{
    static const char nul[] = REAL "2 2 1\n1 \0 1\n";
    refused_as("NUL in an entry", nul, sizeof nul - 1, NULL, WEFT_EFORMAT, "file:3: '\\x00' is not a column index");
    static const char nul2[] = REAL "2 2 \0\n";
    refused_as("NUL in the size line", nul2, sizeof nul2 - 1, NULL, WEFT_EFORMAT, "file:2: size line: '\\x00'");
    static const char big[] = REAL "1 1 1\n1 1 1e309\n";
    refused_as("value past f64", big, sizeof big - 1, weft_mtx_params(.type = WEFT_TYPE_F64), WEFT_ERANGE,
               "file:3: '1e309' exceeds the range of f64");
    static const char past[] = "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 2147483648\n";
    refused_as("integer past i32", past, sizeof past - 1, weft_mtx_params(.type = WEFT_TYPE_I32), WEFT_ERANGE,
               "file:3: '2147483648' is not an integer of 32 bits");
    // 2^64 + 1, which is 1 in 64 bits
    static const char far_past[] =
        "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 18446744073709551617\n";
    refused_as("integer past 64 bits", far_past, sizeof far_past - 1, weft_mtx_params(.type = WEFT_TYPE_I32),
               WEFT_ERANGE, "file:3: '18446744073709551617' is not an integer of 32 bits");
    static const char inf[] = REAL "1 1 1\n1 1 inf\n";
    refused_as("infinity as i32", inf, sizeof inf - 1, weft_mtx_params(.type = WEFT_TYPE_I32), WEFT_ERANGE,
               "file:3: 'inf'");
    static const char skew[] = "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 -2147483648\n";
    refused_as("the least i32, negated", skew, sizeof skew - 1, weft_mtx_params(.type = WEFT_TYPE_I32), WEFT_ERANGE,
               "file:3: ");
    static const char part[] = "%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n1 1 0 1\n";
    refused_as("imaginary skew diagonal", part, sizeof part - 1, weft_mtx_params(.complex = WEFT_MTX_COMPLEX_REAL),
               WEFT_EFORMAT, "file:3: entry (1, 1)");
    static const char half[] = "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 0\n";
    refused_as("one part of a complex value", half, sizeof half - 1, weft_mtx_params(.complex = WEFT_MTX_COMPLEX_REAL),
               WEFT_EFORMAT, "file:3: the line ends where a value");
    refused_as("bad parameters", REAL, sizeof REAL - 1, weft_mtx_params(.type = (enum weft_type)17), WEFT_EINVAL, "");
    struct weft_csr a;
    tap_is_int(weft_mtx_parse(&a, NULL, NULL, NULL, 1, NULL, NULL), WEFT_EINVAL,
               "no text, and no place for the message");
}

// Lines around the limit: an entry of `length` characters, a comment of as many.
static void test_long_lines(void)
{
    static const int lengths[] = {1023, 1024, 1025, 5000};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        char text[12000], name[64];
        struct weft_csr a;
        struct weft_error err = {0};
        snprintf(name, sizeof name, "an entry of %d characters", lengths[i]);
        snprintf(text, sizeof text, "%s1 1 1\n1 1 1.%0*d\n", REAL, lengths[i] - 6, 0);
        if (lengths[i] > 1024) {
            refused_as(name, text, strlen(text), NULL, WEFT_EFORMAT, "file:3: the line is longer than 1024");
        } else {
            weft_status status = parse(&a, NULL, text, NULL, &err);
            tap_ok(!status && ((float *)a.val)[0] == 1.0f, "read: %s", name);
            weft_csr_free(&a);
        }
        for (int size = 0; size < 2; size++) { // an entry, the size line; with a carriage return
            const char *const head = size ? "%%MatrixMarket matrix coordinate real general\n" : REAL "1 1 1\n";
            snprintf(text, sizeof text, "%s1 1 %0*d\r\n%s", head, lengths[i] - 4, 1, size ? "1 1 1\n" : "");
            snprintf(name, sizeof name, "%s of %d characters and a carriage return", size ? "a size line" : "an entry",
                     lengths[i]);
            if (lengths[i] > 1024) {
                refused_as(name, text, strlen(text), NULL, WEFT_EFORMAT,
                           size ? "file:2: the line is longer than 1024" : "file:3: the line is longer than 1024");
            } else {
                tap_ok(!parse(&a, NULL, text, NULL, &err) && a.nnz == 1, "read: %s", name);
                weft_csr_free(&a);
            }
        }
        snprintf(text, sizeof text, "%s%%%0*d\n1 1 1\n%%%0*d\n1 1 1\n", REAL, lengths[i] - 1, 0, lengths[i] - 1, 0);
        tap_ok(!parse(&a, NULL, text, NULL, &err), "read: a comment of %d characters", lengths[i]);
        weft_csr_free(&a);
    }
}

// ---- blocks and threads ----------------------------------------------------------------------------------------

static weft_status read_blocks(struct weft_csr *out, const char *text, size_t bytes, size_t block_bytes, int threads,
                               struct weft_error *err)
{
    struct weft__mtx_stream *stream;
    memset(out, 0, sizeof *out);
    if (weft__mtx_open_memory(&stream, text, bytes))
        tap_bail("out of memory");
    stream->text_bytes = bytes; // known, but more than a block
    return weft__mtx_read_stream(out, NULL, "file", stream, block_bytes, weft_mtx_params(.threads = threads), NULL,
                                 err);
}

// A random file, or one with an error somewhere; returns its length.
static size_t random_file(struct rng *rng, char *text, size_t room, int broken)
{
    static const char *const fields[] = {"real", "integer", "pattern"};
    static const char *const symmetries[] = {"general", "symmetric"};
    unsigned field = (unsigned)rng_below(rng, 3), symmetry = (unsigned)rng_below(rng, 2),
             array = field < 2 && rng_below(rng, 3) == 0;
    int64_t m = rng_between(rng, 1, 30), n = symmetry ? m : rng_between(rng, 1, 30);
    int64_t count = array ? (symmetry ? n * (n + 1) / 2 : m * n) : rng_between(rng, 0, 300);
    int64_t error = broken ? rng_between(rng, 0, count) : -1;
    size_t used = (size_t)snprintf(text, room, "%%%%MatrixMarket matrix %s %s %s\n%% some\n%lld %lld",
                                   array ? "array" : "coordinate", fields[field], symmetries[symmetry], (long long)m,
                                   (long long)n);
    used += array ? (size_t)snprintf(text + used, room - used, "\n")
                  : (size_t)snprintf(text + used, room - used, " %lld\n", (long long)count);
    for (int64_t k = 0; k < count; k++) {
        if (rng_below(rng, 10) == 0)
            used += (size_t)snprintf(text + used, room - used, rng_below(rng, 2) ? "\n" : " %% noise\r\n");
        if (k == error && rng_below(rng, 2))
            used += (size_t)snprintf(text + used, room - used, "1 1 1 1 1\n");
        int64_t i = rng_between(rng, 1, m), j = symmetry ? rng_between(rng, 1, i) : rng_between(rng, 1, n);
        if (!array)
            used += (size_t)snprintf(text + used, room - used, "%lld %lld ", (long long)i, (long long)j);
        if (field < 2)
            used += (size_t)snprintf(text + used, room - used, field ? "%.0f" : "%.9g", (rng_unit(rng) - 0.5) * 1000);
        used += (size_t)snprintf(text + used, room - used, k == error ? " x\n" : "\n");
    }
    if (error == count)
        used += (size_t)snprintf(text + used, room - used, "1\n");
    return used;
}

static void test_blocks(struct rng *rng)
{
    static char text[40000];
    int wrong = 0, refused = 0, files = 400;
    for (int f = 0; f < files && !wrong; f++) {
        size_t bytes = random_file(rng, text, sizeof text, f % 2);
        struct weft_csr want;
        struct weft_error want_err = {0};
        weft_status want_status =
            weft_mtx_parse(&want, NULL, "file", text, bytes, weft_mtx_params(.threads = 1), &want_err);
        refused += want_status != WEFT_OK;
        for (int trial = 0; trial < 6; trial++) {
            struct weft_csr got;
            struct weft_error err = {0};
            size_t block_bytes = (size_t)rng_between(rng, 80, 2000);
            int threads = 1 + trial % 3;
            weft_status status = read_blocks(&got, text, bytes, block_bytes, threads, &err);
            if (status != want_status || strcmp(err.text, want_err.text) != 0 ||
                (!status && !weft_csr_equal(&got, &want))) {
                tap_note("file %d, blocks of %zu bytes, %d threads: status %d, expected %d; \"%s\", expected \"%s\"", f,
                         block_bytes, threads, status, want_status, err.text, want_err.text);
                wrong++;
            }
            weft_csr_free(&got);
        }
        weft_csr_free(&want);
    }
    tap_is_int(wrong, 0, "%d random files: blocks and threads change neither matrices nor messages", files);
    tap_is_int(refused, files / 2, "half of them were refused");
    struct weft_error err = {0};
    struct weft_csr a;
    static const char line[] = REAL "%1234567890123456789012345678901234567890123456789012345678901234567890\n1 1 0\n";
    tap_ok(read_blocks(&a, line, sizeof line - 1, 60, 1, &err) == WEFT_EFORMAT && strstr(err.text, "file:2: "),
           "a line longer than a block is refused with its number");
}

// A comment of as many characters as the message of a longer one allows, with its end and at the end of the file.
static void test_long_comments(void)
{
    enum { MOST = 1 << 20 };
    static const struct {
        int length, at_end; // at_end: it is the last line, which nothing ends
        weft_status status;
    } cases[] = {{MOST - 1, 0, WEFT_OK},
                 {MOST, 0, WEFT_OK},
                 {MOST + 1, 0, WEFT_EFORMAT},
                 {MOST, 1, WEFT_OK},
                 {MOST + 1, 1, WEFT_EFORMAT}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const int length = cases[i].length;
        char *text = malloc((size_t)length + 200);
        struct weft_csr a;
        struct weft_error err = {0};
        if (!text)
            tap_bail("no memory");
        char *at = text + sprintf(text, "%s%s", REAL, cases[i].at_end ? "1 1 1\n1 1 1\n" : "");
        memset(at, '%', (size_t)length);
        strcpy(at + length, cases[i].at_end ? "" : "\n1 1 1\n1 1 1\n");
        // In blocks of the size of the default, which other builds make smaller.
        const weft_status status = read_blocks(&a, text, strlen(text), MOST, 1, &err);
        if (!tap_ok(status == cases[i].status && (!status || strstr(err.text, "longer than 1048576 characters")),
                    "a comment of %d characters%s", length, cases[i].at_end ? ", the last line" : ""))
            tap_note("status %d, \"%s\"", status, err.text);
        weft_csr_free(&a);
        free(text);
    }
}

static void count_progress(void *arg, int64_t done, int64_t total)
{
    int64_t *last = arg;
    if (*last >= 0)
        *last = done >= *last && done <= total ? done : -1;
}

static void test_progress(void)
{
    struct weft_csr a;
    int64_t last = 0;
    static const char text[] = REAL "1 1 1\n1 1 1\n";
    weft_status status =
        parse(&a, NULL, text, weft_mtx_params(.progress = count_progress, .progress_arg = &last), NULL);
    tap_ok(!status && last == (int64_t)sizeof text - 1, "progress rises to the whole");
    weft_csr_free(&a);
}

int main(void)
{
    struct rng rng = rng_start();
    test_goods();
    test_bads();
    test_special();
    test_long_lines();
    test_blocks(&rng);
    test_long_comments();
    test_progress();
    return tap_done();
}
