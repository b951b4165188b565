// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QRectF>
#include <QString>

#include "curvepicture.h"

namespace telltale::views {

/// Names, ranks and runs of a legend in their lines: which of them there are, in what order, which of them have room,
/// and what the others are. Thread: any.
class LegendLines {
public:
    static constexpr double kShort = 18; ///< height of most lines
    static constexpr double kIndent = 18; ///< room for the swatch
    static constexpr double kMarks = 15; ///< height of the values at A and B
    static constexpr double kValue = 52; ///< room for most values

    enum class Form {
        Name, ///< of a series whose ranks follow
        Where, ///< one rank of it
        Run, ///< another run above its rank
        LoneRun, ///< one that has no other rank, beside its value
        Short, ///< name and value in one line
        Tall, ///< name above rank and value
        Beside, ///< names alone, in columns, where they would not fit below each other and no cursor asks for values
    };
    struct Line {
        int series;
        Form form;
        double height;
        double top = 0;
        double left = 0; ///< of its column
    };

    /// `foot`: px of `area` below them. Otherwise as CurveLegend.
    LegendLines(
        const QRectF& area, const CurvePicture& picture, double foot, int firstLine, bool compares, bool hasCursor);
    static double wishOf(const CurvePicture& picture, double height);
    /// Beside the value, where that stands below the name.
    static QString belowName(const CurveSeries& one);

    const std::vector<Line>& shown() const { return m_shown; }
    double end() const { return m_end; } ///< y below the last of them
    const std::vector<QString>& names() const { return m_names; }
    const std::vector<QString>& runNames() const { return m_runNames; }
    bool hasMarks() const { return m_hasMarks; }
    bool isBrief() const { return m_isBrief; }
    bool hasValues() const { return m_hasValues; }
    bool areRanksLast() const { return m_areRanksLast; } ///< beside each name stands its own rank's value
    int lastFirst() const { return m_lastFirst; }
    int above() const { return m_above; }
    int below() const { return m_hidden; }
    QString moreText() const;

private:
    void addLines();
    /// Each name, beside the value of its own rank, before all other ranks: where there is no room for all, a color
    /// tells more than a second line of it.
    void putOtherRanksLast();
    /// A second line for the least and the most of a band, as long as that leaves `room` for all.
    void addReaches(double room);
    double heightOfLines() const;
    double heightOfHighest() const; ///< of a name with its ranks
    bool runsFitBeside() const; ///< each run's name beside most values
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

    QRectF m_area;
    const CurvePicture& m_picture;
    std::vector<QString> m_names; ///< of every series, cut so that different ones stay different
    std::vector<QString> m_runNames; ///< the same of the runs'
    std::vector<Line> m_lines; ///< all of them
    std::vector<Line> m_shown;
    double m_end = 0;
    bool m_compares;
    bool m_hasMarks = false; ///< a line for what stood at both
    bool m_isBrief = false; ///< runs without their ranks
    bool m_hasValues = true; ///< else names alone, for which there is more room
    int m_hidden = 0;
    int m_above = 0;
    Counted m_whatIsBelow = Counted::Lines;
    Counted m_whatIsAbove = Counted::Lines;
    bool m_areRanksLast = false;
    int m_lastFirst = 0;
};

}
