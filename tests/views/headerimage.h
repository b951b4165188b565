// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QPainter>

#include <telltale/plot/overviewheader.h>

namespace telltale::test {

/// What stands above a plot of the Overview that is so many px wide. Thread: the test's.
inline QImage headerImage(const views::ScalarPanel& panel, int width, const views::HeaderLook& look)
{
    QImage image(width + 110, 40, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::black);
    QPainter painter(&image);
    views::paintPanelHeader(painter, QRect(100, 32, width, 8), panel, look, 100);
    return image;
}

}
