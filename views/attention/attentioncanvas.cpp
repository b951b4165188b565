// SPDX-License-Identifier: GPL-3.0-or-later
#include "attentioncanvas.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <QKeyEvent>
#include <QPainter>

#include <telltale/common/glyphs.h>
#include <telltale/common/readout.h>
#include <telltale/common/seriesstyle.h>
#include <telltale/items/comma.h>

#include "headsign.h"

namespace telltale::views {

using analysis::HeadSign;
using series::CellState;

namespace {

constexpr int kInset = 12;
constexpr int kLine = 16; ///< px of a line of words
constexpr int kSigns = 20; ///< px of that which says the step and explains the signs
constexpr int kSign = 9; ///< px of a sign in it
constexpr int kDefinitions = 22; ///< and of the one below it, with as much below that as above both

QString numberOf(const series::CellValue& cell)
{
    return cell.state == CellState::Value ? formatValue(cell.value) : glyphs::word(cell.state);
}

}

AttentionCanvas::AttentionCanvas(ViewState* state, QWidget* parent)
    : PlotCanvas(state, parent)
{
    connect(state, &ViewState::selectionChanged, this, &PlotCanvas::invalidate);
}

void AttentionCanvas::setPicture(std::shared_ptr<const AttentionPicture> picture, std::array<HeadValue, 2> values)
{
    m_picture = std::move(picture);
    m_values = values;
    if (!m_picture || !m_picture->cell(m_near[0], m_near[1]))
        m_near = { -1, -1 };
    invalidate();
}

void AttentionCanvas::setDrawn(std::vector<std::pair<ModuleKey, int>> heads)
{
    m_drawn = std::move(heads);
    update();
}

void AttentionCanvas::setEmptyText(const QString& text)
{
    m_emptyText = text;
    invalidate();
}

int AttentionCanvas::mostHeight() const
{
    const double maps = hasPicture() ? AttentionMap::mostHeight(*m_picture) : QWIDGETSIZE_MAX;
    return static_cast<int>(std::min<double>(maps + kSigns + kDefinitions, QWIDGETSIZE_MAX));
}

int AttentionCanvas::leastHeight() const
{
    return hasPicture() ? static_cast<int>(AttentionMap::leastHeight(*m_picture)) + kSigns + kDefinitions : 0;
}

int AttentionCanvas::cellsLeft(std::size_t side)
{
    return static_cast<int>(AttentionMap::kLabels) + (side == 0 ? kInset : 0);
}

bool AttentionCanvas::hasNarrowMaps(int width)
{
    return (width - 2 * kInset) / 2.0 < AttentionMap::kNarrow;
}

QRect AttentionCanvas::plotRect(QSize size) const
{
    return { kInset, 0, std::max(1, size.width() - 2 * kInset), std::max(1, size.height() - kSigns - kDefinitions) };
}

AttentionMap AttentionCanvas::map(int side, QSize size) const
{
    const QRect plot = plotRect(size);
    const double half = plot.width() / 2.0;
    return { *m_picture, m_values[static_cast<std::size_t>(side)],
        QRectF(std::round(plot.left() + side * half), plot.top(), std::floor(half), plot.height()) };
}

QRectF AttentionCanvas::wordsRect(QSize size) const
{
    const QRectF cells = map(0, size).cells();
    const double height = kSigns + kDefinitions;
    const double top = std::min(size.height() - height, cells.bottom() + kInset);
    return { cells.left(), top, size.width() - cells.left() - kInset, height };
}

std::array<int, 2> AttentionCanvas::headAt(QPoint position) const
{
    for (int side = 0; side < 2 && hasPicture(); ++side) {
        if (const auto found = map(side, size()).cellAt(position); found[0] >= 0)
            return found;
    }
    return { -1, -1 };
}

void AttentionCanvas::hoveredAt(QPoint position)
{
    m_near = headAt(position);
    m_side = position.x() > width() / 2 ? 1 : 0;
    update();
}

void AttentionCanvas::left()
{
    m_near = { -1, -1 };
}

void AttentionCanvas::clickedAt(QPoint position, Qt::KeyboardModifiers modifiers)
{
    m_near = headAt(position);
    pick(modifiers.testFlag(Qt::ControlModifier));
}

void AttentionCanvas::pick(bool isAdded)
{
    if (const HeadCell* head = hasPicture() ? m_picture->cell(m_near[0], m_near[1]) : nullptr)
        Q_EMIT headPicked(head->key, m_picture->layers[static_cast<std::size_t>(m_near[0])].rank, isAdded);
}

void AttentionCanvas::moveBy(int layers, int columns)
{
    std::array<int, 2> from = m_near;
    if (from[0] < 0 && !state().selection().empty())
        from = m_picture->placeOf(state().selection().front());
    if (from[0] < 0) {
        m_near = { 0, 0 };
    } else {
        const int layer = std::clamp(from[0] + layers, 0, static_cast<int>(m_picture->layers.size()) - 1);
        const auto heads = static_cast<int>(m_picture->layers[static_cast<std::size_t>(layer)].heads.size());
        m_near = { layer, std::clamp(from[1] + columns, 0, heads - 1) };
    }
    update();
}

void AttentionCanvas::keyPressEvent(QKeyEvent* event)
{
    if (!hasPicture()) {
        PlotCanvas::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Left:
        return moveBy(0, -1);
    case Qt::Key_Right:
        return moveBy(0, 1);
    case Qt::Key_Up:
        return moveBy(-1, 0);
    case Qt::Key_Down:
        return moveBy(1, 0);
    case Qt::Key_Return:
    case Qt::Key_Enter:
        return pick(event->modifiers().testFlag(Qt::ControlModifier));
    default:
        PlotCanvas::keyPressEvent(event);
    }
}

void AttentionCanvas::paintFrame(QImage& frame, QSize size)
{
    const Theme& theme = Theme::current();
    QPainter painter(&frame);
    if (!hasPicture()) {
        paintEmptyState(painter, QRectF(QPointF(), QSizeF(size)), m_emptyText, theme);
        return;
    }
    const std::vector<ModuleKey>& selection = state().selection();
    const std::array<int, 2> none { -1, -1 };
    for (const int side : { 0, 1 })
        map(side, size).paint(painter, selection.empty() ? none : m_picture->placeOf(selection.front()), theme);
    const QRectF line = wordsRect(size);
    paintSigns(painter, QRectF(line.left(), line.top(), line.width(), kLine), theme);
}

void AttentionCanvas::paintDefinitions(QPainter& painter, const QRectF& line, const Theme& theme) const
{
    int layer = std::max(0, m_near[0]);
    if (m_near[0] < 0 && !state().selection().empty())
        layer = std::max(0, m_picture->placeOf(state().selection().front())[0]);
    const AttentionLayer& shown = m_picture->layers[static_cast<std::size_t>(layer)];
    QString words = shown.definition.isEmpty()
        ? tr("Telltale: every head, mean over its queries")
        : tr("Telltale: every head, %1", "a definition in the agent's words").arg(shown.definition);
    if (std::ranges::find(m_values, HeadValue::MaxLogit) != m_values.end())
        words += tr("  ·  max logit: the largest over these queries");
    if (shown.shape.group() > 1)
        words += tr("  ·  %1 heads on %2 key heads").arg(shown.shape.heads).arg(shown.shape.keyHeads);
    if (shown.headZero.state != CellState::NotCollected && !m_picture->isSpread)
        words += tr("  ·  msprobe: head 0 of the first sequence, causal, all queries: entropy %1 in %2")
                     .arg(numberOf(shown.headZero), shown.name);
    painter.setFont(wordsFont(11));
    painter.setPen(theme.text3);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(words, Qt::ElideRight, static_cast<int>(line.width())));
}

