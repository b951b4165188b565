// SPDX-License-Identifier: GPL-3.0-or-later
#include "runcurves.h"

#include <algorithm>

#include <QCoreApplication>

#include <telltale/plot/rankcurves.h>

namespace telltale::views {
namespace {

constexpr int kColors = 6; ///< beyond which a color alone does not tell
constexpr int kDashes = 3; ///< of each color

bool belongTogether(const CurveSeries& a, const CurveSeries& b)
{
    return a.row.key == b.row.key && a.row.label == b.row.label && a.stat == b.stat;
}

/// Of each row that some run has, the curves of all runs that have it: (run, curve).
std::vector<std::vector<std::pair<std::size_t, const CurveSeries*>>> byRow(const std::vector<ComparePart>& parts)
{
    std::vector<std::vector<std::pair<std::size_t, const CurveSeries*>>> rows;
    for (std::size_t run = 0; run < parts.size(); ++run) {
        for (const CurveSeries& one : parts[run].curves) {
            const auto known = std::find_if(
                rows.begin(), rows.end(), [&](const auto& row) { return belongTogether(*row.front().second, one); });
            if (known == rows.end())
                rows.push_back({ { run, &one } });
            else
                known->emplace_back(run, &one);
        }
    }
    return rows;
}

/// Of the means of each bucket; what is not finite in one run breaks the line, and where one run of several is left
/// there is nothing to be the middle of.
std::vector<series::Bucket> medianOf(const std::vector<std::pair<std::size_t, const CurveSeries*>>& row)
{
    std::vector<series::Bucket> median = row.front().second->result.buckets;
    for (std::size_t run = 1; run < row.size(); ++run)
        widen(median, row[run].second->result.buckets);
    std::vector<double> values;
    for (std::size_t i = 0; i < median.size(); ++i) {
        values.clear();
        for (const auto& [run, one] : row) {
            if (i < one->result.buckets.size() && one->result.buckets[i].finite > 0)
                values.push_back(one->result.buckets[i].mean);
        }
        if (values.empty())
            continue;
        if (values.size() == 1 && row.size() > 1 && !series::isNonFinite(median[i].state)) {
            median[i] = {};
            continue;
        }
        std::sort(values.begin(), values.end());
        const std::size_t middle = values.size() / 2;
        const double value = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
        series::Bucket& bucket = median[i];
        bucket.min = bucket.max = bucket.mean = bucket.first = bucket.last = value;
    }
    return median;
}

}

std::vector<CurveSeries> linesOfRuns(const std::vector<ComparePart>& parts)
{
    std::vector<CurveSeries> lines;
    const bool isFew = parts.size() <= kColors;
    int place = 0;
    for (const auto& row : byRow(parts)) {
        for (const auto& [run, one] : row) {
            CurveSeries line = *one;
            line.slot = static_cast<int>(run) + (isFew ? place % kDashes * kColors : 0);
            line.hasRunColor = true;
            line.run = static_cast<int>(run);
            line.isOtherRun = run > 0;
            lines.push_back(std::move(line));
        }
        ++place;
    }
    return lines;
}

std::vector<CurveSeries> bandsOfRuns(const std::vector<ComparePart>& parts)
{
    std::vector<CurveSeries> bands;
    int place = 0;
    for (const auto& row : byRow(parts)) {
        const auto count = static_cast<int>(row.size());
        CurveSeries median = *row.front().second;
        median.slot = (static_cast<int>(parts.size()) + place++) % kColors; // no run's, as long as there are others
        median.hasRunColor = true;
        median.isOtherRun = false;
        median.isMoved = true;
        CurveSeries band = median;
        band.isGroup = true;
        for (std::size_t run = 1; run < row.size(); ++run)
            widen(band.result.buckets, row[run].second->result.buckets);
        median.result.buckets = medianOf(row);
        for (std::size_t i = 0; i < median.result.buckets.size(); ++i) {
            if (median.result.buckets[i].samples == 0)
                band.result.buckets[i] = {};
        }
        median.runName = QCoreApplication::translate("CompareRuns", "median");
        band.runName = QCoreApplication::translate("CompareRuns", "range");
        median.where = band.where = QCoreApplication::translate("CompareRuns", "of %n runs", nullptr, count);
        bands.push_back(std::move(median));
        bands.push_back(std::move(band));
    }
    return bands;
}

}
