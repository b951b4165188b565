// SPDX-License-Identifier: GPL-3.0-or-later
#include "tabbadge.h"

#include <algorithm>

#include <QPainter>

#include <telltale/common/theme.h>

namespace telltale::shell {

using views::Theme;

namespace {

constexpr int kHeight = 16;

}

TabBadge::TabBadge(QWidget* parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("tabBadge"));
    setAttribute(Qt::WA_TransparentForMouseEvents);
    hide();
}

QString TabBadge::text() const
{
    return m_count > 999 ? QStringLiteral("999+") : QString::number(m_count);
}

void TabBadge::set(int count, store::Severity worst)
{
    m_count = count;
    m_worst = worst;
    setAccessibleName(text());
    setFixedSize(sizeHint());
    update();
}

QSize TabBadge::sizeHint() const
{
    return { std::max(kHeight, QFontMetrics(views::numberFont(11, 500)).horizontalAdvance(text()) + 10), kHeight };
}

void TabBadge::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    // A number stands on it: the colors of words, which are dark enough below white, of both themes the darker rose.
    painter.setBrush(m_worst == store::Severity::Critical ? Theme::light().criticalText
            : m_worst == store::Severity::Warning         ? theme.warnText
                                                          : theme.notice);
    painter.drawRoundedRect(rect(), kHeight / 2.0, kHeight / 2.0);
    painter.setPen(m_worst == store::Severity::Critical ? QColor(Qt::white) : theme.base);
    painter.setFont(views::numberFont(11, 500));
    painter.drawText(rect(), Qt::AlignCenter, text());
}

}
