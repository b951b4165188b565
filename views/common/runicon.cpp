// SPDX-License-Identifier: GPL-3.0-or-later
#include "runicon.h"

#include <QIconEngine>
#include <QPainter>

#include "seriesstyle.h"

namespace telltale::views {
namespace {

class RunIconEngine : public QIconEngine {
public:
    explicit RunIconEngine(int slot)
        : m_slot(slot)
    {
    }
    void paint(QPainter* painter, const QRect& rect, QIcon::Mode, QIcon::State) override
    {
        const SeriesStyle style = SeriesStyle::forSlot(m_slot, Theme::current());
        QPen pen(style.color, 3);
        pen.setCapStyle(Qt::FlatCap);
        if (style.dashOn > 0)
            pen.setDashPattern({ style.dashOn / pen.widthF(), style.dashOff / pen.widthF() });
        painter->setPen(pen);
        const double y = rect.center().y() + 0.5;
        painter->drawLine(QPointF(rect.left() + 1, y), QPointF(rect.right(), y));
    }
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override
    {
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return pixmap;
    }
    QIconEngine* clone() const override { return new RunIconEngine(*this); }

private:
    int m_slot;
};

}

QIcon runIcon(std::size_t run)
{
    return QIcon(new RunIconEngine(static_cast<int>(run)));
}

}
