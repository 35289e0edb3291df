// SPDX-License-Identifier: Apache-2.0
// Rutherford-Boeing, Harwell-Boeing and npz files: each kind of values, fields that touch, what is malformed, and back again.
#include "host/internal/inside.h"
#include "tests/support/tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/generate.h>
#include <weft/mtx.h>

static char folder[] = "/tmp/weft-test-XXXXXX";
static char path[64];

static void put(const char *data)
{
    FILE *file = fopen(path, "wb");
    if (!file || fputs(data, file) < 0 || fclose(file))
        tap_bail("cannot write %s: %s", path, strerror(errno));
}

#define TITLE  "title                                                                   key     \n"
#define COUNTS "             3             1             1             1\n"
#define SIZES  "             3             3             3             0\n"
#define TOUCH  "(4I2)           (3I2)           (3E10.3)            \n"

static const struct {
    const char *what, *text, *as_mtx;
} right[] = {
    {"fields that touch",
     TITLE COUNTS "rua           " SIZES TOUCH " 1 2 3 4\n 3 1 2\n 1.000E+00 2.000E+00-3.000E+00\n",
     "real general\n3 3 3\n3 1 1\n1 2 2\n2 3 -3\n"},
    {"symmetric, D and an exponent without a letter",
     TITLE COUNTS "rsa           " SIZES TOUCH " 1 3 4 4\n 1 2 3\n 1.000D+00 2.000d+00 4.000-101\n",
     "real symmetric\n3 3 3\n1 1 1\n2 1 2\n3 2 4e-101\n"},
    {"a pattern", TITLE COUNTS "PSA           " SIZES TOUCH " 1 3 4 4\n 1 2 3\n",
     "pattern symmetric\n3 3 3\n1 1\n2 1\n3 2\n"},
    {"integers",
     TITLE COUNTS "iua           " SIZES "(4I2)           (3I2)           (3I2)\n 1 2 3 4\n 1 2 3\n 1 2-3\n",
     "integer general\n3 3 3\n1 1 1\n2 2 2\n3 3 -3\n"},
    {"skew-symmetric", TITLE COUNTS "rza           " SIZES TOUCH " 1 3 4 4\n 2 3 3\n 1.000E+00 2.000E+00-3.000E+00\n",
     "real skew-symmetric\n3 3 3\n2 1 1\n3 1 2\n3 2 -3\n"},
    {"numbers without a point, a scale",
     TITLE COUNTS "rua           " SIZES
                  "(4I2)           (3I2)           (1P,2F5.1)\n 1 2 3 4\n 1 2 3\n   12 34.5\n    6\n",
     "real general\n3 3 3\n1 1 0.12\n2 2 3.45\n3 3 0.06\n"},
    {"Harwell-Boeing with right-hand sides",
     TITLE "             4             1             1             1             1\nRUA           " SIZES
           "(4I2)           (3I2)           (3E10.3)            (3F3.0)\nF                          1             0\n"
           " 1 2 3 4\n 1 2 3\n 1.000E+00 2.000E+00-3.000E+00\n 1. 2. 3.\n",
     "real general\n3 3 3\n1 1 1\n2 2 2\n3 3 -3\n"},
    {"lines that end in \\r\\n",
     TITLE COUNTS "rua           " SIZES TOUCH " 1 2 3 4\r\n 1 2 3\r\n 1.000E+00 2.000E+00-3.000E+00\r\n",
     "real general\n3 3 3\n1 1 1\n2 2 2\n3 3 -3\n"},
};

