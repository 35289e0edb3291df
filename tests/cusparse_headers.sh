#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cusparse_headers.sh [FOLDER]: compile backend cusparse with the headers of each generation of CUDA that PyPI's wheels have.
# They are downloaded into FOLDER (default: a temporary one), some 700 MB; nothing is linked or run. CUDA 9 and 10 have no
# wheels: their calls are compiled and run by test cusparse_contract-old, against a stand-in.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$(mktemp -d)}
symbols="cusparseSpMV_preprocess CUSPARSE_SPMV_SELL_ALG1 CUSPARSE_SPMV_BSR_ALG1 CUSPARSE_CSR2CSC_ALG2 cusparseScsr2csc
    cusparseSpMVOp_bufferSize CUSPARSE_SPMVOP_ALG1"
flags="-std=c11 -D_GNU_SOURCE -DCL_TARGET_OPENCL_VERSION=120 -DCUSPARSE_ENABLE_EXPERIMENTAL_API -DDISABLE_CUSPARSE_DEPRECATED
    -Wall -Wextra -Wconversion -Wshadow -Werror -fsyntax-only -I$root -I$root/host/include"
failed=0
while read -r name packages; do
    here=$folder/$name
    if [ ! -d "$here/include" ]; then
        mkdir -p "$here/include"
        # shellcheck disable=SC2086 # several packages
        python3 -m pip download -q --disable-pip-version-check --no-deps -d "$here" $packages || { echo "$name: not to be had"; continue; }
        for wheel in "$here"/*.whl; do
            python3 -c "
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in wheel.namelist():
        at = name.rfind('/include/')
        if at >= 0 and not name.endswith('/'):
            import os
            path = os.path.join(sys.argv[2], name[at + 9:])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as file:
                file.write(wheel.read(name))" "$wheel" "$here/include"
        done
    fi
    has=
    for symbol in $symbols; do
        # shellcheck disable=SC2086 # several flags
        if printf '#include <cusparse.h>\n#ifndef %s\nvoid *f(void) { return (void *)(__SIZE_TYPE__)%s; }\n#endif\n' "$symbol" "$symbol" |
            ${CC:-cc} $flags -Wno-conversion -isystem "$here/include" -x c - 2>"$here/log"; then
            has="$has -DWEFT_HAS_$(echo "$symbol" | tr '[:lower:]' '[:upper:]')"
        fi
    done
    good=yes
    for file in "$root"/backends/cusparse/[cst]*.c; do
        # shellcheck disable=SC2086 # several flags
        ${CC:-cc} $flags $has -isystem "$here/include" "$file" || good=no
    done
    printf '%s, cuSPARSE %s: %s%s\n' "$name" \
        "$(sed -n 's/^#define CUSPARSE_VER_\(MAJOR\|MINOR\|PATCH\) *//p' "$here/include/cusparse.h" | paste -sd.)" \
        "$([ $good = yes ] && echo compiles || echo 'DOES NOT COMPILE')" "$(echo "$has" | sed 's/ -DWEFT_HAS_/, /g' | tr '[:upper:]' '[:lower:]')"
    [ $good = yes ] || failed=1
done <<'TXT'
11.8 nvidia-cusparse-cu11==11.7.5.86 nvidia-cuda-runtime-cu11==11.8.89
12.1 nvidia-cusparse-cu12==12.1.0.106 nvidia-cuda-runtime-cu12==12.1.105
12.9 nvidia-cusparse-cu12==12.5.10.65 nvidia-cuda-runtime-cu12==12.9.79
13 nvidia-cusparse==12.9.4.2 nvidia-cuda-runtime==13.5.37
TXT
[ -n "${1:-}" ] || rm -rf "$folder"
exit $failed
