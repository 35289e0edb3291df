// SPDX-License-Identifier: Apache-2.0
// Reads Matrix Market files out of tar archives.
#include "host/src/mtx/mtx.h"

#include "host/src/core/error.h"

#ifdef WEFT_HAVE_ARCHIVE

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_BYTES ((size_t)256 << 10)

// libarchive skips the checksum of gzip: a file of it is decompressed by file.c, and libarchive gets the tar. It decompresses others
// itself.
struct archive_stream {
    struct weft__mtx_stream base;
    struct archive *archive;
    struct weft__mtx_stream *file;
    int gzip, ended;
    char *input;           // (size INPUT_BYTES) what libarchive has of the file
    struct weft_error why; // of the file, where reading it failed
    int64_t limit;
};

static la_ssize_t input_next(struct archive *archive, void *arg, const void **out)
{
    struct archive_stream *self = arg;
    const int64_t got = self->file->read(self->file, self->input, INPUT_BYTES, &self->why);
    *out = self->input;
    if (got < 0)
        archive_set_error(archive, EIO, "%s", self->why.text);
    return (la_ssize_t)got;
}

// What libarchive has met, or the file below it.
static weft_status archive_error(const struct archive_stream *self, const char *what, struct weft_error *err)
{
    const char *why = archive_error_string(self->archive);
    if (self->why.status)
        return weft__error(err, self->why.status, "%s", self->why.text);
    return weft__error(err, WEFT_EIO, "%s: %s", what, why ? why : "damaged data");
}

// What is unpacked beside the matrix: up to the limit; that of an archive that is not compressed is no more than it.
static weft_status passed_check(const struct archive_stream *self, size_t passed, struct weft_error *err)
{
    const int64_t bytes = weft__mtx_file_bytes(self->file), limit = weft__mtx_limit(self->limit, bytes);
    if (passed <= (size_t)limit || passed <= (size_t)bytes)
        return WEFT_OK;
    return weft__error(err, WEFT_ERANGE,
                       "its members unpack to more than the limit of %lld bytes for a file of this length "
                       "(raise it with limit_bytes of weft_mtx_params)",
                       (long long)limit);
}

static int64_t archive_stream_read(struct weft__mtx_stream *stream, char *to, size_t bytes, struct weft_error *err)
{
    struct archive_stream *self = (struct archive_stream *)stream;
    if (self->ended)
        return 0;
    la_ssize_t got = archive_read_data(self->archive, to, bytes);
    if (got < 0) {
        archive_error(self, "cannot unpack", err);
        return -1;
    }
    self->ended = !got && bytes;
    // The sum stands behind all members: what follows the matrix is decompressed, and no more.
    size_t passed = 0;
    for (int64_t more = self->ended && self->gzip; more > 0; passed += (size_t)more)
        if (passed_check(self, passed, err) || (more = self->file->read(self->file, self->input, INPUT_BYTES, err)) < 0)
            return -1;
    stream->done_bytes = self->file->done_bytes;
    return got;
}

static void archive_stop(struct archive_stream *self)
{
    archive_read_free(self->archive);
    if (self->file)
        self->file->close(self->file);
    self->archive = NULL;
    self->file = NULL;
}

static void archive_stream_close(struct weft__mtx_stream *stream)
{
    struct archive_stream *self = (struct archive_stream *)stream;
    archive_stop(self);
    free(self->input);
    free(self);
}

