// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <telltale/common/plotcanvas.h>

#include "curvelegend.h"
#include "scalarpanels.h"

namespace telltale::views {

/// Small plots of a run's scalars, one below the other on the shared step axis, each with its last value at the right.
class OverviewCanvas : public PlotCanvas {
    Q_OBJECT
public:
    explicit OverviewCanvas(ViewState* state, QWidget* parent = nullptr);

    /// One scalar a plot, with all its ranks, or the numbered parts of a metric.
    void setPicture(std::shared_ptr<const CurvePicture> picture);
    std::shared_ptr<const CurvePicture> picture() const { return m_picture; }
    void setEmptyText(const QString& text);
    const QString& emptyText() const { return m_emptyText; }
    void setSmoothing(double weight);
    /// What was measured at the cursor, of every series of the picture; none: its buckets answer.
    void setLegendValues(std::vector<LegendValue> values);
    /// Ends where plots with a legend do, so that a step stands in one place in all views.
    void endAsOthers(bool on);
    int plots() const { return static_cast<int>(m_plots.size()); }
    /// As many as there is room for, all of them in a picture; which of them is the first.
    int shownPlots(QSize size) const;
    int firstPlot(QSize size) const;
    void setFirstPlot(int index);
    double smoothing() const { return m_smoothing; }
    /// From the first shown plot's top to the last one's bottom.
    QRect plotRect(QSize size) const override;
    using PlotCanvas::plotRect;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void shownPlotsChanged();

protected:
    void paintFrame(QImage& frame, QSize size) override;
    void paintOverlay(QPainter& painter, QSize size) override;
    StepRange shownRange() const override;
    bool hasPlot() const override { return plots() > 0; }
    int laneBottom(QSize size) const override;
    void moveRow(int rows) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    QRect plotOf(int index, QSize size) const;
    const CurveSeries& lineAt(int index, QSize size, QPoint at) const;
    void paintHover(QPainter& painter, QSize size) const;
    void paintHeaders(QPainter& painter, QSize size) const;
    double smoothingOf(const CurvePicture& scalar) const;
    const ScalarPanel& panelAt(int index) const { return m_plots[static_cast<std::size_t>(index)]; }

    std::shared_ptr<const CurvePicture> m_picture;
    std::vector<ScalarPanel> m_plots; ///< of m_picture
    std::vector<ValueScale> m_scales;
    std::vector<LegendValue> m_values;
    QString m_emptyText;
    double m_smoothing = 0.9;
    bool m_endsAsOthers = false;
    int m_first = 0;
    std::string m_scrolledRun; ///< in which m_first is the place; another begins at its top
    int m_turned = 0; ///< of the wheel, what was not enough for a plot yet
};

}
