// SPDX-License-Identifier: GPL-3.0-or-later
#include "ranktimespanel.h"

#include <algorithm>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <telltale/common/glyphs.h>
#include <telltale/common/seriesstyle.h>
#include <telltale/common/theme.h>
#include <telltale/common/valuescale.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>

namespace telltale::views {
namespace {

constexpr int kAboveBoxes = 8;
constexpr int kBox = 24;
constexpr int kNumbers = 24;
constexpr int kFootnote = 34;
constexpr int kRankWidth = 44;
constexpr int kValueWidth = 76;

ValueScale scaleOf(const RankTimes& times)
{
    double low = times.boxes.front().low;
    double high = times.boxes.front().high;
    for (const RankTimes::Box& box : times.boxes) {
        low = std::min(low, box.low);
        high = std::max(high, box.high);
    }
    const double margin = (high - low) * 0.05;
    return { ValueScale::Mode::Linear, std::max(0.0, low - margin), high + margin };
}

/// A scalar that is called ..._ms says so; of another the unit is not known.
QString timeText(const RankTimes& times, const QString& number)
{
    return times.scalar.ends_with("_ms") ? RankTimesPanel::tr("%1 ms").arg(number) : number;
}

}

RankTimesPanel::RankTimesPanel(ViewState* state, QWidget* parent)
    : QWidget(parent)
    , m_state(state)
{
    setFocusPolicy(Qt::TabFocus);
    setAccessibleName(tr("Time by rank"));
    setObjectName(QStringLiteral("rankTimes"));
    connect(state, &ViewState::rankChanged, this, qOverload<>(&QWidget::update));
}

void RankTimesPanel::setTimes(std::shared_ptr<const RankTimes> times)
{
    items::assertGuiThread();
    m_times = std::move(times);
    const auto count = isEmpty() ? 0 : static_cast<int>(m_times->boxes.size());
    setMinimumHeight(kAboveBoxes + count * kBox + kNumbers + kFootnote);
    QString words;
    for (int i = 0; i < count && i < 64; ++i) {
        const RankTimes::Box& box = m_times->boxes[static_cast<std::size_t>(i)];
        words += tr("rank %1: %2. ").arg(box.rank.value).arg(timeText(*m_times, formatValue(box.median)));
    }
    setAccessibleDescription(words);
    update();
}

void RankTimesPanel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().base);
    if (!isEmpty())
        paintBoxes(painter);
    if (hasFocus()) {
        painter.setPen(Theme::current().accent);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void RankTimesPanel::paintBoxes(QPainter& painter) const
{
    const Theme& theme = Theme::current();
    const auto count = static_cast<int>(m_times->boxes.size());
    const QRect axis(kRankWidth, kAboveBoxes, width() - kRankWidth - kValueWidth, count * kBox);
    const ValueScale scale = scaleOf(*m_times);
    const auto xOf = [&](double value) { return axis.left() + scale.unitOf(value) * axis.width(); };
    painter.setFont(numberFont(11));
    for (const ValueScale::Tick& tick : scale.ticks(axis.width(), 64, 4)) {
        const double x = std::round(xOf(tick.value)) + 0.5;
        painter.setPen(theme.border);
        painter.drawLine(QPointF(x, axis.top()), QPointF(x, axis.bottom()));
        painter.setPen(theme.text2);
        painter.drawText(
            QRectF(x - 40, axis.bottom() + 4, 80, kNumbers - 6), Qt::AlignCenter, timeText(*m_times, tick.label));
    }
    const QColor usual = SeriesStyle::forSlot(0, theme).color;
    for (int i = 0; i < count; ++i) {
        const RankTimes::Box& box = m_times->boxes[static_cast<std::size_t>(i)];
        const QRectF row(0, kAboveBoxes + i * kBox, width(), kBox);
        const bool isCurrent = box.rank == m_state->rank();
        const QColor color = box.isSlow ? theme.warnMark : usual;
        const auto bar = [&](double from, double to, float alpha) {
            QColor fill = color;
            fill.setAlphaF(alpha);
            painter.fillRect(QRectF(xOf(from), row.top() + 7, std::max(1.0, xOf(to) - xOf(from)), kBox - 14), fill);
        };
        bar(box.low, box.high, 0.28F);
        bar(box.quarter, box.threeQuarters, 0.55F);
        painter.fillRect(QRectF(std::round(xOf(box.median)) - 1, row.top() + 4, 2, kBox - 8), color);
        painter.setFont(numberFont(12, isCurrent ? 600 : 400));
        painter.setPen(isCurrent ? theme.text : theme.text2);
        painter.drawText(QRectF(0, row.top(), kRankWidth - 10, kBox), Qt::AlignRight | Qt::AlignVCenter,
            QString::number(box.rank.value));
        painter.setPen(box.isSlow ? theme.warnText : theme.text);
        painter.drawText(QRectF(width() - kValueWidth, row.top(), kValueWidth - 12, kBox),
            Qt::AlignRight | Qt::AlignVCenter, timeText(*m_times, formatValue(box.median)));
        if (box.isSlow)
            glyphs::paintSeverity(painter, QPointF(12, row.center().y()), 9, glyphs::Severity::Warning, theme);
    }
    painter.setFont(wordsFont(11));
    painter.setPen(theme.text3);
    painter.drawText(QRect(12, axis.bottom() + kNumbers, width() - 24, kFootnote),
        Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
        tr("Line: median. Inner box: half of the steps. Outer: 95 % of them.")
            .replace(QLatin1String(" %"), QStringLiteral("\u00a0%")));
}

std::size_t RankTimesPanel::boxAt(int y) const
{
    const std::size_t count = isEmpty() ? 0 : m_times->boxes.size();
    return y < kAboveBoxes ? count : std::min(static_cast<std::size_t>((y - kAboveBoxes) / kBox), count);
}

void RankTimesPanel::mousePressEvent(QMouseEvent* event)
{
    const std::size_t box = boxAt(static_cast<int>(event->position().y()));
    if (!isEmpty() && box < m_times->boxes.size())
        m_state->setRank(m_times->boxes[box].rank);
}

void RankTimesPanel::keyPressEvent(QKeyEvent* event)
{
    const int by = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
    if (by == 0 || isEmpty()) {
        QWidget::keyPressEvent(event);
        return;
    }
    const auto& boxes = m_times->boxes;
    const auto current
        = std::find_if(boxes.begin(), boxes.end(), [this](const auto& box) { return box.rank == m_state->rank(); });
    const auto at = current == boxes.end() ? 0 : current - boxes.begin() + by;
    const auto last = static_cast<std::ptrdiff_t>(boxes.size()) - 1;
    m_state->setRank(boxes[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at, 0, last))].rank);
}

bool RankTimesPanel::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const std::size_t box = boxAt(help->pos().y());
    if (isEmpty() || box >= m_times->boxes.size()) {
        QToolTip::hideText();
        return true;
    }
    const RankTimes::Box& one = m_times->boxes[box];
    QToolTip::showText(help->globalPos(),
        tr("rank %1: median %2, half of the steps from %3 to %4, 95 % of them from %5 to %6")
            .arg(one.rank.value)
            .arg(formatValue(one.median), formatValue(one.quarter), formatValue(one.threeQuarters),
                formatValue(one.low), formatValue(one.high)),
        this);
    return true;
}

}
