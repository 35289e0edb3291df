#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# symbols.sh STATIC SHARED: what other programs link with is named weft_ or weft__, and the shared library shows the
# public names only. Skips where gcov is in the library, which brings names of its own.
set -eu
if nm -D --defined-only "$2" | grep -q ' __gcov_'; then
    echo "skipped: built to count lines"
    exit 77
fi
names() { nm --defined-only -g "$@" | awk 'NF == 3 { print $3 }' | sort -u; }
foreign=$(names "$1" | grep -v '^weft_' || true)
shown=$(names -D "$2" | grep -v '^weft_[^_]' || true)
[ -z "$foreign" ] || printf 'in the static library without the prefix weft_:\n%s\n' "$foreign"
[ -z "$shown" ] || printf 'shown by the shared library although not public:\n%s\n' "$shown"
public=$(names -D "$2" | grep -c '^weft_[^_]' || true)
[ "$public" -gt 0 ] || echo "the shared library shows no public function"
[ -z "$foreign$shown" ] && [ "$public" -gt 0 ]
