// SPDX-License-Identifier: GPL-3.0-or-later
#include "commlane.h"

#include <algorithm>
#include <cmath>

#include <QPainter>

#include <telltale/common/axispainter.h>
#include <telltale/common/readout.h>
#include <telltale/items/comma.h>
#include <telltale/items/shownname.h>

namespace telltale::views {

using series::CellState;

namespace {

constexpr int kTop = 10;
constexpr double kTallest = 22;
constexpr double kNamed = 11; ///< px of a line that has room for its name
constexpr int kNameInset = 8; ///< px left of a name
constexpr int kBesideName = 14; ///< and right of it, where the mark of the chosen one stands
constexpr int kTitleInset = 12; ///< px left of the title of the axis
constexpr int kTitleRoom = 20; ///< and right of it, whose first number is no part of it
constexpr int kTone = 18; ///< px of a line that explains a tone
constexpr int kShareGap = 6; ///< px before the share of a bar in numbers
constexpr int kWithShares = 360; ///< px that have room for them
constexpr int kTouching = 6; ///< px between two lines that would look like one of two strokes
constexpr float kSpanAlpha = 0.3F; ///< of the time between calls

}

CommLane::CommLane(ViewState* state, QWidget* parent)
    : PlotCanvas(state, parent)
{
}

void CommLane::setPicture(std::shared_ptr<const CommPicture> picture, std::vector<int> order)
{
    m_picture = std::move(picture);
    m_order = std::move(order);
    m_nameWidth = 0;
    const QFontMetrics metrics(codeFont(11));
    for (const CommRow& row : m_picture ? m_picture->rows : std::vector<CommRow>())
        m_nameWidth = std::max(m_nameWidth, metrics.horizontalAdvance(row.site.shortCall()));
    m_titleWidth = m_picture ? QFontMetrics(wordsFont(11)).horizontalAdvance(axisTitle()) : 0;
    m_shareWidth = 0;
    if (m_picture && m_picture->hasTimes()) // of the most: the bars keep their room from step to step
        m_shareWidth = QFontMetrics(numberFont(11)).horizontalAdvance(formatFraction(1)) + 2;
    invalidate();
}

void CommLane::setCurrent(const QString& site)
{
    m_current = site;
    update();
}

std::vector<double> CommLane::axisValues(double ms, int width)
{
    std::vector<double> values;
    for (int count = std::max(2, width / 90); values.size() < 2; ++count)
        values = niceValues(0, ms, count);
    return values;
}

QRect CommLane::plotRect(QSize size) const
{
    // A file's name is not cut as long as the bars keep the larger part.
    const int least = std::max(SharedAxis::kGutter, kTitleInset + m_titleWidth + kTitleRoom);
    const int gutter = std::clamp(m_nameWidth + kNameInset + kBesideName, least, std::max(least, size.width() * 2 / 5));
    // The axis follows the last line where there are few.
    const int wanted = static_cast<int>(kTallest * static_cast<double>(std::max<std::size_t>(m_order.size(), 1))) + 4;
    const int besideBars = hasShares(size) ? kShareGap + m_shareWidth + 4 : 0;
    return { gutter, kTop, std::max(1, size.width() - gutter - std::max(24, besideBars)),
        std::max(1, std::min(wanted, size.height() - kTop - AxisPainter::kStepBand)) };
}

bool CommLane::hasShares(QSize size) const
{
    return m_shareWidth > 0 && size.width() >= kWithShares;
}

QString CommLane::axisTitle() const
{
    return tr("ms in step %1").arg(formatStep(m_picture->step.value_or(m_picture->atStep).value));
}

double CommLane::length() const
{
    double last = m_picture->endNs;
    double first = m_picture->beginNs;
    for (const CommRow& row : m_picture->rows) {
        if (row.metric(CommMetric::EndNs).state != CellState::Value)
            continue;
        last = std::max(last, row.metric(CommMetric::EndNs).value);
        if (m_picture->beginNs <= 0)
            first = first <= 0 ? row.metric(CommMetric::BeginNs).value
                               : std::min(first, row.metric(CommMetric::BeginNs).value);
    }
    return std::max((last - first) * 1e-9, 1e-9);
}

std::vector<CommLane::Bar> CommLane::bars() const
{
    std::vector<Bar> all;
    if (!m_picture)
        return all;
    double from = m_picture->beginNs;
    for (const CommRow& row : m_picture->rows) {
        if (row.metric(CommMetric::BeginNs).state == CellState::Value && m_picture->beginNs <= 0)
            from = from <= 0 ? row.metric(CommMetric::BeginNs).value
                             : std::min(from, row.metric(CommMetric::BeginNs).value);
    }
    for (const int at : m_order) {
        const CommRow& row = m_picture->rows[static_cast<std::size_t>(at)];
        Bar bar { &row };
        if (row.metric(CommMetric::EndNs).state == CellState::Value) {
            bar.begin = (row.metric(CommMetric::BeginNs).value - from) * 1e-9;
            bar.end = (row.metric(CommMetric::EndNs).value - from) * 1e-9;
            const double span = std::max(bar.end - bar.begin, 1e-9);
            bar.share = std::clamp(row.metric(CommMetric::Seconds).value / span, 0.0, 1.0);
        }
        all.push_back(bar);
    }
    return all;
}

QRectF CommLane::lineOf(std::size_t line, const QRect& plot) const
{
    const double pitch = std::min(kTallest, static_cast<double>(plot.height()) / static_cast<double>(m_order.size()));
    return { static_cast<double>(plot.left()), plot.top() + pitch * static_cast<double>(line),
        static_cast<double>(plot.width()), pitch };
}

QRectF CommLane::boxOf(const Bar& bar, std::size_t line, const QRect& plot) const
{
    if (bar.end <= bar.begin)
        return {};
    const QRectF area = lineOf(line, plot);
    const double scale = plot.width() / length();
    const double left = area.left() + bar.begin * scale;
    const double gap = area.height() >= 8 ? 2 : 0;
    return { left, area.top() + gap, std::max(2.0, (bar.end - bar.begin) * scale),
        std::max(1.0, area.height() - 2 * gap) };
}

QRectF CommLane::barOf(const QString& site) const
{
    const auto all = bars();
    for (std::size_t line = 0; line < all.size(); ++line) {
        if (all[line].row->site.name == site)
            return boxOf(all[line], line, plotRect());
    }
    return {};
}

int CommLane::lineAt(QPoint position) const
{
    const QRect plot = plotRect();
    if (!m_picture || m_order.empty() || position.y() < plot.top())
        return -1;
    const auto line = static_cast<std::size_t>((position.y() - plot.top()) / lineOf(0, plot).height());
    return line < m_order.size() ? static_cast<int>(line) : -1;
}

void CommLane::clickedAt(QPoint position, Qt::KeyboardModifiers)
{
    if (const int line = lineAt(position); line >= 0)
        Q_EMIT siteChosen(m_picture->rows[static_cast<std::size_t>(m_order[static_cast<std::size_t>(line)])].site.name);
}

void CommLane::moveRow(int rows)
{
    if (!m_picture || m_order.empty())
        return;
    const auto at = std::find_if(m_order.begin(), m_order.end(),
        [this](int row) { return m_picture->rows[static_cast<std::size_t>(row)].site.name == m_current; });
    const auto from = at == m_order.end() ? (rows > 0 ? -1 : 0) : at - m_order.begin();
    const auto to = std::clamp<std::ptrdiff_t>(from + rows, 0, static_cast<std::ptrdiff_t>(m_order.size()) - 1);
    Q_EMIT siteChosen(m_picture->rows[static_cast<std::size_t>(m_order[static_cast<std::size_t>(to)])].site.name);
}

void CommLane::paintFrame(QImage& frame, QSize size)
{
    const Theme& theme = Theme::current();
    QPainter painter(&frame);
    if (!m_picture || !m_picture->hasTimes()) {
        paintEmptyState(painter, QRectF(QPointF(), QSizeF(size)),
            m_picture ? tr("The agent of this run records no times of collectives at this step.") : QString(), theme);
        return;
    }
    const QRect plot = plotRect(size);
    const auto all = bars();
    const QColor color = theme.series[0];
    const bool areSharesSaid = hasShares(size);
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (std::size_t line = 0; line < all.size(); ++line) {
        const QRectF area = lineOf(line, plot);
        if (area.height() >= kNamed)
            paintName(painter, area, *all[line].row, codeFont(11), theme.text2);
        const QRectF box = boxOf(all[line], line, plot);
        if (box.isNull())
            continue;
        QColor pale = color;
        pale.setAlphaF(kSpanAlpha);
        painter.fillRect(box, pale);
        painter.fillRect(
            QRectF(box.left(), box.top(), std::max(1.0, box.width() * all[line].share), box.height()), color);
        if (!areSharesSaid || area.height() < kNamed)
            continue;
        painter.setFont(numberFont(11));
        painter.setPen(theme.text2);
        painter.drawText(QRectF(box.right() + kShareGap, area.top(), m_shareWidth, area.height()), Qt::AlignVCenter,
            formatFraction(all[line].share));
    }
    fillHair(painter, QPoint(plot.left(), plot.bottom() + 1), plot.width(), Qt::Horizontal, theme.text3);
    const ValueScale scale(ValueScale::Mode::Linear, 0, length() * 1000);
    painter.setFont(numberFont(11));
    const std::vector<double> values = axisValues(length() * 1000, plot.width());
    for (const double value : values) {
        const double x = plot.left() + scale.unitOf(value) * plot.width();
        fillHair(painter, QPointF(x, plot.bottom() + 1), 4, Qt::Vertical, theme.text3);
        painter.setPen(theme.text2);
        painter.drawText(QRectF(x - 40, plot.bottom() + 6, 80, 16), Qt::AlignHCenter | Qt::AlignVCenter,
            formatTick(value, values[1] - values[0]));
    }
    painter.setFont(wordsFont(11));
    painter.setPen(theme.text3);
    painter.drawText(
        QRectF(0, plot.bottom() + 6, plot.left() - kTitleRoom, 16), Qt::AlignRight | Qt::AlignVCenter, axisTitle());
    if (const int top = plot.bottom() + 28; m_shareWidth > 0 && size.height() - top >= 2 * kTone)
        paintTones(painter, QRectF(plot.left(), top, size.width() - plot.left() - 8, 2 * kTone), areSharesSaid);
}

void CommLane::paintName(
    QPainter& painter, const QRectF& line, const CommRow& row, const QFont& font, const QColor& color) const
{
    const QRectF box(kNameInset, line.top(), line.left() - kNameInset - kBesideName, line.height());
    painter.setFont(font);
    painter.setPen(color);
    painter.drawText(box, Qt::AlignRight | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(row.site.shortCall(), Qt::ElideLeft, static_cast<int>(box.width())));
}

/// By samples of them: which of the two is the lighter one depends on the theme.
void CommLane::paintTones(QPainter& painter, const QRectF& area, bool areSharesSaid) const
{
    const Theme& theme = Theme::current();
    QColor pale = theme.series[0];
    pale.setAlphaF(kSpanAlpha);
    const std::array tones { std::pair(pale, tr("from the first call to the end of the last")),
        std::pair(
            theme.series[0], areSharesSaid ? tr("the part of it in calls, in %") : tr("the part of it in calls")) };
    double top = area.top();
    for (const auto& [tone, words] : tones) {
        painter.fillRect(QRectF(area.left(), top + 4, 14, 10), tone);
        const QRectF line(area.left() + 22, top, area.width() - 22, kTone);
        painter.setPen(theme.text2);
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(words, Qt::ElideRight, static_cast<int>(line.width())));
        top += kTone;
    }
}

