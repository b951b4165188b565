// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include <telltale/common/dataview.h>

#include "attentionquery.h"

class QComboBox;
class QLabel;
class QSplitter;
class QStackedWidget;
class QToolButton;

namespace telltale::views {

class AttentionCanvas;
class CurveCanvas;
class HeatCanvas;
class ViewBar;

/// What every attention head does at the cursor's step (the newest without one): two maps of layers and heads, and
/// below them the curves of the selected heads, or all heads of a layer over the visible steps.
class AttentionView : public DataView {
    Q_OBJECT
public:
    explicit AttentionView(const ViewContext& context, QWidget* parent = nullptr);

    void paintPicture(QPainter& painter, QSize size) override;
    Expected<void> writeCsv(QIODevice* device) const override;

    void setValue(int side, HeadValue value); ///< of the left (0) or right (1) map
    void setOrder(HeadOrder order);
    void setBelow(BelowMaps below);
    AttentionCanvas* canvas() const { return m_canvas; }
    CurveCanvas* curves(int side) const { return m_curves[static_cast<std::size_t>(side)]; }

protected:
    void ask() override;
    void troubleChanged() override;

private:
    void buildBar();
    void buildBelow();
    void connectState();
    void fillRanks();
    void pickHead(const ModuleKey& head, bool isAdded);
    void show(const AttentionAnswer& answer);
    AttentionRequest request() const;
    QString emptyText() const;

    std::array<HeadValue, 2> m_values { HeadValue::Entropy, HeadValue::SoftmaxMax };
    HeadOrder m_order = HeadOrder::Number;
    BelowMaps m_below = BelowMaps::Curves;
    ViewBar* m_bar;
    AttentionCanvas* m_canvas;
    QSplitter* m_split;
    std::array<QLabel*, 2> m_captions {};
    std::array<QStackedWidget*, 2> m_stacks {};
    std::array<CurveCanvas*, 2> m_curves {};
    std::array<HeatCanvas*, 2> m_strips {};
    std::array<QComboBox*, 2> m_valueBoxes {};
    QComboBox* m_orderBox = nullptr;
    QComboBox* m_belowBox = nullptr;
    QComboBox* m_rankBox = nullptr;
    QLabel* m_caption = nullptr;
    QToolButton* m_follow = nullptr;
};

}
