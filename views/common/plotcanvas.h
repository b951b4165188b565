// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QImage>
#include <QWidget>

#include "sharedaxis.h"
#include "viewstate.h"

namespace telltale::views {

/// The painted part of a data view: a cached frame of what changes with the data, an overlay of what follows the mouse,
/// and the one implementation of zoom, pan, brush, cursor and keys on the step axis.
class PlotCanvas : public QWidget {
    Q_OBJECT
public:
    explicit PlotCanvas(ViewState* state, QWidget* parent = nullptr);

    QSize minimumSizeHint() const override;
    /// The data, theme or size changed: the frame is painted anew at the next paint event.
    void invalidate();
    /// Frame and overlay at any size, for export.
    QImage renderTo(QSize size, double scale = 1.0);
    /// The same as a part of a picture: lines and words where the painter draws those.
    void paintTo(QPainter& painter, const QRect& place);
    /// Between the axes, for a canvas of this size.
    virtual QRect plotRect(QSize size) const = 0;
    QRect plotRect() const { return plotRect(size()); }
    /// px left of the plot where that is a wish: never less than the shared gutter, never over a quarter of the width.
    static int gutterWithin(int wish, int width);

    /// Its columns are steps of one width each: what stands between the same edges below it has the same cursor.
    virtual bool hasEvenSteps() const { return hasStepAxis() && hasPlot(); }

Q_SIGNALS:
    void plotResized();

protected:
    ViewState& state() const { return *m_state; }
    bool isStatic() const { return m_static; } ///< a picture is painted, not the window
    /// Paints on an opaque frame that is filled with base. Its devicePixelRatio is set.
    virtual void paintFrame(QImage& frame, QSize size) = 0;
    virtual void paintOverlay(QPainter& painter, QSize size) = 0;
    /// Steps that the picture shows; those of the state unless an answer is late.
    virtual StepRange shownRange() const { return m_state->visibleRange(); }
    virtual bool hasStepAxis() const { return true; }
    virtual bool hasPlot() const { return true; } ///< not a sentence in place of one
    /// Where the lane of events ends, above the plot.
    virtual int laneBottom(QSize size) const { return plotRect(size).top(); }
    /// Whether colors say values, so that nothing may be laid over them.
    virtual bool hasColoredCells() const { return false; }

    virtual void hoveredAt(QPoint position);
    virtual void clickedAt(QPoint position, Qt::KeyboardModifiers modifiers);
    virtual void brushed(const QRect& area);
    virtual void left();
    /// Up and Down: the next row.
    virtual void moveRow(int rows);
    /// Enter: what a click at the cursor does.
    virtual void pin();

    /// The incident whose mark above the plot lies here; 0 = none.
    virtual std::int64_t incidentAt(QPoint position) const;
    virtual Step stepAt(double x) const;
    /// What is hovered and clicked there.
    virtual Step pointedAt(QPoint position) const { return stepAt(position.x()); }
    virtual double xOf(Step step, const QRect& plot) const;
    std::optional<QPoint> mouse() const { return m_mouse; }
    /// After a new picture: what lies under a resting mouse may be another step or row.
    void hoverAgain();
    /// The note whose mark above the plot lies here; 0 = none.
    std::int64_t noteAt(QPoint position) const;
    /// Area being brushed, empty when none.
    QRect brush() const;

    /// Whether paintHighlight() has something to add to the frame.
    virtual bool hasHighlight() const { return false; }
    /// What the mouse is near, over a frame that is not painted anew for it.
    virtual void paintHighlight(QImage& /*frame*/, QSize /*size*/) { }
    void highlightAgain();

    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    enum class Drag { None, Brush, Pan };
    enum class Gesture { None, Zoom, Pan };
    void paintWhole(QImage& frame, QSize size);
    void moveHover(std::int64_t pixels);
    void paintNotes(QPainter& painter, QSize size) const;
    bool isInLane(QPoint position) const;
    void zoomAbout(double x, double factor);
    bool isContinued(Gesture gesture); ///< turns of the wheel that follow each other are one gesture

    ViewState* m_state;
    QImage m_frame;
    bool m_frameValid = false;
    QImage m_highlighted; ///< the frame with what is highlighted
    bool m_highlightValid = false;
    bool m_static = false;
    bool m_keyboardFocus = false;
    Drag m_drag = Drag::None;
    QPoint m_pressed;
    std::int64_t m_panned = 0;
    std::optional<QPoint> m_mouse;
    QElapsedTimer m_lastWheel;
    Gesture m_lastGesture = Gesture::None;
};

}
