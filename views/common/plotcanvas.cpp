// SPDX-License-Identifier: GPL-3.0-or-later
#include "plotcanvas.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QRegion>
#include <QScopedValueRollback>
#include <QWheelEvent>

#include "axispainter.h"
#include "notepainter.h"
#include "svgpage.h"
#include "theme.h"

namespace telltale::views {

namespace {
constexpr int kBrushThreshold = 6;
constexpr qint64 kSameGestureMs = 700;
}

PlotCanvas::PlotCanvas(ViewState* state, QWidget* parent)
    : QWidget(parent)
    , m_state(state)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    const auto repaint = [this] { update(); };
    connect(state, &ViewState::cursorChanged, this, repaint);
    connect(state, &ViewState::hoverChanged, this, repaint);
    connect(state, &ViewState::marksChanged, this, repaint);
    connect(state, &ViewState::followingChanged, this, repaint);
    connect(state, &ViewState::eventMarksChanged, this, &PlotCanvas::invalidate);
    connect(state, &ViewState::notesChanged, this, repaint);
}

QSize PlotCanvas::minimumSizeHint() const
{
    return { SharedAxis::kGutter + SharedAxis::kLegend + 80, 80 };
}

int PlotCanvas::gutterWithin(int wish, int width)
{
    return std::clamp(wish, SharedAxis::kGutter, std::max(SharedAxis::kGutter, width / 4));
}

void PlotCanvas::invalidate()
{
    m_frameValid = false;
    update();
}

void PlotCanvas::highlightAgain()
{
    m_highlightValid = false;
    update();
}

void PlotCanvas::paintWhole(QImage& frame, QSize size)
{
    paintFrame(frame, size);
    if (hasHighlight())
        paintHighlight(frame, size);
}

QImage PlotCanvas::renderTo(QSize size, double scale)
{
    QImage frame(size * scale, QImage::Format_RGB32);
    frame.setDevicePixelRatio(scale);
    frame.fill(Theme::current().base);
    const QScopedValueRollback<bool> guard(m_static, true);
    paintWhole(frame, size);
    QPainter painter(&frame);
    paintNotes(painter, size);
    paintOverlay(painter, size);
    return frame;
}

void PlotCanvas::paintTo(QPainter& painter, const QRect& place)
{
    SvgPage* page = SvgPage::of(painter);
    if (!page) {
        painter.drawImage(place.topLeft(), renderTo(place.size(), painter.device()->devicePixelRatioF()));
        return;
    }
    painter.save();
    painter.translate(place.topLeft());
    painter.fillRect(QRect(QPoint(), place.size()), Theme::current().base);
    const QScopedValueRollback<bool> guard(m_static, true);
    paintWhole(page->addFrame(painter, place.size()), place.size());
    paintNotes(painter, place.size());
    paintOverlay(painter, place.size());
    painter.restore();
}

void PlotCanvas::paintEvent(QPaintEvent*)
{
    if (QPainter painter(this); SvgPage::of(painter)) {
        paintTo(painter, rect()); // of a picture of the whole view
        return;
    }
    const double scale = devicePixelRatioF();
    const QSize pixels = size() * scale;
    if (!m_frameValid || m_frame.size() != pixels) {
        if (m_frame.size() != pixels)
            m_frame = QImage(pixels, QImage::Format_RGB32);
        m_frame.setDevicePixelRatio(scale);
        m_frame.fill(Theme::current().base);
        paintFrame(m_frame, size());
        m_frameValid = true;
        m_highlightValid = false;
    }
    if (hasHighlight() && !m_highlightValid) {
        if (m_highlighted.size() != pixels)
            m_highlighted = QImage(pixels, m_frame.format());
        m_highlighted.setDevicePixelRatio(scale);
        std::memcpy(m_highlighted.bits(), m_frame.constBits(), static_cast<std::size_t>(m_frame.sizeInBytes()));
        paintHighlight(m_highlighted, size());
        m_highlightValid = true;
    }
    QPainter painter(this);
    painter.drawImage(QPoint(), hasHighlight() ? m_highlighted : m_frame);
    paintNotes(painter, size());
    paintOverlay(painter, size());
    if (const QRect area = brush(); !area.isEmpty()) {
        // What is left out fades: a tint of what is chosen would be lost on the colors of a map.
        QColor veil = Theme::current().base;
        veil.setAlphaF(0.55F);
        for (const QRect& rest : QRegion(plotRect()) - area)
            painter.fillRect(rest, veil);
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(Theme::current().base);
        painter.drawRect(area.adjusted(-1, -1, 0, 0));
        painter.setPen(Theme::current().text);
        painter.drawRect(area.adjusted(0, 0, -1, -1));
    }
    if (m_keyboardFocus) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(Theme::current().accent);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void PlotCanvas::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    m_frameValid = false;
    Q_EMIT plotResized();
}

