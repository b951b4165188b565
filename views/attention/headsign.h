// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>

#include <QImage>
#include <QPointF>
#include <QSizeF>

#include <telltale/common/theme.h>

#include "attentionpicture.h"

class QPainter;

namespace telltale::views {

/// px of the sign in cells of a size; 0 where they have no room for one.
int headSignSize(QSizeF cell);
/// The sign in the upper right corner of a cell, as cells and the line that explains the signs draw it. The corner is
/// put on a whole pixel, so that all look alike. Thread: its painter's.
void paintHeadSign(QPainter& painter, QPointF corner, int size, analysis::HeadSign sign, const Theme& theme);

/// The signs of a map's cells, each drawn once: a map has thousands of them, and a ring costs 10 us. Thread: its
/// painter's.
class HeadSigns {
public:
    HeadSigns(QPainter& painter, int size, const Theme& theme);

    void paint(QPointF corner, analysis::HeadSign sign);

private:
    QImage draw(analysis::HeadSign sign) const;

    QPainter& m_painter;
    int m_size; ///< px
    const Theme& m_theme;
    double m_ratio; ///< pixels of a px
    QPoint m_corner; ///< pixel of each image that the sign's corner is on
    std::map<analysis::HeadSign, QImage> m_drawn;
};

}
