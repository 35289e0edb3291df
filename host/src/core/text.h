// SPDX-License-Identifier: Apache-2.0
// Texts of others, such as a driver's, made UTF-8.
#pragma once

#include <stddef.h>

// Bytes of the character of UTF-8 that begins here; 0: none does, or a control character of ASCII.
size_t weft__text_character(const unsigned char *at);
// What records can hold: bytes that are no UTF-8 become question marks. Control characters stay; JSON escapes them.
void weft__text_mend(char *text);
// The beginning of `text` that fits `size` bytes, mended, without blanks at its end; no character is cut. `text` changes.
void weft__text_fit(char *out, size_t size, char *text);
