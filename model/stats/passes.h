// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "blockpartial.h"

namespace telltale::stats {

Eps makeEps(double eps);
/// Bytes of one element of a tt_dtype, 0 for an unknown one.
std::size_t widthOf(std::uint32_t dtype);

}
