#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fresh.sh FOLDER [bench|test]...: does a bare Debian 12 get from a clone to a result? For each command (default: both)
# a new root below FOLDER gets a clone of the last commit and runs `./dev COMMAND`, then once more without network (not so
# with NETWORKS=with).
# Needs root and debootstrap; takes apt's sources and network settings from this machine.
set -eu
[ $# -ge 1 ] || { echo "usage: $0 FOLDER [bench|test]..." >&2; exit 2; }
source=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
shift
[ $# -gt 0 ] || set -- bench test
mkdir -p "$folder"
base=$folder/base
[ -e "$base/complete" ] || { debootstrap --variant=minbase bookworm "$base" && touch "$base/complete"; }

mounted=''
release()
{
    for m in $mounted; do umount -l "$m"; done
    mounted=''
}
trap release EXIT
trap 'exit 130' INT TERM

inside() { env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}" "$@"; }

rc=0
for command in "$@"; do
    root=$folder/$command
    rm -rf --one-file-system "$root"
    cp -a "$base" "$root"
    cp -rL /etc/apt/sources.list* "$root/etc/apt/"
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
    for network in ${NETWORKS:-with without}; do
        echo "== ./dev $command, $network network"
        start=$(date +%s) status=0
        if [ $network = with ]; then
            inside chroot "$root" /root/weft/dev "$command" || status=$?
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
