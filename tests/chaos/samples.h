// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace telltale::chaos {

/// Every value of a sample follows from its id (step, series, statistic), so that who issued it and who judges it need
/// to share the id alone. Bits are all over the mantissa: a value that was rounded, shifted or mixed up does not fit.
/// Thread: any.
inline constexpr std::uint32_t kTensors = 16;
inline constexpr std::uint64_t kOps = 6; ///< norm, mean, min, max, zeros, nans: what counts as samples
inline constexpr std::uint64_t kSamplesPerStep = kTensors * kOps; ///< and one scalar
/// This tensor has NaNs in it, so that its cells are non-finite in the capsule.
inline constexpr std::uint32_t kTensorWithNans = 5;

inline std::string tensorName(std::uint32_t tensor)
{
    return "layers." + std::to_string(tensor) + ".weight";
}

inline std::uint64_t mixed(std::int64_t step, std::uint32_t tensor, std::uint32_t op)
{
    std::uint64_t x = static_cast<std::uint64_t>(step) * 0x9E3779B97F4A7C15u + tensor * 0xD1B54A32D192ED03u + op + 1;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/// In [0, 1), 24 bits.
inline float share(std::int64_t step, std::uint32_t tensor, std::uint32_t op)
{
    return static_cast<float>(mixed(step, tensor, op) >> 40) * 0x1p-24f;
}

/// Positive, from 2^-12 to 2^13.
inline float magnitude(std::int64_t step, std::uint32_t tensor, std::uint32_t op)
{
    const std::uint64_t bits = mixed(step, tensor, op);
    const float scale = static_cast<float>(std::uint32_t { 1 } << (bits % 24)) * 0x1p-11f;
    return (0.5f + 0.5f * (static_cast<float>(bits >> 40) * 0x1p-24f)) * scale;
}

inline std::uint64_t nanCount(std::int64_t step, std::uint32_t tensor)
{
    return tensor == kTensorWithNans ? 1 + mixed(step, tensor, 5) % 1000 : 0;
}

/// The scalar of a step, 53 bits.
inline double scalar(std::int64_t step)
{
    return static_cast<double>(mixed(step, kTensors, 0) >> 11) * 0x1p-53;
}

}
