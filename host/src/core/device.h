// SPDX-License-Identifier: Apache-2.0
// What a list of devices does not have: parts of a device, what its sub-groups lack, the width of its vectors.
#pragma once

#include <weft/device.h>

// Describe the device `id`: its entry of the list, or of a part of a device (clCreateSubDevices) what the driver says of
// the part, with the index of the whole. *whole is that of the list; `out` may be list[0]. False: it is neither.
bool weft__device_entry(struct weft_device_info *out, cl_device_id *whole, const struct weft_device_info *list,
                        size_t count, cl_device_id id);

struct weft__subgroups {
    bool there;     // with a shuffle
    int waves;      // sizes of 32 and 64 that a kernel can ask for, added up
    bool no_ballot; // a sum of bits is the ballot
    bool no_size;   // no kernel can ask for a size; each is asked for what it has once it is compiled
};
// All zero where the driver's are not to be used.
struct weft__subgroups weft__subgroups_of(const struct weft_device_info *info);

// Why weft_device_find found none of `count` devices that is `text`, which is not empty.
void weft__device_absent(char *out, size_t size, size_t count, const char *text);

// Floats of a vector of the hardware; 0: the driver does not say.
int weft__device_vector(const struct weft_device_info *info);