void PlotCanvas::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange
        || event->type() == QEvent::LanguageChange)
        invalidate();
}

Step PlotCanvas::stepAt(double x) const
{
    const QRect plot = plotRect();
    const StepRange range = shownRange();
    if (range.isEmpty() || plot.width() <= 0)
        return range.first;
    const double offset = std::floor((x - plot.left()) * static_cast<double>(range.count()) / plot.width());
    return Step { range.first.value
        + static_cast<std::int64_t>(std::clamp(offset, 0.0, static_cast<double>(range.count() - 1))) };
}

double PlotCanvas::xOf(Step step, const QRect& plot) const
{
    return plot.left() + SharedAxis::xOfStep(shownRange(), step, plot.width());
}

void PlotCanvas::paintNotes(QPainter& painter, QSize size) const
{
    const StepRange range = shownRange();
    if (!hasStepAxis() || !hasPlot() || m_state->notes().empty() || range.isEmpty())
        return;
    QRect plot = plotRect(size);
    plot.setTop(laneBottom(size));
    NotePainter notes(painter, Theme::current(), plot, [&](Step step) { return xOf(step, plot); });
    notes.marks(range, m_state->notes(), !hasColoredCells());
    if (const std::int64_t id = !m_static && m_mouse ? noteAt(*m_mouse) : 0)
        notes.text(*m_state->note(id));
}

bool PlotCanvas::isInLane(QPoint position) const
{
    const int above = laneBottom(size()) - position.y();
    return hasStepAxis() && above > 0 && above <= AxisPainter::kLane;
}

std::int64_t PlotCanvas::noteAt(QPoint position) const
{
    constexpr int kReach = 8;
    const QRect plot = plotRect();
    if (!isInLane(position))
        return 0;
    std::int64_t nearest = 0;
    int best = kReach;
    for (const store::StepNote& note : m_state->notes()) {
        if (note.isRemoved || !shownRange().contains(note.steps.first))
            continue;
        if (const int away
            = std::abs(static_cast<int>(xOf(note.steps.first, plot) + NotePainter::kAway) - position.x());
            away < best) {
            nearest = note.id;
            best = away;
        }
    }
    return nearest;
}

std::int64_t PlotCanvas::incidentAt(QPoint position) const
{
    constexpr int kReach = 7;
    const QRect plot = plotRect();
    if (!isInLane(position))
        return 0;
    const EventMark* best = nullptr;
    int nearest = kReach;
    const FlagPlaces flags(plot, shownRange(), m_state->eventMarks(), [&](Step step) { return xOf(step, plot); });
    for (const EventMark& mark : m_state->incidentMarks()) {
        const int away = std::abs(static_cast<int>(flags.beside(xOf(mark.step, plot))) - position.x());
        if (away < nearest || (best && away == nearest && mark.shape > best->shape)) {
            best = &mark;
            nearest = away;
        }
    }
    return best ? best->record : 0;
}

QRect PlotCanvas::brush() const
{
    if (m_drag != Drag::Brush || !m_mouse || (*m_mouse - m_pressed).manhattanLength() < kBrushThreshold)
        return {};
    return QRect(m_pressed, *m_mouse).normalized().intersected(plotRect());
}

