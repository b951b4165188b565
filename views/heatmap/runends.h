// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>
#include <vector>

#include <QRect>

#include "heatpicture.h"

class QPainter;

namespace telltale::views {

class ViewState;

/// A part of a plot over steps where the run has not begun or is over, and the sentence that says so. Nothing is
/// missing there. Thread: gui.
struct RunEnd {
    QRect area;
    QString why;
};

QString noStepBefore(const QString& run, Step first);
QString noStepAfter(const QString& run, Step last);
/// Breaks no name in two where the sentence is wrapped; for display alone.
QString withWholeNames(QString sentence, const QStringList& names);

/// The first column that has a step of the run, and one beyond the last.
std::pair<int, int> runColumns(const HeatPicture& picture, const ViewState& state);
/// Of a map of one run: where a run that it is compared with goes on. Of a difference: where one of its two is over.
std::vector<RunEnd> runEnds(const HeatPicture& picture, const QRect& plot, const ViewState& state);
/// The ground, which stands for nothing.
void paintRunEnds(QPainter& painter, const std::vector<RunEnd>& ends);
/// Over all lines, which would cross the words; upright where they have no room lying, and nothing without any.
void paintRunEndWords(
    QPainter& painter, const std::vector<RunEnd>& ends, const HeatPicture& picture, const ViewState& state);

}
