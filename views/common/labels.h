// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QFontMetricsF>
#include <QString>

namespace telltale::views {

/// The texts cut to `width` px. What all of them begin with goes first, "model.decoder."; then, of a name that is
/// still too long, parts whose loss leaves it different from every other: "blocks.3…fc1.weight". No part is cut
/// in its middle as long as that does, the number of a run stays whole, and different texts stay different.
/// Thread: any.
std::vector<QString> fitLabels(const std::vector<QString>& texts, const QFontMetricsF& metrics, double width);

/// Places for labels that want to stand at `wanted` (ascending), at least `pitch` apart and inside [low, high]; one
/// that would have to move further than `mostShift` has none. Thread: any.
std::vector<std::optional<double>> placeLabels(
    const std::vector<double>& wanted, double pitch, double low, double high, double mostShift);

}
