// SPDX-License-Identifier: Apache-2.0
// The names of a public enum, written once: a table becomes weft_E_name and weft_E_parse.
#pragma once

#include <string.h>
#include <weft/status.h>

// The value of that name; -1: none has it, or text is NULL.
static inline int weft__name_find(const char *const *names, size_t count, const char *text)
{
    for (size_t i = 0; text && i < count; i++)
        if (!strcmp(text, names[i]))
            return (int)i;
    return -1;
}

// WEFT__NAMES(ofs, "32", "64"); names the values 0, 1, ... of enum weft_ofs.
#define WEFT__NAMES(noun, ...)                                                                                         \
    static const char *const noun##_names[] = {__VA_ARGS__};                                                           \
    const char *weft_##noun##_name(enum weft_##noun value)                                                             \
    {                                                                                                                  \
        return (unsigned)value < sizeof noun##_names / sizeof *noun##_names ? noun##_names[value] : "unknown";         \
    }                                                                                                                  \
    weft_status weft_##noun##_parse(enum weft_##noun *out, const char *text)                                           \
    {                                                                                                                  \
        const int value = weft__name_find(noun##_names, sizeof noun##_names / sizeof *noun##_names, text);             \
        if (!out || value < 0)                                                                                         \
            return WEFT_EINVAL;                                                                                        \
        *out = (enum weft_##noun)value;                                                                                \
        return WEFT_OK;                                                                                                \
    }                                                                                                                  \
    struct weft__names_of_##noun
