// SPDX-License-Identifier: Apache-2.0
// dlopen and dlsym, as far as core/cl_table.c uses them to find the loader of OpenCL.
#pragma once

#include <windows.h>

#define RTLD_DEFAULT NULL
#define RTLD_NOW     0

// Of the program's folder and the system's alone, never of the current one.
static inline void *dlopen(const char *name, int mode)
{
    (void)mode;
    return LoadLibraryExA(name, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
}

static inline void *dlsym(void *library, const char *name)
{
    HMODULE module = library ? library : GetModuleHandleA("OpenCL.dll");
    return module ? (void *)GetProcAddress(module, name) : NULL;
}
