// SPDX-License-Identifier: Apache-2.0
// A file holds: magic, length of the key, length of the binary, its CRC-32, the whole key, the binary. The file name is
// a hash of the key; a hit needs the whole key to be equal, so a collision is a miss and never a wrong program.
#include "cache.h"
#include "internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define FORMAT "weft program cache 1"

struct header {
    char magic[24];
    uint64_t key_bytes;
    uint64_t binary_bytes;
    uint64_t binary_crc;
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

static int cache_path(char *out, size_t size, const char *dir, const char *key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *c = key; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    int length = snprintf(out, size, "%s/%016llx.bin", dir, (unsigned long long)hash);
    return length > 0 && (size_t)length < size;
}

static uint32_t crc(const void *data, size_t size)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), data, size);
}

unsigned char *weft__cache_read(const char *dir, const char *key, size_t *size)
{
    char path[4096];
    struct header header;
    struct stat st;
    size_t key_bytes = strlen(key);
    unsigned char *binary = NULL;
    char *stored = NULL;
    if (!cache_path(path, sizeof path, dir, key))
        return NULL;
    FILE *file = fopen(path, "rb");
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
        crc(binary, header.binary_bytes) != header.binary_crc) {
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

void weft__cache_write(const char *dir, const char *key, const unsigned char *binary, size_t size)
{
    char path[4096], temporary[4200];
    struct header header = {.magic = FORMAT, .key_bytes = strlen(key), .binary_bytes = size};
    if (!cache_path(path, sizeof path, dir, key))
        return;
    header.binary_crc = crc(binary, size);
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int fd = mkstemp(temporary);
    if (fd < 0)
        return;
    FILE *file = fdopen(fd, "wb");
    if (!file) {
        close(fd);
        unlink(temporary);
        return;
    }
    int good = fwrite(&header, sizeof header, 1, file) == 1 && fwrite(key, header.key_bytes, 1, file) == 1 &&
               fwrite(binary, size, 1, file) == 1;
    good = fclose(file) == 0 && good;
    if (!good || rename(temporary, path))
        unlink(temporary);
}
