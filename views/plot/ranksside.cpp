// SPDX-License-Identifier: GPL-3.0-or-later
#include "ranksside.h"

#include <algorithm>

#include <QHeaderView>
#include <QPainter>
#include <QScrollArea>
#include <QVBoxLayout>

#include <telltale/common/scrolled.h>
#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/runs/panelhead.h>
#include <telltale/runs/rolelabel.h>

#include "ranktable.h"
#include "ranktimespanel.h"

namespace telltale::views {

RanksSide::RanksSide(ViewState* state, QWidget* parent)
    : QWidget(parent)
    , m_state(state)
    , m_table(new RankTable(state))
    , m_sentence(new RoleLabel(&Theme::text2, wordsFont(12)))
    , m_times(new RankTimesPanel(state))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(titled(tr("Ranks"), m_table, this, &m_tableHead), 1);
    m_sentence->setWordWrap(true);
    m_sentence->setContentsMargins(12, 8, 12, 8);
    layout->addWidget(m_sentence);
    m_timesPart = titled(QString(), scrolled(m_times), this, &m_timesHead);
    layout->addWidget(m_timesPart, 2);
    layout->addStretch();
    connect(m_table, &RankTable::changed, this, &RanksSide::showTable);
    setTimes(nullptr);
}

bool RanksSide::isEmpty() const
{
    return m_table->rankModel().rowCount() < 2;
}

void RanksSide::setTimes(std::shared_ptr<const RankTimes> times)
{
    items::assertGuiThread();
    const bool hasTimes = times && !times->isEmpty();
    m_timesPart->setVisible(hasTimes);
    if (hasTimes) {
        m_timesHead->setTitle(tr("%1 by rank").arg(QString::fromStdString(times->scalar)));
        const auto count = static_cast<int>(times->steps.count());
        const bool isNewest = m_state->ownRange().last <= times->steps.last;
        m_timesHead->setDetail(isNewest
                ? tr("last %n steps", nullptr, count)
                : tr("%n steps up to %1", nullptr, count).arg(formatStep(times->steps.last.value)));
    }
    m_times->setTimes(times);
    m_timesPart->setMaximumHeight(m_timesHead->sizeHint().height() + m_times->minimumHeight());
    m_table->setTimes(std::move(times));
}

void RanksSide::showTable()
{
    const RankTableModel& model = m_table->rankModel();
    const bool isConnected = model.isLive() && std::ranges::any_of(m_state->agents(), &ConnectionInfo::connected);
    m_tableHead->setDetail(isConnected ? tr("how far each agent is behind the store") : QString());
    const QString sentence = model.sentence();
    m_sentence->setText(sentence);
    m_sentence->setVisible(!sentence.isEmpty());
    // As high as its rows where there is room, and three of them where there is not.
    const int row = m_table->verticalHeader()->defaultSectionSize();
    const int head = m_table->horizontalHeader()->height();
    m_table->setMinimumHeight(head + std::min(3, model.rowCount()) * row);
    m_table->parentWidget()->setMaximumHeight(m_tableHead->sizeHint().height() + head + model.rowCount() * row);
    Q_EMIT changed();
}

void RanksSide::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().base);
    painter.fillRect(0, 0, 1, height(), Theme::current().border);
}

}
