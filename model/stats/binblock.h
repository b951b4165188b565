// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace telltale::stats {

/// Adds the elements of one block to their bins of octaveEdges() (core/histogram.h); NaN lies in none. Only the
/// elements' bits are read, so that no mode of the processor changes a count. `bins` are added to as by several threads
/// at once: counts do not depend on the order. dtype: a tt_tensor's, known and without flags.
void countBins(const void* data, std::uint32_t dtype, std::size_t first, std::size_t count, std::uint64_t* bins);

}
