// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <telltale/core/kinds.h>

/// What agents of protocol 1 sent, and what runs of formats 1 and 2 hold: the only place that knows it. A histogram was
/// 32 series, one after the other, each named by the text of its bin and with counts as floats. They are stored as they
/// come, and read as one histogram. Thread: any (pure).
namespace telltale::protocolone {

/// How the values of a layout's statistic travel and lie in Column::values, by the layout's edges.
ColumnType columnType(const std::vector<double>& edges, Stat stat);

/// Of all its histograms: 30 bins over [-1, 1] and two open ends.
const std::shared_ptr<const std::vector<double>>& edges();
/// Which bin a series of {hist} without edges is, by its slot; none where it is no such thing.
std::optional<std::size_t> binOf(std::string_view slot);

}
