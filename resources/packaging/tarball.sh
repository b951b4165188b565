#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tarball.sh BUILD OUT VERSION: what is installed, and the libraries that it needs beside it, as a folder that runs wherever it is unpacked
# (glibc as new as this machine's, a graphics stack and fontconfig are the system's).
set -euo pipefail
build=$1 out=$2 name=telltale-$3-linux-$(uname -m)
stage=$out/$name
rm -rf "$stage"
cmake --install "$build" --component desktop --strip --prefix "$stage" > /dev/null
libraries=$stage/lib/telltale
mkdir -p "$libraries" "$stage/plugins"
plugins=$(qtpaths6 --plugin-dir)
for plugin in platforms/libqxcb platforms/libqoffscreen platforms/libqminimal xcbglintegrations/libqxcb-glx-integration \
    xcbglintegrations/libqxcb-egl-integration imageformats/libqsvg iconengines/libqsvgicon tls/libqopensslbackend; do
    [ -f "$plugins/$plugin.so" ] || continue
    mkdir -p "$stage/plugins/$(dirname "$plugin")"
    cp "$plugins/$plugin.so" "$stage/plugins/$plugin.so"
done
# What every desktop has, and must have as its own graphics driver wants it.
systems='^(ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\+\+|GL|EGL|GLX|GLdispatch|OpenGL|drm|gbm|X11|X11-xcb|xcb|fontconfig|freetype|expat|z|dbus-1|systemd))\.so'
{ find "$stage/plugins" -name '*.so'; echo "$stage/bin/telltale"; } | while read -r file; do ldd "$file"; done \
    | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u | while read -r library; do
    [[ $(basename "$library") =~ $systems ]] || cp -L "$library" "$libraries/"
done
# DT_RPATH, which counts for what the libraries need themselves, too.
patchelf --force-rpath --set-rpath '$ORIGIN/../lib/telltale' "$stage/bin/telltale"
find "$stage/plugins" -name '*.so' -exec patchelf --force-rpath --set-rpath '$ORIGIN/../../lib/telltale' {} +
find "$libraries" -name '*.so*' -exec patchelf --force-rpath --set-rpath '$ORIGIN' {} +
printf '[Paths]\nPrefix = ..\nPlugins = plugins\n' > "$stage/bin/qt.conf"
# The licenses of what came along, as the system's packages have them.
mkdir -p "$stage/share/doc/telltale/licenses"
find "$libraries" "$stage/plugins" -name '*.so*' -printf '%f\n' | sort -u | while read -r file; do
    package=$(dpkg-query -S "*/$file" 2> /dev/null | head -n 1 | cut -d: -f1)
    [ -z "$package" ] || cp -L "/usr/share/doc/$package/copyright" "$stage/share/doc/telltale/licenses/$package.txt" 2> /dev/null || true
done
XZ_OPT=-T0 tar -C "$out" --owner=0 --group=0 --sort=name -cJf "$out/$name.tar.xz" "$name"
rm -rf "$stage"
