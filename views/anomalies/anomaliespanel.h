// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QWidget>

#include <telltale/common/dataview.h>

class QComboBox;

namespace telltale::store {
struct Catalog;
}

namespace telltale::views {

class IncidentCard;
class PanelHead;
class TimelineCanvas;

/// The dock of the incidents: their timeline, and the card of the current one at its right.
class AnomaliesPanel : public QWidget {
    Q_OBJECT
public:
    explicit AnomaliesPanel(const ViewContext& context, QWidget* parent = nullptr);
    ~AnomaliesPanel() override;

    PanelHead* head() const { return m_head; }
    TimelineCanvas* timeline() const { return m_timeline; }
    void showCard(bool shown); ///< false: the current incident has its card elsewhere

protected:
    bool event(QEvent* event) override; // what the card needs
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitCard();
    void askBlocks();
    void refreshHead();

    ViewContext m_context;
    store::QueryPool::ViewId m_queryId;
    std::size_t m_askedSeries = 0;
    PanelHead* m_head;
    QComboBox* m_choice;
    TimelineCanvas* m_timeline;
    IncidentCard* m_card;
};

}
