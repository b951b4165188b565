// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QStringList>

#include <telltale/core/expected.h>
#include <telltale/heatmap/heatpicture.h>
#include <telltale/judge/comparisonreport.h>
#include <telltale/plot/curvepicture.h>

class QIODevice;

namespace telltale::views {

// What a comparison shows, as CSV. Thread: gui.

/// Every cell of the map: both values, their difference and ratio, and of which runs they are. Null: the head alone.
/// `curves` stand behind its cells in columns of their own, and name their run, or all that they are the range or the
/// median of; null: there are none.
Expected<void> writeDifferenceCsv(QIODevice* device, const HeatPicture* picture, const CurvePicture* curves);
/// What differs first, and most of each kind. Null: the head alone.
Expected<void> writeFindingsCsv(QIODevice* device, const judge::Comparison* found);
Expected<void> writeFactsCsv(
    QIODevice* device, const QStringList& runs, const std::vector<judge::DifferingFact>& facts);

}
