// SPDX-License-Identifier: Apache-2.0
// weft permute, convert, transpose, devices: a matrix in, a matrix out.
#include "host/common/binary.h"
#include "host/common/list.h"
#include "host/common/order.h"
#include "host/common/progress.h"
#include "host/common/word.h"
#include "host/internal/inside.h"
#include "tool.h"

#include <string.h>
#include <unistd.h>
#include <weft/permute.h>
#include <weft/transpose.h>

static int name_ends(const char *path, const char *end)
{
    const size_t length = strlen(path), tail = strlen(end);
    return length > tail && !strcmp(path + length - tail, end);
}

// Endings of forms that are not written. In an archive's name the reader would look for an archive.
static int is_foreign(const char *name, const char *end)
{
    static const char *const foreign[] = {"7z",  "bz2", "h5",  "hdf5", "lz",  "lz4", "lzma", "mat",
                                          "npy", "rar", "tar", "tgz",  "txz", "xz",  "zip",  "zst"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (!strcmp(end, foreign[i]))
            return 1;
    return strstr(name, ".tar.") != NULL;
}

static int is_text(const char *end)
{
    return !strcmp(end, "mtx") || !strcmp(end, "txt");
}

// Whether OUT ends as a form that is written here: no ending, .mtx and .txt are Matrix Market files.
static int ending_check(const struct tool_options *o)
{
    static const char *const endings[] = {"mtx", "gz", "npz", "rb", "weft", "txt"};
    const size_t count = sizeof endings / sizeof *endings;
    const char *slash = strrchr(o->out, '/'), *name = slash ? slash + 1 : o->out, *dot = strrchr(name, '.');
    const char *const end = dot ? dot + 1 : "";
    const int foreign = is_foreign(name, end);
    for (size_t i = 0; i < count && !foreign; i++)
        if (!dot || !strcmp(end, endings[i]))
            return TOOL_OK;
    const struct bench_word_hint hint = bench_word_hint(end, strlen(end), endings, count, sizeof *endings);
    if (*hint.text && !foreign)
        tool_complain("%s: no kind of file ends with .%s%s", o->out, end, hint.text);
    else
        tool_complain("%s: no such form is written: .mtx, .mtx.gz, .txt, .npz, .rb and .weft are", o->out);
    return TOOL_USAGE;
}

int tool_out_text_check(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    if (bench_word_is_stream(path) || !dot || (!is_foreign(name, dot + 1) && is_text(dot + 1)))
        return TOOL_OK;
    tool_complain("%s: the vector is written as plain Matrix Market text, .mtx or .txt", path);
    return TOOL_USAGE;
}

static int out_check(const struct tool_options *o)
{
    const int code = bench_word_is_stream(o->out) ? TOOL_OK : ending_check(o);
    return code ? code : tool_out_check(o->out, o->force);
}

// `a`, which was made of `m`, to OUT.
static int matrix_write(const struct weft_csr *a, const struct tool_matrix *m, const struct tool_options *o)
{
    struct weft_error err = {0};
    // What weft__rb_write holds: where columns begin, position and row of each entry.
    if (name_ends(o->out, ".rb") &&
        tool_limit_check(m, o, "a .rb file of", 8 * ((size_t)a->n + 2) + 12 * (size_t)a->nnz))
        return TOOL_USAGE;
    bench_progress_begin("writing %s", o->out);
    weft_status status = name_ends(o->out, ".weft")  ? bench_binary_write(o->out, !o->force, a, &err)
                         : name_ends(o->out, ".npz") ? weft__npz_write(o->out, !o->force, a, &err)
                         : name_ends(o->out, ".rb")  ? weft__rb_write(o->out, !o->force, a, &err)
                         : bench_word_is_stream(o->out)
                             ? weft_mtx_write_fd(STDOUT_FILENO, "standard output", a, 0, &err)
                             : weft__mtx_write(o->out, !o->force, a, &err);
    bench_progress_end();
    if (status)
        tool_fail(status, &err);
    return status ? TOOL_USAGE : TOOL_OK;
}

// The permuted matrix, made by the device and compared with the host's.
static int device_permute(const struct weft_csr *a, const struct weft_permutation *p, const struct weft_csr *want,
                          const struct tool_options *o)
{
    struct tool_device device;
    struct weft_error err = {0};
    struct weft_csr out = {0};
    weft_status status = tool_device_open(&device, o, &err);
    if (status)
        return tool_fail(status, &err);
    bench_progress_begin("permuting on %s", weft_context_device(device.ctx)->name);
    status = weft_permute_sync(&out, device.ctx, a, p, NULL);
    bench_progress_end();
    int code = status ? tool_fail_device(status, device.ctx) : TOOL_OK;
    if (!code && !weft_csr_equal(&out, want)) {
        tool_complain("%s permutes wrongly: its result is not that of the host", weft_context_device(device.ctx)->name);
        code = TOOL_WRONG;
    }
    weft_csr_free(&out);
    tool_device_close(&device);
    return code;
}

int tool_permute(const struct tool_options *o)
{
    if (!o->order_given) {
        tool_complain("which order? --order (weft help permute lists them)");
        return TOOL_USAGE;
    }
    if (o->device_given && bench_order_shuffles(o->order)) {
        tool_complain("order %s is no permutation: it is made on the host alone, without -d",
                      bench_order_name(o->order));
        return TOOL_USAGE;
    }
    struct tool_matrix m;
    int code = out_check(o);
    if (code || (code = tool_matrix_get(&m, o)))
        return code;
    struct weft_permutation p = {0};
    struct weft_csr out = {0};
    code = tool_order_make(&out, &p, &m, o);
    if (!code && o->device_given)
        code = device_permute(&m.a, &p, &out, o);
    if (!code)
        code = matrix_write(&out, &m, o);
    weft_permutation_free(&p);
    weft_csr_free(&out);
    tool_matrix_free(&m);
    return code;
}

int tool_convert(const struct tool_options *o)
{
    struct tool_matrix m;
    int code = out_check(o);
    if (code || (code = tool_matrix_get(&m, o)))
        return code;
    code = matrix_write(&m.a, &m, o);
    tool_matrix_free(&m);
    return code;
}

int tool_transpose(const struct tool_options *o)
{
    struct tool_matrix m;
    struct tool_device device;
    struct weft_csr out = {0}, want = {0};
    struct weft_error err = {0};
    int code = out_check(o);
    if (code)
        return code;
    weft_status status = tool_device_open(&device, o, &err);
    if (status)
        return tool_fail(status, &err);
    const char *name = weft_context_device(device.ctx)->name;
    code = tool_matrix_get(&m, o);
    if (!code) // row pointers of the transpose, on host and device, and of the reference
        code = tool_limit_check(&m, o, "transposing", (3 * (size_t)m.a.n + (size_t)m.m + 4) * weft_ofs_bytes(m.a.ofs));
    if (!code) {
        bench_progress_begin("transposing on %s", name);
        status = weft_transpose_sync(&out, device.ctx, &m.a, NULL);
        bench_progress_end();
        if (status)
            code = tool_fail_device(status, device.ctx);
        else if ((status = weft__ref_transpose(&want, &m.a)))
            code = tool_fail(status, NULL);
    }
    if (!code && !weft_csr_equal(&out, &want)) {
        tool_complain("%s transposes wrongly: its result is not that of the host", name);
        code = TOOL_WRONG;
    }
    if (!code)
        code = matrix_write(&out, &m, o);
    weft_csr_free(&out);
    weft_csr_free(&want);
    tool_matrix_free(&m);
    tool_device_close(&device);
    return code;
}

int tool_devices(const struct tool_options *o)
{
    struct weft_device_info *list = NULL;
    size_t count = 0;
    struct weft_error err = {0};
    weft_status status = weft_devices_list(&list, &count, &err);
    int code = TOOL_OK;
    if (o->json) {
        cJSON *root = cJSON_CreateObject();
        cJSON_AddItemToObject(root, "devices", bench_list_json(list, count));
        code = tool_json_write(o, root);
    } else {
        bench_list_print(stdout, list, count);
    }
    if (status)
        tool_complain("%s", err.text);
    weft_devices_free(&list);
    return status ? TOOL_DEVICE : code;
}
