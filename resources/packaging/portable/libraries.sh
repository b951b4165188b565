#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# libraries.sh ROOT ZIG: makes the static libraries of the portable wheel in ROOT/prefix, for an older glibc, with what ROOT/sources
# holds. Each is made once; remove ROOT to begin anew.
set -euo pipefail
root=$(realpath "$1") zig=$2 here=$(dirname "$(realpath "$0")")
prefix=$root/prefix
export ZIG_GLOBAL_CACHE_DIR=$root/zig ZIG_LOCAL_CACHE_DIR=$root/zig CC=$root/bin/cc CXX=$root/bin/c++ AR=$root/bin/ar RANLIB=$root/bin/ranlib
mkdir -p "$root/bin" "$prefix"/{include,lib/pkgconfig}
for tool in cc c++ ar ranlib; do
    target=
    [[ $tool != c* ]] || target='-target x86_64-linux-gnu.2.28'
    printf '#!/bin/sh\nexec "%s" %s %s "$@"\n' "$zig" "$tool" "$target" > "$root/bin/$tool"
done
chmod +x "$root"/bin/*

# unpack NAME: its source in a folder of its own, which becomes the current one; false where the library is there already.
unpack() {
    [ ! -e "$prefix/lib/$2" ] || return 1
    printf 'portable: %s\n' "$1" >&2
    rm -rf "${root:?}/$1"
    mkdir "$root/$1"
    tar -C "$root/$1" --strip-components=1 -xf "$root/sources/$1"_*.orig.tar.?z
    cd "$root/$1"
}
with_cmake() {
    cmake -S . -B build -G Ninja -DCMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
        -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON "$@" > build.log
}

if unpack libzstd libzstd.a; then
    make -C lib -j2 CFLAGS='-O3 -fPIC' PREFIX="$prefix" install-static install-includes install-pc > build.log
fi
if unpack pcre2 libpcre2-8.a; then
    with_cmake -DBUILD_SHARED_LIBS=OFF -DPCRE2_SUPPORT_JIT=ON -DPCRE2_BUILD_TESTS=OFF -DPCRE2_BUILD_PCRE2GREP=OFF
    ninja -C build -j2 install >> build.log
fi
if unpack protobuf libprotobuf-lite.a; then
    with_cmake -Dprotobuf_BUILD_TESTS=OFF -Dprotobuf_BUILD_PROTOC_BINARIES=OFF -DBUILD_SHARED_LIBS=OFF -Dprotobuf_WITH_ZLIB=OFF
    ninja -C build -j2 libprotobuf-lite.a >> build.log
    cp -r src/google "$prefix/include/"
    cp build/libprotobuf-lite.a "$prefix/lib/"
fi
if unpack sqlite3 libsqlite3.a; then
    ./configure --disable-tcl > build.log
    make sqlite3.c >> build.log
    "$CC" -O2 -fPIC -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -DHAVE_USLEEP=1 -DHAVE_FDATASYNC=1 -c sqlite3.c -o sqlite3.o
    "$AR" rcs libsqlite3.a sqlite3.o
    cp sqlite3.h "$prefix/include/"
    cp libsqlite3.a "$prefix/lib/"
fi
if unpack openssl libssl.a; then
    # What a TLS 1.3 client and its digests need; no file of the machine is read that its own OpenSSL is set up by.
    ./Configure linux-x86_64 --prefix="$prefix" --libdir=lib --openssldir=/etc/ssl no-shared no-tests no-dso no-engine no-legacy no-module \
        no-autoload-config no-pinshared no-comp no-cms no-ct no-srp no-dtls no-ssl3 no-tls1 no-tls1_1 no-idea no-seed no-camellia no-aria \
        no-bf no-cast no-des no-rc2 no-rc4 no-md4 no-mdc2 no-whirlpool no-gost no-sm2 no-sm3 no-sm4 no-psk no-ts no-ui-console > build.log
    make -j2 build_generated libssl.a libcrypto.a >> build.log
    cp -r include/openssl "$prefix/include/"
    cp libssl.a libcrypto.a "$prefix/lib/"
fi

# The libraries that are headers alone, as Debian's packages have them; fmt's package would bring its shared library.
mkdir -p "$prefix/share/cmake/fmt"
cp -r /usr/include/{boost,fmt,nlohmann,tl} "$prefix/include/"
cp -r /usr/share/cmake/{nlohmann_json,tl-expected} "$prefix/share/cmake/"
cat > "$prefix/share/cmake/fmt/fmt-config.cmake" << CMAKE
if(NOT TARGET fmt::fmt)
    add_library(fmt::fmt INTERFACE IMPORTED)
    target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
    target_include_directories(fmt::fmt INTERFACE "$prefix/include")
endif()
CMAKE
