// SPDX-License-Identifier: Apache-2.0
// Texts of others: which bytes are characters of UTF-8.
#include "host/src/core/text.h"

#include <string.h>

size_t weft__text_character(const unsigned char *at)
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

void weft__text_mend(char *text)
{
    while (*text) {
        size_t bytes = weft__text_character((const unsigned char *)text);
        if (!bytes && (unsigned char)*text >= 0x80)
            *text = '?';
        text += bytes ? bytes : 1;
    }
}

void weft__text_fit(char *out, size_t size, char *text)
{
    weft__text_mend(text);
    size_t length = strnlen(text, size);
    if (length == size)
        for (length--; length && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    while (length && text[length - 1] == ' ')
        length--;
    memcpy(out, text, length);
    out[length] = 0;
}
