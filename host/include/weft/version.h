// SPDX-License-Identifier: Apache-2.0
// The version of these headers, the version of the library, and what keeps the two together.
//
// Until 1.0 a new minor version may change any structure or call: programs are compiled anew. Two things refuse a mixture:
//   - The library's soname has major and minor (libweft.so.0.1), so a program does not start with another minor.
//   - Each file that includes a header of weft refers to a symbol that has both in its name, and that only the library of
//     the same minor defines. Else the linker says: undefined reference to `weft_headers_0_1_need_library_0_1'.
// A symbol is enough for C and C++, costs no call, needs no context and so covers the functions of the host too; a check
// within weft_context_create would come too late for these. Programs that open the library with dlopen define
// WEFT_NO_LINK_CHECK first, and compare weft_version() with WEFT_VERSION_NUMBER.
#ifndef WEFT_VERSION_H
#define WEFT_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(WEFT_BUILD) && defined(_WIN32)
#define WEFT_API __declspec(dllexport)
#elif defined(WEFT_BUILD) && defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif

// The only place where the version is written; meson.build reads it here.
#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

#define WEFT_VERSION_NUMBER                       (10000 * WEFT_VERSION_MAJOR + 100 * WEFT_VERSION_MINOR + WEFT_VERSION_PATCH)
#define WEFT_VERSION_TEXT_OF(major, minor, patch) #major "." #minor "." #patch
#define WEFT_VERSION_EXPAND(macro, ...)           macro(__VA_ARGS__)
#define WEFT_VERSION                                                                                                   \
    WEFT_VERSION_EXPAND(WEFT_VERSION_TEXT_OF, WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH)

// WEFT_VERSION_NUMBER of the library that runs: 10000 * major + 100 * minor + patch.
WEFT_API int weft_version(void);

#define WEFT_HEADERS_NEED_OF(major, minor) weft_headers_##major##_##minor##_need_library_##major##_##minor
#define WEFT_HEADERS_NEED                  WEFT_VERSION_EXPAND(WEFT_HEADERS_NEED_OF, WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR)
extern WEFT_API const char WEFT_HEADERS_NEED; // its address is all that counts
#if defined(__GNUC__) && !defined(WEFT_BUILD) && !defined(WEFT_NO_LINK_CHECK)
__attribute__((used)) static const char *const weft_headers_need = &WEFT_HEADERS_NEED;
#endif

#ifdef __cplusplus
}
#endif
#endif
