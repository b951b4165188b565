// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/nearest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace telltale::config {
namespace {

/// Levenshtein, one row at a time.
std::size_t distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t { 0 });
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u);
            diagonal = row[j];
            row[j] = std::min({ replaced, row[j] + 1, row[j - 1] + 1 });
        }
    }
    return row.back();
}

}

std::string_view nearestName(std::string_view wrong, std::span<const std::string_view> names)
{
    constexpr std::size_t kLongestName = 64; // beyond it nothing is near, and the table would be big
    if (wrong.size() > kLongestName)
        return {};
    std::string_view best;
    std::size_t bestDistance = std::max<std::size_t>(2, wrong.size() / 3) + 1;
    for (const auto name : names) {
        const auto d = distance(wrong, name);
        if (d < bestDistance) {
            best = name;
            bestDistance = d;
        }
    }
    return best;
}

}