void PlotCanvas::hoveredAt(QPoint position)
{
    if (hasStepAxis() && hasPlot() && position.x() >= plotRect().left() && position.x() <= plotRect().right())
        m_state->setHover(pointedAt(position));
    else
        m_state->setHover({});
    update();
}

void PlotCanvas::hoverAgain()
{
    if (m_mouse && m_drag == Drag::None)
        hoveredAt(*m_mouse);
}

void PlotCanvas::clickedAt(QPoint position, Qt::KeyboardModifiers)
{
    if (!hasPlot())
        return;
    if (hasStepAxis() && plotRect().adjusted(0, -AxisPainter::kLane - AxisPainter::kLaneGap, 0, 30).contains(position))
        m_state->setCursor(pointedAt(position));
    // A mark of the lane above the plot is wider than its step.
    constexpr int kHalfMark = 3;
    if (isInLane(position))
        Q_EMIT m_state->nonFiniteWanted({ stepAt(position.x() - kHalfMark), stepAt(position.x() + kHalfMark) });
}

void PlotCanvas::brushed(const QRect& area)
{
    if (hasStepAxis() && area.width() >= kBrushThreshold)
        m_state->zoomTo({ stepAt(area.left()), stepAt(area.right()) });
}

void PlotCanvas::left()
{
    m_state->setHover({});
}

void PlotCanvas::moveRow(int) { }

void PlotCanvas::pin()
{
    if (m_state->hover())
        m_state->setCursor(m_state->hover());
}

void PlotCanvas::mousePressEvent(QMouseEvent* event)
{
    m_keyboardFocus = false;
    m_pressed = event->position().toPoint();
    m_panned = 0;
    if (event->button() == Qt::MiddleButton
        || (event->button() == Qt::LeftButton && event->modifiers().testFlag(Qt::ShiftModifier)))
        m_drag = Drag::Pan;
    else if (event->button() == Qt::LeftButton)
        m_drag = Drag::Brush;
}

void PlotCanvas::mouseMoveEvent(QMouseEvent* event)
{
    m_mouse = event->position().toPoint();
    if (m_drag == Drag::Pan && hasStepAxis() && plotRect().width() > 0) {
        const double stepsPerPixel = static_cast<double>(m_state->visibleRange().count()) / plotRect().width();
        const auto wanted = static_cast<std::int64_t>(std::llround((m_pressed.x() - m_mouse->x()) * stepsPerPixel));
        m_state->pan(wanted - m_panned, m_panned != 0);
        m_panned = wanted;
    }
    hoveredAt(*m_mouse);
}

void PlotCanvas::mouseReleaseEvent(QMouseEvent* event)
{
    m_mouse = event->position().toPoint();
    const QRect area = brush();
    const Drag drag = m_drag;
    m_drag = Drag::None;
    if (drag == Drag::Brush && !area.isEmpty())
        brushed(area);
    else if (drag != Drag::None && (*m_mouse - m_pressed).manhattanLength() < kBrushThreshold) {
        if (const std::int64_t incident = incidentAt(*m_mouse))
            m_state->goToIncident(incident);
        else if (const std::int64_t note = noteAt(*m_mouse))
            m_state->wantNote(note);
        else
            clickedAt(*m_mouse, event->modifiers());
    }
    update();
}

void PlotCanvas::leaveEvent(QEvent* event)
{
    QWidget::leaveEvent(event);
    m_mouse.reset();
    left();
    update();
}

bool PlotCanvas::isContinued(Gesture gesture)
{
    const bool isSame = gesture == m_lastGesture && m_lastWheel.isValid() && m_lastWheel.elapsed() < kSameGestureMs;
    m_lastGesture = gesture;
    m_lastWheel.start();
    return isSame;
}

