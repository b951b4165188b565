// SPDX-License-Identifier: GPL-3.0-or-later
#include "panelhead.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/theme.h>

#include "rolelabel.h"

namespace telltale::views {

namespace {

constexpr int kHeight = 28;

}

PanelHead::PanelHead(const QString& title, QWidget* parent)
    : QWidget(parent)
    , m_layout(new QHBoxLayout(this))
    , m_hint((new RoleLabel(&Theme::text3, numberFont(12), this))->asData())
{
    m_layout->setContentsMargins(12, 0, 6, 1);
    m_layout->setSpacing(8);
    m_layout->addWidget(new RoleLabel(title, &Theme::text, wordsFont(12, 600), this));
    m_layout->addWidget(m_hint);
    m_layout->addStretch();
}

void PanelHead::setHint(const QString& hint)
{
    m_hint->setText(hint);
}

void PanelHead::insertAfterTitle(QWidget* widget)
{
    m_layout->insertWidget(2, widget);
}

QToolButton* PanelHead::addButton(const QString& iconName, const QString& toolTip)
{
    QToolButton* button = makeToolButton(iconName, toolTip, this);
    button->setFixedSize(24, 24);
    m_layout->addWidget(button);
    return button;
}

QSize PanelHead::sizeHint() const
{
    return { m_layout->sizeHint().width(), kHeight };
}

void PanelHead::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().window);
    painter.fillRect(0, height() - 1, width(), 1, Theme::current().border);
}

QToolButton* makeToolButton(const QString& iconName, const QString& toolTip, QWidget* parent)
{
    auto* button = new QToolButton(parent);
    button->setIcon(icon(iconName));
    button->setIconSize({ 16, 16 });
    button->setAutoRaise(true);
    button->setToolTip(toolTip);
    button->setAccessibleName(toolTip);
    button->setFocusPolicy(Qt::TabFocus);
    return button;
}

QWidget* titled(const QString& title, QWidget* content, QWidget* parent, RoleLabel** label)
{
    auto* box = new QWidget(parent);
    auto* layout = new QVBoxLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* head = new RoleLabel(title, &Theme::text, wordsFont(12, 600), box);
    head->setFixedHeight(28);
    head->setContentsMargins(12, 0, 8, 0);
    layout->addWidget(head);
    layout->addWidget(content, 1);
    if (label != nullptr)
        *label = head;
    return box;
}

}
