#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does a bare machine get from a clone to a result? Each command gets a new root with a clone of the last commit.
#
# fresh.sh [ROOT|FOLDER|SUITE] [bench|test|packages|python|petsc]...    root and debootstrap are needed
#     bench   ./dev bench, `meson install` and the programs of the pages, then ./dev bench without network and without /sys
#     test    ./dev test, and once more without network and without /sys
#     packages  packaging/debian built, looked at by lintian, installed and used (debian/tests)
#     python    pip install '.[cpu]' into an environment of its own, and the first program of docs/python.md: with the system's
#             OpenCL, and without, by the driver that comes from PyPI
#     petsc   ./dev petsc-example: a system solved on two ranks by PETSc and by weft, and a table
#   Default: bench. ROOT is a folder with a system of Debian or Ubuntu, which is copied and left as it is; in FOLDER roots
#   of Debian 12 are made; SUITE is the name of another release (default: bookworm), whose roots are made in
#   /var/tmp/weft-fresh. MIRROR is the mirror that packages come from; default: the first that apt's sources name here.
#   Apt's network settings are this machine's. NETWORKS=with leaves out what goes without network.
# fresh.sh --here FOLDER [MATRIX.mtx]             no root needed: build the library, install it below FOLDER, use it there
# fresh.sh --use FOLDER [MATRIX.mtx]              compile and run the programs of the pages, library installed
# fresh.sh --python PYTHON                        the first program of docs/python.md by PYTHON, which has weft
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)

# program PAGE FILE: the C program of a page
program() { awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$source/$1" >"$2"; }

fail() { echo "fresh: $*" >&2; exit 1; }

# run WANTED PROGRAM [ARGUMENT]: one of them. Without a device it says so; that is no fault of the installation.
run()
{
    wanted=$1
    shift
    status=0
    out=$("$@" 2>&1) || status=$?
    case $status:$out in
    0:*) [ -z "$wanted" ] || [ "$(echo "$out" | tr '\n' ,)" = "$wanted" ] || fail "$*: prints $out" ;;
    *'install a driver'*) echo "fresh: $*: $out" ;;
    *) fail "$*: exit status $status: $out" ;;
    esac
}

# needs PROGRAM: the libraries that it or a library loads by itself
needs() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(lib[^.]*\)\..*/\1/p' | sort | tr '\n' ' '; }

# These programs, compiled by README's command.
use()
{
    mkdir -p "$1"
    cd "$1"
    program docs/transpose.md transpose.c
    program README.md spmv.c
    cp "$source/tests/install/consumer/"* .
    # shellcheck disable=SC2016
    grep -q '^    cc spmv.c $(pkg-config --cflags --libs weft) -o spmv$' "$source/README.md" ||
        fail "README says another command than this script runs"
    # shellcheck disable=SC2016
    grep -q '^    cc transpose.c $(pkg-config --cflags --libs weft-io) -o transpose$' "$source/docs/transpose.md" ||
        fail "transpose.md says another command than this script runs"
    # shellcheck disable=SC2046
    cc spmv.c $(pkg-config --cflags --libs weft) -o spmv || fail "spmv.c does not compile"
    # shellcheck disable=SC2046
    cc transpose.c $(pkg-config --cflags --libs weft-io) -o transpose || fail "transpose.c does not compile"
    printf '%%%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 2\n1 3 1\n2 2 3\n' >sample.mtx
    run '12 30,' ./spmv
    run '1 1 2,2 2 3,1 3 1,' ./transpose sample.mtx
    [ -z "${2:-}" ] || run '' ./transpose "$2"
    echo "fresh: the programs of the pages compile and run"
    links
    cplusplus
    cmake_project
}

# Who only multiplies loads OpenCL alone; the static libraries do without ours.
links()
{
    libdir=$(pkg-config --variable=libdir weft)
    command -v readelf >/dev/null || { echo "fresh: no readelf: what is loaded is not looked at"; return 0; }
    loads=$(needs "$libdir/libweft.so" | sed 's/\(ld-linux[^ ]*\|libc\|libm\) //g')
    [ "$loads" = 'libOpenCL ' ] || fail "libweft.so loads more than OpenCL: $loads"
    case $(needs spmv) in *libweft-io*) fail "spmv loads libweft-io" ;; esac
    # shellcheck disable=SC2046
    cc spmv.c $(pkg-config --cflags --libs --static weft | sed 's/-lweft/-l:libweft.a/g') -o spmv-static ||
        fail "spmv.c does not link with libweft.a"
    # shellcheck disable=SC2046
    cc transpose.c $(pkg-config --cflags --libs --static weft-io | sed 's/-l\(weft[-io]*\)/-l:lib\1.a/g') \
        -o transpose-static || fail "transpose.c does not link with libweft-io.a"
    case $(needs spmv-static)$(needs transpose-static) in *libweft*) fail "the static programs load libweft.so" ;; esac
    run '12 30,' ./spmv-static
    run '1 1 2,2 2 3,1 3 1,' ./transpose-static sample.mtx
    echo "fresh: programs load what they use, and the static libraries link"
}

