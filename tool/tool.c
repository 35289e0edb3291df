// SPDX-License-Identifier: Apache-2.0
// What the commands share: complaints, matrices, devices, files to write.
#include "tool.h"
#include "host/common/binary.h"
#include "host/common/list.h"
#include "host/common/name.h"
#include "host/common/order.h"
#include "host/common/progress.h"
#include "host/common/streams.h"
#include "host/common/word.h"
#include "host/internal/inside.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/generate.h>

void tool_complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bench_streams_complain("weft", format, args);
    va_end(args);
}

int tool_exit(weft_status status)
{
    switch (status) {
    case WEFT_OK:
        return TOOL_OK;
    case WEFT_EDEVMEM:
    case WEFT_ENODEV:
    case WEFT_EDEVICE:
    case WEFT_EBUILD:
        return TOOL_DEVICE;
    default:
        return TOOL_USAGE;
    }
}

int tool_fail(weft_status status, const struct weft_error *err)
{
    const char *text = err && err->text[0] ? err->text : weft_status_text(status);
    // Of what a compiler said the first line; a name may hold a line break, and what is wrong stands behind it.
    tool_complain("%.*s", (int)(tool_exit(status) == TOOL_DEVICE ? strcspn(text, "\n") : strlen(text)), text);
    return tool_exit(status);
}

int tool_fail_device(weft_status status, struct weft_context *ctx)
{
    struct weft_error err = {0};
    weft_context_error(&err, ctx);
    tool_fail(status, err.status == status ? &err : NULL);
    return TOOL_DEVICE;
}

// ---- matrices --------------------------------------------------------------------------------------------------

// Values that were read as doubles become those that the file declares, where these hold every one of them.
static void type_narrow(struct tool_matrix *m)
{
    struct weft_csr *a = &m->a;
    const double *from = a->val;
    if (m->file.field == WEFT_MTX_FIELD_PATTERN && !m->file.array) {
        free(a->val);
        a->val = NULL;
        a->type = WEFT_TYPE_PATTERN;
        return;
    }
    int whole = m->file.field == WEFT_MTX_FIELD_INTEGER;
    for (int64_t p = 0; p < a->nnz && whole; p++)
        whole = from[p] >= INT32_MIN && from[p] <= INT32_MAX;
    if (!whole)
        return;
    for (int64_t p = 0; p < a->nnz; p++) { // ends before the next double begins
        const int32_t value = (int32_t)from[p];
        memcpy((char *)a->val + p * 4, &value, sizeof value);
    }
    a->type = WEFT_TYPE_I32;
}

// Whether the file can be read once more: no pipe, nor the standard input.
static int is_regular(const char *path)
{
    struct stat about;
    return strcmp(path, "/dev/stdin") && !stat(path, &about) && S_ISREG(about.st_mode);
}

static int matrix_get(struct tool_matrix *out, const struct tool_options *o, int all_rows)
{
    struct weft_error err = {0};
    weft_status status;
    *out = (struct tool_matrix){.from_file = !o->generated};
    if (o->generated) {
        snprintf(out->name, sizeof out->name, "%s", o->source);
        bench_progress_begin("generating %s", o->source);
        status = weft_generate(&out->a, o->source,
                               weft_generate_params(.type = o->type, .ofs = o->ofs, .seed = o->seed), &err);
    } else {
        bench_name_of_file(out->name, sizeof out->name, o->source);
        bench_progress_begin("reading %s", o->source);
        struct weft_mtx_params params = {.type = o->type_given ? o->type : WEFT_TYPE_F64,
                                         .ofs = o->ofs,
                                         .complex = o->complex,
                                         .limit_bytes = o->limit,
                                         .progress = bench_progress_bytes};
        out->binary = bench_binary_is(o->source);
        if (out->binary)
            status =
                bench_binary_read(&out->a, &out->file, o->source, params.type, !o->type_given, o->ofs, o->limit, &err);
        else if (all_rows)
            status = weft_mtx_read(&out->a, &out->file, o->source, &params, &err);
        else
            status = weft__mtx_read_rows(&out->a, &out->row, &out->file, o->source, &params, &err);
        if (status == WEFT_EUNSUPPORTED && !all_rows && !o->type_given && out->file.field == WEFT_MTX_FIELD_COMPLEX &&
            is_regular(o->source)) { // the rest is worth having
            out->valueless = 1;
            params.type = WEFT_TYPE_PATTERN;
            err = (struct weft_error){0};
            status = weft__mtx_read_rows(&out->a, &out->row, &out->file, o->source, &params, &err);
        }
    }
    bench_progress_end();
    out->m = out->row ? out->file.m : out->a.m;
    if (status) {
        bench_word_limit(err.text);
        if (status == WEFT_EUNSUPPORTED && out->file.field == WEFT_MTX_FIELD_COMPLEX)
            snprintf(err.text + strlen(err.text), sizeof err.text - strlen(err.text),
                     " (--complex real|imag, or -t pattern)");
        tool_fail(status, &err);
        return TOOL_USAGE;
    }
    if (!o->generated && !o->type_given && !out->binary && !out->valueless)
        type_narrow(out);
    return TOOL_OK;
}

