// SPDX-License-Identifier: Apache-2.0
// Error codes and messages.
#ifndef WEFT_STATUS_H
#define WEFT_STATUS_H

#include <weft/version.h>

#ifdef __cplusplus
extern "C" {
#endif

// Every status of the library: X(name, value, text). 0 is success, the rest is negative.
#define WEFT_STATUS_LIST(X)                                                                                            \
    X(WEFT_OK, 0, "success")                                                                                           \
    X(WEFT_EINVAL, -1, "invalid argument")                                                                             \
    X(WEFT_ENOMEM, -2, "out of host memory")                                                                           \
    X(WEFT_EDEVMEM, -3, "out of device memory")                                                                        \
    X(WEFT_ENODEV, -4, "no OpenCL device")                                                                             \
    X(WEFT_EDEVICE, -5, "the OpenCL driver refused a call")                                                            \
    X(WEFT_EBUILD, -6, "a kernel failed to compile")                                                                   \
    X(WEFT_ERANGE, -7, "a size exceeds what its type or the device can hold")                                          \
    X(WEFT_EUNSUPPORTED, -8, "the device or this build lacks a capability")                                            \
    X(WEFT_EIO, -9, "a file cannot be read or written")                                                                \
    X(WEFT_EFORMAT, -10, "a file breaks the rules of its format")                                                      \
    X(WEFT_EMATRIX, -11, "the arrays of a matrix contradict each other")

typedef enum weft_status {
#define WEFT_STATUS_ENUM(name, value, text) name = value,
    WEFT_STATUS_LIST(WEFT_STATUS_ENUM)
#undef WEFT_STATUS_ENUM
} weft_status;

// One line of English for a status; "unknown status" for any other number. Never NULL.
WEFT_API const char *weft_status_text(weft_status status);
// "WEFT_OK" "WEFT_EINVAL" ...
WEFT_API const char *weft_status_name(weft_status status);
WEFT_API weft_status weft_status_parse(weft_status *out, const char *text);

// Detail of a failure: which argument, which line of which file, which OpenCL call.
// Functions that have no context take one of these; it may be NULL. A call that fails fills it. One that succeeds does not
// clear it, and what it then holds says nothing: look at it only after a failure.
struct weft_error {
    weft_status status;
    int cl_error;    // code of the OpenCL call that failed, 0 when none did
    char text[1024]; // one line, no newline at its end (a build log may add lines)
};

#ifdef __cplusplus
}
#endif
#endif
