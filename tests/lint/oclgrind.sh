#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# oclgrind.sh PROGRAM [ARGUMENTS]: run it with Oclgrind as the only OpenCL driver. Fails when the program fails or when
# Oclgrind has anything to say: races, uninitialised reads, accesses out of bounds, divergent barriers.
set -eu
driver=$(find /usr/lib /usr/local/lib -name liboclgrind-rt-icd.so 2>/dev/null | head -n 1)
[ -n "$driver" ] || { echo "1..0 # SKIP no Oclgrind"; exit 0; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
unset WEFT_DEVICE
export OCL_ICD_VENDORS="$driver" OCLGRIND_DATA_RACES=1 OCLGRIND_UNINITIALIZED=1 OCLGRIND_LOG="$log"
rc=0
"$@" || rc=$?
if [ -s "$log" ]; then
    echo "Oclgrind: $(wc -l <"$log") lines, the first of them:" >&2
    head -n 60 "$log" >&2
    exit 1
fi
exit $rc
