// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QRectF>

#include <telltale/common/theme.h>

#include "attentionpicture.h"

class QPainter;

namespace telltale::views {

/// One layer x head map inside `area`: title, numbers of heads and layers, cells and the scale of its colors. Where
/// there is room, cells have a gap between them, wider between heads of different keys. Thread: its painter's.
class AttentionMap {
    Q_DECLARE_TR_FUNCTIONS(telltale::views::AttentionMap)

public:
    static constexpr double kLabels = 58; ///< px left of the cells

    static constexpr double kNarrow = 320; ///< px of a map whose scale has room for its numbers alone
    static constexpr double kNarrowScale = 64; ///< px right of its cells

    AttentionMap(const AttentionPicture& picture, HeadValue value, const QRectF& area);

    static int mostWidth(const AttentionPicture& picture); ///< px that the cells of one can fill
    static double mostHeight(const AttentionPicture& picture); ///< px that one can fill
    static double leastHeight(const AttentionPicture& picture); ///< px in which its cells can be told apart

    HeadValue value() const { return m_value; }
    QRectF area() const { return m_area; }
    QRectF cells() const { return m_cells; } ///< all of them
    QRectF cellRect(int layer, int column) const;
    /// Layer and column; {-1, -1} where there is no head.
    std::array<int, 2> cellAt(QPointF position) const;
    /// `chosen`: layer and column whose numbers stand out; {-1, -1} for none.
    void paint(QPainter& painter, std::array<int, 2> chosen, const Theme& theme) const;
    /// Line around a cell: what is selected, or, thinner, what is pointed at.
    void paintOutline(QPainter& painter, int layer, int column, bool isChosen, const Theme& theme) const;
    /// The color of its curve, in the lower left corner of a cell.
    void paintSample(QPainter& painter, int layer, int column, const QColor& color, const Theme& theme) const;

private:
    double edge(int place, int count, double from, double length) const;
    double leftOf(int column) const;
    void paintHead(QPainter& painter, const Theme& theme) const;
    void paintNumbers(QPainter& painter, std::array<int, 2> chosen, const Theme& theme) const;
    void paintCells(QPainter& painter, const Theme& theme) const;

    const AttentionPicture& m_picture;
    HeadValue m_value;
    QRectF m_area;
    QRectF m_cells;
    ValueScale m_scale;
    double m_gap = 0; ///< between cells
};

/// The colors of a scale from its lowest value at the bottom of `bar` to its highest, with its numbers at the right.
void paintColorScale(QPainter& painter, const ValueScale& scale, const QRectF& bar, const Theme& theme);

}