cplusplus()
{
    command -v c++ >/dev/null || { echo "fresh: no c++: weft.hpp is not tried"; return 0; }
    # shellcheck disable=SC2046
    c++ -std=c++17 -Wall -Wextra -Werror product.cpp $(pkg-config --cflags --libs weft-io) -o product ||
        fail "product.cpp does not compile"
    run 'right,' ./product
    echo "fresh: a program in C++17 compiles and runs"
}

# CMake finds the libraries, refuses another minor version, and makes what runs.
cmake_project()
{
    command -v cmake >/dev/null && command -v c++ >/dev/null || { echo "fresh: no cmake: the package is not tried"; return 0; }
    version=$(pkg-config --modversion weft) prefix=$(pkg-config --variable=prefix weft)
    rm -rf cmake-build
    try() { cmake -S . -B cmake-build -DCMAKE_PREFIX_PATH="$prefix" -DSPMV="$PWD/spmv.c" -DWANTED="$1" >cmake.log 2>&1; }
    if try "${version%%.*}.99"; then fail "CMake takes weft $version where another minor version is wanted"; fi
    rm -rf cmake-build
    { try "${version%.*}" && cmake --build cmake-build >>cmake.log 2>&1; } || { cat cmake.log >&2; fail "the project of CMake does not build"; }
    run '12 30,' cmake-build/multiply
    run '12 30,' cmake-build/multiply_static
    run 'right,' cmake-build/product
    [ ! -e cmake-build/product_static ] || run 'right,' cmake-build/product_static
    echo "fresh: a project of CMake finds weft and runs"
}

# Ten lines with scipy; the last one prints whether products agree, and how many entries of the transposes differ.
ten_lines()
{
    lines=$(awk '/^```python$/ { on = 1; next } /^```$/ { if (on) exit } on' "$source/docs/python.md")
    said=$(cd / && "$1" -c "$lines") || fail "the first program of docs/python.md does not run"
    [ "$said" = 'True 0' ] || fail "the first program of docs/python.md prints $said"
    echo "fresh: ten lines of Python with scipy run"
}

here()
{
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
    prefix=$folder/prefix build=$folder/build log=$folder/install.log
    rm -rf "$prefix" "$build"
    meson setup "$build" "$source" --prefix="$prefix" --buildtype=plain -Dtests=disabled -Dbench=disabled -Dtool=disabled
    DESTDIR='' meson install -C "$build" >"$log" 2>&1 || { cat "$log"; fail "the library cannot be installed"; }
    libdir=$(dirname "$(find "$prefix" -name libweft.so)")
    export PKG_CONFIG_PATH="$libdir/pkgconfig" LD_LIBRARY_PATH="$libdir"
    [ "$(pkg-config --variable=libdir weft)" = "$libdir" ] || fail "weft.pc names another folder than $libdir"
    use "$folder/use" "${2:-}"
}

# What host/libdir.sh says on systems made up.
libdirs()
{
    system=$1
    rm -rf "$system"
    mkdir -p "$system/etc" "$system/bin"
    says()
    {
        said=$(WEFT_ROOT=$system PATH=$system/bin:$PATH CC=my-cc sh "$source/host/libdir.sh") || fail "libdir.sh fails on $1"
        [ "$said" = "$2" ] || fail "libdir.sh on $1: \"$said\", not \"$2\""
    }
    printf '#!/bin/sh\nexit 2\n' >"$system/bin/dpkg-architecture"
    printf '#!/bin/sh\necho a-linux-gnu\n' >"$system/bin/my-cc"
    chmod +x "$system/bin/"*
    says 'another system than Debian' ''
    echo 12 >"$system/etc/debian_version"
    says 'Debian without dpkg-dev' libdir=lib/a-linux-gnu
    printf '#!/bin/sh\nexit 1\n' | tee "$system/bin/my-cc" >"$system/bin/gcc"
    chmod +x "$system/bin/gcc"
    says 'Debian without a compiler that knows' libdir=lib
    printf '#!/bin/sh\necho a-linux-gnu\n' >"$system/bin/dpkg-architecture"
    says 'Debian with dpkg-dev' ''
}

case ${1:-} in
--here)
    [ $# -ge 2 ] || fail "--here wants a folder"
    libdirs "$2/system"
    here "$2" "${3:-}"
    exit 0
    ;;
--use)
    [ $# -ge 2 ] || fail "--use wants a folder"
    use "$2" "${3:-}"
    exit 0
    ;;
--python)
    [ $# -ge 2 ] || fail "--python wants a Python"
    ten_lines "$2"
    exit 0
    ;;
-*)
    sed -n '/^# Does a bare/,/^set/s/^# //p' "$0" >&2
    exit 2
    ;;
esac

suite=bookworm folder=/var/tmp/weft-fresh base=''
case ${1:-} in
'' | bench | test | packages | python | petsc) ;;
*/* | .) folder=$1 && shift ;;
*) suite=$1 && shift ;;
esac
[ $# -gt 0 ] || set -- bench
if [ -e "$folder/etc/os-release" ]; then
    base=$folder
    folder=${folder%/}.weft-fresh
fi
mkdir -p "$folder"
mirror=${MIRROR:-$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null |
    sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)*\([^ ]*\) .* main.*/\2/p' | head -n 1)}
