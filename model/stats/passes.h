// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "blockpartial.h"

namespace telltale::stats {

Eps makeEps(double eps);
/// Bytes of one element of a tt_tensor's dtype, 0 for an unknown one.
std::size_t widthOf(std::uint32_t dtype);
/// All that a tt_tensor's dtype asks for of one block.
void measureBlock(
    const void* data, std::uint32_t dtype, std::size_t first, std::size_t count, const Eps& eps, BlockPartial& out);

}
