// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QTimer>

#include <telltale/common/plotcanvas.h>

#include "lanes.h"

namespace telltale::views {

/// The incidents in lanes on the shared step axis, and the whole run below with the visible steps framed. Between the
/// same edges as the plots of the view above it, whose axis is its own then; with an axis where that view has none, or
/// several. Up and Down go to the incident before and after, Page Up and
/// Page Down move the visible steps.
class TimelineCanvas : public PlotCanvas {
    Q_OBJECT
public:
    static constexpr int kLaneHeight = 17; ///< where they need not share the room of an axis below them
    static constexpr int kTop = 2;

    explicit TimelineCanvas(ViewState* state, QWidget* parent = nullptr);

    void setChoice(LaneChoice choice);
    void fitLanes() { plan(); }
    LaneChoice choice() const { return m_choice; }
    void setBlocks(std::vector<QString> blocks);
    /// It is never shown: its lanes fill it, and are what they are when fitLanes() is called.
    void beOfPicture() { m_isOfPicture = true; }
    /// Whose plots of even steps give left and right edge while they are on the screen and agree; null: none.
    void alignWith(QWidget* view);
    bool hasOwnAxis() const { return m_hasAxis; }
    int end() const { return m_end; } ///< px that it needs under the plots above; 0 = they give no edges

    QRect plotRect(QSize size) const override;
    using PlotCanvas::plotRect;
    const std::vector<Lane>& lanes() const { return m_lanes; }
    QRect laneRect(int lane) const;
    int laneHeight() const;
    QRect stripRect() const; ///< of the whole run
    QString laneText(int lane) const; ///< all of what stands left of it, of which the gutter may have no room
    /// The incident at a place; 0 = none.
    std::int64_t incidentAt(QPoint position) const override;
    QSize sizeHint() const override { return { 800, 158 }; }

Q_SIGNALS:
    void endChanged();

protected:
    void paintFrame(QImage& frame, QSize size) override;
    void paintOverlay(QPainter& painter, QSize size) override;
    void hoveredAt(QPoint position) override;
    void clickedAt(QPoint position, Qt::KeyboardModifiers modifiers) override;
    void moveRow(int rows) override;
    void pin() override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    bool event(QEvent* event) override; ///< tool tips of what is cut in the gutter

private:
    void plan();
    void takeIncidents();
    void takeLog(const store::LogPage& page);
    int mostLanes() const;
    int laneAt(int y) const;
    QRect ownEdges(QSize size) const;
    /// Left and right of the plots above, wherever they end; empty where they are none, or apart.
    QRect edgesAbove() const;
    void realign();
    int bottomOfLanes() const;
    void dragStrip(int x);

    LaneChoice m_choice = LaneChoice::Block;
    bool m_isOfPicture = false;
    std::vector<QString> m_blocks;
    LanePlan m_plan;
    std::vector<Lane> m_lanes;
    std::vector<StepRange> m_gaps; ///< steps of which something was not stored; apart from each other
    QTimer m_takeTimer;
    std::vector<QPointer<PlotCanvas>> m_above;
    int m_end = 0;
    QRect m_shared; ///< edgesAbove(), as they were looked at last
    bool m_hasAxis = true;
    bool m_isDragged = false; ///< since it was grabbed
    std::optional<std::int64_t> m_grabbed; ///< steps between the frame's first and the mouse
};

}
