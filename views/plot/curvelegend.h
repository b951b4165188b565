// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QRectF>

#include <telltale/common/theme.h>

#include "curvepicture.h"
#include "legendvalue.h"

class QPainter;

namespace telltale::views {

/// The column right of the curves: swatch, name, rank and the value at the cursor. A series with several ranks has its
/// name once and a line for each rank. Names are cut as fitLabels() does; what does not fit is counted in a last
/// line and reached by the wheel, a name together with its ranks; what is not drawn at all is counted in a line that
/// draws it. Thread: its painter's.
class CurveLegend {
public:
    /// `compares`: the values are differences, which a line above them says, and each series has a line more with what
    /// it was at both marks, unless that leaves no room for the last ones.
    CurveLegend(const QRectF& area, const CurvePicture& picture, int firstLine, bool compares = false);
    /// px in which every name is whole, `height` px high.
    static double wishOf(const CurvePicture& picture, double height);

    void paint(QPainter& painter, const std::vector<LegendValue>& values, int emphasised, const Theme& theme,
        bool isStatic = false) const; ///< static: a picture, where nothing can be clicked
    /// Series under a point, -1 when none.
    int seriesAt(QPointF position) const;
    /// Over the line that draws what was left out.
    bool isShowAll(QPointF position) const { return m_showAll.contains(position); }
    /// Largest useful first line. One amid a series' lines shows these from its name.
    int lastFirstLine() const { return m_lastFirst; }
    /// Series that the wheel reaches above and below, one with its first lines above among the former; curves and bands
    /// where there is but one.
    int above() const { return m_above; }
    int below() const { return m_hidden; }
    /// Not where names alone have room, in columns.
    bool hasValues() const;
    /// "3 more names below": of what is not shown; empty where all is.
    QString moreText() const;

private:
    enum class Form {
        Name, ///< of a series whose ranks follow
        Where, ///< one rank of it
        Run, ///< another run above its rank
        LoneRun, ///< one that has no other rank, beside its value
        Short, ///< name and value in one line
        Tall, ///< name above rank and value
        Beside, ///< names alone, in columns, where they would not fit below each other
    };
    struct Line {
        int series;
        Form form;
        double height;
        double top = 0;
        double left = 0; ///< of its column
    };
    void addLines();
    /// Each name with its own rank before all other ranks: where there is no room for all, a color tells more than a
    /// second line of it.
    void putOtherRanksLast();
    double heightOfLines() const;
    bool placeBeside(double room); ///< whether all names fit in columns
    /// First lines of what scrolls as one, for each line: a series with its ranks; where one is higher than `room` or
    /// there is one alone, every line but the first below a name.
    std::vector<bool> beginnings(double room) const;
    static bool isFirstOfSeries(const Line& line);
    /// Those that are counted where they are not shown; `begins` as beginnings() says.
    std::vector<bool> countedLines(const std::vector<bool>& begins) const;
    enum class Counted { Names, Ranks, Runs, Lines };
    /// What the lines from `first` to `end` are that `isCounted`.
    Counted whatIs(const std::vector<bool>& isCounted, int first, int end) const;
    struct Columns; ///< as the values of one painting want them
    double besideValue(const Line& line, const Columns& columns) const; ///< px of what stands in its line
    void paintLine(QPainter& painter, const Line& line, const LegendValue& value, bool bold, const Columns& columns,
        const Theme& theme) const;

    QRectF m_area;
    const CurvePicture& m_picture;
    std::vector<QString> m_names; ///< of every series, cut so that different ones stay different
    std::vector<QString> m_runNames; ///< the same of the runs'
    std::vector<Line> m_lines; ///< all of them
    std::vector<Line> m_shown;
    bool m_compares;
    bool m_hasMarks = false; ///< a line for what stood at both
    bool m_isBrief = false; ///< runs without their ranks
    QRectF m_more;
    QRectF m_showAll;
    int m_hidden = 0;
    int m_above = 0;
    Counted m_whatIsBelow = Counted::Lines;
    Counted m_whatIsAbove = Counted::Lines;
    bool m_areRanksLast = false;
    int m_lastFirst = 0;
};

}
