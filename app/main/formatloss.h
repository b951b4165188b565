// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace telltale::app {

/// What fp16, bf16 and fp8 would lose of a tensor, read from one histogram with octave bins (core/numberformats.h).
/// Counts that could not be read are -1, and nothing is said then.
std::string formatLossHeading();
std::string formatLossText(std::span<const double> edges, std::span<const std::int64_t> counts);
/// {"fp16": {"flushed": share, "subnormal": share, "overflowed": [least, most]}, ...}, or null.
std::string formatLossJson(std::span<const double> edges, std::span<const std::int64_t> counts);

}
