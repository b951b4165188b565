# SPDX-License-Identifier: GPL-3.0-or-later
# Zig's clang and libc++ for an older glibc, and nothing of this machine but headers that are copied to the prefix and protoc.
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR}/../../../build/portable ABSOLUTE)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER ${root}/bin/cc)
set(CMAKE_CXX_COMPILER ${root}/bin/c++)
set(CMAKE_ASM_COMPILER ${root}/bin/cc)
set(CMAKE_AR ${root}/bin/ar)
set(CMAKE_RANLIB ${root}/bin/ranlib)
set(CMAKE_FIND_ROOT_PATH ${root}/prefix)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(what LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${what} ONLY)
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} ${root}/prefix/lib/pkgconfig)
set(Protobuf_LIBRARY ${root}/prefix/lib/libprotobuf-lite.a CACHE FILEPATH "") # the whole one is asked for, and not used
# GCC contracts nothing in a standard's own mode, Clang does: the same values from both builds.
set(CMAKE_CXX_FLAGS_INIT "-ffp-contract=off")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # a link makes all of libc++ anew for each set of flags
set(TELLTALE_CCACHE OFF CACHE STRING "" FORCE) # Zig keeps what it compiled itself
