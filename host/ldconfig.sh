#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ldconfig.sh LIBDIR, after `meson install`: programs find a library in the loader's list, which root writes. Before 1.2 Meson
# leaves it as it was. Only where the loader looks into LIBDIR at all; an installation never fails for it.
set -u
PATH=$PATH:/usr/sbin:/sbin # not part of a shell of su
if [ "$(uname -s)" != Linux ] || [ "$(id -u)" != 0 ] || ! command -v ldconfig >/dev/null; then exit 0; fi
ldconfig -N -X -v 2>/dev/null | sed -n 's/^\(\/[^:]*\):.*/\1/p' | while read -r folder; do
    if [ "$(readlink -f "$folder")" = "$(readlink -f "$1")" ]; then ldconfig; fi
done
exit 0
