// SPDX-License-Identifier: Apache-2.0
// Devices that no list has: parts of one that is there.
#ifndef WEFT_SRC_DEVICE_H
#define WEFT_SRC_DEVICE_H

#include <weft/device.h>

// Describe the device `id`: its entry of the list, or of a part of a device (clCreateSubDevices) what the driver says of
// the part, with the index of the whole. *whole is that of the list; `out` may be list[0]. False: it is neither.
bool weft__device_entry(struct weft_device_info *out, cl_device_id *whole, const struct weft_device_info *list,
                        size_t count, cl_device_id id);

#endif
