#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers.sh LANGUAGE INCLUDE COMPILER...: each public header compiles alone, as C11 (c) or C++17 (c++).
set -eu
language=$1 include=$2
shift 2
case $language in c) std=c11 ;; c++) std=c++17 ;; esac
rc=0
for header in "$include"/weft/*.h; do
    echo "#include <weft/$(basename "$header")>" |
        "$@" -x "$language" -std="$std" -Wall -Wextra -Wpedantic -Werror -DCL_TARGET_OPENCL_VERSION=120 \
            -I"$include" -fsyntax-only - || { echo "$(basename "$header") does not compile alone ($language)"; rc=1; }
done
exit $rc