#define TEN     "1234567890"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static const struct {
    const char *why, *text;
    weft_status status;
} malformed[] = {
    {"/file:7: a value of more than 128 characters",
     TITLE COUNTS "rua           " SIZES
                  "(4I2)           (3I2)           (1F140.1)           \n 1 2 3 4\n 1 2 3\n" HUNDRED TEN TEN TEN TEN
                  "\n",
     WEFT_EFORMAT},
    {"/file:5: longer than 1024 characters",
     TITLE COUNTS "rua           " SIZES TOUCH HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED
         HUNDRED HUNDRED "\n",
     WEFT_EFORMAT},
    {"/file:4: a format of numbers that is not known",
     TITLE COUNTS "rua           " SIZES "(4I2)           (3I2)           (100P,3F5.1)\n 1 2 3 4\n 1 2 3\n",
     WEFT_EFORMAT},
    {"/file:4: a format of numbers that is not known",
     TITLE COUNTS "rua           " SIZES "(4I2)           (3I2)           (3E10.3E)\n 1 2 3 4\n 1 2 3\n", WEFT_EFORMAT},
    {"/file:6: the file ends before its last entry", TITLE COUNTS "rua           " SIZES TOUCH " 1 2 3 4\n",
     WEFT_EFORMAT},
    {"/file:6: a field is empty, or missing", TITLE COUNTS "rua           " SIZES TOUCH " 1 2 3 4\n 1 2\n",
     WEFT_EFORMAT},
    {"/file:5: column pointers do not ascend", TITLE COUNTS "rua           " SIZES TOUCH " 1 3 2 4\n 1 2 3\n",
     WEFT_EFORMAT},
    {"/file:5: column pointer '5' is outside 1 .. 4", TITLE COUNTS "rua           " SIZES TOUCH " 1 2 3 5\n 1 2 3\n",
     WEFT_EFORMAT},
    {"/file:6: row index '4' is outside 1 .. 3", TITLE COUNTS "rua           " SIZES TOUCH " 1 2 3 4\n 1 2 4\n",
     WEFT_EFORMAT},
    {"/file:7: '2.0x0E+00' is no number",
     TITLE COUNTS "rua           " SIZES TOUCH " 1 2 3 4\n 1 2 3\n 1.000E+00 2.0x0E+00-3.000E+00\n", WEFT_EFORMAT},
    {"/file:4: a format of numbers that is not known",
     TITLE COUNTS "rua           " SIZES "(4I2)           (3I2)           (3Z10)\n 1 2 3 4\n 1 2 3\n", WEFT_EFORMAT},
    {"/file:3: type RUE: only assembled", TITLE COUNTS "rue           " SIZES TOUCH, WEFT_EUNSUPPORTED},
    {"/file:3: rows, columns or entries",
     TITLE COUNTS "rua           "
                  "            -3             3             3\n" TOUCH,
     WEFT_EFORMAT},
    {"/file:5: the file ends",
     TITLE COUNTS "rua           "
                  "    2147483647    2147483647 9999999999999\n" TOUCH,
     WEFT_EFORMAT},
    // What the reader of Matrix Market finds in the text that these files become.
    {"/file:7: entry (1, 2) above the diagonal",
     TITLE COUNTS "rsa           " SIZES "(4I2)           (1I2)           (3E10.3)\n 1 2 4 4\n 1\n 1\n 2\n"
                  " 1.000E+00 2.000E+00-3.000E+00\n",
     WEFT_EFORMAT},
    {"/file:9: '1.000E+99' exceeds the range of f32",
     TITLE COUNTS "rua           " SIZES "(4I2)           (3I2)           (1E10.3)\n 1 2 3 4\n 1 2 3\n 1.000E+00\n"
                  " 2.000E+00\n 1.000E+99\n",
     WEFT_ERANGE},
    {"/file:3: complex values do not fit f32",
     TITLE COUNTS "cua           " SIZES TOUCH " 1 2 3 4\n 1 2 3\n 1.000E+00 2.000E+00-3.000E+00\n"
                  " 1.000E+00 2.000E+00-3.000E+00\n",
     WEFT_EUNSUPPORTED},
    {"/file:3: a matrix of 3 x 4 has no symmetry",
     TITLE COUNTS "rsa           "
                  "             3             4             3             0\n" TOUCH " 1 2 3 4\n 4\n 1 2 3\n"
                  " 1.000E+00 2.000E+00-3.000E+00\n",
     WEFT_EFORMAT},
};

