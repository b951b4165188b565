// SPDX-License-Identifier: GPL-3.0-or-later
#include "heatlegend.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>
#include <QTextOption>

#include <telltale/common/colormap.h>
#include <telltale/common/glyphs.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/labels.h>

namespace telltale::views {

using series::CellState;

namespace {

constexpr double kStripWidth = 96;
constexpr double kStripGap = 10; ///< with room for the mark of a clipped end
constexpr double kNameInset = 12; ///< px right of a name, which may end at the window's edge
constexpr double kTickPitch = 12; ///< px that two labels beside the colors are apart

std::int64_t stepsOfColumn(const HeatPicture& picture)
{
    return picture.axes == HeatAxes::ModuleByRank || picture.columns() == 0
        ? 1
        : picture.result.range.count() / picture.columns();
}

/// What the unit of the colors is when it is not the value's own.
QString unitText(const HeatPicture& picture)
{
    if (picture.scaleMode == HeatScale::Deviation)
        return QCoreApplication::translate("HeatLegend", "in MAD of each row");
    if (picture.sides && picture.scaleMode != HeatScale::Difference)
        return QCoreApplication::translate("HeatLegend", "B ÷ A");
    if (picture.sides)
        return picture.isZero ? QCoreApplication::translate("HeatLegend", "B − A")
                              : QCoreApplication::translate("HeatLegend", "B − A, symlog");
    return {};
}

/// Between two ends that are close, an end is written so that it is told from the other.
bool isNarrow(const ValueScale& scale)
{
    return scale.low() > 0 && scale.high() / scale.low() < 10;
}

/// Not what goes over decades, where each has figures of its own.
void align(const ValueScale& scale, std::vector<ValueScale::Tick>& labels)
{
    if (scale.mode() == ValueScale::Mode::Linear || isNarrow(scale))
        alignDecimals(labels, scale.isOfShares());
}

/// In place of colors that would all be one.
QString zeroText(const HeatPicture& picture)
{
    return std::ranges::any_of(picture.strongest, series::isNonFinite)
        ? QCoreApplication::translate("HeatLegend", "0 where finite")
        : QCoreApplication::translate("HeatLegend", "0 everywhere");
}

/// What the colors end at: two figures, a decade as those between the ends, and with `areOthers` any other value, too.
QString endText(const ValueScale& scale, double value, bool arePowers, bool areOthers = false)
{
    if (scale.isOfShares()) {
        const ValueScale percents(scale.mode(), scale.low() * 100, scale.high() * 100);
        return percentOf(endText(percents, value * 100, arePowers, areOthers));
    }
    const double power = std::log10(std::abs(value));
    if (std::abs(power - std::round(power)) < 1e-9)
        return formatTick(value, std::abs(value), arePowers);
    // What is whole has no other figures.
    const double distance = isNarrow(scale)
        ? (scale.high() - scale.low()) / 50
        : std::max(std::pow(10.0, std::floor(power) - 1), value == std::floor(value) ? 1.0 : 0.0);
    return formatTick(value, distance, areOthers);
}

std::pair<QString, QString> endTexts(const ValueScale& scale)
{
    std::vector<ValueScale::Tick> ends;
    for (const double end : { scale.low(), scale.high() })
        ends.push_back({ end, endText(scale, end, scale.endsArePowers()) });
    align(scale, ends);
    return { ends.front().label, ends.back().label };
}

/// The labels of the colors: with both ends, between decades that are far from an end nobody could say what it is.
std::vector<ValueScale::Tick> labelsOf(const HeatPicture& picture, int height)
{
    if (!picture.ticks.empty())
        return picture.ticks;
    const ValueScale& scale = picture.scale;
    std::vector<ValueScale::Tick> labels = scale.ticks(height, 30, 6, true);
    if (picture.scaleMode == HeatScale::Deviation)
        return labels;
    const bool arePowers = scale.endsArePowers() || std::ranges::any_of(labels, [&scale](const ValueScale::Tick& tick) {
        return isBeyondDecimals(tick.value * (scale.isOfShares() ? 100 : 1));
    });
    for (const double end : { scale.high(), scale.low() }) {
        const auto isWithin = [&](double px) {
            return [&scale, end, height, px](const ValueScale::Tick& other) {
                return std::abs(scale.unitOf(other.value) - scale.unitOf(end)) * height < px;
            };
        };
        if (std::ranges::any_of(labels, isWithin(isNarrow(scale) ? 1 : kTickPitch)))
            continue;
        std::erase_if(labels, isWithin(kTickPitch));
        labels.push_back({ end, endText(scale, end, arePowers, arePowers) });
    }
    align(scale, labels);
    return labels;
}

/// The y of those labels that have room. Of differences and ratios the ends and the middle come before what is between,
/// which goes in pairs.
std::vector<std::pair<double, ValueScale::Tick>> labelsWithRoom(const HeatPicture& picture, const QRectF& bar)
{
    const double height = std::floor(bar.height());
    std::vector<ValueScale::Tick> labels = labelsOf(picture, static_cast<int>(height));
    const auto size = [](const ValueScale::Tick& tick) { return std::abs(tick.value); };
    const bool isOfPairs = !picture.ticks.empty();
    if (isOfPairs) {
        const double end = size(std::ranges::max(labels, {}, size));
        std::ranges::stable_sort(labels, {}, [&](const ValueScale::Tick& tick) {
            return size(tick) == end ? -2 * end : tick.value == 0 ? -1.5 * end : -size(tick);
        });
    }
    std::vector<std::pair<double, ValueScale::Tick>> shown;
    for (auto next = labels.begin(); next != labels.end();) {
        const auto rest = std::find_if(next + 1, labels.end(),
            [&](const ValueScale::Tick& other) { return !isOfPairs || size(other) != size(*next); });
        const std::size_t before = shown.size();
        bool hasRoom = true;
        for (; next != rest; ++next) {
            const double y = std::round(bar.bottom() - picture.scale.unitOf(next->value) * height);
            hasRoom = hasRoom && std::ranges::none_of(shown, [y](const auto& other) {
                return std::abs(other.first - y) < kTickPitch;
            });
            shown.emplace_back(y, *next);
        }
        if (!hasRoom)
            shown.resize(before);
    }
    return shown;
}

/// The ends of a map of colors are near those of the page: both have an edge.
void paintClip(QPainter& painter, QPointF center, QPointF tip, double half, const QColor& color, const Theme& theme)
{
    const QPointF side = QPointF(tip.y(), tip.x()) / 6 * half;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.strong, 1));
    painter.setBrush(color);
    painter.drawPolygon(QPolygonF({ center - side, center + side, center + tip }));
    painter.restore();
}

