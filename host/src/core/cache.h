// SPDX-License-Identifier: Apache-2.0
// Program binaries on disk: one file per key, written beside and renamed, safe for many processes.
#pragma once

#include <weft/device.h>

enum { WEFT__CACHE_WHY = 512 };

// Everything the binary depends on, as text: format number, device, vendor, driver, platform, options, source.
// The caller frees it; NULL: no memory.
char *weft__cache_key(const struct weft_device_info *device, const char *options, const char *text);
// The binary stored under `key`, or NULL: not there, another key, damaged, or not the user's own (own.h), and then `why`
// gets a line about it, else "". The caller frees it.
unsigned char *weft__cache_read(const char *dir, const char *key, size_t *size, char why[WEFT__CACHE_WHY]);
// Remove it; failures are silent.
void weft__cache_drop(const char *dir, const char *key);
// Store it in a folder of the user's own; failures are silent, since a cache may be missing.
void weft__cache_write(const char *dir, const char *key, const unsigned char *binary, size_t size);
