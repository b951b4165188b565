// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <telltale/analysis/nonfinite.h>
#include <telltale/common/axispainter.h>
#include <telltale/common/plotcanvas.h>

#include "heatgutter.h"
#include "heatpicture.h"
#include "namedcell.h"
#include "rowlayout.h"

namespace telltale::views {

struct Readout;
struct RunEnd;

/// Paints a heat map with its gutter, lane, legend and readout, and turns clicks into selection. Shows the last answer
/// until the next one comes.
class HeatCanvas : public PlotCanvas {
    Q_OBJECT
public:
    static constexpr int kEdge = 16; ///< px beside a plot without a legend

    explicit HeatCanvas(ViewState* state, QWidget* parent = nullptr);

    void setPicture(std::shared_ptr<const HeatPicture> picture);
    const HeatPicture* picture() const { return m_picture.get(); }
    /// Ranks beside the picture's own that are not finite: marked in the lane, named by its tooltip.
    void setOtherRanks(analysis::NonFiniteRanks ranks);
    /// What the lane says at a place of the widget; empty where all other ranks are finite.
    QString otherRanksText(QPoint position) const;
    /// The whole name of what the gutter names there.
    QString gutterText(QPoint position) const;
    /// Marks a cell of the picture, until the next one; row or column -1: none.
    void setNamedCell(const NamedCell& cell);
    const NamedCell& namedCell() const { return m_named; }
    /// Sentence shown when there is nothing to paint.
    void setEmptyText(const QString& text);
    /// False where another one beside it explains the colors.
    void setLegendVisible(bool on);
    /// The plot begins no further left: it stands above or below another.
    void setLeastGutter(int px);
    /// The plot stands so far from the left edge, and its legend from the right one, whatever its rows are called.
    void setMargins(int left, int right);
    void setMostWidth(int plot); ///< px; beyond them there is nothing
    /// False where another plot below carries the step axis.
    void setStepAxisVisible(bool on);
    QRect plotRect(QSize size) const override;
    using PlotCanvas::plotRect;
    /// Logical rectangle of a cell, with the columns that look like its own.
    QRectF cellRect(int row, int column) const;

Q_SIGNALS:
    /// The user brushed over rows: they are selected, their curves are wanted.
    void curvesWanted();
    /// The user pointed at a rank.
    void rankPicked(telltale::Rank rank);
    /// Names take another width now: what stands below starts its plot there too.
    void gutterChanged(int px);

protected:
    void paintFrame(QImage& frame, QSize size) override;
    void paintOverlay(QPainter& painter, QSize size) override;
    StepRange shownRange() const override;
    bool hasStepAxis() const override;
    bool hasColoredCells() const override { return true; }
    bool hasPlot() const override { return m_picture && !m_picture->rows.empty(); }
    void hoveredAt(QPoint position) override;
    void clickedAt(QPoint position, Qt::KeyboardModifiers modifiers) override;
    void brushed(const QRect& area) override;
    void left() override;
    void moveRow(int rows) override;
    Step stepAt(double x) const override;
    Step pointedAt(QPoint position) const override;
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    RowLayout layoutFor(QSize size) const;
    bool isMarked(int column) const; ///< in the lane of events: not finite, here or on another rank
    void paintLane(QPainter& painter, const QRect& plot) const;
    int right() const { return m_legend ? SharedAxis::kLegend : kEdge; } ///< px beside the plot
    void paintSelection(QPainter& painter, const QRect& plot, const std::vector<RunEnd>& ends) const;
    void paintNamed(QPainter& painter, const QRect& plot) const;
    void paintColumnOutline(QPainter& painter, const QRect& plot, int column) const;
    void paintHover(QPainter& painter, const QRect& plot) const;
    void tellSides(Readout& readout, const QString& stat) const;
    void tellGutter();
    int selectedRow() const;
    QRectF cellRect(int row, int column, const QRect& plot) const;
    int columnAt(int x) const;
    /// What is drawn in a column: from the one that it looks like to one beyond the last that does.
    std::pair<int, int> drawnColumns(int column, const QRect& plot) const;
    QString readoutPlace(int row, int column) const;

    std::shared_ptr<const HeatPicture> m_picture;
    QString m_emptyText;
    RowLayout m_layout; ///< in logical pixels, for the widget's size
    analysis::NonFiniteRanks m_otherRanks; ///< what is broken on a rank that is not shown
    HeatGutter::Wish m_gutterWish;
    std::size_t m_groups = 0; ///< of rows, in the picture
    int m_gutter = 0; ///< as told last
    int m_leastGutter = 0;
    std::optional<std::pair<int, int>> m_margins;
    int m_mostWidth = QWIDGETSIZE_MAX;
    bool m_stepAxis = true;
    bool m_legend = true;
    NamedCell m_named;
    int m_hoverRow = -1;
    int m_hoverColumn = -1;
    /// Where the pointer still rests since a click, and what was clicked.
    struct Clicked {
        QPoint at;
        ModuleKey key;
        std::uint32_t tensor = 0;
        Rank rank;
        Step step { 0 };
        StepRange shown;
    };
    std::optional<Clicked> m_clicked;
};

}
