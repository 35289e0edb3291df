#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh PROGRAM [ARGUMENTS]: a test below layer.c, on the chip WEFT_AMD_CHIP by emulation.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
name=$(basename "$1")
skip() { echo "1..0 # SKIP $*"; exit 0; }

# Tests that are not for the emulation: why, or nothing. Only this function leaves tests out.
left_out()
{
    case $1 in
    test-context) echo 'counts references of contexts, which native kernels of PoCL give back late' ;;
    test-kernel_args) echo 'asks the compiler for names of arguments, which layer.c does not tell' ;;
    test-device_default | test-device_several) echo 'about several devices; layer.c makes all alike' ;;
    test-huge* | test-limits | python* | weft*) echo 'another layer, or programs of minutes' ;;
    esac
}

[ -n "${WEFT_AMD_EMULATOR:-}" ] || skip 'WEFT_AMD_EMULATOR is unset: no emulator of AMD GPUs'
[ -d "$WEFT_AMD_EMULATOR/test/mockgpu/amd" ] || skip "no emulator in $WEFT_AMD_EMULATOR/test/mockgpu/amd"
for program in clang-19 ld.lld-19 llvm-readelf-19 llvm-dis-19 python3; do
    command -v $program >/dev/null || skip "no $program"
done
[ -e /etc/OpenCL/vendors/pocl.icd ] || skip 'no PoCL'
why=$(left_out "$name")
[ -z "$why" ] || skip "left out: $why"
export WEFT_AMD_TRANSLATE="$here/translate.py" OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd OPENCL_LAYERS="$WEFT_AMD_LAYER"
WEFT_AMD_FOLDER=$WEFT_AMD_FOLDER/$WEFT_AMD_CHIP
# The library keeps programs, which are names of what translate.py made: none of another one.
XDG_CACHE_HOME=$WEFT_AMD_FOLDER/cache-$(cksum <"$here/translate.py" | cut -d ' ' -f 1)
export WEFT_AMD_FOLDER XDG_CACHE_HOME
unset WEFT_DEVICE
mkdir -p "$WEFT_AMD_FOLDER"
begun=$(date +%s)
rc=0
"$@" || rc=$?
echo "# $name on $WEFT_AMD_CHIP took $(($(date +%s) - begun)) s"
exit $rc
