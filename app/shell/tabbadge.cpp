// SPDX-License-Identifier: GPL-3.0-or-later
#include "tabbadge.h"

#include <algorithm>

#include <QPainter>
#include <QTabBar>

#include <telltale/common/theme.h>

namespace telltale::shell {

using views::Theme;

namespace {

constexpr int kHeight = 16;
constexpr int kSpare = 3; ///< px that a tab is wider for it: with the tab's own padding 8 before and 13 behind
constexpr int kBehind = 13;

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
    return { std::max(kHeight, QFontMetrics(views::numberFont(11, 500)).horizontalAdvance(text()) + 10) + kSpare,
        kHeight };
}

QRect TabBadge::pill() const
{
    return rect().adjusted(0, 0, -kSpare, 0);
}

/// A tab puts what is at its right into its padding.
void TabBadge::moveEvent(QMoveEvent*)
{
    const auto* tabs = qobject_cast<const QTabBar*>(parentWidget());
    for (int i = 0; tabs && i < tabs->count(); ++i) {
        if (tabs->tabButton(i, QTabBar::RightSide) == this)
            move(tabs->tabRect(i).right() + 1 - kBehind - pill().width(), y());
    }
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
    painter.drawRoundedRect(pill(), kHeight / 2.0, kHeight / 2.0);
    painter.setPen(m_worst == store::Severity::Critical ? QColor(Qt::white) : theme.base);
    painter.setFont(views::numberFont(11, 500));
    painter.drawText(pill(), Qt::AlignCenter, text());
}

}
