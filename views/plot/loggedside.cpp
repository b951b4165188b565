// SPDX-License-Identifier: GPL-3.0-or-later
#include "loggedside.h"

#include <QPainter>
#include <QScrollArea>
#include <QVBoxLayout>

#include <telltale/common/scrolled.h>
#include <telltale/common/theme.h>
#include <telltale/runs/panelhead.h>

#include "loggedcards.h"

namespace telltale::views {

LoggedSide::LoggedSide(QWidget* parent)
    : QWidget(parent)
    , m_cards(new LoggedCards({ 96, 256, 5 }))
{
    setObjectName(QStringLiteral("loggedSide"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 0, 0, 0);
    PanelHead* head = nullptr;
    layout->addWidget(titled(tr("Texts and images"), scrolled(m_cards), this, &head));
    connect(m_cards, &LoggedCards::changed, head, [this, head] { head->setDetail(m_cards->where()); });
}

void LoggedSide::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().base);
    painter.fillRect(0, 0, 1, height(), Theme::current().border);
}

}
