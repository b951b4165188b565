// SPDX-License-Identifier: GPL-3.0-or-later
#include "sparkline.h"

#include <algorithm>

#include <QPainter>
#include <QPolygonF>

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
    const double low = std::min(*least, *most * 0.5), span = std::max(*most - low, 1e-9);
    QPolygonF line;
    const double dx = (width() - 8.0) / static_cast<double>(m_values.size() - 1);
    for (std::size_t i = 0; i < m_values.size(); ++i)
        line.append({ 2 + dx * static_cast<double>(i), 3 + (height() - 6) * (1 - (m_values[i] - low) / span) });
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.text2, 1, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPolyline(line);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.ok);
    painter.drawEllipse(line.last(), 2.5, 2.5);
}

}
