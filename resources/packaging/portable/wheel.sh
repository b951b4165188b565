#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# wheel.sh OUT PYTHON: the Python package as a wheel that needs no compiler and nothing of the system but glibc 2.28: Zig's clang and libc++
# for that glibc, the libraries of sources.txt linked in. PYTHON has scikit-build-core. What is made stays in build/portable.
set -euo pipefail
out=$(realpath "$1") python=$(realpath -s "$2") here=$(dirname "$(realpath "$0")")
cd "$here/../../.."
root=$PWD/build/portable
mkdir -p "$root/sources"
fail() { printf 'portable: %s\n' "$*" >&2; exit 1; }

if ! cmp -s "$here/requirements.txt" "$root/tools/installed.txt"; then
    python3 -m venv "$root/tools"
    "$root/tools/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$here/requirements.txt" >&2 \
        || fail "no portable wheel: pip could not get the compiler that $here/requirements.txt names (is there a network?)"
    cp "$here/requirements.txt" "$root/tools/installed.txt"
fi
zig=$("$root/tools/bin/python" -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent)')

# From the archives that apt has its packages from.
grep -v '^#' "$here/sources.txt" | while read -r sum path license; do
    file=$root/sources/$(basename "$path")
    for site in $(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' | sort -u); do
        ! sha256sum --status -c <<< "$sum  $file" 2> /dev/null || break
        /usr/lib/apt/apt-helper download-file "${site%/}/pool/$path" "$file" > "$root/download.log" 2>&1 || true
    done
    sha256sum --status -c <<< "$sum  $file" 2> /dev/null \
        || fail "no portable wheel: no archive of this machine's apt has pool/$path with the sum in $here/sources.txt (is there a network?" \
            "has Debian a newer one?); a copy can be put into $root/sources"
done
"$here/libraries.sh" "$root" "$zig/zig"

licenses=$root/licenses
rm -rf "$licenses"
mkdir -p "$licenses"
cp LICENSE "$licenses/telltale.txt"
grep -v '^#' "$here/sources.txt" | while read -r sum path license; do
    file=$(basename "$path")
    tar -C "$licenses" --transform "s,.*,${file%%_*}.txt," --wildcards --no-wildcards-match-slash -xf "$root/sources/$file" "*/$license"
done
sed -n '/^ Boost Software License/,/^$/p' /usr/share/doc/libboost1.74-dev/copyright > "$licenses/boost.txt"
for package in libfmt-dev libexpected-dev nlohmann-json3-dev; do
    cp "/usr/share/doc/$package/copyright" "$licenses/$package.txt"
done
for part in libcxx libcxxabi libunwind; do
    cp "$zig/lib/$part/LICENSE.TXT" "$licenses/$part.txt"
done
cp "$zig/LICENSE" "$licenses/zig.txt" # its own runtime functions

rm -rf "$root/wheel"
ZIG_GLOBAL_CACHE_DIR=$root/zig ZIG_LOCAL_CACHE_DIR=$root/zig CMAKE_BUILD_PARALLEL_LEVEL=$(nproc) CMAKE_TOOLCHAIN_FILE=$here/toolchain.cmake \
    "$python" -m pip wheel --quiet --no-deps --no-build-isolation -w "$root/wheel" --config-settings=build-dir="$root/build" \
    --config-settings=cmake.define.TELLTALE_LICENSES="$licenses" --config-settings=cmake.define.CMAKE_UNITY_BUILD=ON ./capture/agent/python
# Nothing is to be copied in: this gives the tag, or says what is too new.
PATH=$root/tools/bin:$PATH "$root/tools/bin/auditwheel" repair --plat manylinux_2_28_x86_64 -w "$out" "$root"/wheel/*.whl
