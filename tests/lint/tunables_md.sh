#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tunables_md.sh check|write PROGRAM ROOT: whether docs/reference/tunables.md is what PROGRAM (weft_tunables.c) prints, or
# make it so.
set -eu
page=$3/docs/reference/tunables.md
new=$(mktemp)
trap 'rm -f "$new"' EXIT
"$2" >"$new"
[ "$1" = write ] && cat "$new" >"$page"
diff "$page" "$new" || { echo "docs/reference/tunables.md is stale; to mend: ninja -C build tunables-md"; exit 1; }
