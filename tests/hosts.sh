#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The library, the reader and the tests of the host with other compilers, C libraries and processors.
#
# hosts.sh [-o RECORDS] [-w FOLDER] [HOST]...   of: gcc-12 gcc-13 gcc-14 clang-14 clang-19 i386 s390x arm64 riscv64 ppc64el musl mingw; default: all
#
# Compilers are those of Debian (gcc-s390x-linux-gnu and so on, musl-tools, gcc-mingw-w64-x86-64), and what is not installed is
# left out, with the reason. zlib of other processors comes from Debian's mirror, by an apt of its own that leaves the
# system's alone. Programs of other processors run under qemu-user-static. No OpenCL is linked: the tests of suite unit that
# need no device are run, or those of HOST_TESTS ("core/word mtx/file"). RECORDS gets a line of JSON a host, which bench/lab/portability.py makes a table of.
# FOLDER keeps what was compiled, of which the next run compiles what has changed. Exit 77: no host could be tried.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
records=/dev/null
[ "${1:-}" != -o ] || { records=$2; shift 2; }
if [ "${1:-}" = -w ]; then
    work=$2
    shift 2
    mkdir -p "$work"
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
tests=${HOST_TESTS:-"common/check_exact common/check_spmv common/order matrix/canonical_host matrix/density matrix/distance matrix/generate
    matrix/matrix matrix/measure matrix/permutation mtx/file mtx/number mtx/parse core/word"}
warnings="-Wall -Wextra -Wshadow -Wno-unused-parameter"
status=0 tried=0

say() { printf '%-9s %s\n' "$1:" "$2"; }

# skip NAME COMPILER WHY
skip() { say "$1" "skipped: $3"; record "$1" "$2" skipped "$3"; }

# A folder with zlib's headers and library for an architecture of Debian. Debian 12 has none for riscv64, later ones have.
zlib()
{
    mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/zlib-$1"
    cat >"$work/apt/conf" <<TXT
APT::Architectures { "$(dpkg --print-architecture)"; "$1"; };
Dir::State::lists "$work/apt/lists";
Dir::Cache "$work/apt/cache";
APT::Sandbox::User "root";
TXT
    if [ "$1" = riscv64 ]; then
        mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | head -n 1)} # as this machine has it
        echo "deb $mirror sid main" >"$work/apt/sources"
        printf 'Dir::Etc::sourcelist "%s";\nDir::Etc::sourceparts "-";\nAPT::Architectures { "riscv64"; };\nAPT::Architecture "riscv64";\n' \
            "$work/apt/sources" >>"$work/apt/conf"
    fi
    (cd "$work/zlib-$1" && export APT_CONFIG="$work/apt/conf" && apt-get -q update >log 2>&1
        apt-get -q download "zlib1g:$1" "zlib1g-dev:$1" >>log 2>&1 && for deb in *.deb; do dpkg-deb -x "$deb" .; done) || return 1
    find "$work/zlib-$1" -name libz.a -exec dirname {} \;
}