void paintBar(QPainter& painter, const QRectF& bar, const HeatPicture& picture, const Theme& theme)
{
    const bool deviation = picture.scaleMode == HeatScale::Deviation;
    const ColorTable& table = picture.isDiverging() ? divergingTable(theme.mode) : kSequentialTable;
    painter.setRenderHint(QPainter::Antialiasing, false);
    const int height = static_cast<int>(bar.height());
    for (int y = 0; y < height; ++y) {
        const int index = std::clamp((height - 1 - y) * 256 / height, 0, 255);
        painter.fillRect(
            QRectF(bar.left(), bar.top() + y, bar.width(), 1), QColor::fromRgb(table[static_cast<std::size_t>(index)]));
    }
    if (picture.clippedHigh)
        paintClip(
            painter, QPointF(bar.center().x(), bar.top() - 2), QPointF(0, -6), 6.5, QColor::fromRgb(table[255]), theme);
    if (picture.clippedLow)
        paintClip(
            painter, QPointF(bar.center().x(), bar.bottom() + 2), QPointF(0, 6), 6.5, QColor::fromRgb(table[0]), theme);
    painter.setFont(numberFont(11));
    for (const auto& [y, tick] : labelsWithRoom(picture, bar)) {
        painter.fillRect(QRectF(bar.right() + 1, y, 4, 1), theme.text3);
        painter.setPen(theme.text2);
        QString label = tick.label;
        if (deviation && tick.value > 0)
            label.prepend(QLatin1Char('+'));
        if (deviation && tick.value == 0)
            label += QStringLiteral("   ") + QCoreApplication::translate("HeatLegend", "own median");
        painter.drawText(QRectF(bar.right() + 10, y - 8, 110, 16), Qt::AlignLeft | Qt::AlignVCenter, label);
    }
}

