#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# check.sh FOLDER CAPSULE: installs what ./dev package made in roots of a bare Debian 12, and runs it there. Needs root, debootstrap
# and a mirror.
set -euo pipefail
folder=$(realpath "$1") capsule=$(realpath "$2")
work=$(mktemp -d)
trap 'umount -q "$work"/*/proc || true; rm -rf "$work"' EXIT
fail() { printf 'check: %s\n' "$*" >&2; exit 1; }

# root NAME PACKAGE...: a bare system with these packages.
root() {
    local name=$1
    shift
    if [ ! -d "$work/bare" ]; then
        debootstrap --variant=minbase bookworm "$work/bare" > "$work/debootstrap.log" || { cat "$work/debootstrap.log"; exit 1; }
        cp /etc/resolv.conf "$work/bare/etc/" || true
        cp /etc/apt/sources.list "$work/bare/etc/apt/" 2> /dev/null || true
        cp -r /etc/apt/sources.list.d /etc/apt/apt.conf.d "$work/bare/etc/apt/" 2> /dev/null || true
    fi
    cp -a "$work/bare" "$work/$name"
    mount -t proc proc "$work/$name/proc"
    cp "$capsule" "$work/$name/root/run.telltale"
    inside "$name" apt-get update -qq
    [ $# -eq 0 ] || inside "$name" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" > /dev/null
}
inside() { local name=$1; shift; chroot "$work/$name" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }

# runs NAME PROGRAM: what a person would do first, in that root.
runs() {
    local name=$1 program=$2 join pid
    inside "$name" "$program" --version | grep -q '^telltale ' || fail "$name: no version"
    inside "$name" "$program" inspect /root/run.telltale --verify > /dev/null || fail "$name: a run cannot be read"
    inside "$name" "$program" render /root/run.telltale --view heatmap -o /root/heatmap.png || fail "$name: no picture"
    head -c 4 "$work/$name/root/heatmap.png" | grep -q PNG || fail "$name: the picture is none"
    inside "$name" "$program" serve --listen 127.0.0.1:0 > "$work/join" 2> "$work/said" &
    pid=$!
    for _ in $(seq 100); do [ -s "$work/join" ] && break; sleep 0.1; done
    join=$(cat "$work/join")
    pkill -P $pid 2> /dev/null || kill $pid 2> /dev/null || true # the server, not the shell that waits for it
    wait $pid 2> /dev/null || true
    [[ $join == telltale://* ]] || fail "$name: the server does not start: $(cat "$work/said")"
    printf 'check: %s: version, inspect, render and serve work\n' "$name"
}

root debian
cp "$folder"/telltale_*.deb "$work/debian/root/telltale.deb"
inside debian env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends /root/telltale.deb > "$work/apt.log" 2>&1 || { cat "$work/apt.log"; exit 1; }
runs debian telltale
inside debian bash -n /usr/share/bash-completion/completions/telltale || fail "the completion is no bash"
inside debian sh -c 'test -s /usr/share/man/man1/telltale.1* && test -s /usr/share/applications/telltale.desktop'
inside debian dpkg -r telltale > /dev/null
[ -z "$(inside debian find /usr -name '*telltale*')" ] || fail "the package leaves something behind"

# A desktop's own libraries, and none of Qt's.
root tarball libgl1 libegl1 libopengl0 libfontconfig1 libfreetype6 libx11-6 libx11-xcb1 libxcb1 libdbus-1-3 libdrm2 libgbm1 fonts-dejavu-core
tar -C "$work/tarball/opt" -xJf "$folder"/telltale-*-linux-*.tar.xz
runs tarball "/opt/$(ls "$work/tarball/opt")/bin/telltale"
