// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <telltale/common/plotcanvas.h>

#include "distributionpicture.h"

namespace telltale::views {

/// Paints strips or ridges of histograms, one tensor below the other on the shared step axis, each with its lane of
/// what is not finite. Shows the last answer until the next one comes. Thread: gui.
class DistributionCanvas : public PlotCanvas {
    Q_OBJECT
public:
    static constexpr int kLeastStrip = 130; ///< px of height that a strip needs

    explicit DistributionCanvas(ViewState* state, QWidget* parent = nullptr);

    void setPicture(std::shared_ptr<const DistributionPicture> picture);
    const DistributionPicture* picture() const { return m_picture.get(); }
    void setShape(DistributionShape shape);
    void setEmptyText(const QString& text);
    /// False where another plot below carries the step axis.
    void setStepAxisVisible(bool on);
    /// How many strips find room.
    int room() const;
    /// From the top of the first strip to the bottom of the last.
    QRect plotRect(QSize size) const override;
    using PlotCanvas::plotRect;
    QRect stripRect(int strip, QSize size) const;
    QRect stripRect(int strip) const { return stripRect(strip, size()); }
    /// Logical rectangle of a bin of a strip in one column.
    QRectF cellRect(int strip, int bin, int column) const;
    /// As HeatPicture has them, of the one at a step.
    static std::pair<int, int> drawnColumns(
        const DistributionStrip& one, const ViewState& state, Step step, const QRect& plot);
    /// What the readout says of a cell, as two lines of text.
    QString cellText(int strip, int bin, int column) const;

Q_SIGNALS:
    /// The user asks for the histogram that many tensors further.
    void tensorStepped(int tensors);

protected:
    void paintFrame(QImage& frame, QSize size) override;
    void paintOverlay(QPainter& painter, QSize size) override;
    StepRange shownRange() const override;
    int laneBottom(QSize size) const override { return laneOf(plotRect(size)).bottom() + 1; }
    bool hasColoredCells() const override { return true; }
    bool hasPlot() const override { return m_picture && !m_picture->isEmpty(); }
    void hoveredAt(QPoint position) override;
    Step pointedAt(QPoint position) const override;
    void left() override;
    void moveRow(int rows) override;

private:
    bool isEmpty() const { return !m_picture || m_picture->isEmpty(); }
    const DistributionStrip& strip(int index) const { return m_picture->strips[static_cast<std::size_t>(index)]; }
    static QRect laneOf(const QRect& strip);
    void paintEdges(QPainter& painter, const QRect& plot, const DistributionStrip& strip) const;
    void paintHover(QPainter& painter) const;
    QString placeText(const DistributionStrip& strip, int bin, int column) const;
    QString amountText(const DistributionStrip& strip, int bin, int column) const;

    std::shared_ptr<const DistributionPicture> m_picture;
    QString m_emptyText;
    DistributionShape m_shape = DistributionShape::Strip;
    bool m_stepAxis = false;
    int m_hoverStrip = -1;
    int m_hoverBin = -1;
    int m_hoverColumn = -1;
};

}
