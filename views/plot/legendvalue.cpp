// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendvalue.h"

#include <algorithm>

#include <QCoreApplication>

#include <telltale/common/glyphs.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/labels.h>
#include <telltale/common/theme.h>
#include <telltale/items/comma.h>

#include "curvetrace.h"

namespace telltale::views {
namespace {

}

LegendValue LegendValue::of(const CurveSeries& one, int bucket, Step asked)
{
    LegendValue value;
    if (bucket < 0)
        return value;
    const series::Bucket& of = one.result.buckets[static_cast<std::size_t>(bucket)];
    value.stat = one.stat;
    value.state = of.state;
    value.value = of.last;
    value.isPart = isPartOf(one.stat, of);
    if (bucket != bucketOf(one.result, asked))
        value.at = stepsOf(one.result, bucket);
    return value;
}

bool LegendValue::isPartOf(Stat stat, const series::Bucket& bucket)
{
    series::CellValue cell;
    cell.state = bucket.state;
    cell.value = bucket.last;
    return bucket.samples == 1 && bucket.finite == 1 && series::isPartOf(stat, cell, 0); // 0: how many is not known
}

LegendValue LegendValue::newestOf(const CurvePicture& picture, const CurveSeries& one)
{
    const std::vector<series::Bucket>& buckets = one.result.buckets;
    const int newest = newestBucketOf(one.result);
    int end = static_cast<int>(buckets.size()) - 1;
    if (picture.isLive) {
        // A rank that has not come to the end yet has not stopped.
        end = newest;
        for (const CurveSeries& other : picture.series) {
            if (other.row.rank == one.row.rank && other.runName == one.runName)
                end = std::max(end, std::min(newestBucketOf(other.result), static_cast<int>(buckets.size()) - 1));
        }
    }
    // How often there is one, a single one does not say.
    const auto isMeasured = [](const series::Bucket& bucket) { return bucket.samples > 0; };
    const bool isOver = end > newest && end - newest > static_cast<std::ptrdiff_t>(one.longestLine())
        && std::count_if(buckets.begin(), buckets.end(), isMeasured) > 1;
    if (newest < 0 || (isOver && one.runName.isEmpty()))
        return {};
    const StepRange steps = stepsOf(one.result, newest);
    LegendValue value = of(one, newest, steps.last);
    if (isOver)
        value.at = steps;
    value.saysAt = isOver;
    return value;
}

void LegendValue::compare(const series::CellValue& a, const series::CellValue& b)
{
    const auto text = [this](const series::CellValue& cell) {
        LegendValue one;
        one.stat = stat;
        one.state = cell.state;
        one.value = cell.value;
        return one.text();
    };
    atA = text(a);
    atB = text(b);
    atOfA = { a.step, a.step };
    atOfB = { b.step, b.step };
    if (a.state == series::CellState::Value && b.state == series::CellState::Value)
        difference = b.value - a.value;
}

QString LegendValue::text() const
{
    if (!atA.isEmpty() && !difference)
        return QString(QChar(0x2013)); // of what is not finite there is none
    if (difference)
        return (*difference > 0 ? QStringLiteral("+") : QString()) + statValueText(stat, *difference);
    if (saysAt) {
        LegendValue last = *this;
        last.saysAt = false;
        return stepsText(at) + u' ' + last.text();
    }
    if (state == series::CellState::Value)
        return statValueText(stat, value);
    return series::isNonFinite(state) ? glyphs::word(state) : QString(QChar(0x2013));
}

QString LegendValue::textIn(const QFontMetricsF& metrics, double room) const
{
    if (saysAt) // an old value never stands there like this step's, but for what is not finite
        return metrics.horizontalAdvance(text()) <= room ? text()
            : series::isNonFinite(state)                 ? glyphs::word(state)
                                                         : QString(QChar(0x2013));
    if (!isPart || difference || !atA.isEmpty())
        return text();
    const QString part = statValueText(stat, value);
    const QString brief = part + items::comma() + text();
    const QString whole = part + items::comma() + glyphs::leftOutText(state);
    return metrics.horizontalAdvance(whole) <= room ? whole
        : metrics.horizontalAdvance(brief) <= room  ? brief
        : hasSignIn(metrics, room)                  ? part
                                                    : text();
}

bool LegendValue::hasSignIn(const QFontMetricsF& metrics, double room) const
{
    if (!isPart || saysAt || difference || !atA.isEmpty())
        return false;
    const QString part = statValueText(stat, value);
    return metrics.horizontalAdvance(part + items::comma() + text()) > room
        && metrics.horizontalAdvance(part) + kBeforeSign + kSign <= room;
}

QString stepsText(StepRange steps)
{
    return QCoreApplication::translate("telltale::views::OverviewCanvas", "at %1", "a step").arg(formatSteps(steps));
}

}
