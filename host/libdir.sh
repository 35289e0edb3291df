#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The default of Meson's libdir, as `libdir=FOLDER`, where Meson's own is wrong; else nothing. Debian and Ubuntu have
# libraries in lib/TRIPLET, but only dpkg-architecture (package dpkg-dev) tells Meson so: without it Meson takes lib64, which
# neither pkg-config nor the linker looks into. WEFT_ROOT: the system's root, for the test.
set -eu
[ -e "${WEFT_ROOT:-}/etc/debian_version" ] || exit 0
! dpkg-architecture -qDEB_HOST_MULTIARCH >/dev/null 2>&1 || exit 0
# A compiler with options ("ccache gcc") is split into words on purpose.
# shellcheck disable=SC2086
triplet=$(${CC:-cc} -print-multiarch 2>/dev/null) || triplet=''
[ -n "$triplet" ] || triplet=$(gcc -print-multiarch 2>/dev/null) || triplet=''
case $triplet in
*-linux-*) echo "libdir=lib/$triplet" ;;
*) echo libdir=lib ;; # looked into as well
esac
