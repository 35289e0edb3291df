// SPDX-License-Identifier: Apache-2.0
// The version of the library, as a number and as the symbol that headers of the same minor version refer to.
#include <weft/version.h>

const char WEFT_HEADERS_NEED = 0;

int weft_version(void)
{
    return WEFT_VERSION_NUMBER;
}
