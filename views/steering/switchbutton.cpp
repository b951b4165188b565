// SPDX-License-Identifier: GPL-3.0-or-later
#include "switchbutton.h"

#include <QPainter>

#include <telltale/common/theme.h>

namespace telltale::views {

SwitchButton::SwitchButton(QWidget* parent)
    : QAbstractButton(parent)
{
    setCheckable(true);
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::StrongFocus);
}

void SwitchButton::setWaiting(bool on)
{
    m_isWaiting = on;
    update();
}

void SwitchButton::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF track(kInset, (height() - 18) / 2.0, 32, 18);
    const bool isOn = isChecked() && !m_isWaiting;
    painter.setPen(QPen(isOn ? theme.accent : isEnabled() ? theme.strong : theme.controlBorder, 1));
    painter.setBrush(isOn ? theme.accent : theme.base);
    painter.drawRoundedRect(track.adjusted(0.5, 0.5, -0.5, -0.5), 8.5, 8.5);
    const double x = m_isWaiting ? track.center().x() - 6 : isOn ? track.right() - 15 : track.left() + 3;
    painter.setPen(Qt::NoPen);
    painter.setBrush(isOn ? theme.onAccent : m_isWaiting ? theme.accent : theme.strong);
    painter.drawEllipse(QRectF(x, track.top() + 3, 12, 12));
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme.accent, 2));
        painter.drawRoundedRect(track.adjusted(-2, -2, 2, 2), 11, 11);
    }
}

}