void AttentionCanvas::paintSigns(QPainter& painter, const QRectF& line, const Theme& theme) const
{
    std::set<HeadSign> seen;
    std::set<CellState> states;
    for (int layer = 0; layer < static_cast<int>(m_picture->layers.size()); ++layer) {
        for (int column = 0; const HeadCell* head = m_picture->cell(layer, column); ++column) {
            seen.insert(head->sign);
            for (const HeadValue value : m_values)
                states.insert(m_picture->valueOf(layer, column, value).state);
        }
    }
    states.erase(CellState::Value);
    const QString steps = formatStep(m_picture->stepsBefore());
    const std::array<std::pair<HeadSign, QString>, 4> signs { {
        { HeadSign::Collapsing, tr("entropy under half of what it was %1 steps ago").arg(steps) },
        { HeadSign::Falling, tr("entropy fell by over 30 % in %1 steps").arg(steps) },
        { HeadSign::OneHot, tr("looks at one key alone") },
        { HeadSign::Uniform, tr("looks at all keys alike") },
    } };
    painter.setFont(wordsFont(11));
    painter.setPen(theme.text2);
    QString where = tr("At step %1").arg(formatStep(m_picture->atStep.value));
    if (m_picture->axes == HeadAxes::RankByHead)
        where += tr("  ·  %1").arg(m_picture->layers.front().name);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, where);
    double x = line.left() + QFontMetricsF(painter.font()).horizontalAdvance(where) + 20;
    const auto put = [&](const QString& words, const auto& paintSign) {
        const QRectF text(
            x + 19, line.top(), QFontMetricsF(painter.font()).horizontalAdvance(words) + 4, line.height());
        if (text.right() > line.right()) // a sign without its words says nothing
            return;
        paintSign();
        painter.setPen(theme.text2);
        painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter, words);
        x = text.right() + 20;
    };
    // The strongest first: what is not finite comes before what is not there.
    for (auto state = states.rbegin(); state != states.rend(); ++state)
        put(glyphs::word(*state),
            [&] { glyphs::paintCell(painter, QRectF(std::round(x), line.center().y() - 6, 13, 13), *state, theme); });
    for (const auto& [sign, words] : signs) {
        if (seen.contains(sign))
            put(words, [&, sign = sign] {
                paintHeadSign(painter, QPointF(x + 12, line.center().y() - 5), kSign, sign, theme);
            });
    }
}

