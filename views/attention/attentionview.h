// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <tuple>

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
class ExactValues;
class HeadMapsCanvas;
class HeadMapsPanel;
class HeatCanvas;
class ViewBar;

/// What every attention head does at the cursor's step (the newest without one): two maps of layers (or of one layer's
/// ranks) and heads, and below them the curves of the selected heads, all heads of a layer over the visible steps, or
/// recorded maps of queries and keys.
class AttentionView : public DataView {
    Q_OBJECT
    /// "curves", "strips" or "maps": what is below, as `telltale render --below` names it.
    Q_PROPERTY(QString below READ belowName WRITE setBelowName)
public:
    explicit AttentionView(const ViewContext& context, QWidget* parent = nullptr);

    void paintPicture(QPainter& painter, QSize size) override;
    QStringList shownWords() const override;
    Expected<void> writeCsv(QIODevice* device) const override;

    void setValue(int side, HeadValue value); ///< of the left (0) or right (1) map
    void setAxes(HeadAxes axes);
    void setSpread(bool isSpread); ///< over the ranks, in place of one of them
    void setLayer(const QString& name); ///< whose ranks are shown
    void setOrder(HeadOrder order);
    void setBelow(BelowMaps below);
    QString belowName() const;
    void setBelowName(const QString& name); ///< one that is unknown changes nothing
    void setChoices(const QStringList& choices) override;
    AttentionCanvas* canvas() const { return m_canvas; }
    HeatCanvas* strips(int side) const { return m_strips[static_cast<std::size_t>(side)]; }
    CurveCanvas* curves(int side) const { return m_curves[static_cast<std::size_t>(side)]; }
    HeadMapsCanvas* headMaps() const;

protected:
    void ask() override;
    void troubleChanged() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildBar();
    void buildBelow();
    void connectState();
    void fillRanks();
    void fillLayers(const QStringList& names, const AttentionPicture& shown);
    void pickHead(const ModuleKey& head, Rank rank, bool isAdded);
    int mapsHeight(QSize size) const; ///< of so many px for them and what is below
    void fitSplit();
    void fitCurves(int width); ///< to the maps of a view so wide
    void show(std::shared_ptr<const AttentionAnswer> answer);
    AttentionRequest request() const;
    QString emptyText() const;

    std::array<HeadValue, 2> m_values { HeadValue::Entropy, HeadValue::SoftmaxMax };
    HeadAxes m_axes = HeadAxes::LayerByHead;
    bool m_isSpread = false;
    QString m_layer;
    std::uint64_t m_news = 0; ///< how often the run had something new
    std::shared_ptr<const AttentionAnswer> m_answer;
    HeadOrder m_order = HeadOrder::Number;
    BelowMaps m_below = BelowMaps::Curves;
    ViewBar* m_bar;
    AttentionCanvas* m_canvas;
    QSplitter* m_split;
    using FittedTo = std::tuple<const store::RunHandle*, BelowMaps, bool, bool, std::size_t, int>;
    FittedTo m_fittedTo {}; ///< what the heights were fitted to last
    std::array<QLabel*, 2> m_names {}; ///< of what is below the maps
    std::array<QLabel*, 2> m_captions {};
    std::array<QStackedWidget*, 2> m_stacks {};
    std::array<ExactValues*, 2> m_exact {};
    std::array<CurveCanvas*, 2> m_curves {};
    std::array<HeatCanvas*, 2> m_strips {};
    QStackedWidget* m_belowStack = nullptr; ///< curves or strips of both sides; recorded maps
    HeadMapsPanel* m_headMaps = nullptr;
    QComboBox* m_axesBox = nullptr;
    QComboBox* m_layerBox = nullptr;
    std::array<QComboBox*, 2> m_valueBoxes {};
    QComboBox* m_orderBox = nullptr;
    QComboBox* m_belowBox = nullptr;
    QComboBox* m_rankBox = nullptr;
    QToolButton* m_follow = nullptr;
};

}
