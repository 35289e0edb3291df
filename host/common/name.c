// SPDX-License-Identifier: Apache-2.0
// Names of matrices, and texts of others made fit to be printed.
#include "host/common/name.h"
#include "host/internal/text.h"

#include <stdio.h>
#include <string.h>

// Whether a character of UTF-8 has begun at the end of the text, which `count` bytes are left of.
static int is_cut(const unsigned char *at, size_t count)
{
    const size_t wanted = *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : *at >= 0xc2 ? 2 : 1;
    if (*at > 0xf4 || count >= wanted)
        return 0;
    for (size_t i = 1; i < count; i++)
        if (at[i] < 0x80 || at[i] > 0xbf)
            return 0;
    return 1;
}

size_t bench_text_show(char *out, const char *text, size_t size, const char *plain)
{
    size_t used = 0;
    while (used < size) {
        unsigned char at[4] = {0};
        memcpy(at, text + used, size - used < sizeof at ? size - used : sizeof at);
        if (is_cut(at, size - used))
            break;
        size_t bytes = *at && strchr(plain, *at) ? 1 : weft__text_character(at);
        if (bytes == 2 && *at == 0xc2 && at[1] < 0xa0) // controls of ISO 6429
            bytes = 0;
        if (!bytes) {
            out += sprintf(out, "\\x%02x", *at);
            used++;
            continue;
        }
        memcpy(out, at, bytes);
        out += bytes;
        used += bytes;
    }
    *out = 0;
    return used;
}

struct bench_text_line bench_text_line(const char *text)
{
    struct bench_text_line line;
    const size_t length = strlen(text), most = (sizeof line.text - 1) / BENCH_TEXT_GROWS;
    bench_text_show(line.text, text, length < most ? length : most, "");
    return line;
}

void bench_name_of_file(char *out, size_t size, const char *path)
{
    const char *base = strrchr(path, '/');
    snprintf(out, size, "%s", base ? base + 1 : path);
    static const char *const ends[] = {".gz", ".tgz", ".tar", ".mtx"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t length = strlen(out), end = strlen(ends[i]);
        if (length > end && !strcmp(out + length - end, ends[i]))
            out[length - end] = 0;
    }
    weft__text_mend(out);
}
