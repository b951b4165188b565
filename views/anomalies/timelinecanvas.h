// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QTimer>

#include <telltale/common/plotcanvas.h>

#include "lanes.h"

namespace telltale::views {

/// The incidents in lanes on the shared step axis, and the whole run below with the visible steps framed. Between the
/// same edges as the plot above it, where there is one. Up and Down go to the incident before and after, Page Up and
/// Page Down move the visible steps.
class TimelineCanvas : public PlotCanvas {
    Q_OBJECT
public:
    static constexpr int kLaneHeight = 17;
    static constexpr int kTop = 2;

    explicit TimelineCanvas(ViewState* state, QWidget* parent = nullptr);

    void setChoice(LaneChoice choice);
    LaneChoice choice() const { return m_choice; }
    void setBlocks(std::vector<QString> blocks);
    /// The plot whose left and right edge this one shares while it is on the screen; null: none.
    void alignWith(PlotCanvas* plot);

    QRect plotRect(QSize size) const override;
    using PlotCanvas::plotRect;
    const std::vector<Lane>& lanes() const { return m_lanes; }
    QRect laneRect(int lane) const;
    QRect stripRect() const; ///< of the whole run
    /// The incident at a place; 0 = none.
    std::int64_t incidentAt(QPoint position) const override;
    QSize sizeHint() const override { return { 800, 158 }; }

protected:
    void paintFrame(QImage& frame, QSize size) override;
    void paintOverlay(QPainter& painter, QSize size) override;
    void clickedAt(QPoint position, Qt::KeyboardModifiers modifiers) override;
    void moveRow(int rows) override;
    void pin() override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void plan();
    void takeIncidents();
    void takeLog(const store::LogPage& page);
    int mostLanes() const;
    int laneAt(int y) const;
    QRect ownEdges(QSize size) const;
    void dragStrip(int x);

    LaneChoice m_choice = LaneChoice::Block;
    std::vector<QString> m_blocks;
    LanePlan m_plan;
    std::vector<Lane> m_lanes;
    std::vector<StepRange> m_gaps; ///< steps of which something was not stored; apart from each other
    QTimer m_takeTimer;
    QPointer<PlotCanvas> m_aligned;
    QRect m_edges; ///< as they were painted
    bool m_isDragged = false; ///< since it was grabbed
    std::optional<std::int64_t> m_grabbed; ///< steps between the frame's first and the mouse
};

}
