// SPDX-License-Identifier: Apache-2.0
// Opens what holds a Matrix Market text: memory, a plain file, a gzip file.
#include "host/src/mtx/mtx.h"

#include "host/src/core/error.h"
#include "host/src/core/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

// ---- limit -----------------------------------------------------------------------------------------------------

// The default limit: so many times the bytes of the file, and this much whatever the file. An entry is 4 bytes of text or
// more and takes at most 48 (entries_bytes); text of numbers that differ compresses by less than 20.
#define LIMIT_PER_BYTE 1000
#define LIMIT_LEAST    (INT64_C(256) << 20)

int64_t weft__mtx_limit(int64_t given, int64_t file_bytes)
{
    if (given)
        return given;
    const int64_t most = INT64_MAX / LIMIT_PER_BYTE, bytes = file_bytes < most ? file_bytes : most;
    return bytes > LIMIT_LEAST / LIMIT_PER_BYTE ? bytes * LIMIT_PER_BYTE : LIMIT_LEAST;
}

int64_t weft__mtx_file_bytes(const struct weft__mtx_stream *stream)
{
    return stream->total_bytes > stream->done_bytes ? stream->total_bytes : stream->done_bytes;
}

// ---- memory ----------------------------------------------------------------------------------------------------

struct memory_stream {
    struct weft__mtx_stream base;
    const char *text;
};

static int64_t memory_read(struct weft__mtx_stream *stream, char *to, size_t bytes, struct weft_error *err)
{
    struct memory_stream *memory = (struct memory_stream *)stream;
    size_t done = (size_t)stream->done_bytes, take = weft__min(bytes, stream->text_bytes - done);
    (void)err;
    if (take)
        memcpy(to, memory->text + done, take);
    stream->done_bytes += (int64_t)take;
    return (int64_t)take;
}

static void memory_close(struct weft__mtx_stream *stream)
{
    free(stream);
}

weft_status weft__mtx_open_memory(struct weft__mtx_stream **out, const void *text, size_t bytes)
{
    struct memory_stream *memory = calloc(1, sizeof *memory);
    if (!memory)
        return WEFT_ENOMEM;
    memory->base = (struct weft__mtx_stream){.read = memory_read, .close = memory_close};
    memory->base.text_bytes = bytes;
    memory->base.total_bytes = (int64_t)bytes;
    memory->text = text;
    *out = &memory->base;
    return WEFT_OK;
}

// ---- files -----------------------------------------------------------------------------------------------------

#define INPUT_BYTES ((size_t)256 << 10)
#define PEEK_BYTES  512 // a tar header

struct file_stream {
    struct weft__mtx_stream base;
    int fd;
    int gzip;      // the file is compressed, `zip` is in use
    int in_member; // inside a gzip member: the file may not end here
    z_stream zip;
    unsigned char *input; // (size INPUT_BYTES) bytes of the file not yet used: input_at .. input_end-1
    size_t input_at, input_end;
    char peek[PEEK_BYTES]; // text read ahead: peek_at .. peek_end-1
    size_t peek_at, peek_end;
};

static int64_t fd_read(struct file_stream *file, void *to, size_t bytes, struct weft_error *err)
{
    ssize_t got;
    do
        got = read(file->fd, to, bytes);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        weft__error(err, WEFT_EIO, "cannot read: %s", strerror(errno));
        return -1;
    }
    file->base.done_bytes += got;
    return got;
}

static int input_fill(struct file_stream *file, struct weft_error *err)
{
    int64_t got = fd_read(file, file->input, INPUT_BYTES, err);
    file->input_at = 0;
    file->input_end = got > 0 ? (size_t)got : 0;
    return got < 0 ? -1 : 0;
}

static int64_t plain_read(struct file_stream *file, char *to, size_t bytes, struct weft_error *err)
{
    size_t ready = weft__min(bytes, file->input_end - file->input_at);
    if (!ready)
        return fd_read(file, to, bytes, err);
    memcpy(to, file->input + file->input_at, ready);
    file->input_at += ready;
    return (int64_t)ready;
}

