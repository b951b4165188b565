#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# wheel.sh WHEEL PROGRAM [SITE]: installs a portable wheel without a compiler in sight, and streams a small training to PROGRAM from
# there; SITE is a folder of site-packages with PyTorch. As root with debootstrap and a mirror, in a root of Debian 11 (glibc 2.31), too.
set -euo pipefail
wheel=$(realpath "$1") program=$(realpath "$2") site=${3:+$(realpath "$3")} here=$(dirname "$(realpath "$0")")
tools=$here/../../build/portable/tools/bin
work=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || kill "$server" 2> /dev/null || true
    umount -q "$work/old/proc" 2> /dev/null || true
    rm -rf "$work"
}
trap finish EXIT
fail() { printf 'wheel: %s\n' "$*" >&2; exit 1; }

"$tools/auditwheel" show "$wheel" | tr '\n' ' ' | grep -q 'consistent with.*"manylinux_2_28_x86_64"' || fail "auditwheel does not call it manylinux_2_28"
python3 -m zipfile -e "$wheel" "$work/inside"
for name in agent reader; do
    library=$work/inside/telltale/libtelltale_$name.so
    more=$(nm -D --defined-only "$library" | awk '$3 !~ /^t[tr]_/ { print $3 }')
    [ -z "$more" ] || fail "$name shows more than its C ABI: $more"
    needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -Ev '^(lib(c|m|dl|rt|pthread)|ld-linux-x86-64)\.so\.[0-9]$') || true
    [ -z "$needed" ] || fail "$name needs $needed"
    printf 'wheel: %s: %s functions, glibc up to %s\n' "$name" "$(nm -D --defined-only "$library" | wc -l)" \
        "$(objdump -T "$library" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)"
done
[ "$(find "$work/inside" -path '*dist-info/licenses/*.txt' -size +0 | wc -l)" -ge 12 ] || fail "license texts are missing"

# streams NAME RUN...: doctor and the training, by a way to run a Python in that place; the server's files are in $work/NAME.
streams() {
    local name=$1 data=$2 join
    shift 2
    mkdir -p "$data"
    "$program" serve --listen 127.0.0.1:0 --data-dir "$data" > "$work/join" 2> "$work/said" &
    server=$!
    for _ in $(seq 100); do [ -s "$work/join" ] && break; sleep 0.1; done
    join=$(cat "$work/join")
    "$@" "$join" -m telltale doctor > "$work/doctor" || true
    # The old root has no framework, which the doctor minds.
    if ! grep -q '^ok *dashboard' "$work/doctor" || grep '^bad' "$work/doctor" | grep -qv '^bad *framework'; then
        cat "$work/doctor"
        fail "$name: the doctor says no"
    fi
    grep -E 'kernel|native|dashboard' "$work/doctor" | sed "s/^/wheel: $name: /"
    "$@" "$join" training.py data | sed "s/^/wheel: $name: /"
    kill "$server"
    wait "$server" || true
    server=
    : > "$work/join"
}

python3 -m venv "$work/venv"
mkdir "$work/empty" "$work/here"
cp "$here/training.py" "$work/here/"
env -i HOME="$work" PATH="$work/empty" "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel" ${site:+--no-deps}
[ -z "$site" ] || echo "$site" > "$work/venv/lib/$(ls "$work/venv/lib")/site-packages/more.pth"
in_venv() { local join=$1; shift; (cd "$work/here" && env -i HOME="$work" PATH="$work/empty" TELLTALE_JOIN="$join" "$work/venv/bin/python" "$@"); }
streams "no compiler" "$work/here/data" in_venv

if [ "$(id -u)" -eq 0 ] && command -v debootstrap > /dev/null; then
    old=$work/old
    if debootstrap --variant=minbase --include=python3,python3-pip bullseye "$old" > "$work/debootstrap.log" 2>&1; then
        mount -t proc proc "$old/proc"
        cp /etc/resolv.conf "$old/etc/" || true
        mkdir -p "$old/root/here"
        cp "$wheel" "$here/training.py" "$old/root/here/"
        inside() { chroot "$old" env -i PATH=/usr/bin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }
        # The root's own numpy is older than numpy.typing, and its pip knows nothing of how this machine reaches an index.
        "$work/venv/bin/python" -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.9 -d "$old/root/here" numpy
        inside sh -c 'python3 -m pip install --quiet --no-deps --no-index /root/here/*.whl'
        in_root() { local join=$1; shift; inside env --chdir=/root/here TELLTALE_JOIN="$join" python3 "$@"; }
        streams "Debian 11" "$old/root/here/data" in_root
    else
        printf 'wheel: no root of Debian 11 to be had: %s\n' "$(tail -n 1 "$work/debootstrap.log")"
    fi
fi