# host NAME COMPILER RUNNER ARCHITECTURE FLAGS...
host()
{
    name=$1 compiler=$2 runner=$3 arch=$4
    shift 4
    command -v "$compiler" >/dev/null || { skip "$name" "$compiler" "no $compiler"; return; }
    [ -z "$runner" ] || command -v "$runner" >/dev/null || { skip "$name" "$compiler" "no $runner"; return; }
    library=
    if [ -n "$arch" ]; then
        library=$(zlib "$arch") && [ -n "$library" ] || { skip "$name" "$compiler" "no zlib of $arch"; return; }
    fi
    tried=1
    # Where size_t has 32 bits a 64-bit size is narrowed after it was checked: those warnings are left out.
    strict=-Wconversion link=-Wl,--unresolved-symbols=ignore-all exe=
    case $name in
    i386) strict= ;;
    mingw) strict= link="-L$work -lOpenCL" exe=.exe ;; # read and write take an unsigned int there
    esac
    build=$work/$name
    mkdir -p "$build"
    # zlib's headers are the same everywhere but zconf.h, which lies beside the library's architecture.
    flags="-std=gnu11 -O2 -D_GNU_SOURCE -DCL_TARGET_OPENCL_VERSION=120 -DWEFT_OPENCL_DLOPEN $* -I$root -I$root/host/include -I$root/tests
        -I$work -DWEFT_BUILD -ffp-contract=off"
    flags=$(echo $flags)
    [ -z "$library" ] || flags="$flags -L$library"
    {
        printf 'rule cc\n  deps = gcc\n  depfile = $out.d\n  command = %s %s %s -Werror -MD -MF $out.d -c $in -o $out\n' "$compiler" "$flags" "$warnings $strict"
        for file in $(find "$root/host/src" "$root/host/internal" "$root/host/common" "$root/tests/support" -name '*.c' ! -name list_json.c) "$work/kernels.c"; do
            case $name:$file in
            mingw:*/core/out.c | mingw:*/host/common/progress.c | mingw:*/host/common/streams.c) continue ;; # of POSIX alone
            mingw:*) ;;
            *:*/windows/*) continue ;;
            esac
            printf 'build %s.o: cc %s\n' "$(echo "${file#"$root"/}" | tr / _)" "$file"
        done
    } | tr -s ' \n' | sed 's/  */ /g; s/^ \([cd][a-z]* =\)/  \1/' >"$build/build.ninja"
    if ! ninja -k 0 -C "$build" >"$build/log" 2>&1; then
        say "$name" "does not compile: $(grep -c 'error:' "$build/log") errors, the first: $(grep -m1 'error:' "$build/log")"
        record "$name" "$compiler" failed "does not compile"
        status=1
        return
    fi
    passed=0 failed=
    for test in $tests; do
        [ -e "$root/tests/$test.c" ] || continue
        program=$build/$(basename "$test")$exe
        # shellcheck disable=SC2086 # flags are words
        if $compiler $flags "-DWEFT_MATRICES=\"$root/../shared/matrices\"" "$root/tests/$test.c" "$build"/*.o -o "$program" -static $link -lz -lm -pthread \
            >"$program.log" 2>&1 && (cd "$build" && WEFT_SEED=1 WEFT_SAMPLE=1 timeout 600 ${runner:+"$runner"} "$program" >"$program.out" 2>&1); then
            passed=$((passed + 1))
        else
            failed="$failed $(basename "$test")"
            tail -3 "$program.log"
            grep -A3 '^not ok' "$program.out" 2>/dev/null | head -8 || :
        fi
    done
    [ -z "$failed" ] || status=1
    say "$name" "$($compiler --version | head -1): $passed tests passed${failed:+, failed:$failed}"
    record "$name" "$($compiler --version | head -1)" "$([ -z "$failed" ] && echo passed || echo failed)" "$passed tests passed${failed:+, failed:$failed}"
}

# record NAME COMPILER STATE TEXT
record() { printf '{"host":"%s","compiler":"%s","state":"%s","text":"%s","executed":"%s","date":"%s"}\n' "$1" "$2" "$3" "$4" "$(basename "${runner:-here}")" "$(date -u +%F)" >>"$records"; }

mkdir -p "$work/headers"
ln -sfn /usr/include/CL "$work/headers/CL"
for header in zlib.h zconf.h; do # of any architecture: zconf.h differs in nothing that C sees
    path=$(find /usr/include -name $header | head -1)
    [ -z "$path" ] || ln -sf "$path" "$work/headers/$header"
done
# shellcheck disable=SC2046 # a list of files
(cd "$root/cl" && python3 embed.py "$work/kernels.c" $(sed -n "/cl_sources = /,/)/s/^ *'\(.*\)',*/\1/p" meson.build))
inc=-I$work/headers
for wanted in ${*:-gcc-12 gcc-13 gcc-14 clang-14 clang-19 i386 s390x arm64 riscv64 ppc64el musl mingw}; do
    case $wanted in
    gcc-* | clang-*) host "$wanted" "$wanted" "" "" ;;
    i386) host i386 i686-linux-gnu-gcc qemu-i386-static i386 $inc -msse2 -mfpmath=sse ;; # figures are compared bit for bit
    s390x) host s390x s390x-linux-gnu-gcc qemu-s390x-static s390x $inc ;;
    arm64) host arm64 aarch64-linux-gnu-gcc qemu-aarch64-static arm64 $inc ;;
    riscv64) host riscv64 riscv64-linux-gnu-gcc qemu-riscv64-static riscv64 $inc ;;
    ppc64el) host ppc64el powerpc64le-linux-gnu-gcc qemu-ppc64le-static ppc64el $inc ;;
    musl) # with the zlib of the other C library, of which musl has all that it calls
        mkdir -p "$work/musl"
        ln -sf "$(cc -print-file-name=libz.a)" "$work/musl/libz.a"
        host musl musl-gcc "" "" $inc "-L$work/musl"
        ;;
    mingw)
        wine=$(command -v wine64 || command -v /usr/lib/wine/wine64 || echo wine64)
        grep -ho 'CL_API_CALL *$\|^cl[A-Z][A-Za-z]*(' "$work/headers/CL/cl.h" | grep -o '^cl[A-Z][A-Za-z]*' | sort -u |
            sed '1i LIBRARY OpenCL.dll\nEXPORTS' >"$work/opencl.def"
        ! command -v x86_64-w64-mingw32-dlltool >/dev/null || x86_64-w64-mingw32-dlltool -d "$work/opencl.def" -l "$work/libOpenCL.a"
        export WINEPREFIX="$work/wine" WINEDEBUG=-all
        [ -n "${HOST_TESTS:-}" ] || tests="$tests core/context transpose/refill" # wine has an OpenCL.dll, which leads to the drivers outside
        host mingw x86_64-w64-mingw32-gcc "$wine" "" "-I$work/headers" "-I$root/host/src/windows" -D_FILE_OFFSET_BITS=64 \
            -include "$root/host/src/windows/posix.h" -include "$root/tests/support/windows.h"
        ;;
    *) echo "hosts: $wanted is no host; --help is the head of the file" >&2; exit 2 ;;
    esac
done
[ $tried = 1 ] || exit 77
exit $status
