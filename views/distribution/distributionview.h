// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/common/dataview.h>

#include "distributionquery.h"

class QComboBox;
class QLabel;
class QSplitter;
class QToolButton;

namespace telltale::views {

class CurveCanvas;
class DistributionCanvas;
class ViewBar;

/// How the elements of the selected tensors are spread, over the steps: histograms as heat strips or ridges, and below
/// them quantiles, or what number formats would lose. Thread: gui.
class DistributionView : public DataView {
    Q_OBJECT
public:
    explicit DistributionView(const ViewContext& context, QWidget* parent = nullptr);

    void paintPicture(QPainter& painter, QSize size) override;
    QStringList shownWords() const override;
    Expected<void> writeCsv(QIODevice* device) const override;

    DistributionCanvas* canvas() const { return m_canvas; }
    CurveCanvas* curves() const { return m_curves; }
    void setShape(DistributionShape shape);
    void setColor(BinColor color);
    void setBelow(BelowStrips below);

protected:
    void ask() override;
    void troubleChanged() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildBar();
    void buildBelow();
    void connectState();
    void fillChoices();
    void show(std::shared_ptr<const DistributionPicture> picture);
    void stepTensor(int tensors);
    /// The state's kind where it has histograms, else the first that has.
    Kind kind() const;
    DistributionRequest request() const;
    QString emptyText() const;
    QString belowText() const;

    DistributionShape m_shape = DistributionShape::Strip;
    BinColor m_color = BinColor::LogShare;
    BelowStrips m_below = BelowStrips::Quantiles;
    bool m_isBelowHidden = false; ///< by the user
    ViewBar* m_bar;
    DistributionCanvas* m_canvas;
    QSplitter* m_split;
    CurveCanvas* m_curves = nullptr;
    QLabel* m_belowName = nullptr; ///< of the tensor
    QLabel* m_belowCaption = nullptr;
    QComboBox* m_kindBox = nullptr;
    QComboBox* m_rankBox = nullptr;
    QComboBox* m_shapeBox = nullptr;
    QComboBox* m_colorBox = nullptr;
    QComboBox* m_belowBox = nullptr;
    QLabel* m_caption = nullptr;
    QToolButton* m_follow = nullptr;
};

}