void CommLane::paintOverlay(QPainter& painter, QSize size)
{
    if (!m_picture || !m_picture->hasTimes())
        return;
    const Theme& theme = Theme::current();
    const QRect plot = plotRect(size);
    const auto all = bars();
    for (std::size_t line = 0; line < all.size(); ++line) {
        if (all[line].row->site.name != m_current)
            continue;
        const QRectF area = lineOf(line, plot);
        if (area.height() >= kNamed) { // over that of the frame
            painter.fillRect(QRectF(0, area.top(), plot.left(), area.height()), theme.base);
            paintName(painter, area, *all[line].row, codeFont(11, 600), theme.text);
        }
        painter.fillRect(QRectF(plot.left() - 8, area.top() + 1, 2, area.height() - 2), theme.accent);
        for (const double y : { area.top(), area.bottom() }) {
            if (y + kTouching < plot.bottom() + 1) // else the axis is its edge
                fillHair(painter, { static_cast<double>(plot.left()), y }, plot.width(), Qt::Horizontal, theme.text3);
        }
    }
    const int near = isStatic() || !mouse() ? -1 : lineAt(*mouse());
    if (near < 0)
        return;
    const Bar& bar = all[static_cast<std::size_t>(near)];
    const QRectF box = boxOf(bar, static_cast<std::size_t>(near), plot);
    if (box.isNull())
        return;
    Readout readout;
    readout.name = items::shownName(bar.row->site.name);
    readout.where = tr("from %1 ms to %2 ms").arg(formatValue(bar.begin * 1000), formatValue(bar.end * 1000));
    readout.value = tr("%1 ms").arg(formatValue(bar.row->metric(CommMetric::Seconds).value * 1000));
    readout.detail = tr("in %n calls", nullptr, static_cast<int>(bar.row->metric(CommMetric::Calls).value))
        + items::comma() + tr("%1 of that time").arg(formatFraction(bar.share));
    paintReadout(painter, QRectF(4, 4, size.width() - 8, size.height() - 8), box, readout, theme);
}

}
