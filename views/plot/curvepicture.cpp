// SPDX-License-Identifier: GPL-3.0-or-later
#include "curvepicture.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>

#include <telltale/items/comma.h>

#include "curvetrace.h"

namespace telltale::views {

using series::CellState;

namespace {

template <typename Is> bool isShown(const CurvePicture& picture, Is is)
{
    return std::any_of(picture.series.begin(), picture.series.end(), [is](const CurveSeries& one) {
        return !one.isHidden && std::any_of(one.result.buckets.begin(), one.result.buckets.end(), is);
    });
}

/// What lies so many times the range of the middle 94 % beside it, or so many times above or below it on a log axis,
/// is cut off by a robust scale.
constexpr double kCut = 10;
constexpr double kLogCut = 1000;

}

QString rankListText(const std::vector<Rank>& ranks, const QString& to)
{
    QString text;
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t end = i;
        while (end + 1 < ranks.size() && ranks[end + 1].value == ranks[end].value + 1)
            ++end;
        text += (text.isEmpty() ? QString() : QStringLiteral(" ")) + QString::number(ranks[i].value);
        if (end > i)
            text += (end == i + 1 ? QStringLiteral(" ") : to) + QString::number(ranks[end].value);
        i = end + 1;
    }
    return text;
}

QString runsText(int least, int most, int count)
{
    if (least == count)
        return QCoreApplication::translate("CompareRuns", "of %n runs", nullptr, count);
    if (least == most)
        return QCoreApplication::translate("CompareRuns", "%1 of %n runs", nullptr, count).arg(most);
    return QCoreApplication::translate("CompareRuns", "%1 to %2 of %n runs", nullptr, count)
        .arg(QString::number(least), QString::number(most));
}

QString rankText(const CurveSeries& one)
{
    if (!one.where.isEmpty())
        return one.where;
    return one.isGroup && one.ranks.size() > 1
        ? QCoreApplication::translate("CurveLegend", "ranks %1").arg(rankListText(one.ranks, QString(QChar(0x2013))))
        : QCoreApplication::translate("CurveLegend", "rank %1")
              .arg((one.isGroup && !one.ranks.empty() ? one.ranks.front() : one.row.rank).value);
}

QString whereText(const CurveSeries& one)
{
    const QString where = rankText(one);
    return one.runName.isEmpty() ? where : one.runName + items::comma() + where;
}

QString whereText(const CurveSeries& one, int bucket)
{
    if (one.runsIn.empty())
        return whereText(one);
    const int runs = one.runsIn[static_cast<std::size_t>(bucket)];
    return one.runName + items::comma() + runsText(runs, runs, one.ofRuns);
}

int bucketOf(const series::CurveResult& result, Step step)
{
    if (!result.range.contains(step) || result.buckets.empty())
        return -1;
    return static_cast<int>((step.value - result.range.first.value) * static_cast<std::int64_t>(result.buckets.size())
        / result.range.count());
}

int lineBucketOf(const CurveSeries& one, Step step)
{
    const series::CurveResult& result = one.result;
    const int here = bucketOf(result, step);
    const auto isCollected = [](const series::Bucket& bucket) { return bucket.state != CellState::NotCollected; };
    if (here < 0 || isCollected(result.buckets[static_cast<std::size_t>(here)]))
        return here;
    const auto at = result.buckets.begin() + here;
    const auto before = std::find_if(std::reverse_iterator(at), result.buckets.rend(), isCollected);
    if (before == result.buckets.rend() || before->finite == 0 || breaksLine(*before))
        return here;
    const auto next = std::find_if(at, result.buckets.end(), isCollected);
    const auto from = before.base() - 1;
    const auto distance = (next == result.buckets.end() ? at : next) - from;
    return distance <= static_cast<std::ptrdiff_t>(one.longestLine()) ? static_cast<int>(from - result.buckets.begin())
                                                                      : here;
}

int newestBucketOf(const series::CurveResult& result)
{
    const auto newest = std::find_if(result.buckets.rbegin(), result.buckets.rend(),
        [](const series::Bucket& bucket) { return bucket.state >= CellState::Value; });
    return static_cast<int>(result.buckets.rend() - newest) - 1;
}

StepRange stepsOf(const series::CurveResult& result, int bucket)
{
    const auto count = static_cast<std::int64_t>(result.buckets.size());
    const auto firstOf = [&](std::int64_t b) { return (b * result.range.count() + count - 1) / count; };
    return { Step { result.range.first.value + firstOf(bucket) },
        Step { result.range.first.value + firstOf(bucket + 1) - 1 } };
}

std::size_t CurveSeries::longestLine() const
{
    return join > 0 ? join : longestJoin(result.buckets);
}

bool CurveSeries::isSameAs(const CurveSeries& other) const
{
    return row.key == other.row.key && row.kind == other.row.kind && row.rank == other.row.rank
        && runName == other.runName && isGroup == other.isGroup;
}

bool CurvePicture::hasFinite() const
{
    return isShown(*this, [](const series::Bucket& bucket) { return bucket.finite > 0; });
}

bool CurvePicture::hasZeroOrLess() const
{
    return isShown(*this, [](const series::Bucket& bucket) { return bucket.finite > 0 && bucket.min <= 0; });
}