// A gzip file is one member or several, one after the other; behind them may be bytes of 0, as tapes have, and nothing else.
static int64_t gzip_read(struct file_stream *file, char *to, size_t bytes, struct weft_error *err)
{
    z_stream *zip = &file->zip;
    uInt room = (uInt)weft__min(bytes, (size_t)1 << 30);
    zip->next_out = (unsigned char *)to;
    zip->avail_out = room;
    while (zip->avail_out == room) {
        if (file->input_at == file->input_end && input_fill(file, err))
            return -1;
        size_t ready = file->input_end - file->input_at;
        if (!file->in_member) {
            while (ready && !file->input[file->input_at])
                file->input_at++, ready--;
            if (!ready && file->input_end)
                continue;
            if (!ready)
                return 0;
            if (file->input[file->input_at] != 0x1f) {
                weft__error(err, WEFT_EIO, "cannot decompress: behind the last gzip member stands what is none");
                return -1;
            }
            inflateReset(zip);
            file->in_member = 1;
        } else if (!ready) {
            weft__error(err, WEFT_EIO, "cannot decompress: the file ends in the middle");
            return -1;
        }
        zip->next_in = file->input + file->input_at;
        zip->avail_in = (uInt)ready;
        int code = inflate(zip, Z_NO_FLUSH);
        file->input_at = file->input_end - zip->avail_in;
        if (code == Z_STREAM_END) {
            file->in_member = 0;
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            weft__error(err, WEFT_EIO, "cannot decompress: %s", zip->msg ? zip->msg : "damaged data");
            return -1;
        }
    }
    return room - zip->avail_out;
}

static int64_t file_read(struct weft__mtx_stream *stream, char *to, size_t bytes, struct weft_error *err)
{
    struct file_stream *file = (struct file_stream *)stream;
    size_t ready = weft__min(bytes, file->peek_end - file->peek_at);
    if (ready) {
        memcpy(to, file->peek + file->peek_at, ready);
        file->peek_at += ready;
        return (int64_t)ready;
    }
    return file->gzip ? gzip_read(file, to, bytes, err) : plain_read(file, to, bytes, err);
}

static void file_close(struct weft__mtx_stream *stream)
{
    struct file_stream *file = (struct file_stream *)stream;
    if (file->gzip)
        inflateEnd(&file->zip);
    if (file->fd >= 0)
        close(file->fd);
    free(file->input);
    free(file);
}

int weft__mtx_path_open(const char *path)
{
    // What opens the name needs /proc.
    return strcmp(path, "/dev/stdin") ? open(path, O_RDONLY | O_CLOEXEC) : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
}

// A form that is no text and whose readers want a file that they can open; NULL: none. Programs read .weft, the library does not.
static const char *kind_of_arrays(const char *text, size_t bytes)
{
    static const char weft[] = "weft matrix 1\n", zip[] = "PK\3\4";
    if (bytes >= sizeof zip - 1 && !memcmp(text, zip, sizeof zip - 1))
        return ".npz";
    return bytes >= sizeof weft - 1 && !memcmp(text, weft, sizeof weft - 1) ? ".weft" : NULL;
}

