// SPDX-License-Identifier: Apache-2.0
// A file holds: magic, length of the key, length of the binary, its FNV-1a hash, the whole key, the binary. The file name is
// a hash of the key; a hit needs the whole key to be equal, so a collision is a miss and never a wrong program.
#include "host/src/core/cache.h"
#include "host/src/core/error.h"
#include "host/src/core/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT "weft program cache 1"

struct header {
    char magic[24];
    uint64_t key_bytes;
    uint64_t binary_bytes;
    uint64_t binary_hash;
};

char *weft__cache_key(const struct weft_device_info *device, const char *options, const char *text)
{
    const char *format = FORMAT "\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s";
    int length = snprintf(NULL, 0, format, device->platform, device->platform_version, device->name, device->vendor,
                          device->driver, device->version, options, text);
    char *key = length < 0 ? NULL : malloc((size_t)length + 1);
    if (key)
        snprintf(key, (size_t)length + 1, format, device->platform, device->platform_version, device->name,
                 device->vendor, device->driver, device->version, options, text);
    return key;
}

// FNV-1a: a changed byte changes it.
static uint64_t hash_of(const void *data, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const unsigned char *at = data, *end = at + size; at < end; at++)
        hash = (hash ^ *at) * UINT64_C(0x100000001b3);
    return hash;
}

// Name of the file in the folder.
static void cache_name(char out[32], const char *key)
{
    snprintf(out, 32, "%016llx.bin", (unsigned long long)hash_of(key, strlen(key)));
}

// The file of `key` in `dir`, opened and found to be the user's own, or NULL.
static FILE *cache_open(const char *dir, const char *key, char why[WEFT__CACHE_WHY])
{
    char name[32];
    const char *reason;
    why[0] = 0;
    int folder = weft__own_folder(dir, &reason);
    if (folder < 0) {
        if (reason)
            snprintf(why, WEFT__CACHE_WHY, "program cache %.400s is not used: %s", dir, reason);
        return NULL;
    }
    cache_name(name, key);
    int fd = weft__own_file(folder, name, &reason);
    close(folder);
    if (fd < 0) {
        if (reason)
            snprintf(why, WEFT__CACHE_WHY, "program cache %.400s/%s is not used: %s", dir, name, reason);
        return NULL;
    }
    FILE *file = fdopen(fd, "rb");
    if (!file)
        close(fd);
    return file;
}

unsigned char *weft__cache_read(const char *dir, const char *key, size_t *size, char why[WEFT__CACHE_WHY])
{
    struct header header;
    struct stat st;
    size_t key_bytes = strlen(key);
    unsigned char *binary = NULL;
    char *stored = NULL;
    FILE *file = cache_open(dir, key, why);
    if (!file)
        return NULL;
    if (fstat(fileno(file), &st) || fread(&header, sizeof header, 1, file) != 1 ||
        memcmp(header.magic, FORMAT, sizeof FORMAT) || header.key_bytes != key_bytes || header.binary_bytes == 0 ||
        (uint64_t)st.st_size != sizeof header + key_bytes + header.binary_bytes)
        goto done;
    stored = malloc(key_bytes);
    binary = malloc(header.binary_bytes);
    if (!stored || !binary || fread(stored, key_bytes, 1, file) != 1 ||
        fread(binary, header.binary_bytes, 1, file) != 1 || memcmp(stored, key, key_bytes) ||
        hash_of(binary, header.binary_bytes) != header.binary_hash) {
        free(binary);
        binary = NULL;
        goto done;
    }
    *size = header.binary_bytes;
done:
    free(stored);
    fclose(file);
    return binary;
}

// A new file in the folder, for the user alone; its name goes to `name`. -1: none can be made.
static int temporary_open(int folder, char name[64], const char *wanted)
{
    static atomic_uint count;
    int fd = -1;
    for (int tries = 0; fd < 0 && tries < 100; tries++) {
        snprintf(name, 64, "%s.%ld-%u", wanted, (long)getpid(), atomic_fetch_add(&count, 1));
        fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

void weft__cache_write(const char *dir, const char *key, const unsigned char *binary, size_t size)
{
    char name[32], temporary[64];
    const char *reason;
    struct header header = {.magic = FORMAT, .key_bytes = strlen(key), .binary_bytes = size};
    int folder = weft__own_folder(dir, &reason);
    if (folder < 0)
        return;
    cache_name(name, key);
    int fd = temporary_open(folder, temporary, name);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (file) {
        header.binary_hash = hash_of(binary, size);
        int good = fwrite(&header, sizeof header, 1, file) == 1 && fwrite(key, header.key_bytes, 1, file) == 1 &&
                   fwrite(binary, size, 1, file) == 1;
        good = fclose(file) == 0 && good;
        if (!good || renameat(folder, temporary, folder, name))
            unlinkat(folder, temporary, 0);
    } else if (fd >= 0) {
        close(fd);
        unlinkat(folder, temporary, 0);
    }
    close(folder);
}

void weft__cache_drop(const char *dir, const char *key)
{
    char name[32];
    const char *reason;
    int folder = weft__own_folder(dir, &reason);
    if (folder < 0)
        return;
    cache_name(name, key);
    unlinkat(folder, name, 0);
    close(folder);
}
