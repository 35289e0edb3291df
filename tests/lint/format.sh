#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# format.sh ROOT: every C and OpenCL C file is as clang-format writes it. One version is pinned, since they differ.
# To mend: clang-format-14 -i FILE...
set -eu
cd "$1"
command -v clang-format-14 >/dev/null || { echo "skipped: no clang-format-14"; exit 77; }
find . \( -path './build*' -o -path './.git' \) -prune -o -type f \( -name '*.[ch]' -o -name '*.cl' -o -name '*.clh' \) -print |
    sort | xargs clang-format-14 --dry-run --Werror --style=file
