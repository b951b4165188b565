// SPDX-License-Identifier: GPL-3.0-or-later
#include "panelhead.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/items/tooltiptext.h>

#include "rolelabel.h"

namespace telltale::views {

namespace {

constexpr int kHeight = 28;
constexpr int kBelowTab = 32; ///< whose line would touch a control
constexpr int kDetailInset = 6;
constexpr int kLeastDetail = 40; ///< px of a part of it

}

PanelHead::PanelHead(const QString& title, QWidget* parent)
    : QWidget(parent)
    , m_layout(new QHBoxLayout(this))
    , m_title(new RoleLabel(title, &Theme::text, wordsFont(12, 600), this))
    , m_hint((new RoleLabel(&Theme::text3, numberFont(12), this))->asData())
    , m_detail(new RoleLabel(&Theme::text3, wordsFont(12), this))
{
    m_layout->setContentsMargins(12, 0, 6, 1);
    m_layout->setSpacing(8);
    m_layout->addWidget(m_title);
    m_layout->addWidget(m_hint);
    m_layout->addStretch();
    m_layout->addWidget(m_detail);
    m_detail->setContentsMargins(0, 0, kDetailInset, 0);
    m_detail->hide();
    m_hint->hide();
}

QString PanelHead::title() const
{
    return m_title->text();
}

void PanelHead::setTitle(const QString& title)
{
    m_title->setText(title);
    fitDetail();
}

void PanelHead::setTitleVisible(bool on)
{
    m_title->setVisible(on);
    fitHint();
}

int PanelHead::widthOf(const RoleLabel* label) const
{
    return label->isHidden() ? 0 : label->sizeHint().width() + m_layout->spacing();
}

/// A number alone, without the title that it counts, says nothing; nor does one that would cut that title.
void PanelHead::fitHint()
{
    bool isNumber = false;
    m_hint->text().toLongLong(&isNumber);
    const bool saysSomething = !isNumber || !m_title->isHidden() || !m_detailText.isEmpty();
    const int others = m_layout->sizeHint().width() - widthOf(m_detail) - widthOf(m_hint);
    const bool hasRoom = others + m_hint->sizeHint().width() + m_layout->spacing() <= width();
    m_hint->setVisible(saysSomething && hasRoom && !m_hint->text().isEmpty());
}

void PanelHead::setHint(const QString& hint)
{
    m_hint->setText(hint);
    fitHint();
}

void PanelHead::setDetail(const QString& detail, ThemeColor color)
{
    m_detailText = detail;
    m_detail->setColor(color);
    fitHint();
    fitDetail();
}

/// Where it has no room it loses its last words.
void PanelHead::fitDetail()
{
    const int taken = m_layout->sizeHint().width() - widthOf(m_detail);
    const int room = width() - taken - m_layout->spacing() - kDetailInset;
    QString shown = m_detail->fontMetrics().elidedText(m_detailText, Qt::ElideRight, room);
    const bool isWhole = shown == m_detailText;
    if (const qsizetype space = shown.lastIndexOf(u' '); !isWhole && space > 0)
        shown = shown.left(space - (shown[space - 1] == u',' ? 1 : 0)) + QChar(0x2026);
    m_detail->setText(shown);
    m_detail->setToolTip(isWhole ? QString() : items::toolTipText(m_detailText));
    m_detail->setVisible(!shown.isEmpty() && (isWhole || room >= kLeastDetail));
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

int PanelHead::wantedHeight() const
{
    constexpr int kOwnItems = 4; // title, hint, stretch and detail
    return m_title->isHidden() && m_hint->isHidden() && m_layout->count() == kOwnItems ? 0
        : m_title->isHidden()                                                          ? kBelowTab
                                                                                       : kHeight;
}

QSize PanelHead::sizeHint() const
{
    return { m_layout->sizeHint().width(), wantedHeight() };
}

QSize PanelHead::minimumSizeHint() const
{
    return { m_layout->sizeHint().width() - widthOf(m_detail) - widthOf(m_hint), wantedHeight() };
}

void PanelHead::resizeEvent(QResizeEvent*)
{
    fitHint();
    fitDetail();
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

QWidget* titled(const QString& title, QWidget* content, QWidget* parent, PanelHead** head)
{
    auto* box = new QWidget(parent);
    auto* layout = new QVBoxLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* own = new PanelHead(title, box);
    layout->addWidget(own);
    layout->addWidget(content, 1);
    if (head != nullptr)
        *head = own;
    return box;
}

}
