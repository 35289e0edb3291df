#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# oclgrind.sh PROGRAM [ARGUMENTS]: run it with Oclgrind as the only OpenCL driver. Fails when the program fails or when
# Oclgrind has anything to say that oclgrind.supp does not name: races, uninitialised reads, accesses out of bounds,
# divergent barriers. With OCLGRIND_UNINITIALIZED=0 it does not look for uninitialised reads.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
driver=$(find /usr/lib /usr/local/lib -name liboclgrind-rt-icd.so 2>/dev/null | head -n 1)
[ -n "$driver" ] || { echo "1..0 # SKIP no Oclgrind"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Oclgrind begins its file anew with each context, so that only the last would be heard: a pipe keeps them all.
mkfifo "$folder/pipe"
exec 9<>"$folder/pipe" 8<"$folder/pipe" # both ends are open here: a program may end before the reader starts
{
    exec 9>&-
    python3 "$here/oclgrind_log.py" "$here/oclgrind.supp" <&8 >&2 || echo fault >"$folder/fault"
} &
reader=$!
exec 8<&-
unset WEFT_DEVICE
export OCL_ICD_VENDORS="$driver" OCLGRIND_DATA_RACES=1 OCLGRIND_UNINITIALIZED="${OCLGRIND_UNINITIALIZED-1}" OCLGRIND_MAX_ERRORS=100000000
export OCLGRIND_LOG="$folder/pipe" OCLGRIND_BUILD_OPTIONS=-DWEFT_ONE_BY_ONE # cl/spmv/spmv.clh
rc=0
"$@" 9>&- || rc=$?
exec 9>&- # nobody else writes: the reader comes to the end
wait "$reader"
[ ! -e "$folder/fault" ] || exit 1
exit $rc