/// What cells show, HeatPicture::bitOf() each; in columns that look like another one, what that one has.
unsigned statesSeen(const HeatPicture& picture, double plotWidth)
{
    unsigned seen = 0;
    const bool isHeld = picture.holds(plotWidth);
    for (std::size_t column = 0; column < picture.seen.size(); ++column)
        seen |= picture.seen[isHeld ? static_cast<std::size_t>(picture.held[column]) : column];
    return seen;
}

}

/// In the context that lupdate gives to calls in this namespace.
QString columnStepsText(const HeatPicture& picture)
{
    if (picture.axes == HeatAxes::ModuleByRank)
        return {};
    if (picture.interval > 1)
        return QCoreApplication::translate("HeatLegend", "one step in %1").arg(picture.interval);
    const std::int64_t steps = stepsOfColumn(picture);
    if (steps <= 1) {
        const bool isWhole = static_cast<int>(picture.collected.size()) == picture.columns();
        return picture.interval == 1 || isWhole ? QCoreApplication::translate("HeatLegend", "each step") : QString();
    }
    const QString count = formatStep(steps);
    switch (picture.result.reduction) {
    case series::Reduction::LargestMagnitude:
        return QCoreApplication::translate("HeatLegend", "largest of %1 steps").arg(count);
    case series::Reduction::Smallest:
        return QCoreApplication::translate("HeatLegend", "smallest of %1 steps").arg(count);
    case series::Reduction::Sum:
        return QCoreApplication::translate("HeatLegend", "sum of %1 steps").arg(count);
    case series::Reduction::Mean:
    case series::Reduction::None:
        return QCoreApplication::translate("HeatLegend", "mean of %1 steps").arg(count);
    }
    return {};
}

void paintHeatLegend(QPainter& painter, const QRectF& area, const HeatPicture& picture, const Theme& theme,
    bool hasSigns, double plotWidth)
{
    painter.save();
    double y = area.top();
    const double x = area.left() + 24;
    painter.setFont(wordsFont(11, 500));
    painter.setPen(theme.text);
    QString title = picture.title.isEmpty() ? statText(picture.stat) : picture.title;
    if (picture.scaleMode == HeatScale::Deviation)
        title += QCoreApplication::translate("HeatLegend", ", deviation");
    else if (picture.sides)
        title += picture.scaleMode == HeatScale::Difference ? QCoreApplication::translate("HeatLegend", ", difference")
                                                            : QCoreApplication::translate("HeatLegend", ", ratio");
    const QTextOption wrapped;
    const QFontMetricsF metrics = painter.fontMetrics();
    const QRectF titleRoom(x, y + 12 - metrics.ascent(), area.right() - x, area.height());
    painter.drawText(titleRoom, title, wrapped);
    y += std::max(painter.boundingRect(titleRoom, title, wrapped).height() - metrics.height(), 0.0);
    if (picture.axes == HeatAxes::RankByStep && !picture.rows.empty()) {
        // One tensor on all ranks: no row names it, and a narrow bar above has no room to.
        painter.setFont(wordsFont(11));
        painter.setPen(theme.text2);
        painter.drawText(QPointF(x, y + 27),
            fitLabels({ picture.rows.front().fullName() }, painter.fontMetrics(), area.right() - kNameInset - x)
                .front());
        y += 15;
    }
    painter.setFont(wordsFont(10));
    painter.setPen(theme.text3);
    QStringList lines { columnStepsText(picture) };
    // What is subtracted: not the largest difference of any of these steps, which may be larger.
    if (picture.sides && picture.interval == 0 && stepsOfColumn(picture) > 1)
        lines.append(QCoreApplication::translate("HeatLegend", "of each run"));
    lines.append(unitText(picture));
    const bool hasBar = picture.hasScale && !picture.isZero;
    if (picture.isZero)
        lines.append(zeroText(picture));
    lines.removeAll(QString());
    const auto has
        = [seen = statesSeen(picture, plotWidth)](CellState state) { return (seen & HeatPicture::bitOf(state)) != 0; };
    std::vector<CellState> signs { CellState::NaN, CellState::PosInf, CellState::NegInf, CellState::NotCollected,
        CellState::Gap };
    if (has(CellState::Damaged))
        signs.push_back(CellState::Damaged);
    if (!hasSigns)
        signs.clear();
    constexpr double kLine = 19;
    constexpr double kCaptionLine = 13;
    constexpr double kLeastBar = 40;
    const auto roomOfBar = [&] {
        const double room = area.bottom() - y - kCaptionLine * static_cast<double>(lines.size()) - 27 - 18;
        return signs.empty() ? room : room - kLine * static_cast<double>(signs.size()) - kTickPitch;
    };
    if (!hasBar)
        std::erase_if(signs, [&has](CellState state) { return !has(state); });
    // Before the colors go, so that nobody can read them, the signs do, the last that is not seen first, and what else
    // is said.
    while (hasBar && !signs.empty() && roomOfBar() < kLeastBar) {
        const auto unseen = std::find_if_not(signs.rbegin(), signs.rend(), has);
        signs.erase(unseen == signs.rend() ? signs.end() - 1 : unseen.base() - 1);
    }
    while (hasBar && !lines.isEmpty() && roomOfBar() < kLeastBar)
        lines.removeLast();
    const double height = std::floor(std::min(roomOfBar(), 210.0));
    for (const QString& line : lines) {
        painter.drawText(QPointF(x, y + 26), line);
        y += kCaptionLine;
    }
    const double barTop = y + 27;
    y = barTop;
    if (hasBar && height >= 2 * kTickPitch) {
        paintBar(painter, QRectF(std::round(x), std::round(barTop), 13, height), picture, theme);
        y += height + 22;
    }
    painter.setFont(wordsFont(11));
    for (const CellState state : signs) {
        const QRectF cell(std::round(x), std::round(y), 13, 13);
        if (cell.bottom() > area.bottom())
            break;
        glyphs::paintCell(painter, cell, state, theme);
        painter.setPen(theme.text2);
        painter.drawText(
            QRectF(x + 22, y - 2, area.right() - x - 22, 17), Qt::AlignLeft | Qt::AlignVCenter, glyphs::word(state));
        y += kLine;
    }
    painter.restore();
}