// How a file is compressed that is not read so; NULL: it is not. Signs of letters alone may begin a title of Rutherford-Boeing.
static const char *kind_of_compression(const char *text, size_t bytes)
{
    static const char *const kinds[][2] = {
        {"\3757zXZ", "xz"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"\x04\x22\x4d\x18", "lz4"}, {"7z\xbc\xaf\x27", "7-Zip"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (bytes >= strlen(kinds[i][0]) && !memcmp(text, kinds[i][0], strlen(kinds[i][0])))
            return kinds[i][1];
    return bytes >= 10 && !memcmp(text, "BZh", 3) && !memcmp(text + 4, "1AY&SY", 6) ? "bzip2" : NULL;
}

static struct file_stream *file_new(void)
{
    struct file_stream *file = calloc(1, sizeof *file);
    if (file) {
        file->base = (struct weft__mtx_stream){.read = file_read, .close = file_close};
        file->fd = -1;
    }
    return file;
}

// Open the file, and see whether it is gzip. From its beginning, unless `from` is FROM_HERE; a pipe has that once.
enum from { FROM_HERE, FROM_START, FROM_START_AGAIN };
static weft_status file_open(struct file_stream *file, const char *path, enum from from, struct stat *about,
                             struct weft_error *err)
{
    file->fd = weft__mtx_path_open(path);
    if (file->fd < 0 || fstat(file->fd, about) < 0)
        return weft__error(err, WEFT_EIO, "cannot open: %s", strerror(errno));
    if (S_ISDIR(about->st_mode))
        return weft__error(err, WEFT_EIO, "is a directory");
    if (from != FROM_HERE && lseek(file->fd, 0, SEEK_SET) < 0 && (from == FROM_START_AGAIN || errno != ESPIPE))
        return weft__error(err, WEFT_EIO, "cannot open: %s", strerror(errno));
    file->input = malloc(INPUT_BYTES);
    if (!file->input)
        return weft__error(err, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
    if (input_fill(file, err))
        return err->status;
    if (S_ISREG(about->st_mode))
        file->base.total_bytes = about->st_size;
    if (file->input_end >= 2 && file->input[0] == 0x1f && file->input[1] == 0x8b) {
        if (inflateInit2(&file->zip, 15 + 16) != Z_OK)
            return weft__error(err, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
        file->gzip = 1;
    } else if (S_ISREG(about->st_mode) && about->st_size > 0) {
        file->base.text_bytes = (size_t)about->st_size;
    }
    return WEFT_OK;
}

// Find out what the file is, from its first bytes; *is_tar tells an archive.
static weft_status file_start(struct file_stream *file, const char *path, int *is_tar, struct weft_error *err)
{
    struct stat about;
    const weft_status status = file_open(file, path, FROM_HERE, &about, err);
    if (status)
        return status;
    while (file->peek_end < PEEK_BYTES) {
        size_t room = PEEK_BYTES - file->peek_end;
        int64_t got = file->gzip ? gzip_read(file, file->peek + file->peek_end, room, err)
                                 : plain_read(file, file->peek + file->peek_end, room, err);
        if (got < 0)
            return err->status;
        if (got == 0)
            break;
        file->peek_end += (size_t)got;
    }
    file->base.peek = file->peek;
    file->base.peek_bytes = file->peek_end;
    *is_tar = file->peek_end == PEEK_BYTES && !memcmp(file->peek + 257, "ustar", 5);
    if (*is_tar && !S_ISREG(about.st_mode)) // what has been read of it is gone
        return weft__error(err, WEFT_EIO, "an archive is read from a file, not from a pipe");
    const char *const packed = file->gzip ? NULL : kind_of_compression(file->peek, file->peek_end);
    if (packed)
        return weft__error(err, WEFT_EUNSUPPORTED,
                           "compressed with %s: unpack it first; gzip is read, and archives whose "
                           "name has .tar",
                           packed);
    const char *const kind = file->gzip ? NULL : kind_of_arrays(file->peek, file->peek_end);
    if (kind) // a file that is opened by its name does not come here
        return weft__error(err, WEFT_EIO, "a %s file is read by its name, not from a pipe or the standard input", kind);
    return WEFT_OK;
}

static int name_is_archive(const char *path)
{
    const char *name = weft__path_slash(path);
    name = name ? name + 1 : path;
    size_t length = strlen(name);
    return strstr(name, ".tar.") ||
           (length > 4 && (!strcmp(name + length - 4, ".tar") || !strcmp(name + length - 4, ".tgz")));
}

weft_status weft__mtx_open_file(struct weft__mtx_stream **out, const char *path, int64_t limit, struct weft_error *err)
{
    if (name_is_archive(path))
        return weft__mtx_open_archive(out, path, limit, err);
    struct file_stream *file = file_new();
    int is_tar = 0;
    if (!file)
        return weft__error(err, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
    weft_status status = file_start(file, path, &is_tar, err);
    if (status || is_tar)
        file_close(&file->base);
    else
        *out = &file->base;
    return is_tar && !status ? weft__mtx_open_archive(out, path, limit, err) : status;
}

weft_status weft__mtx_open_bytes(struct weft__mtx_stream **out, int *gzip, const char *path, int again,
                                 struct weft_error *err)
{
    struct file_stream *file = file_new();
    struct stat about;
    if (!file)
        return weft__error(err, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
    const weft_status status = file_open(file, path, again ? FROM_START_AGAIN : FROM_START, &about, err);
    *gzip = file->gzip;
    if (status)
        file_close(&file->base);
    else
        *out = &file->base;
    return status;
}
