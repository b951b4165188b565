// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QFontMetricsF>
#include <QString>

namespace telltale::views {

/// The texts cut to `width` px: one that is too long loses its front alone, "…experts.1.fc1.weight". The end of a name
/// stays, and different texts stay different: where two would read the same, the number of a block stands in place of
/// what is lost, "L2 …fc1.weight", and where that is not enough, with the part behind it, "L2 attn.…weight". With
/// `keepsBlock` it does wherever it has room: a name that stands alone tells of which block it is. Thread: any.
std::vector<QString> fitLabels(
    const std::vector<QString>& texts, const QFontMetricsF& metrics, double width, bool keepsBlock = false);

/// The text with what has no room cut off behind, but for a micro step that it ends with: "tok_emb in… µ1". Thread:
/// any.
QString elideBehind(const QString& text, const QFontMetricsF& metrics, double width);

/// Places for labels that want to stand at `wanted` (ascending), at least `pitch` apart and inside [low, high]; one
/// that would have to move further than `mostShift` has none. Thread: any.
std::vector<std::optional<double>> placeLabels(
    const std::vector<double>& wanted, double pitch, double low, double high, double mostShift);

}
