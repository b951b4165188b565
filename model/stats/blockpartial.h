// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace telltale::stats {

/// Elements that are reduced together. Fixed, and blocks are combined in index order, so the result does not depend on
/// how many threads share the work.
inline constexpr std::size_t kBlockElements = 8192;

/// What one block gives. min > max means that it has no finite element.
struct BlockPartial {
    double sum;
    double sumsq;
    double min;
    double max;
    std::uint32_t zeros;
    std::uint32_t nans;
    std::uint32_t posInfs;
    std::uint32_t negInfs;
    std::uint64_t checksum; ///< only where it is asked for
};

/// Thresholds in the element's own type, chosen so that comparing there equals comparing in double.
struct Eps {
    double wide;
    float narrow; ///< smallest float >= wide
};

using BlockFunction
    = void (*)(const void* data, std::size_t first, std::size_t count, const Eps& eps, BlockPartial& out);

using ChecksumFunction = std::uint64_t (*)(const void* data, std::size_t first, std::size_t count);

/// Agreements less disagreements of the signs of two blocks.
using SignFunction = std::int64_t (*)(const void* left, const void* right, std::size_t first, std::size_t count);
/// By the dtypes of left and right, TT_F32 to TT_BF16 from 0.
struct SignRow {
    SignFunction block[4];
};
struct SignTable {
    SignRow row[4];
};

/// One instruction set's functions, by tt_dtype (index 0 unused).
struct KernelTable {
    const char* name;
    BlockFunction block[11];
    SignTable signs;
    std::array<ChecksumFunction, 11> checksum;
};

const KernelTable& portableKernel();
#if defined(__x86_64__)
const KernelTable& avx2Kernel();
const KernelTable& avx512Kernel();
#endif

}
