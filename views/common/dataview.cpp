// SPDX-License-Identifier: GPL-3.0-or-later
#include "dataview.h"

#include <QPainter>

namespace telltale::views {

DataView::DataView(const ViewContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_queryId(context.queries ? context.queries->newView() : 0)
{
}

DataView::~DataView()
{
    if (m_context.queries)
        m_context.queries->cancel(m_queryId);
}

bool DataView::isSettled() const
{
    return !m_context.queries || !m_context.queries->isBusy(m_queryId);
}

QImage DataView::renderImage(QSize size)
{
    QImage image(size, QImage::Format_RGB32);
    image.fill(palette().color(QPalette::Base));
    QPainter painter(&image);
    painter.scale(static_cast<double>(size.width()) / std::max(1, width()),
        static_cast<double>(size.height()) / std::max(1, height()));
    render(&painter, QPoint(), QRegion(), QWidget::DrawChildren);
    return image;
}

}
