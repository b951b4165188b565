// SPDX-License-Identifier: GPL-3.0-or-later
#include "sparkline.h"

#include <algorithm>

#include <QPainter>

#include <telltale/common/sparkpainter.h>
#include <telltale/common/theme.h>

namespace telltale::shell {

SparkLine::SparkLine(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setAccessibleName(tr("Step rate of the last minute"));
}

void SparkLine::set(std::vector<double> values)
{
    if (values == m_values)
        return;
    m_values = std::move(values);
    update();
}

void SparkLine::paintEvent(QPaintEvent*)
{
    if (m_values.size() < 2)
        return;
    const views::Theme& theme = views::Theme::current();
    const auto [least, most] = std::minmax_element(m_values.begin(), m_values.end());
    QPainter painter(this);
    const QPointF newest = views::paintSpark(painter, QRectF(2, 3, width() - 8.0, height() - 6.0), m_values,
        std::min(*least, *most * 0.5), *most, theme.text2);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.ok);
    painter.drawEllipse(newest, 2.5, 2.5);
}

}
