// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QRectF>

#include <telltale/common/theme.h>

#include "curvepicture.h"
#include "legendlines.h"
#include "legendvalue.h"

class QPainter;

namespace telltale::views {

/// The column right of the curves: swatch, name, rank and the value at the cursor. A series with several ranks has its
/// name once and a line for each rank. Names are cut as fitLabels() does; what does not fit is counted in a last
/// line and reached by the wheel, a name together with its ranks; what is not drawn at all is counted in a line that
/// draws it, and a compared run that has none of it is named. Thread: its painter's.
class CurveLegend {
public:
    /// `compares`: the values are differences, which a line above them says, and each series has a line more with what
    /// it was at both marks, unless that leaves no room for the last ones. `hasCursor`: values go before further names.
    CurveLegend(
        const QRectF& area, const CurvePicture& picture, int firstLine, bool compares = false, bool hasCursor = false);
    /// px in which every name is whole, `height` px high.
    static double wishOf(const CurvePicture& picture, double height) { return LegendLines::wishOf(picture, height); }

    void paint(QPainter& painter, const std::vector<LegendValue>& values, int emphasised, const Theme& theme,
        bool isStatic = false) const; ///< static: a picture, where nothing can be clicked
    /// Series under a point, -1 when none.
    int seriesAt(QPointF position) const;
    /// Over the line that draws what was left out.
    bool isShowAll(QPointF position) const { return m_showAll.contains(position); }
    /// Largest useful first line. One amid a series' lines shows these from its name.
    int lastFirstLine() const { return m_lines.lastFirst(); }
    /// Series that the wheel reaches above and below, one with its first lines above among the former; curves and bands
    /// where there is but one.
    int above() const { return m_lines.above(); }
    int below() const { return m_lines.below(); }
    /// Not where names alone have room.
    bool hasValues() const { return m_lines.hasValues(); }
    /// Beside each name stands the value of its own rank, and those of the others further down.
    bool areRanksLast() const { return m_lines.areRanksLast(); }
    /// "3 more names below": of what is not shown; empty where all is.
    QString moreText() const { return m_lines.moreText(); }
    /// "demo-cnn has none" in `room` px: of the compared runs; empty where each has something.
    static QString lackingText(const CurvePicture& picture, double room);

private:
    using Line = LegendLines::Line;
    using Form = LegendLines::Form;
    struct Columns; ///< as the values of one painting want them
    double besideValue(const Line& line, const Columns& columns) const; ///< px of what stands in its line
    void paintLine(QPainter& painter, const Line& line, const LegendValue& value, bool bold, const Columns& columns,
        const Theme& theme) const;

    QRectF m_area;
    const CurvePicture& m_picture;
    LegendLines m_lines;
    bool m_compares;
    QRectF m_more;
    QRectF m_lacking; ///< the line that says which runs have none of the series
    QRectF m_showAll;
};

}
