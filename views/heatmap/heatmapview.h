// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <telltale/common/dataview.h>
#include <telltale/common/scanpace.h>

#include "heatpicture.h"
#include "heatquery.h"

class QComboBox;
class QLabel;
class QToolButton;

namespace telltale::views {

struct HeatRequest;

class HeatCanvas;
class ViewBar;

/// Module x step, rank x step, or module x rank at the cursor's step, of any kind and statistic.
class HeatmapView : public DataView {
    Q_OBJECT
public:
    explicit HeatmapView(const ViewContext& context, QWidget* parent = nullptr);

    ~HeatmapView() override;
    bool isSettled() const override;
    void paintPicture(QPainter& painter, QSize size) override;
    QStringList shownWords() const override;
    Expected<void> writeCsv(QIODevice* device) const override;

    HeatAxes axes() const { return m_axes; }
    void setAxes(HeatAxes axes);
    HeatScale scale() const { return m_scale; }
    void setScale(HeatScale scale);
    void setRowOrder(RowOrder order);
    /// False where curves docked below carry the step axis.
    void setStepAxisVisible(bool on);
    HeatCanvas* canvas() const { return m_canvas; }
    QString emptyText() const; ///< said where there are no cells

Q_SIGNALS:
    /// The user brushed over rows: they are selected, their curves are wanted.
    void curvesWanted();

protected:
    void ask() override;
    void troubleChanged() override;
    void changeEvent(QEvent* event) override;

private:
    void askOtherRanks(const HeatRequest& request);
    void readOtherRanks();
    void buildBar();
    void connectState();
    void fillChoices();
    void askNow() { askSoon(Urgency::Now); }

    HeatAxes m_axes = HeatAxes::ModuleByStep;
    HeatScale m_scale = HeatScale::Log;
    RowOrder m_order = RowOrder::Model;
    ViewBar* m_bar;
    HeatCanvas* m_canvas;
    store::QueryPool::ViewId m_otherRanksId; ///< asks the ranks that are not shown
    HeatRequest m_otherRanks; ///< what it asks about
    ScanPace m_otherRanksPace { 0 }; ///< while the run is live
    QComboBox* m_axesBox = nullptr;
    QComboBox* m_kindBox = nullptr;
    QComboBox* m_statBox = nullptr;
    QComboBox* m_scaleBox = nullptr;
    QComboBox* m_rankBox = nullptr;
    QComboBox* m_orderBox = nullptr;
    QLabel* m_caption = nullptr;
    QToolButton* m_follow = nullptr;
    QToolButton* m_zoomOut = nullptr;
};

}
