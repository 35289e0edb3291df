// SPDX-License-Identifier: Apache-2.0
// Names of matrices, and texts of others made fit to be printed.
#include "host/common/name.h"

#include <stdio.h>
#include <string.h>

// Bytes of the character that begins here, 0: none does.
static size_t character_bytes(const unsigned char *at)
{
    static const struct {
        unsigned char low, high, second_low, second_high;
        size_t bytes;
    } kinds[] = {{0x20, 0x7e, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                 {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                 {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (*at < kinds[k].low || *at > kinds[k].high)
            continue;
        if (kinds[k].bytes > 1 && (at[1] < kinds[k].second_low || at[1] > kinds[k].second_high))
            return 0;
        for (size_t i = 2; i < kinds[k].bytes; i++)
            if (at[i] < 0x80 || at[i] > 0xbf)
                return 0;
        return kinds[k].bytes;
    }
    return 0;
}

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
        size_t bytes = *at && strchr(plain, *at) ? 1 : character_bytes(at);
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

void bench_text_mend(char *text)
{
    while (*text) {
        size_t bytes = character_bytes((const unsigned char *)text);
        if (!bytes && (unsigned char)*text >= 0x80)
            *text = '?';
        text += bytes ? bytes : 1;
    }
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
    bench_text_mend(out);
}
