// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <vector>

namespace telltale::views {

/// Rows as points, in an order in which alike ones stand together: the leaves of a hierarchical clustering by Ward's
/// criterion (chain of nearest neighbors, quadratic). More than kMostClustered rows stand along their first principal
/// component instead, which is linear. `features` is row-major, `dimensions` values a row. Thread: any.
std::vector<std::size_t> clusteredOrder(const std::vector<float>& features, std::size_t dimensions);

inline constexpr std::size_t kMostClustered = 1200;

}
