// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>

#include <telltale/common/dataview.h>

#include "commpicture.h"

class QComboBox;
class QLabel;
class QPushButton;
class QSplitter;
class QStackedWidget;
class QToolButton;

namespace telltale {
struct RunSteering;
}

namespace telltale::views {

class CommLane;
class CommTable;
class FrameList;
class HeatCanvas;
class PanelHead;
class ViewBar;

/// What one rank says to others: every call site of a collective at the cursor's step, when in the step it was at work
/// (or how much of it there is over the steps), and the stack that it was called from.
class CommunicationView : public DataView {
    Q_OBJECT
public:
    explicit CommunicationView(const ViewContext& context, QWidget* parent = nullptr);

    void paintPicture(QPainter& painter, QSize size) override;
    QStringList shownWords() const override;
    Expected<void> writeCsv(QIODevice* device) const override;

    /// What stands below the table: the times within the step, or a metric over the steps.
    void setBelow(std::optional<CommMetric> metric);
    void choose(const QString& site); ///< here and, where it has tensors, everywhere
    CommTable* table() const { return m_table; }
    CommLane* lane() const { return m_lane; }
    HeatCanvas* strip() const { return m_strip; }
    FrameList* stack() const { return m_stack; }
    QPushButton* offer() const { return m_offer; }
    QString emptyText() const; ///< of the page that is shown while there are no collectives

protected:
    void ask() override;
    void troubleChanged() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitSplit();
    void buildBar();
    void buildBody();
    void connectState();
    void fillChoices();
    void sayWhereAxisEnds(); ///< of the times in the step
    void fillStack();
    void takeSelection();
    void show(const CommAnswer& answer);
    void offerCollectives();
    void copyFrame(const QString& line);
    bool canOffer() const;
    bool areCollected() const; ///< by the config that the ranks run, or that is stored
    const RunSteering* steering() const;
    std::string runningConfig() const;
    QString noneText() const; ///< why a run has no collectives
    CommRequest request() const;
    const CommRow* current() const;

    std::shared_ptr<const CommPicture> m_picture;
    std::optional<CommMetric> m_metric;
    ViewBar* m_bar;
    QStackedWidget* m_pages;
    QLabel* m_empty = nullptr;
    QPushButton* m_offer = nullptr;
    QSplitter* m_split = nullptr;
    CommTable* m_table = nullptr;
    QStackedWidget* m_below = nullptr;
    CommLane* m_lane = nullptr;
    HeatCanvas* m_strip = nullptr;
    PanelHead* m_belowHead = nullptr;
    PanelHead* m_stackHead = nullptr;
    FrameList* m_stack = nullptr;
    QComboBox* m_rankBox = nullptr;
    QComboBox* m_statBox = nullptr;
    QComboBox* m_belowBox = nullptr;
    QLabel* m_caption = nullptr;
    QToolButton* m_follow = nullptr;
    QString m_askedRun; ///< that was asked to collect them
    std::optional<std::string> m_storedConfig; ///< of a run without collectives; empty: it does not say
};

}