// Open it at its beginning, which a pipe has only once.
static weft_status archive_start(struct archive_stream *self, const char *path, int again, struct weft_error *err)
{
    const weft_status status = weft__mtx_open_bytes(&self->file, &self->gzip, path, again, err);
    if (status)
        return status;
    self->base.total_bytes = self->file->total_bytes;
    self->archive = archive_read_new();
    if (!self->archive)
        return weft__error(err, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
    archive_read_support_format_tar(self->archive);
    archive_read_support_filter_bzip2(self->archive);
    archive_read_support_filter_xz(self->archive);
    archive_read_support_filter_zstd(self->archive);
    return archive_read_open(self->archive, self, NULL, input_next, NULL) == ARCHIVE_OK
               ? WEFT_OK
               : archive_error(self, "cannot open the archive", err);
}

// What macOS keeps beside a file, ._NAME, is no matrix.
static int is_mtx(const char *name)
{
    const char *base = strrchr(name, '/');
    size_t length = strlen(name);
    return length > 4 && strncmp(base ? base + 1 : name, "._", 2) && !strcmp(name + length - 4, ".mtx");
}

// DIR/NAME.mtx with DIR equal to NAME: the matrix itself; right-hand sides and the like are NAME_b.mtx and so on.
static int is_matrix(const char *name)
{
    const char *base = strrchr(name, '/');
    if (!base || !is_mtx(base + 1))
        return 0;
    const char *dir = base;
    while (dir > name && dir[-1] != '/')
        dir--;
    size_t length = (size_t)(base - dir);
    return strlen(base + 1) == length + 4 && !memcmp(base + 1, dir, length);
}

// Go to the member called `wanted`; without one, to the matrix, or else note in `only` the first .mtx member and in
// *count their number. Members that are passed over are unpacked too.
static weft_status member_find(const struct archive_stream *self, const char *wanted, int *found, char **only,
                               int *count, struct weft_error *err)
{
    struct archive_entry *entry;
    size_t passed = 0;
    int code;
    *found = 0;
    while ((code = archive_read_next_header(self->archive, &entry)) == ARCHIVE_OK || code == ARCHIVE_WARN) {
        const char *name = archive_entry_pathname(entry);
        const bool file = name && archive_entry_filetype(entry) == AE_IFREG;
        *found = file && (wanted ? !strcmp(name, wanted) : is_matrix(name));
        if (*found)
            return WEFT_OK;
        if (file && !wanted && is_mtx(name) && ++*count == 1 && !(*only = strdup(name)))
            return weft__error(err, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
        passed = weft__add(passed, archive_entry_size(entry) > 0 ? (size_t)archive_entry_size(entry) : 0);
        const weft_status status = passed_check(self, passed, err);
        if (status)
            return status;
    }
    return code == ARCHIVE_EOF ? WEFT_OK : archive_error(self, "cannot unpack", err);
}

weft_status weft__mtx_open_archive(struct weft__mtx_stream **out, const char *path, int64_t limit,
                                   struct weft_error *err)
{
    struct archive_stream *self = calloc(1, sizeof *self);
    char *only = NULL;
    int found = 0, count = 0;
    if (!self || !(self->input = malloc(INPUT_BYTES))) {
        free(self);
        return weft__error(err, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
    }
    self->base = (struct weft__mtx_stream){.read = archive_stream_read, .close = archive_stream_close};
    self->limit = limit;
    weft_status status = archive_start(self, path, 0, err);
    if (!status)
        status = member_find(self, NULL, &found, &only, &count, err);
    if (!status && !found && count == 1 && !self->base.total_bytes)
        status =
            weft__error(err, WEFT_EIO,
                        "its only .mtx member is not called NAME/NAME.mtx, and a pipe cannot be read again: give a "
                        "file");
    if (!status && !found && count == 1) { // its only .mtx member has another name: from the start again
        archive_stop(self);
        status = archive_start(self, path, 1, err);
        if (!status)
            status = member_find(self, only, &found, NULL, NULL, err);
    }
    if (!status && !found)
        status = weft__error(err, WEFT_EFORMAT,
                             count ? "the archive holds several .mtx files, and none is called NAME/NAME.mtx"
                                   : "the archive holds no .mtx file");
    free(only);
    if (status) {
        archive_stream_close(&self->base);
        return status;
    }
    *out = &self->base;
    return WEFT_OK;
}

#else

weft_status weft__mtx_open_archive(struct weft__mtx_stream **out, const char *path, int64_t limit,
                                   struct weft_error *err)
{
    (void)out, (void)path, (void)limit;
    return weft__error(err, WEFT_EUNSUPPORTED, "a tar archive, and this build has no libarchive; unpack it first");
}

#endif
