#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# format.sh ROOT: every C and OpenCL C file that git tracks is as clang-format writes it; without git, every file outside
# build folders. One version is pinned, since they differ. To mend: clang-format-14 -i FILE...
set -eu
cd "$1"
command -v clang-format-14 >/dev/null || { echo "skipped: no clang-format-14"; exit 77; }
sources()
{
    git ls-files 2>/dev/null || find . \( -path './build*' -o -path './.git' \) -prune -o -type f -print
}
# A file that is tracked but deleted in the working tree is left out.
sources | grep -E '\.([ch]|clh?)$' | sort | while read -r path; do [ ! -e "$path" ] || echo "$path"; done |
    xargs clang-format-14 --dry-run --Werror --style=file
