// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointF>
#include <QString>

#include <telltale/analysis/oddranks.h>
#include <telltale/common/theme.h>

class QPainter;

namespace telltale::views {

/// The sign of a rank that is unlike its peers, about 8 px: a filled triangle for one that is odd, a ring for one that
/// is at times. Nothing for one like the others. Thread: gui.
void paintRankMark(QPainter& painter, QPointF center, analysis::RankOddness::Grade grade, const Theme& theme);
/// What the sign says; empty for one like the others.
QString rankMarkText(analysis::RankOddness::Grade grade);

}