int tool_matrix_get(struct tool_matrix *out, const struct tool_options *o)
{
    return matrix_get(out, o, 1);
}

int tool_pattern_get(struct tool_matrix *out, const struct tool_options *o)
{
    struct tool_options pattern = *o;
    if (!o->generated && !o->type_given)
        pattern.type_given = 1, pattern.type = WEFT_TYPE_PATTERN;
    return matrix_get(out, &pattern, 1);
}

int tool_matrix_get_rows(struct tool_matrix *out, const struct tool_options *o)
{
    return matrix_get(out, o, 0);
}

int64_t tool_limit(const struct tool_matrix *m, const struct tool_options *o)
{
    return m->from_file ? m->file.limit_bytes : o->limit;
}

int tool_limit_check(const struct tool_matrix *m, const struct tool_options *o, const char *what, size_t bytes)
{
    const int64_t limit = tool_limit(m, o);
    if (!limit || bytes <= (size_t)limit)
        return TOOL_OK;
    tool_complain("%s: %s %lld rows and %lld columns: %zu bytes, the limit is %lld (raise it with --limit)", m->name,
                  what, (long long)m->m, (long long)m->a.n, bytes, (long long)limit);
    return TOOL_USAGE;
}

void tool_matrix_free(struct tool_matrix *m)
{
    free(m->row);
    m->row = NULL;
    weft_csr_free(&m->a);
}

int tool_order_make(struct weft_csr *out, struct weft_permutation *p, const struct tool_matrix *m,
                    const struct tool_options *o)
{
    struct weft_error err = {0};
    if (tool_limit_check(m, o, "an order of", bench_order_bytes(o->order, &m->a)))
        return TOOL_USAGE;
    bench_progress_begin("order %s of %s", bench_order_name(o->order), m->name);
    weft_status status = bench_order_make(out, p, o->order, &m->a, o->seed, &err);
    bench_progress_end();
    return status ? tool_fail(status, &err) : TOOL_OK;
}

int tool_matrix_permute(struct tool_matrix *m, const struct tool_options *o)
{
    struct weft_csr out = {0};
    const int code = tool_order_make(&out, NULL, m, o);
    if (code)
        return code;
    weft_csr_free(&m->a);
    m->a = out;
    return TOOL_OK;
}

// ---- devices ---------------------------------------------------------------------------------------------------

weft_status tool_device_open(struct tool_device *out, const struct tool_options *o, struct weft_error *err)
{
    *out = (struct tool_device){0};
    char select[16] = "";
    if (o->device >= 0)
        snprintf(select, sizeof select, "%d", o->device);
    weft_status status =
        weft_context_create(&out->ctx, weft_context_params(.select = o->device_word ? o->device_word : select), err);
    struct weft_device_info *list = NULL;
    size_t count = 0;
    if (status == WEFT_ENODEV && o->device >= 0 && !weft_devices_list(&list, &count, NULL) &&
        (size_t)o->device >= count) {
        char why[BENCH_LIST_WHY];
        bench_list_absent(why, sizeof why, count, select, o->device_given ? "--device" : "WEFT_DEVICE");
        status = weft__error(err, WEFT_ERANGE, "%s (weft devices)", why);
    }
    weft_devices_free(&list);
    if (status)
        return status;
    cl_int error;
    out->queue = weft__cl.clCreateCommandQueue(weft_context_cl(out->ctx), weft_context_device(out->ctx)->id,
                                               CL_QUEUE_PROFILING_ENABLE, &error);
    if (error == CL_SUCCESS)
        return WEFT_OK;
    out->queue = NULL;
    tool_device_close(out);
    return weft__error(err, WEFT_EDEVICE, "device %d gives no queue with profiling: %s (%d)", o->device,
                       weft__cl_error_name(error), error);
}