void AttentionCanvas::paintReadoutOf(QPainter& painter, const QRectF& bounds, const QRectF& cell, HeadValue value) const
{
    const AttentionLayer& layer = m_picture->layers[static_cast<std::size_t>(m_near[0])];
    const HeadCell& head = *m_picture->cell(m_near[0], m_near[1]);
    const series::CellValue shown = m_picture->valueOf(m_near[0], m_near[1], value);
    Readout readout;
    const QString step = formatStep((shown.state < CellState::Absent ? m_picture->atStep : shown.step).value);
    readout.name = tr("%1 head %2").arg(layer.name).arg(head.key.slot.head);
    readout.where = m_picture->isSpread ? tr("step %1, %n ranks", nullptr, m_picture->ranks).arg(step)
                                        : tr("step %1, rank %2").arg(step).arg(layer.rank.value);
    if (layer.shape.group() > 1)
        readout.where += tr(", key head %1").arg(head.key.slot.head / layer.shape.group());
    readout.state = shown.state;
    readout.value = numberOf(shown);
    // What the two maps show; the rest of a head stands in the inspector.
    const auto words = [isSpread = m_picture->isSpread](HeadValue of) {
        return isSpread ? tr("spread of %1").arg(headValueText(of)) : headValueText(of);
    };
    readout.detail = words(value);
    if (head.microSteps > 1 && shown.state == CellState::Value)
        readout.detail += items::comma() + tr("mean of %n micro steps", nullptr, head.microSteps);
    if (const HeadValue other = m_values[1 - static_cast<std::size_t>(m_side)]; other != value) {
        readout.secondValue = numberOf(m_picture->valueOf(m_near[0], m_near[1], other));
        readout.secondDetail = words(other);
    }
    if (std::isfinite(head.before)) {
        const bool isShown = std::ranges::find(m_values, HeadValue::Entropy) != m_values.end();
        const QString before = formatValue(head.before), steps = formatStep(m_picture->stepsBefore());
        readout.where += isShown
            ? tr(", entropy %1 steps ago %2").arg(steps, before)
            : tr(", entropy %1, %2 steps ago %3")
                  .arg(numberOf(m_picture->valueOf(m_near[0], m_near[1], HeadValue::Entropy)), steps, before);
    }
    paintReadout(painter, bounds, cell, readout, Theme::current());
}

void AttentionCanvas::paintOverlay(QPainter& painter, QSize size)
{
    if (!hasPicture())
        return;
    const Theme& theme = Theme::current();
    const std::array maps { map(0, size), map(1, size) };
    const QRectF line = wordsRect(size);
    paintDefinitions(painter, QRectF(line.left(), line.top() + kSigns, line.width(), kLine), theme);
    const bool isPointed = !isStatic() && m_near[0] >= 0;
    for (const AttentionMap& map : maps) {
        if (isPointed)
            map.paintOutline(painter, m_near[0], m_near[1], false, theme);
        for (const ModuleKey& key : state().selection()) {
            const auto at = m_picture->placeOf(key);
            map.paintOutline(painter, at[0], at[1], true, theme);
        }
        for (const auto& [key, slot] : m_drawn) {
            const auto at = m_picture->placeOf(key);
            map.paintSample(painter, at[0], at[1], SeriesStyle::forSlot(slot, theme).color, theme);
        }
    }
    if (!isPointed)
        return;
    // Over cells alone: numbers and scale say what the cells are.
    const AttentionMap& here = maps[static_cast<std::size_t>(m_side)];
    const QRectF cells = here.cells();
    const QRectF room(cells.left(), cells.top(), cells.width() + 8, size.height() - 4 - cells.top());
    const QRectF cell = here.cellRect(m_near[0], m_near[1]);
    paintReadoutOf(
        painter, readoutRoom(room, QRectF(room.left(), 0, room.width(), size.height()), cell), cell, here.value());
}

}
