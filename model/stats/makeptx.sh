#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# makeptx.sh [FILE]: the kernels' text from devicekernel.cu into FILE, devicekernel.ptx beside it by default. Needs
# Debian's clang-14, and neither CUDA nor a card. For every card from Pascal on and every driver from 2017 on.
set -e
folder=$(dirname "$0")
exec clang++-14 -x cuda --cuda-device-only --cuda-gpu-arch=sm_60 -Xclang -target-feature -Xclang +ptx60 -nocudainc -nocudalib \
    -Wno-unknown-cuda-version -std=c++17 -O3 -S "$folder/devicekernel.cu" -o "${1:-$folder/devicekernel.ptx}"
