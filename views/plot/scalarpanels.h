// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "curvepicture.h"

namespace telltale::views {

/// Scalars that stand in one plot: one of them with all its ranks, or what a metric says of each of its numbered parts.
/// Thread: any (a value).
struct ScalarPanel {
    QString title; ///< "loss"; of numbered parts what stands in front of the parts' own names
    CurvePicture picture;
    std::size_t first = 0; ///< series of the whole picture that it begins with
    bool isShared = false; ///< by several scalars
};

/// "expert_load/layers.0/ep_" of "expert_load/layers.0/ep_3": what the names of one panel have in common. A name whose
/// last part does not end in a number is its own.
QString panelKey(const QString& name);
/// "ep_3" of "expert_load/layers.0/ep_3".
QString partName(const QString& name);

/// Lets the numbered parts of a metric follow its first one, by their numbers; the rest stays where it is.
void putPanelsTogether(std::vector<Row>& rows);
/// Series that follow one another and belong together. Where colors say the run, dashes tell apart what is in one plot.
std::vector<ScalarPanel> panelsOf(const CurvePicture& picture);

}
