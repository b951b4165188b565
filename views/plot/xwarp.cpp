// SPDX-License-Identifier: GPL-3.0-or-later
#include "xwarp.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>

#include <telltale/common/theme.h>
#include <telltale/common/valuescale.h>

#include "curvetrace.h"
#include "rankcurves.h"

namespace telltale::views {

namespace {

constexpr double kNsPerSecond = 1e9;

/// "14.9 s", "1:05 min" or "1:02:05 h", as the longest of the axis (s) has it.
QString clockText(double seconds, int decimals, double longest)
{
    if (longest < 60)
        return QCoreApplication::translate("XAxis", "%1 s").arg(QString::number(seconds, 'f', decimals));
    const qint64 parts = std::llround(std::pow(10.0, decimals)); // of a second
    const qint64 all = std::llround(seconds * static_cast<double>(parts));
    const auto padded
        = [](qint64 number, int digits) { return QStringLiteral("%1").arg(number, digits, 10, QChar(u'0')); };
    QString text = padded(all / parts % 60, 2);
    if (decimals > 0)
        text += u'.' + padded(all % parts, decimals);
    const qint64 minutes = all / parts / 60;
    if (longest < 3600)
        return QStringLiteral("%1:%2").arg(minutes).arg(text) + QCoreApplication::translate("XAxis", " min");
    return QStringLiteral("%1:%2:%3").arg(minutes / 60).arg(padded(minutes % 60, 2), text)
        + QCoreApplication::translate("XAxis", " h");
}

/// `longest`: of the axis, s; `distance`: between two labels.
QString timeLabel(double seconds, double distance, double longest)
{
    const auto whole = static_cast<qint64>(std::llround(seconds));
    if (longest < 60)
        return QCoreApplication::translate("XAxis", "%1 s").arg(formatTick(seconds, distance));
    if (distance < 60)
        return clockText(seconds, std::max(0, static_cast<int>(std::ceil(-std::log10(distance) - 1e-9))), longest);
    if (longest < 3600)
        return QCoreApplication::translate("XAxis", "%1 min").arg(whole / 60);
    const QString minutes = QStringLiteral("%1").arg(whole / 60 % 60, 2, 10, QLatin1Char('0'));
    return QStringLiteral("%1:%2").arg(whole / 3600).arg(minutes) + QCoreApplication::translate("XAxis", " h");
}

/// Steps of a clock face: seconds and minutes by 1, 2, 5, 10, 15, 30, hours by 1, 2, 3, 6, 12, then days.
double niceSeconds(double rough)
{
    for (const double nice : { 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 10800.0, 21600.0, 43200.0 }) {
        if (nice >= rough)
            return nice;
    }
    return std::ceil(rough / 86400) * 86400;
}

}

QString scalarOf(XAxis axis)
{
    return axis == XAxis::Time  ? QStringLiteral("telltale.wall_ns")
        : axis == XAxis::Tokens ? QStringLiteral("telltale.tokens_seen")
                                : QStringLiteral("telltale.samples_seen");
}

std::shared_ptr<const XWarp> XWarp::of(XAxis axis, const series::CurveResult& quantity, std::optional<double> start)
{
    std::vector<std::size_t> known;
    for (std::size_t i = 0; i < quantity.buckets.size(); ++i) {
        if (quantity.buckets[i].finite > 0)
            known.push_back(i);
    }
    if (known.size() < 2)
        return {};
    std::shared_ptr<XWarp> warp(new XWarp);
    warp->m_axis = axis;
    warp->m_range = quantity.range;
    const std::size_t count = quantity.buckets.size();
    warp->m_edges.resize(count + 1);
    std::size_t next = 0;
    for (std::size_t i = 0; i <= count; ++i) {
        while (next + 2 < known.size() && known[next + 1] <= i)
            ++next;
        const auto a = static_cast<double>(known[next]);
        const auto b = static_cast<double>(known[next + 1]);
        const double from = quantity.buckets[known[next]].first;
        const double to = quantity.buckets[known[next + 1]].first;
        warp->m_edges[i] = from + (to - from) * (static_cast<double>(i) - a) / (b - a);
        if (i > 0)
            warp->m_edges[i] = std::max(warp->m_edges[i], warp->m_edges[i - 1]);
    }
    warp->m_span = warp->m_edges.back() - warp->m_edges.front();
    if (!(warp->m_span > 0))
        return {};
    warp->m_origin = axis == XAxis::Time ? start.value_or(warp->m_edges.front()) : 0;
    return warp;
}

double XWarp::unitOf(Step step) const
{
    const auto count = static_cast<double>(m_edges.size() - 1);
    const double at = std::clamp(
        (static_cast<double>(step.value - m_range.first.value) + 0.5) * count / static_cast<double>(m_range.count()),
        0.0, count - 1e-9);
    const auto index = static_cast<std::size_t>(at);
    return edge(index) + (edge(index + 1) - edge(index)) * (at - static_cast<double>(index));
}

Step XWarp::stepAt(double unit) const
{
    const double value = m_edges.front() + std::clamp(unit, 0.0, 1.0) * m_span;
    const auto after = std::upper_bound(m_edges.begin(), m_edges.end() - 1, value);
    const auto index = static_cast<std::size_t>(after - m_edges.begin()) - 1;
    const double wide = m_edges[index + 1] - m_edges[index];
    const double at = static_cast<double>(index) + (wide > 0 ? std::min((value - m_edges[index]) / wide, 1.0) : 0);
    const auto count = static_cast<double>(m_edges.size() - 1);
    const auto offset = static_cast<std::int64_t>(at * static_cast<double>(m_range.count()) / count);
    return Step { std::min(m_range.first.value + offset, m_range.last.value) };
}

std::vector<series::Bucket> XWarp::warped(const std::vector<series::Bucket>& buckets, int width) const
{
    std::vector<series::Bucket> result(static_cast<std::size_t>(std::max(width, 1)));
    const std::size_t count = std::min(buckets.size(), m_edges.size() - 1);
    std::vector<series::Bucket> one(1);
    for (std::size_t i = 0; i < count; ++i) {
        const double middle = (edge(i) + edge(i + 1)) / 2;
        const auto at = std::min(static_cast<std::size_t>(middle * width), result.size() - 1);
        one[0] = result[at];
        widen(one, { buckets[i] });
        result[at] = one[0];
    }
    const std::size_t join = longestJoin(buckets);
    std::size_t last = count;
    const auto placeOf = [&](std::size_t i) { return (edge(i) + edge(i + 1)) / 2 * width; };
    for (std::size_t i = 0; i < count; ++i) {
        if (buckets[i].samples == 0)
            continue;
        if (last < count && i - last > join) {
            const auto middle = static_cast<std::size_t>((placeOf(last) + placeOf(i)) / 2);
            if (middle < result.size() && result[middle].samples == 0)
                result[middle].state = series::CellState::Gap;
        }
        last = i;
    }
    return result;
}

double XWarp::longest() const
{
    return (m_edges.back() - m_origin) / kNsPerSecond;
}

int XWarp::decimals() const
{
    return m_span < 60 * kNsPerSecond ? 1 : 0;
}

double XWarp::quantityAt(Step step) const
{
    const auto count = static_cast<double>(m_edges.size() - 1);
    const double at = std::clamp(
        static_cast<double>(step.value - m_range.first.value) * count / static_cast<double>(m_range.count()), 0.0,
        count - 1e-9);
    const auto index = static_cast<std::size_t>(at);
    // When the step began, not the middle of its place.
    const double value
        = m_edges[index] + (m_edges[index + 1] - m_edges[index]) * (at - static_cast<double>(index)) - m_origin;
    if (m_axis != XAxis::Time)
        return std::round(value);
    return decimals() > 0 ? std::round(value / kNsPerSecond * 10) / 10 : std::floor(value / kNsPerSecond);
}

QString XWarp::quantityText(double value) const
{
    if (m_axis != XAxis::Time)
        return formatStep(std::llround(value));
    return clockText(value, decimals(), longest());
}

QString XWarp::placeText(Step step) const
{
    return (m_axis == XAxis::Time      ? QCoreApplication::translate("XAxis", "at %1", "a time")
            : m_axis == XAxis::Samples ? QCoreApplication::translate("XAxis", "at %1 samples")
                                       : QCoreApplication::translate("XAxis", "at %1 tokens"))
        .arg(textOf(step));
}

QString XWarp::differenceText(Step a, Step b) const
{
    const double difference = quantityAt(b) - quantityAt(a);
    const QString sign = difference < 0 ? QString(QChar(0x2212)) : difference > 0 ? QStringLiteral("+") : QString();
    return sign + quantityText(std::abs(difference));
}

std::vector<XWarp::Tick> XWarp::ticks(int width, int spacing) const
{
    const double unit = m_axis == XAxis::Time ? kNsPerSecond : 1;
    const double low = (m_edges.front() - m_origin) / unit;
    const double high = (m_edges.back() - m_origin) / unit;
    const int count = std::max(1, width / spacing);
    std::vector<double> values;
    const double rough = (high - low) / count;
    if (m_axis == XAxis::Time && rough > 20) {
        const double distance = niceSeconds(rough);
        for (double value = std::ceil(low / distance) * distance; value <= high; value += distance)
            values.push_back(value);
    } else {
        values = niceValues(low, high, count);
    }
    const double distance = values.size() > 1 ? values[1] - values[0] : rough;
    std::vector<Tick> ticks;
    ticks.reserve(values.size());
    for (const double value : values)
        ticks.push_back({ (value - low) / (high - low),
            m_axis == XAxis::Time ? timeLabel(value, distance, high) : formatStep(std::llround(value)) });
    return ticks;
}

}