ValueScale CurvePicture::fit(YMode mode, bool robust) const
{
    std::vector<double> lows;
    std::vector<double> highs;
    bool isZero = hasFinite();
    for (const CurveSeries& one : series) {
        if (one.isHidden)
            continue;
        for (const series::Bucket& bucket : one.result.buckets) {
            isZero = isZero && (bucket.finite == 0 || (bucket.min == 0 && bucket.max == 0));
            if (bucket.finite == 0 || (mode == YMode::Log && bucket.max <= 0))
                continue;
            lows.push_back(mode == YMode::Log && bucket.min <= 0 ? bucket.max : bucket.min);
            highs.push_back(bucket.max);
        }
    }
    const auto scaleMode = mode == YMode::Log
        ? ValueScale::Mode::Log
        : (mode == YMode::Symlog ? ValueScale::Mode::Symlog : ValueScale::Mode::Linear);
    const bool areShares = !series.empty() && std::all_of(series.begin(), series.end(), [](const CurveSeries& one) {
        return factsOf(one.stat).shown == Shown::Share;
    });
    if (isZero && (areShares || mode == YMode::Log))
        return ValueScale(ValueScale::Mode::Linear, 0, 1).ofShares(areShares);
    if (lows.empty())
        return ValueScale(scaleMode, mode == YMode::Log ? 0.1 : 0, 1).ofShares(areShares);
    double low = *std::min_element(lows.begin(), lows.end());
    double high = *std::max_element(highs.begin(), highs.end());
    if (robust && lows.size() >= 40) {
        const auto cut = static_cast<std::ptrdiff_t>(lows.size() / 33);
        std::nth_element(lows.begin(), lows.begin() + cut, lows.end());
        std::nth_element(highs.begin(), highs.end() - 1 - cut, highs.end());
        const double quietLow = lows[static_cast<std::size_t>(cut)];
        const double quietHigh = highs[highs.size() - 1 - static_cast<std::size_t>(cut)];
        const double room = quietHigh - quietLow;
        // How a run begins belongs to it; what would flatten all the rest is cut off.
        if (mode == YMode::Log) {
            low = low < quietLow / kLogCut ? quietLow / 3 : low;
            high = high > quietHigh * kLogCut ? quietHigh * 3 : high;
        } else {
            low = low < quietLow - kCut * room ? quietLow - room / 3 : low;
            high = high > quietHigh + kCut * room ? quietHigh + room / 3 : high;
        }
    }
    // No share is above 1, and there the axis ends.
    const auto endOf = [&](double end) { return areShares ? std::min(end, std::max(high, 1.0)) : end; };
    if (mode == YMode::Log) {
        const double margin = std::max(std::log10(high / low) * 0.06, 0.02);
        return ValueScale(scaleMode, low / std::pow(10.0, margin), endOf(high * std::pow(10.0, margin)))
            .ofShares(areShares);
    }
    const double margin = (high - low) * 0.06;
    // A quantity that never is negative keeps its axis at or above zero.
    const double bottom = low >= 0 ? std::max(0.0, low - margin) : low - margin;
    return ValueScale(scaleMode, bottom, endOf(high + margin), linear).ofShares(areShares);
}

CurvePicture CurvePicture::warpedTo(int width) const
{
    CurvePicture picture = *this;
    for (CurveSeries& one : picture.series)
        one.result.buckets = warp->warped(one.result.buckets, width);
    return picture;
}

std::vector<CellState> CurvePicture::lane() const
{
    std::size_t count = 0;
    for (const CurveSeries& one : series)
        count = std::max(count, one.result.buckets.size());
    std::vector<CellState> states(count, CellState::NotCollected);
    for (const CurveSeries& one : series) {
        for (std::size_t i = 0; i < one.result.buckets.size() && !one.isHidden; ++i) {
            const series::Bucket& bucket = one.result.buckets[i];
            CellState state = bucket.state;
            // Counts decide too, so that a reader that only filled them loses nothing.
            if (bucket.nans > 0)
                state = CellState::NaN;
            else if (bucket.posInfs > 0)
                state = std::max(state, CellState::PosInf);
            else if (bucket.negInfs > 0)
                state = std::max(state, CellState::NegInf);
            states[i] = std::max(states[i], state);
        }
    }
    return states;
}

std::vector<bool> CurvePicture::gaps() const
{
    const auto isGap = [](const series::Bucket& bucket) {
        return bucket.state == CellState::Gap || bucket.state == CellState::Damaged;
    };
    std::vector<bool> gap;
    for (const CurveSeries& one : series) {
        const std::vector<series::Bucket>& buckets = one.result.buckets;
        if (one.isGroup || one.isHidden)
            continue;
        for (std::size_t i = 0; i < buckets.size(); ++i) {
            if (!isGap(buckets[i]))
                continue;
            gap.resize(std::max(gap.size(), buckets.size()));
            gap[i] = std::none_of(series.begin(), series.end(), [&](const CurveSeries& other) {
                return !other.isGroup && !other.isHidden && i < other.result.buckets.size()
                    && other.result.buckets[i].state >= CellState::Value;
            });
        }
    }
    return gap;
}

}
