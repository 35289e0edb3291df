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
#include <sys/stat.h>
#include <unistd.h>

#define INPUT_BYTES ((size_t)256 << 10)

struct archive_stream {
    struct weft__mtx_stream base;
    struct archive *archive;
    int fd;
    int64_t limit;
};

static int64_t archive_stream_read(struct weft__mtx_stream *stream, char *to, size_t bytes, struct weft_error *err)
{
    struct archive_stream *self = (struct archive_stream *)stream;
    la_ssize_t got = archive_read_data(self->archive, to, bytes);
    if (got < 0) {
        const char *why = archive_error_string(self->archive);
        weft__error(err, WEFT_EIO, "cannot unpack: %s", why ? why : "damaged data");
        return -1;
    }
    stream->done_bytes = archive_filter_bytes(self->archive, -1);
    return got;
}

static void archive_stream_close(struct weft__mtx_stream *stream)
{
    struct archive_stream *self = (struct archive_stream *)stream;
    archive_read_free(self->archive);
    if (self->fd >= 0)
        close(self->fd);
    free(self);
}

// Opened at its beginning, which a pipe has only once; NULL with the cause in err.
static struct archive *archive_start(int fd, int again, struct weft_error *err)
{
    struct archive *archive = archive_read_new();
    if (!archive) {
        weft__error(err, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
        return NULL;
    }
    archive_read_support_format_tar(archive);
    archive_read_support_filter_gzip(archive);
    archive_read_support_filter_bzip2(archive);
    archive_read_support_filter_xz(archive);
    archive_read_support_filter_zstd(archive);
    if (lseek(fd, 0, SEEK_SET) < 0 && (again || errno != ESPIPE)) {
        weft__error(err, WEFT_EIO, "cannot open the archive: %s", strerror(errno));
        archive_read_free(archive);
        return NULL;
    }
    if (archive_read_open_fd(archive, fd, INPUT_BYTES) != ARCHIVE_OK) {
        const char *why = archive_error_string(archive);
        weft__error(err, WEFT_EIO, "cannot open the archive: %s", why ? why : "unknown reason");
        archive_read_free(archive);
        return NULL;
    }
    return archive;
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
// *count their number. Members that are passed over are unpacked too, by their sizes up to the limit; those of an archive that is not
// compressed are no more than it.
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
        const int64_t read = archive_filter_bytes(self->archive, -1),
                      bytes = read > self->base.total_bytes ? read : self->base.total_bytes,
                      limit = weft__mtx_limit(self->limit, bytes);
        if (passed > (size_t)limit && passed > (size_t)bytes)
            return weft__error(err, WEFT_ERANGE,
                               "its members unpack to more than the limit of %lld bytes for a file of this length "
                               "(raise it with limit_bytes of weft_mtx_params)",
                               (long long)limit);
    }
    if (code == ARCHIVE_EOF)
        return WEFT_OK;
    const char *why = archive_error_string(self->archive);
    return weft__error(err, WEFT_EIO, "cannot unpack: %s", why ? why : "damaged data");
}

weft_status weft__mtx_open_archive(struct weft__mtx_stream **out, const char *path, int64_t limit,
                                   struct weft_error *err)
{
    struct archive_stream *self = calloc(1, sizeof *self);
    struct stat about;
    char *only = NULL;
    int found = 0, count = 0;
    if (!self)
        return weft__error(err, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
    self->base = (struct weft__mtx_stream){.read = archive_stream_read, .close = archive_stream_close};
    self->limit = limit;
    self->fd = weft__mtx_path_open(path);
    if (self->fd < 0 || fstat(self->fd, &about) < 0)
        weft__error(err, WEFT_EIO, "cannot open the archive: %s", strerror(errno));
    else
        self->archive = archive_start(self->fd, 0, err);
    if (self->archive && S_ISREG(about.st_mode))
        self->base.total_bytes = about.st_size;
    weft_status status = self->archive ? member_find(self, NULL, &found, &only, &count, err) : err->status;
    if (!status && !found && count == 1) { // its only .mtx member has another name: from the start again
        archive_read_free(self->archive);
        self->archive = archive_start(self->fd, 1, err);
        status = self->archive ? member_find(self, only, &found, NULL, NULL, err) : err->status;
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
