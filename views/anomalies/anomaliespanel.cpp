// SPDX-License-Identifier: GPL-3.0-or-later
#include "anomaliespanel.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/runs/panelhead.h>
#include <telltale/store/catalog.h>

#include "incidentcard.h"
#include "timelinecanvas.h"

namespace telltale::views {

AnomaliesPanel::AnomaliesPanel(const ViewContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_queryId(context.queries->newView())
    , m_head(new PanelHead(tr("Anomaly timeline"), this))
    , m_choice(new QComboBox(m_head))
    , m_timeline(new TimelineCanvas(context.state, this))
    , m_card(new IncidentCard(context, this))
{
    setObjectName(QStringLiteral("anomaliesPanel"));
    m_choice->setObjectName(QStringLiteral("timelineLanes"));
    m_choice->setAccessibleName(tr("Lanes"));
    m_choice->setToolTip(tr("Lanes"));
    m_choice->setFont(wordsFont(12));
    m_choice->addItem(tr("by module block"), static_cast<int>(LaneChoice::Block));
    m_choice->addItem(tr("by rank"), static_cast<int>(LaneChoice::Rank));
    m_head->insertAfterTitle(m_choice);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(1);
    layout->addWidget(m_timeline, 1);
    layout->addWidget(m_card);
    fitCard();
    setMinimumHeight(m_card->minimumHeight()); // also without it, so that the lanes stay where they are
    setFocusProxy(m_timeline);
    // Tab comes to the panel, which hands it on: what stands before its proxy in the chain would be passed over.
    setTabOrder(m_timeline, m_choice);

    connect(m_choice, &QComboBox::currentIndexChanged, this,
        [this] { m_timeline->setChoice(static_cast<LaneChoice>(m_choice->currentData().toInt())); });
    connect(m_timeline, &TimelineCanvas::endChanged, this, &AnomaliesPanel::fitCard);
    connect(context.state, &ViewState::runChanged, this, [this] {
        m_context.queries->cancel(m_queryId);
        m_askedSeries = 0;
    });
    connect(context.state, &ViewState::catalogChanged, this, &AnomaliesPanel::askBlocks);
    connect(context.state->incidents(), &items::IncidentsModel::changed, this, &AnomaliesPanel::refreshHead);
    // Another incident may need more room for its buttons.
    connect(context.state->incidents(), &items::IncidentsModel::changed, this, &AnomaliesPanel::fitCard);
    askBlocks();
    refreshHead();
}

AnomaliesPanel::~AnomaliesPanel()
{
    m_context.queries->cancel(m_queryId);
}

/// It begins where the lanes end.
void AnomaliesPanel::fitCard()
{
    const int least = std::max(428, m_card->minimumSizeHint().width());
    m_card->setFixedWidth(std::max(least, m_timeline->end() > 0 ? width() - m_timeline->end() : 0));
}

bool AnomaliesPanel::event(QEvent* event)
{
    if (event->type() == QEvent::LayoutRequest && m_card->width() < m_card->minimumSizeHint().width())
        fitCard();
    return QWidget::event(event);
}

void AnomaliesPanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fitCard();
}

void AnomaliesPanel::showCard(bool shown)
{
    m_card->setVisible(shown);
    fitCard();
}

/// A large model has a hundred thousand series: their blocks are found elsewhere.
void AnomaliesPanel::askBlocks()
{
    items::assertGuiThread();
    const auto catalog = m_context.state->catalog();
    if (!catalog || catalog->series.size() == m_askedSeries || m_context.queries->isBusy(m_queryId))
        return;
    m_askedSeries = catalog->series.size();
    m_context.queries->submit(m_queryId, m_context.state->run(),
        [this, catalog](const Expected<store::RunReader*>&, const series::CancelToken&) -> store::QueryPool::Delivery {
            return [this, blocks = blocksOf(*catalog)] {
                m_timeline->setBlocks(blocks);
                askBlocks(); // what came meanwhile
            };
        });
}

void AnomaliesPanel::refreshHead()
{
    const items::IncidentsModel* incidents = m_context.state->incidents();
    m_head->setHint(incidents->rowCount() == 0 ? QString() : QString::number(incidents->rowCount()));
}

}
