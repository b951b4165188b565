// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <telltale/common/plotcanvas.h>

#include "curvelegend.h"
#include "curvepicture.h"

namespace telltale::views {

/// Many series on one plot with lane, axes, legend, cursors and readout. Shows the last answer until the next one
/// comes. A click on a name in the legend hides its curve, with Ctrl it shows it alone; H and I do it for the curve
/// that Up and Down chose.
class CurveCanvas : public PlotCanvas {
    Q_OBJECT
public:
    explicit CurveCanvas(ViewState* state, QWidget* parent = nullptr);

    void setPicture(std::shared_ptr<const CurvePicture> picture);
    std::shared_ptr<const CurvePicture> picture() const { return m_picture; }
    void setEmptyText(const QString& text);
    void setStepUnit(const QString& unit); ///< said of an axis of steps
    void setYMode(YMode mode);
    void setSmoothing(double weight);
    double smoothing() const { return m_smoothing; }
    /// Hides the series that another canvas hides.
    void hideAs(const CurveCanvas& other)
    {
        m_hidden = other.m_hidden;
        applyHidden();
        invalidate();
    }
    static int heightFor(int lines); ///< px in which a legend has so many below the step that they are of
    /// Exact values at the cursor, from the reader; until they come the buckets answer.
    void setLegendValues(std::vector<LegendValue> values);
    void setGutter(int wish); ///< px left of the plot, where the shared axis leaves it that room
    /// Px left of the plot, whatever the shared axis says, and right of its legend.
    void setMargins(int left, int right);
    void setMostWidth(int plot);
    /// The legend is as wide as its names, up to a third of all, where no other plot ends beside this one.
    void setWideLegend(bool on);
    void setHasLegend(bool on); ///< else its room is the plot's
    QRect plotRect(QSize size) const override;
    bool hasEvenSteps() const override { return hasPlot() && !m_picture->warp; }
    using PlotCanvas::plotRect;
    /// What the legend says of every series.
    std::vector<LegendValue> legendValues() const;
    /// The step that all of these are of; none between marks, and where each series has its own last one.
    std::optional<Step> legendStep() const;
    /// "at step 230" above them: which that is, or of which others than the cursor's or the marks' they are; empty:
    /// none.
    QString legendStepText(const std::vector<LegendValue>& values) const;
    /// That, of which rank the values beside names are, and that they are not smoothed.
    QString legendCaption(const std::vector<LegendValue>& values, bool areRanksLast) const;

Q_SIGNALS:
    void showAllWanted();

protected:
    void paintFrame(QImage& frame, QSize size) override;
    bool hasHighlight() const override;
    void paintHighlight(QImage& frame, QSize size) override;
    void paintOverlay(QPainter& painter, QSize size) override;
    StepRange shownRange() const override;
    int laneBottom(QSize size) const override;
    bool hasPlot() const override { return m_picture && !m_picture->isEmpty(); }
    void hoveredAt(QPoint position) override;
    void left() override;
    void moveRow(int rows) override;
    Step stepAt(double x) const override;
    double xOf(Step step, const QRect& plot) const override;
    void clickedAt(QPoint position, Qt::KeyboardModifiers modifiers) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    int legendWidth(QSize size) const;
    QRectF legendRect(QSize size) const;
    void paintHover(QPainter& painter, const QRect& plot) const;
    CurveLegend legend(QSize size) const
    {
        return CurveLegend(legendRect(size), *m_picture, m_firstLine, state().markA() && state().markB(),
            state().cursor().has_value());
    }
    std::shared_ptr<const CurvePicture> placedPicture(const QImage& frame, const QRect& plot) const;
    int nearestSeries(QPoint position) const;
    /// Hides a series or brings it back; `alone`: hides all others, or brings them back.
    void toggle(int series, bool alone);
    void applyHidden();

    std::shared_ptr<const CurvePicture> m_picture;
    /// Of the legend, by its height: names are measured once.
    mutable std::optional<std::pair<int, int>> m_wish;
    std::vector<CurveSeries> m_hidden; ///< without their buckets; as long as the canvas lives
    std::vector<LegendValue> m_values;
    ValueScale m_scale;
    QString m_emptyText;
    QString m_stepUnit = tr("step");
    YMode m_yMode = YMode::Log;
    double m_smoothing = 0;
    int m_gutter = 0;
    std::optional<std::pair<int, int>> m_margins;
    int m_mostWidth = QWIDGETSIZE_MAX;
    bool m_hasWideLegend = false;
    bool m_hasLegend = true;
    int m_near = -1;
    int m_firstLine = 0; ///< of the legend
};

}