if [ -z "$base" ]; then
    base=$folder/base-$suite
    [ -e "$base/complete" ] || { debootstrap --variant=minbase "$suite" "$base" "$mirror" && touch "$base/complete"; }
fi

mounted=''
release()
{
    for m in $mounted; do umount -l "$m"; done
    mounted=''
}
trap release EXIT
trap 'exit 130' INT TERM

inside() { env -i HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}" "$@"; }

# used ROOT: install the library there, and use it as README says
used()
{
    inside chroot "$1" meson install -C /root/weft/build && inside chroot "$1" /root/weft/tests/fresh.sh --use /root/use
}

# Run in a root: build the packages of Debian, install them and use what they bring.
packages()
{
    cat <<'TXT'
set -eu
export DEBIAN_FRONTEND=noninteractive
quiet() { "$@" >/root/log 2>&1 || { tail -n 40 /root/log; exit 1; }; }
quiet apt-get -q update
quiet apt-get -q -y install --no-install-recommends build-essential lintian cmake pkg-config pocl-opencl-icd
cp -r /root/weft /root/package
cd /root/package
cp -r packaging/debian debian
quiet apt-get -q -y --no-install-recommends build-dep .
quiet dpkg-buildpackage -us -uc -b
lintian --allow-root --fail-on error,warning ../*.changes
quiet apt-get -q -y --no-install-recommends install /root/*weft*.deb
mkdir -p /root/tmp
AUTOPKGTEST_TMP=/root/tmp debian/tests/programs
AUTOPKGTEST_TMP=/root/tmp debian/tests/python
TXT
}

# Run in a root: what docs/python.md says.
python()
{
    cat <<'TXT'
set -eu
export DEBIAN_FRONTEND=noninteractive
quiet() { "$@" >/root/log 2>&1 || { tail -n 40 /root/log; exit 1; }; }
quiet apt-get -q update
quiet apt-get -q -y install --no-install-recommends gcc libc6-dev python3-venv opencl-headers ocl-icd-opencl-dev zlib1g-dev pkg-config \
    pocl-opencl-icd
[ ! -e /root/certificates ] || export PIP_CERT=/root/certificates
quiet python3 -m venv /root/env
cd /root/weft
quiet /root/env/bin/pip install '.[cpu]'
tests/fresh.sh --python /root/env/bin/python
quiet apt-get -q -y purge pocl-opencl-icd ocl-icd-opencl-dev ocl-icd-libopencl1
tests/fresh.sh --python /root/env/bin/python
TXT
}

# Run in a root: what docs/petsc.md says first.
petsc()
{
    cat <<'TXT'
set -eu
/root/weft/dev petsc-example >/root/said
cat /root/said
for type in aij aijweft; do grep -q "^| $type | 2 | .* | solved |$" /root/said; done
TXT
}

rc=0
for command in "$@"; do
    root=$folder/$command
    rm -rf --one-file-system "$root"
    cp -a "$base" "$root"
    if [ -e "$base/complete" ]; then # made above
        parts=main
        ! grep -q '^ID=ubuntu' "$base/etc/os-release" || parts='main universe'
        echo "deb $mirror $suite $parts" >"$root/etc/apt/sources.list"
    fi
    apt-config dump | grep -E '^Acquire::(https?|Check-)' >"$root/etc/apt/apt.conf.d/90host" || :
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    git clone -q --no-hardlinks "file://$source" "$root/root/weft"
    mount -t proc proc "$root/proc"
    mounted="$root/proc"
    mount --bind /dev "$root/dev"
    mounted="$root/dev $mounted"
    mount --bind /dev/pts "$root/dev/pts"
    mounted="$root/dev/pts $mounted"
    mount -t sysfs -o ro sysfs "$root/sys"
    mounted="$root/sys $mounted"
    case $command in packages | python | petsc)
        [ ! -e /etc/ssl/certs/ca-certificates.crt ] || cp -L /etc/ssl/certs/ca-certificates.crt "$root/root/certificates"
        status=0 start=$(date +%s)
        "$command" | inside chroot "$root" sh || status=$?
        echo "== $command: exit status $status after $(($(date +%s) - start)) s"
        [ $status = 0 ] || rc=1
        release
        continue
        ;;
    esac
    for network in ${NETWORKS:-with without}; do
        echo "== ./dev $command, $network network"
        start=$(date +%s) status=0
        if [ "$network" = with ]; then
            inside chroot "$root" /root/weft/dev "$command" || status=$?
            [ "$status" != 0 ] || [ "$command" != bench ] || used "$root" || status=$?
        else
            umount "$root/sys"
            mounted=${mounted#* }
            inside unshare -n chroot "$root" /root/weft/dev "$command" || status=$?
        fi
        echo "== ./dev $command, $network network: exit status $status after $(($(date +%s) - start)) s"
        [ $status = 0 ] || rc=1
    done
    release
done
exit $rc
