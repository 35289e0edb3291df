// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <weft/weft.h>

int main(void)
{
    struct weft_device_info *list = NULL;
    size_t count = 0;
    struct weft_error err = {0};
    weft_status status = weft_devices_list(&list, &count, &err);
    printf("%zu devices %s\n", count, status ? err.text : "");
    weft_devices_free(&list);
    return status && status != WEFT_ENODEV;
}