void tool_device_close(struct tool_device *device)
{
    if (device->queue)
        weft__cl.clReleaseCommandQueue(device->queue);
    device->queue = NULL;
    weft_context_destroy(&device->ctx);
}

// ---- output ----------------------------------------------------------------------------------------------------

int tool_out_check(const char *path, int force)
{
    struct weft__out out;
    struct stat what;
    if (bench_word_is_stream(path))
        return TOOL_OK;
    const int there = !stat(path, &what);
    if (there && (S_ISDIR(what.st_mode) || S_ISBLK(what.st_mode) || S_ISSOCK(what.st_mode)))
        return tool_complain("%s is no regular file", path), TOOL_USAGE;
    if (there && !S_ISREG(what.st_mode)) // such as /dev/null: nothing of it is lost, and a pipe is opened once
        return TOOL_OK;
    if (!lstat(path, &what) && !force)
        return tool_complain("%s exists (--force replaces %s)", path,
                             S_ISLNK(what.st_mode) ? "what the link leads to" : "it"),
               TOOL_USAGE;
    const int error = weft__out_open(&out, path, 0);
    weft__out_close(&out);
    return error ? tool_out_fail(path, error) : TOOL_OK;
}

int tool_out_same(const char *a, const char *b)
{
    struct stat one, other;
    if (bench_word_is_stream(a) || bench_word_is_stream(b))
        return bench_word_is_stream(a) && bench_word_is_stream(b);
    const int there = !stat(a, &one), beside = !stat(b, &other);
    if (there && beside)
        return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
    if ((there && !S_ISREG(one.st_mode)) || (beside && !S_ISREG(other.st_mode)))
        return 0;                   // a pipe is opened once, when it is written
    struct weft__out first, second; // neither is written; a place is known where no file is yet
    const int known = !weft__out_open(&first, a, 0) && !weft__out_open(&second, b, 0);
    const int same = known && first.path && second.path && !strcmp(first.path, second.path);
    weft__out_close(&first);
    if (known)
        weft__out_close(&second);
    return same;
}

int tool_out_fail(const char *path, int error)
{
    tool_complain("%s cannot be written: %s", bench_word_is_stream(path) ? "standard output" : path, strerror(error));
    return TOOL_USAGE;
}

int tool_out_open(struct weft__out *out, const char *path, int force)
{
    const int error =
        bench_word_is_stream(path) ? weft__out_stream(out, STDOUT_FILENO) : weft__out_open(out, path, !force);
    return error ? tool_out_fail(path, error) : TOOL_OK;
}

int tool_out_write(const char *path, const void *data, size_t size, int force)
{
    struct weft__out out;
    int code = tool_out_open(&out, path, force);
    if (code)
        return code;
    int error = weft__out_write(&out, data, size);
    if (!error)
        error = weft__out_commit(&out);
    const int late = weft__out_close(&out);
    return error || late ? tool_out_fail(path, error ? error : late) : TOOL_OK;
}

int tool_json_write(const struct tool_options *o, cJSON *object)
{
    char *text = o->nsources > 1 ? cJSON_PrintUnformatted(object) : cJSON_Print(object), *line = NULL;
    const int length = text ? asprintf(&line, "%s\n", text) : -1;
    cJSON_Delete(object);
    cJSON_free(text);
    if (length < 0)
        return tool_fail(WEFT_ENOMEM, NULL);
    const int code = tool_out_write(o->json, line, (size_t)length, o->force);
    free(line);
    return code;
}

void tool_text_begin(const struct tool_options *o)
{
    if (o->follows)
        putchar('\n');
}

const char *tool_count_text(char text[32], int64_t count)
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
    int at = 0;
    for (int i = 0; i < length; i++) {
        text[at++] = digits[i];
        if (digits[i] != '-' && (length - 1 - i) % 3 == 0 && i + 1 < length)
            text[at++] = ' ';
    }
    text[at] = 0;
    return text;
}