void PlotCanvas::zoomAbout(double x, double factor)
{
    const StepRange range = m_state->visibleRange();
    if (range.isEmpty() || m_state->fullRange().isEmpty())
        return;
    const bool continued = isContinued(Gesture::Zoom);
    const auto count = static_cast<double>(range.count());
    const StepRange full = m_state->fullRange();
    const double wanted = std::min(std::max(count * factor, 2.0), static_cast<double>(full.count()));
    const double anchor = std::clamp((x - plotRect().left()) / std::max(1, plotRect().width()), 0.0, 1.0);
    const std::int64_t steps = std::max<std::int64_t>(1, std::llround(wanted));
    const double first = static_cast<double>(range.first.value) + (count - wanted) * anchor;
    auto begin = static_cast<std::int64_t>(std::llround(first));
    // The step under the mouse stays there to the step, however often the wheel turns.
    if (m_state->hover() && range.contains(*m_state->hover()))
        begin = m_state->hover()->value
            - static_cast<std::int64_t>(std::floor(std::min(anchor, 1 - 1e-9) * static_cast<double>(steps)));
    // At an end of the run it cannot: what is over there is taken from the other side.
    begin = std::clamp(begin, full.first.value, full.last.value - steps + 1);
    m_state->zoomTo({ Step { begin }, Step { begin + steps - 1 } }, continued);
}

void PlotCanvas::wheelEvent(QWheelEvent* event)
{
    if (!hasStepAxis())
        return;
    const QPoint angle = event->angleDelta();
    if (event->modifiers().testFlag(Qt::ShiftModifier) || std::abs(angle.x()) > std::abs(angle.y())) {
        const int delta = angle.x() != 0 ? angle.x() : angle.y();
        m_state->pan(-std::max<std::int64_t>(1, m_state->visibleRange().count() / 10) * (delta > 0 ? 1 : -1),
            isContinued(Gesture::Pan));
    } else if (angle.y() != 0) {
        zoomAbout(event->position().x(), std::pow(0.8, angle.y() / 120.0));
    }
    event->accept();
}

void PlotCanvas::moveHover(std::int64_t pixels)
{
    const StepRange range = m_state->visibleRange();
    if (range.isEmpty() || !hasPlot())
        return;
    const std::int64_t stride = std::max<std::int64_t>(1, range.count() / std::max(1, plotRect().width()));
    const Step from = m_state->hover().value_or(m_state->cursor().value_or(range.last));
    m_state->setHover(Step { std::clamp(from.value + pixels * stride, range.first.value, range.last.value) });
}

void PlotCanvas::keyPressEvent(QKeyEvent* event)
{
    const int stride = event->modifiers().testFlag(Qt::ShiftModifier) ? 10 : 1;
    const std::optional<Step> here = m_state->hover() ? m_state->hover() : m_state->cursor();
    switch (event->key()) {
    case Qt::Key_Left:
        moveHover(-stride);
        return;
    case Qt::Key_Right:
        moveHover(stride);
        return;
    case Qt::Key_Up:
        moveRow(-stride);
        return;
    case Qt::Key_Down:
        moveRow(stride);
        return;
    case Qt::Key_Home:
        m_state->setHover(m_state->visibleRange().first);
        return;
    case Qt::Key_End:
        m_state->setHover(m_state->visibleRange().last);
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        pin();
        return;
    case Qt::Key_Space:
        m_state->setFollowing(!m_state->isFollowing());
        return;
    case Qt::Key_Backspace:
        m_state->zoomBack();
        return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
    case Qt::Key_Minus:
        zoomAbout(here ? plotRect().left() + SharedAxis::xOfStep(m_state->visibleRange(), *here, plotRect().width())
                       : plotRect().center().x(),
            event->key() == Qt::Key_Minus ? 1.25 : 0.8);
        return;
    case Qt::Key_A:
    case Qt::Key_B:
        if (hasPlot())
            m_state->setMarks(event->key() == Qt::Key_A ? here : m_state->markA(),
                event->key() == Qt::Key_B ? here : m_state->markB());
        return;
    case Qt::Key_Escape:
        m_drag = Drag::None;
        m_state->setMarks({}, {});
        m_state->setCursor({});
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

void PlotCanvas::focusInEvent(QFocusEvent* event)
{
    m_keyboardFocus = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason
        || event->reason() == Qt::ShortcutFocusReason;
    update();
}

void PlotCanvas::focusOutEvent(QFocusEvent*)
{
    m_keyboardFocus = false;
    update();
}

}