double heatStripWidth(const HeatPicture& picture)
{
    if (picture.isZero)
        return QFontMetricsF(wordsFont(11)).horizontalAdvance(zeroText(picture)) + 1;
    const QFontMetricsF metrics(numberFont(11));
    const auto [low, high] = endTexts(picture.scale);
    return metrics.horizontalAdvance(low) + metrics.horizontalAdvance(high) + kStripWidth + 2 * kStripGap + 1;
}

void paintHeatStrip(QPainter& painter, const QRectF& line, const HeatPicture& picture, const Theme& theme)
{
    if (picture.isZero) {
        painter.setFont(wordsFont(11));
        painter.setPen(theme.text2);
        if (heatStripWidth(picture) <= line.width())
            painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, zeroText(picture));
        return;
    }
    const auto [low, high] = endTexts(picture.scale);
    painter.setFont(numberFont(11));
    const double lowWidth = painter.fontMetrics().horizontalAdvance(low);
    const double highWidth = painter.fontMetrics().horizontalAdvance(high);
    const double left = std::floor(line.right() - highWidth - kStripGap - kStripWidth);
    if (left - kStripGap - lowWidth < line.left())
        return;
    const ColorTable& table = picture.isDiverging() ? divergingTable(theme.mode) : kSequentialTable;
    const double middle = std::round(line.center().y());
    for (int x = 0; x < static_cast<int>(kStripWidth); ++x)
        painter.fillRect(QRectF(left + x, middle - 5, 1, 10),
            QColor::fromRgb(table[static_cast<std::size_t>(x * 256 / static_cast<int>(kStripWidth))]));
    if (picture.clippedLow)
        paintClip(painter, QPointF(left - 2, middle), QPointF(-6, 0), 5, QColor::fromRgb(table[0]), theme);
    if (picture.clippedHigh)
        paintClip(
            painter, QPointF(left + kStripWidth + 2, middle), QPointF(6, 0), 5, QColor::fromRgb(table[255]), theme);
    painter.setPen(theme.text2);
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, high);
    painter.drawText(QRectF(line.left(), line.top(), left - kStripGap - line.left(), line.height()),
        Qt::AlignRight | Qt::AlignVCenter, low);
}

}
