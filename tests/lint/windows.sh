#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The libraries compile and link for Windows, by MinGW, and a program links with them.
#
# windows.sh ROOT FOLDER    FOLDER gets a build folder, of which the next run compiles what has changed
set -eu
root=$1 folder=$2/windows cc=x86_64-w64-mingw32-gcc
skip() { echo "windows: $1"; exit 77; }
command -v $cc >/dev/null || skip "no $cc (gcc-mingw-w64-x86-64-win32)"
echo '#include <zlib.h>' | $cc -E - >/dev/null 2>&1 || skip "no zlib for MinGW (libz-mingw-w64-dev)"
[ -e /usr/include/CL/cl.h ] || skip "no headers of OpenCL in /usr/include"

mkdir -p "$folder/headers"
ln -sfn /usr/include/CL "$folder/headers/CL"
cat >"$folder/cross.ini" <<TXT
[binaries]
c = [$(! command -v ccache >/dev/null || echo "'ccache', ")'$cc']
ar = 'x86_64-w64-mingw32-ar'
strip = 'x86_64-w64-mingw32-strip'
[host_machine]
system = 'windows'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
TXT
quiet() { "$@" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }; }
[ -e "$folder/build/build.ninja" ] ||
    quiet meson setup "$folder/build" "$root" --cross-file "$folder/cross.ini" --buildtype=plain -Dwerror=true \
        "-Dc_args=-I$folder/headers" -Dtests=disabled -Dbench=disabled -Dtool=disabled -Dpetsc=disabled -Dpython=disabled
quiet ninja -C "$folder/build" host/libweft-0.1.dll host/libweft-io-0.1.dll host/libweft.a host/libweft-io.a
for program in spmv transpose; do
    quiet $cc -std=c11 -Wall -Werror "-I$folder/headers" "-I$root/host/include" "$root/docs/examples/$program.c" \
        "$folder"/build/host/*.dll.a -o "$folder/$program.exe"
done
# The loader of OpenCL is looked for when the library runs, so that a program starts without one.
if x86_64-w64-mingw32-objdump -p "$folder/build/host/libweft-0.1.dll" | grep 'DLL Name: OpenCL'; then
    echo "windows: libweft needs OpenCL.dll"
    exit 1
fi
