// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <telltale/core/slot.h>

namespace telltale {

/// One place in the model that is tapped: a module's name and slot.
struct TapPoint {
    static constexpr std::size_t kNoSeries = static_cast<std::size_t>(-1);

    std::string name;
    Slot slot;
    bool wantsValue = false;
    bool wantsGradient = false;
    std::size_t calls = 0; ///< in the current step
    std::vector<std::size_t> values; ///< series by micro step, kNoSeries = not seen yet
    std::vector<std::size_t> gradients;
};

/// Finds tap points by name and slot without allocating once they are known. Points keep their numbers.
/// Thread: training.
class TapRegistry {
public:
    /// The point's number; `isNew` tells whether this call made it.
    std::size_t find(std::string_view name, const Slot& slot, bool& isNew);
    TapPoint& operator[](std::size_t i) { return m_points[i]; }
    void startStep();

private:
    std::vector<TapPoint> m_points;
    std::unordered_map<std::string, std::size_t> m_numbers;
    std::string m_key;
};

}
