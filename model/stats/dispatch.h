// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "blockpartial.h"

namespace telltale::stats {

/// Below this many elements a second thread costs more than it brings.
inline constexpr std::uint64_t kParallelElements = 1u << 19;
/// What a thread takes at a time: some microseconds.
inline constexpr std::uint64_t kPieceBlocks = 4;
inline constexpr int kMostThreads = 16;

/// The functions for this processor, chosen at the first call (TELLTALE_KERNEL narrows the choice). Thread: any.
const KernelTable& kernel();

}
