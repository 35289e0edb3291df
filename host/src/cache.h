// SPDX-License-Identifier: Apache-2.0
// Program binaries on disk: one file per key, written beside and renamed, safe for many processes.
#ifndef WEFT_CACHE_H
#define WEFT_CACHE_H

#include <weft/device.h>

// Everything the binary depends on, as text: format number, device, vendor, driver, platform, options, source.
// The caller frees it; NULL: no memory.
char *weft__cache_key(const struct weft_device_info *device, const char *options, const char *text);
// The binary stored under `key`, or NULL: not there, another key, damaged. The caller frees it.
unsigned char *weft__cache_read(const char *dir, const char *key, size_t *size);
// Store it; failures are silent, since a cache may be missing.
void weft__cache_write(const char *dir, const char *key, const unsigned char *binary, size_t size);

#endif
