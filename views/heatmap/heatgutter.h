// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QRect>

#include "heatpicture.h"
#include "rowlayout.h"

class QPainter;

namespace telltale::views {

/// The labels left of a heat map: every row where there is room, every group where there is not, moved apart a little
/// with a leader rather than dropped; where not all have room, the first and each so-and-so-many-th from there. Thread:
/// its painter's.
class HeatGutter {
public:
    HeatGutter(const HeatPicture& picture, const RowLayout& layout, const QRect& plot);

    /// px that the labels of the rows want left of the plot, and those of the groups.
    struct Wish {
        int rows = 0;
        int groups = 0;
    };
    static Wish wishOf(const HeatPicture& picture);
    /// Every row is named, not every group, in a plot of this height.
    static bool namesRows(const HeatPicture& picture, std::size_t groups, int height);

    /// `selected`: a row that is named in 600, between the names of groups or in place of a row's that stands there,
    /// -1: none.
    void paint(QPainter& painter, const Theme& theme, int selected = -1) const;

private:
    struct Label {
        int row; ///< -1: of a group
        double middle; ///< of what it names, px
        double place; ///< of its own middle
        QString text;
        analysis::RankOddness::Grade grade = analysis::RankOddness::Grade::Like;
    };
    double middleOf(int row) const;
    void addRows();
    void addBands();
    /// Between groups that row has a label of its own, in place of that of its group where it would stand there.
    std::vector<Label> labelsWith(int selected) const;
    int lowest() const { return m_plot.top() + 5; } ///< middles of the labels at both ends
    int highest() const { return m_plot.bottom() - 3; }
    int each(int wanted) const; ///< of so many that one is named, from the first
    void place(std::vector<Label> wanted, const std::vector<QString>& texts);

    const HeatPicture& m_picture;
    const RowLayout& m_layout;
    QRect m_plot;
    std::vector<Label> m_labels;
};

}
