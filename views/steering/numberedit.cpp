// SPDX-License-Identifier: GPL-3.0-or-later
#include "numberedit.h"

#include <algorithm>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <telltale/common/theme.h>

namespace telltale::views {
namespace {

constexpr int kArrows = 18; ///< px at the right that they take

}

NumberEdit::NumberEdit(qint64 least, qint64 most, QWidget* parent)
    : QLineEdit(parent)
    , m_least(least)
    , m_most(most)
{
    setFont(numberFont(12));
    setTextMargins(0, 0, kArrows - 4, 0);
    setMouseTracking(true);
}

void NumberEdit::setRange(qint64 least, qint64 most)
{
    m_least = least;
    m_most = most;
}

QString NumberEdit::ungrouped(QString text)
{
    return text.remove(QChar(0x202F)).remove(QChar(0x00A0)).remove(u' ');
}

void NumberEdit::stepBy(qint64 steps)
{
    bool isNumber = false;
    const qint64 before = ungrouped(text()).toLongLong(&isNumber);
    if (isReadOnly() || (!isNumber && !text().isEmpty()))
        return;
    const qint64 after = isNumber ? std::clamp(before + steps, m_least, m_most) : m_least;
    if (isNumber && after == before)
        return;
    setText(formatStep(after));
    setModified(true);
    Q_EMIT textEdited(text());
}

bool NumberEdit::isOnArrows(QPoint place) const
{
    return place.x() >= width() - kArrows;
}

void NumberEdit::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Up:
        return stepBy(1);
    case Qt::Key_Down:
        return stepBy(-1);
    default:
        QLineEdit::keyPressEvent(event);
    }
}

void NumberEdit::mousePressEvent(QMouseEvent* event)
{
    if (!isOnArrows(event->pos()))
        QLineEdit::mousePressEvent(event);
    else if (event->button() == Qt::LeftButton)
        stepBy(event->pos().y() < height() / 2 ? 1 : -1);
}

void NumberEdit::mouseMoveEvent(QMouseEvent* event)
{
    setCursor(isOnArrows(event->pos()) ? Qt::ArrowCursor : Qt::IBeamCursor);
    QLineEdit::mouseMoveEvent(event);
}

void NumberEdit::paintEvent(QPaintEvent* event)
{
    QLineEdit::paintEvent(event);
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(isEnabled() ? theme.text2 : theme.text3, 1.25, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const QPointF center(width() - kArrows / 2.0 - 1, height() / 2.0);
    for (const double way : { -1.0, 1.0 }) {
        const QPointF arrow[]
            = { center + QPointF(-3, way * 3), center + QPointF(0, way * 6), center + QPointF(3, way * 3) };
        painter.drawPolyline(arrow, 3);
    }
}

}
