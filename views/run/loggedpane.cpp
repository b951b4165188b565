// SPDX-License-Identifier: GPL-3.0-or-later
#include "loggedpane.h"

#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/plot/loggedcards.h>
#include <telltale/runs/panelhead.h>
#include <telltale/runs/rolelabel.h>

namespace telltale::views {

LoggedPane::LoggedPane(QWidget* parent)
    : QWidget(parent)
    , m_cards(new LoggedCards({}))
    , m_back(makeToolButton(QStringLiteral("left"), tr("To the step before with a text or an image"), this))
    , m_forward(makeToolButton(QStringLiteral("right"), tr("To the next step with a text or an image"), this))
    , m_where((new RoleLabel(&Theme::text3, wordsFont(11), this))->asData())
    , m_scroll(new QScrollArea(this))
    , m_empty(new RoleLabel(
          tr("No texts or images: telltale.log_text() and telltale.log_image() in the training's program log them."),
          &Theme::text3, wordsFont(12), this))
{
    m_back->setObjectName(QStringLiteral("loggedBack"));
    m_forward->setObjectName(QStringLiteral("loggedForward"));
    auto* top = new QHBoxLayout;
    top->setContentsMargins(8, 6, 12, 6);
    top->setSpacing(2);
    top->addWidget(m_back);
    top->addWidget(m_forward);
    top->addSpacing(6);
    top->addWidget(m_where, 1);
    m_scroll->setObjectName(QStringLiteral("loggedScroll"));
    m_scroll->setAccessibleName(tr("Texts and images"));
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidgetResizable(true);
    m_scroll->setWidget(m_cards);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setMargin(24);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(top);
    layout->addWidget(m_scroll, 1);
    layout->addWidget(m_empty, 1);
    connect(m_back, &QToolButton::clicked, this, [this] { goBeside(false); });
    connect(m_forward, &QToolButton::clicked, this, [this] { goBeside(true); });
    connect(m_cards, &LoggedCards::changed, this, &LoggedPane::refresh);
    refresh();
}

void LoggedPane::refresh()
{
    const bool isEmpty = m_cards->isEmpty();
    m_scroll->setVisible(!isEmpty);
    m_empty->setVisible(isEmpty);
    m_where->setText(m_cards->where());
    for (const auto& [button, forward] : { std::pair(m_back, false), std::pair(m_forward, true) }) {
        button->setVisible(!isEmpty);
        button->setEnabled(m_cards->stepBeside(forward).has_value());
    }
}

void LoggedPane::goBeside(bool forward)
{
    if (const auto step = m_cards->stepBeside(forward))
        Q_EMIT stepWanted(*step);
}

}