static void text_right(void)
{
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        struct weft_csr a, b;
        struct weft_error err = {0};
        char text[512];
        put(right[i].text);
        const struct weft_mtx_params params = {.type = WEFT_TYPE_F64};
        weft_status status = weft_mtx_read(&a, NULL, path, &params, &err);
        snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate %s", right[i].as_mtx);
        if (weft_mtx_parse(&b, NULL, "text", text, strlen(text), &params, NULL))
            tap_bail("the text beside it is wrong: %s", text);
        if (!tap_ok(!status && weft_csr_equal(&a, &b), "%s", right[i].what))
            tap_note("%s", err.text);
        weft_csr_free(&a);
        weft_csr_free(&b);
    }
}

static void text_malformed(void)
{
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        struct weft_csr a;
        struct weft_error err = {0};
        put(malformed[i].text);
        const weft_status status = weft_mtx_read(&a, NULL, path, NULL, &err);
        if (!tap_ok(status == malformed[i].status && strstr(err.text, malformed[i].why) && !a.row_ptr, "%s",
                    malformed[i].why))
            tap_note("%d: %s", (int)status, err.text);
        weft_csr_free(&a);
    }
}

// Every type, to each form and back: the same arrays.
static void back(void)
{
    static const char *const specs[] = {"uniform:60,40,700", "uniform:40,60,700", "uniform:5,7,0", "band:30,3"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (int type = WEFT_TYPE_F32; type <= WEFT_TYPE_PATTERN; type++)
            for (int npz = 0; npz < 2; npz++) {
                struct weft_csr a, b = {0};
                struct weft_error err = {0};
                struct weft_mtx_info info = {0};
                if (weft_generate(&a, specs[s], weft_generate_params(.type = (enum weft_type)type), &err))
                    tap_bail("%s", err.text);
                weft_status status = npz ? weft__npz_write(path, 0, &a, &err) : weft__rb_write(path, 0, &a, &err);
                if (npz && status == WEFT_EUNSUPPORTED) {
                    tap_skip("npz: %s", err.text);
                    weft_csr_free(&a);
                    continue;
                }
                if (!status)
                    status = weft_mtx_read(&b, &info, path, weft_mtx_params(.type = (enum weft_type)type), &err);
                if (!tap_ok(!status && weft_csr_equal(&a, &b) && info.m == a.m && info.stored == a.nnz,
                            "%s of %s in %s", weft_type_name((enum weft_type)type), specs[s],
                            npz ? "npz" : "Rutherford-Boeing"))
                    tap_note("%s", err.text);
                weft_csr_free(&a);
                weft_csr_free(&b);
            }
}

// What a file promises, and who may write over it.
static void limits(void)
{
    struct weft_csr a, b;
    struct weft_error err = {0};
    if (weft_generate(&a, "uniform:100,100,2000", NULL, &err))
        tap_bail("%s", err.text);
    for (int npz = 0; npz < 2; npz++) {
        weft_status status = npz ? weft__npz_write(path, 0, &a, &err) : weft__rb_write(path, 0, &a, &err);
        if (status == WEFT_EUNSUPPORTED)
            continue;
        status = weft_mtx_read(&b, NULL, path, weft_mtx_params(.limit_bytes = 4000), &err);
        tap_ok(status == WEFT_ERANGE && strstr(err.text, "limit"), "a limit: %s", err.text);
        status = npz ? weft__npz_write(path, 1, &a, &err) : weft__rb_write(path, 1, &a, &err);
        tap_ok(status == WEFT_EIO && strstr(err.text, "exists"), "a file that exists: %s", err.text);
    }
    weft_csr_free(&a);
}

int main(void)
{
    if (!mkdtemp(folder))
        tap_bail("no folder: %s", strerror(errno));
    snprintf(path, sizeof path, "%s/file", folder);
    text_right();
    text_malformed();
    back();
    limits();
    unlink(path);
    rmdir(folder);
    return tap_done();
}
