// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <telltale/core/kinds.h>
#include <telltale/core/slot.h>

/// What earlier agents sent, and what earlier runs hold: the only place that knows it. In protocol 1, formats 1 and 2,
/// a histogram was 32 series, one after the other, each named by the text of its bin and with counts as floats. They
/// are stored as they come, and read as one histogram. Up to format 3, and in settings, a slot is its text alone.
/// Thread: any (pure).
namespace telltale::protocolone {

/// How the values of a layout's statistic travel and lie in Column::values, by the layout's edges.
ColumnType columnType(const std::vector<double>& edges, Stat stat);

/// Of all its histograms: 30 bins over [-1, 1] and two open ends.
const std::shared_ptr<const std::vector<double>>& edges();
/// The slot that has this text among series of a kind, or of any where it is not known: named by the text where no
/// agent wrote it of that kind in another sense. The text stays what it was. `mayBeBin`: of {hist} without edges.
Slot slotOf(std::string_view text, std::optional<Kind> kind = {}, bool mayBeBin = false);

}
