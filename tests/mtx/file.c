// SPDX-License-Identifier: Apache-2.0
// Files: plain, gzip, tar; what is written is read back; and every file of the matrix collection, compared with a
// reader that is as simple as can be.
#include "tests/support/rng.h"
#include "tests/support/tap.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/mtx.h>
#include <zlib.h>

#ifndef WEFT_MATRICES
#define WEFT_MATRICES "../shared/matrices"
#endif

static char folder[] = "/tmp/weft-test-XXXXXX";

static const char text[] = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2\n";

static const char *in_folder(const char *name)
{
    static char path[4][512];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static void put(const char *name, const void *data, size_t bytes)
{
    FILE *file = fopen(in_folder(name), "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file))
        tap_bail("cannot write %s: %s", in_folder(name), strerror(errno));
}

// `data` as one gzip member at `to`; returns its length.
static size_t pack(unsigned char *to, size_t room, const void *data, size_t bytes)
{
    z_stream zip = {0};
    if (deflateInit2(&zip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        tap_bail("zlib");
    zip.next_in = (unsigned char *)(uintptr_t)data;
    zip.avail_in = (uInt)bytes;
    zip.next_out = to;
    zip.avail_out = (uInt)room;
    if (deflate(&zip, Z_FINISH) != Z_STREAM_END)
        tap_bail("zlib");
    size_t used = zip.total_out;
    deflateEnd(&zip);
    return used;
}

// One member of a tar archive (POSIX ustar) at `to`, which is zero; returns its length.
static size_t tar_member(char *to, const char *name, char type, const char *data)
{
    size_t bytes = strlen(data);
    unsigned sum = 0;
    snprintf(to, 100, "%s", name);
    memcpy(to + 100, "0000644", 8);
    memcpy(to + 108, "0000000", 8);
    memcpy(to + 116, "0000000", 8);
    snprintf(to + 124, 12, "%011o", (unsigned)bytes);
    memcpy(to + 136, "00000000000", 12);
    memset(to + 148, ' ', 8);
    to[156] = type;
    memcpy(to + 257,
           "ustar\0"
           "00",
           8);
    for (int i = 0; i < 512; i++)
        sum += (unsigned char)to[i];
    snprintf(to + 148, 7, "%06o", sum);
    memcpy(to + 512, data, bytes);
    return 512 + (bytes + 511) / 512 * 512;
}

static void read_ok(const char *name, const char *what)
{
    struct weft_csr a;
    struct weft_error err = {0};
    weft_status status = weft_mtx_read(&a, NULL, in_folder(name), NULL, &err);
    if (!tap_ok(!status && a.m == 2 && a.nnz == 2 && ((float *)a.val)[1] == 2.0f, "read: %s", what))
        tap_note("%s", err.text);
    weft_csr_free(&a);
}

static void read_fails(const char *name, weft_status want, const char *message, const char *what)
{
    struct weft_csr a;
    struct weft_error err = {0};
    weft_status status = weft_mtx_read(&a, NULL, in_folder(name), NULL, &err);
    if (!tap_ok(status == want && err.status == want && strstr(err.text, in_folder(name)) &&
                    strstr(err.text, message) && !a.row_ptr,
                "refused: %s", what))
        tap_note("status %d, \"%s\"", status, err.text);
    weft_csr_free(&a);
}

static void test_kinds(void)
{
    unsigned char packed[4096];
    put("plain.mtx", text, sizeof text - 1);
    read_ok("plain.mtx", "plain");
    size_t bytes = pack(packed, sizeof packed, text, sizeof text - 1);
    put("one.mtx.gz", packed, bytes);
    read_ok("one.mtx.gz", "gzip");
    put("named.txt", packed, bytes);
    read_ok("named.txt", "gzip by another name");
    put("short.mtx.gz", packed, bytes - 9);
    read_fails("short.mtx.gz", WEFT_EIO, "the file ends in the middle", "gzip, truncated");
    packed[bytes - 6] ^= 1;
    put("sum.mtx.gz", packed, bytes);
    read_fails("sum.mtx.gz", WEFT_EIO, "cannot decompress", "gzip, wrong checksum");
    packed[bytes - 6] ^= 1;
    packed[12] ^= 0xff;
    put("damaged.mtx.gz", packed, bytes);
    read_fails("damaged.mtx.gz", WEFT_EIO, "cannot decompress", "gzip, damaged");
    bytes = pack(packed, sizeof packed, text, 60);
    bytes += pack(packed + bytes, sizeof packed - bytes, text + 60, sizeof text - 1 - 60);
    put("two.mtx.gz", packed, bytes);
    read_ok("two.mtx.gz", "gzip of two members, cut inside a line");
    memset(packed + bytes, 0, 512);
    put("padded.mtx.gz", packed, bytes + 512);
    read_ok("padded.mtx.gz", "gzip followed by zeros");
    put("empty.mtx", "", 0);
    read_fails("empty.mtx", WEFT_EFORMAT, ":1: the file is empty", "empty file");
    bytes = pack(packed, sizeof packed, "", 0);
    put("empty.mtx.gz", packed, bytes);
    read_fails("empty.mtx.gz", WEFT_EFORMAT, ":1: the file is empty", "gzip of nothing");
    put("magic.mtx", "\x1f\x8b", 2);
    read_fails("magic.mtx", WEFT_EIO, "cannot decompress", "nothing but the mark of gzip");
    read_fails("missing.mtx", WEFT_EIO, "cannot open: No such file", "missing file");
    read_fails("", WEFT_EIO, "is a directory", "directory");
}

static void test_archives(void)
{
    static char tar[16384];
    static unsigned char packed[8192];
    size_t used = tar_member(tar, "ab/", '5', "");
    used += tar_member(tar + used, "ab/ab_b.mtx", '0', "%%MatrixMarket matrix array real general\n1 1\n1\n");
    used += tar_member(tar + used, "ab/ab.mtx", '0', text);
    used += 1024;
    put("ab.tar", tar, used);
    size_t bytes = pack(packed, sizeof packed, tar, used);
    put("ab.tar.gz", packed, bytes);
    put("download", packed, bytes);
#ifndef WEFT_HAVE_ARCHIVE
    read_fails("ab.tar.gz", WEFT_EUNSUPPORTED, "this build has no libarchive", "archive without libarchive");
    read_fails("download", WEFT_EUNSUPPORTED, "this build has no libarchive", "archive by another name");
    tap_skip("built without libarchive");
#else
    read_ok("ab.tar.gz", "the matrix of an archive, not its right-hand side");
    read_ok("ab.tar", "archive, not compressed");
    read_ok("download", "archive by another name");
    put("short.tar.gz", packed, bytes / 2);
    read_fails("short.tar.gz", WEFT_EIO, "the file ends in the middle", "archive, truncated");
    put("short.tar.gz", packed, bytes - 9);
    read_fails("short.tar.gz", WEFT_EIO, "the file ends in the middle", "archive, truncated behind its matrix");
    packed[bytes - 6] ^= 1;
    put("sum.tar.gz", packed, bytes);
    read_fails("sum.tar.gz", WEFT_EIO, "incorrect data check", "archive, wrong checksum");
    packed[bytes - 6] ^= 1;
    packed[bytes - 2] ^= 1;
    put("length.tar.gz", packed, bytes);
    read_fails("length.tar.gz", WEFT_EIO, "incorrect length check", "archive, wrong length");
    packed[bytes - 2] ^= 1;
    memcpy(packed + bytes, "garbage", 7);
    put("behind.tar.gz", packed, bytes + 7);
    read_fails("behind.tar.gz", WEFT_EIO, "what is none", "archive, something behind it");
    memset(packed + bytes, 0, 512);
    put("padded.tar.gz", packed, bytes + 512);
    read_ok("padded.tar.gz", "archive followed by zeros");
    bytes = pack(packed, sizeof packed, tar, 700);
    bytes += pack(packed + bytes, sizeof packed - bytes, tar + 700, used - 700);
    put("two.tar.gz", packed, bytes);
    read_ok("two.tar.gz", "archive of two gzip members");
    // The matrix comes first, and the damage far behind what is read with it.
    static char letters[1500001], far[1600000];
    static unsigned char far_packed[1600000];
    uint32_t draw = 1;
    for (size_t i = 0; i + 1 < sizeof letters; i++)
        letters[i] = (char)(1 + ((draw = draw * 1664525 + 1013904223) >> 25));
    used = tar_member(far, "ab/ab.mtx", '0', text);
    used += tar_member(far + used, "ab/README", '0', letters);
    bytes = pack(far_packed, sizeof far_packed, far, used + 1024);
    put("far.tar.gz", far_packed, bytes);
    read_ok("far.tar.gz", "an archive with much behind its matrix");
    far_packed[bytes - bytes / 8] ^= 0x40;
    put("far.tar.gz", far_packed, bytes);
    read_fails("far.tar.gz", WEFT_EIO, "cannot decompress", "archive, damaged far behind its matrix");
    memset(tar, 0, sizeof tar);
    used = tar_member(tar, "README", '0', "hello");
    used += tar_member(tar + used, "other/name.mtx", '0', text);
    put("only.tgz", packed, pack(packed, sizeof packed, tar, used + 1024));
    read_ok("only.tgz", "the only .mtx file of an archive");
    used += tar_member(tar + used, "other/second.mtx", '0', text);
    put("many.tgz", packed, pack(packed, sizeof packed, tar, used + 1024));
    read_fails("many.tgz", WEFT_EFORMAT, "several .mtx files", "archive with several matrices");
    memset(tar, 0, sizeof tar);
    used = tar_member(tar, "README", '0', "hello");
    put("none.tgz", packed, pack(packed, sizeof packed, tar, used + 1024));
    read_fails("none.tgz", WEFT_EFORMAT, "no .mtx file", "archive without a matrix");
    put("no.tar.gz", text, sizeof text - 1);
    read_fails("no.tar.gz", WEFT_EIO, "", "no archive, whatever its name");
#endif
}

// The default limit goes by all bytes of a file, and not by those that were read when an error was met.
static void test_limit(void)
{
    enum { BYTES = 3 << 20 };
    char *const all = malloc(BYTES);
    struct weft_csr a;
    struct weft_mtx_info info;
    if (!all)
        tap_bail("out of memory");
    memset(all, '%', BYTES);
    all[100] = '\n';
    put("bad.mtx", all, BYTES);
    tap_ok(weft_mtx_read(&a, &info, in_folder("bad.mtx"), NULL, NULL) == WEFT_EFORMAT &&
               info.limit_bytes == INT64_C(1000) * BYTES,
           "%lld bytes are the limit for a file of %d", (long long)info.limit_bytes, BYTES);
    free(all);
}

// ---- writing ---------------------------------------------------------------------------------------------------

// A random matrix whose values are any bits that are not a NaN.
static void random_matrix(struct weft_csr *a, struct rng *rng, int64_t m, int64_t n, int64_t nnz, enum weft_type type)
{
    struct weft_coo coo;
    if (weft_coo_alloc(&coo, weft_shape(.m = m, .n = n, .nnz = nnz, .type = type)))
        tap_bail("out of memory");
    for (int64_t k = 0; k < nnz; k++) {
        coo.row[k] = (int32_t)rng_below(rng, (uint64_t)m);
        coo.col[k] = (int32_t)rng_below(rng, (uint64_t)n);
        uint64_t bits = rng_below(rng, 16) ? rng_u64(rng) : 0;
        if (rng_below(rng, 16) == 0)
            bits &= UINT64_C(0x800fffff807fffff); // subnormal, or a zero of either sign
        uint32_t bits32 = (uint32_t)bits;
        double d;
        float f;
        memcpy(&d, &bits, sizeof d);
        memcpy(&f, &bits32, sizeof f);
        if (type == WEFT_TYPE_F32)
            ((float *)coo.val)[k] = isnan(f) ? 0.0f : rng_below(rng, 8) ? f : rintf(f);
        else if (type == WEFT_TYPE_F64)
            ((double *)coo.val)[k] = isnan(d) ? 0.0 : rng_below(rng, 8) ? d : (double)(int8_t)bits;
        else if (type == WEFT_TYPE_I32)
            ((int32_t *)coo.val)[k] = (int32_t)bits32;
    }
    if (weft_csr_from_coo(a, &coo, WEFT_OFS_32, NULL))
        tap_bail("out of memory");
    weft_coo_free(&coo);
}

static void test_round_trip(struct rng *rng)
{
    static const int64_t sizes[][3] = {
        {0, 0, 0},           {1, 1, 1}, {5, 0, 0}, {0, 7, 0}, {40, 3, 200}, {1, 1000, 500}, {3000, 2000, 150000},
        {100000, 100000, 10}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int type = WEFT_TYPE_F32; type <= WEFT_TYPE_PATTERN; type++)
            for (int gzip = 0; gzip < 2; gzip++) {
                struct weft_csr a, b;
                struct weft_error err = {0};
                const char *path = in_folder(gzip ? "out.mtx.gz" : "out.mtx");
                random_matrix(&a, rng, sizes[s][0], sizes[s][1], sizes[s][2], (enum weft_type)type);
                weft_status status = weft_mtx_write(path, &a, &err);
                if (!status)
                    status = weft_mtx_read(&b, NULL, path, weft_mtx_params(.type = (enum weft_type)type), &err);
                if (!tap_ok(!status && weft_csr_equal(&a, &b), "%lld x %lld, %lld entries, %s%s, written and read",
                            (long long)a.m, (long long)a.n, (long long)a.nnz, weft_type_name(a.type),
                            gzip ? ", gzip" : ""))
                    tap_note("%s", err.text);
                if (!status)
                    weft_csr_free(&b);
                weft_csr_free(&a);
            }
}

static int files_in_folder(void)
{
    int count = 0;
    DIR *dir = opendir(folder);
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

static void test_write(void)
{
    struct weft_csr a, b;
    struct weft_error err = {0};
    double values[] = {NAN, INFINITY, -INFINITY, -0.0};
    int32_t rows[] = {0, 0, 0, 0}, cols[] = {0, 1, 2, 3};
    struct weft_coo coo = {.m = 1, .n = 4, .nnz = 4, .type = WEFT_TYPE_F64, .row = rows, .col = cols, .val = values};
    if (weft_csr_from_coo(&a, &coo, WEFT_OFS_64, NULL))
        tap_bail("out of memory");
    weft_status status = weft_mtx_write(in_folder("out.mtx"), &a, &err);
    if (!status)
        status = weft_mtx_read(&b, NULL, in_folder("out.mtx"), weft_mtx_params(.type = WEFT_TYPE_F64), &err);
    tap_ok(!status && isnan(((double *)b.val)[0]) && !memcmp((double *)b.val + 1, values + 1, 3 * sizeof *values),
           "not a number, infinities and negative zero come back");
    if (!status)
        weft_csr_free(&b);
    int pipe_ends[2]; // too small a file to fill it
    if (pipe(pipe_ends))
        tap_bail("no pipe");
    char piped[256], file_text[256];
    status = weft_mtx_write_fd(pipe_ends[1], "a pipe", &a, 0, &err);
    close(pipe_ends[1]);
    const ssize_t bytes = read(pipe_ends[0], piped, sizeof piped);
    FILE *file = fopen(in_folder("out.mtx"), "r");
    const size_t file_bytes = file ? fread(file_text, 1, sizeof file_text, file) : 0;
    if (file)
        fclose(file);
    tap_ok(!status && bytes > 0 && (size_t)bytes == file_bytes && !memcmp(piped, file_text, file_bytes),
           "a pipe gets the text of a file");
    status = weft_mtx_write_fd(pipe_ends[0], "a pipe", &a, 0, &err);
    tap_ok(status == WEFT_EIO && strstr(err.text, "a pipe: cannot write: "), "a descriptor that is not for writing: %s",
           err.text);
    close(pipe_ends[0]);
    int files = files_in_folder();
    tap_is_int(weft_mtx_write(in_folder("none/out.mtx"), &a, &err), WEFT_EIO, "a folder that is not there");
    tap_ok(strstr(err.text, "cannot create: No such file") != NULL, "its message");
    tap_is_int(weft_mtx_write(in_folder("out.tar.gz"), &a, &err), WEFT_EINVAL, "archives are not written");
    tap_is_int(weft_mtx_write(NULL, &a, &err), WEFT_EINVAL, "no path");
    mkdir(in_folder("folder.mtx"), 0777);
    tap_is_int(weft_mtx_write(in_folder("folder.mtx"), &a, &err), WEFT_EIO, "a folder has the name");
    rmdir(in_folder("folder.mtx"));
    ((int64_t *)a.row_ptr)[1] = 3;
    tap_is_int(weft_mtx_write(in_folder("out.mtx"), &a, &err), WEFT_EMATRIX, "a broken matrix is not written");
    tap_ok(!weft_mtx_read(&b, NULL, in_folder("out.mtx"), NULL, NULL) && b.nnz == 4, "and the old file stays");
    weft_csr_free(&b);
    tap_is_int(files_in_folder(), files, "failures leave no files behind");
    weft_csr_free(&a);
}

// ---- the collection --------------------------------------------------------------------------------------------

// Read with gzgets, sscanf and strtod, trusting the file; complex values give their real parts.
static int simple_read(struct weft_csr *out, const char *path)
{
    char line[4096], format[32], field[32], symmetry[32];
    long long m, n = 0, stored = 0;
    gzFile file = gzopen(path, "rb");
    if (!file || !gzgets(file, line, sizeof line) ||
        sscanf(line, "%*s %*s %31s %31s %31s", format, field, symmetry) != 3)
        return 0;
    int array = format[0] == 'a', general = symmetry[0] == 'g', skew = symmetry[1] == 'k';
    do
        if (!gzgets(file, line, sizeof line))
            return 0;
    while (line[0] == '%' || sscanf(line, "%lld %lld %lld", &m, &n, &stored) < 2);
    if (array)
        stored = general ? m * n : skew ? n * (n - 1) / 2 : n * (n + 1) / 2;
    struct weft_coo coo;
    if (weft_coo_alloc(&coo, weft_shape(.m = m, .n = n, .nnz = 2 * stored, .type = WEFT_TYPE_F64)))
        return 0;
    double *val = coo.val;
    coo.nnz = 0;
    int64_t i = skew, j = 0;
    for (int64_t k = 0; k < stored && gzgets(file, line, sizeof line);) {
        char *p = line;
        if (line[strspn(line, " \t\r\n")] == '\0' || line[0] == '%')
            continue;
        k++;
        if (!array) {
            i = strtoll(p, &p, 10) - 1;
            j = strtoll(p, &p, 10) - 1;
        }
        double v = field[0] == 'p' ? 1 : strtod(p, NULL);
        coo.row[coo.nnz] = (int32_t)i;
        coo.col[coo.nnz] = (int32_t)j;
        val[coo.nnz++] = v;
        if (!general && i != j) {
            coo.row[coo.nnz] = (int32_t)j;
            coo.col[coo.nnz] = (int32_t)i;
            val[coo.nnz++] = skew ? -v : v;
        }
        if (array && ++i == m) {
            j++;
            i = general ? 0 : skew ? j + 1 : j;
        }
    }
    gzclose(file);
    int good = !weft_csr_from_coo(out, &coo, WEFT_OFS_32, NULL);
    weft_coo_free(&coo);
    return good;
}

static void collection_good(const char *path, const char *name, int64_t m, int64_t n, int64_t stored)
{
    struct weft_csr a, want = {0};
    struct weft_mtx_info info;
    struct weft_error err = {0};
    weft_status status =
        weft_mtx_read(&a, &info, path, weft_mtx_params(.type = WEFT_TYPE_F64, .complex = WEFT_MTX_COMPLEX_REAL), &err);
    int equal = !status && simple_read(&want, path) && weft_csr_equal(&a, &want);
    if (!tap_ok(equal && info.m == m && info.n == n && info.stored == stored, "%s", name))
        tap_note("%s", err.text);
    if (!status && info.field == WEFT_MTX_FIELD_COMPLEX) {
        struct weft_csr none;
        tap_is_int(weft_mtx_read(&none, NULL, path, NULL, &err), WEFT_EUNSUPPORTED, "%s: complex values are refused",
                   name);
    }
    weft_csr_free(&a);
    weft_csr_free(&want);
}

static FILE *index_open(const char *collection, const char *sub)
{
    char path[1024];
    snprintf(path, sizeof path, "%s%s/INDEX.tsv", collection, sub);
    FILE *file = fopen(path, "r");
    if (file && !fgets(path, sizeof path, file))
        tap_bail("%s%s/INDEX.tsv is empty", collection, sub);
    return file;
}

static void test_collection(const char *collection)
{
    char line[4096], name[256], path[1400];
    long long m, n, stored;
    FILE *index = index_open(collection, "");
    if (!index) {
        tap_skip("no matrices at %s (set WEFT_MATRICES)", collection);
        return;
    }
    while (fgets(line, sizeof line, index))
        if (sscanf(line, "%255s %lld %lld %lld", name, &m, &n, &stored) == 4) {
            snprintf(path, sizeof path, "%s/%s", collection, name);
            collection_good(path, name, m, n, stored);
        }
    fclose(index);
    index = index_open(collection, "/malformed");
    while (index && fgets(line, sizeof line, index))
        if (sscanf(line, "%255s", name) == 1) {
            struct weft_csr a;
            struct weft_error err = {0};
            snprintf(path, sizeof path, "%s/malformed/%s", collection, name);
            weft_status status = weft_mtx_read(&a, NULL, path, weft_mtx_params(.complex = WEFT_MTX_COMPLEX_REAL), &err);
            size_t length = strlen(path);
            tap_ok(status == WEFT_EFORMAT && !strncmp(err.text, path, length) && err.text[length] == ':' &&
                       atoi(err.text + length + 1) > 0,
                   "malformed: %s", err.text);
        }
    if (index)
        fclose(index);
}

int main(void)
{
    struct rng rng = rng_start();
    const char *collection = getenv("WEFT_MATRICES");
    if (!mkdtemp(folder))
        tap_bail("mkdtemp: %s", strerror(errno));
    test_kinds();
    test_archives();
    test_limit();
    test_round_trip(&rng);
    test_write();
    test_collection(collection ? collection : WEFT_MATRICES);
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        unlink(in_folder(entry->d_name));
    if (dir)
        closedir(dir);
    rmdir(folder);
    return tap_done();
}
