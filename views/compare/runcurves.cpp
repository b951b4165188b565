// SPDX-License-Identifier: GPL-3.0-or-later
#include "runcurves.h"

#include <algorithm>
#include <utility>

#include <QCoreApplication>

#include <telltale/common/seriesstyle.h>
#include <telltale/plot/curvetrace.h>
#include <telltale/plot/rankcurves.h>

namespace telltale::views {
namespace {

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

/// Makes a band of what two runs or more have in each bucket, and `median` of their means; what is not finite in one
/// run breaks the line. Where one run of several is left there is no range, and nothing to be the middle of.
void spread(const std::vector<std::pair<std::size_t, const CurveSeries*>>& row, CurveSeries& band, CurveSeries& median)
{
    for (std::size_t run = 1; run < row.size(); ++run)
        widen(band.result.buckets, row[run].second->result.buckets);
    std::vector<double> values;
    for (series::Bucket& all : band.result.buckets) {
        const auto i = static_cast<std::size_t>(&all - band.result.buckets.data());
        values.clear();
        for (const auto& [run, one] : row) {
            if (i < one->result.buckets.size() && one->result.buckets[i].finite > 0)
                values.push_back(one->result.buckets[i].mean);
        }
        if (values.size() == 1 && row.size() > 1) {
            series::Bucket rest;
            if (series::isNonFinite(all.state)) {
                rest = all;
                rest.samples -= std::exchange(rest.finite, 0);
                rest.min = rest.max = rest.mean = rest.first = rest.last = 0;
            }
            all = rest;
        }
        series::Bucket& middle = median.result.buckets[i] = all;
        band.runsIn.push_back(static_cast<int>(values.size()));
        if (all.finite == 0)
            continue;
        std::sort(values.begin(), values.end());
        const std::size_t half = values.size() / 2;
        const double value = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
        middle.min = middle.max = middle.mean = middle.first = middle.last = value;
    }
    median.runsIn = band.runsIn;
    median.join = band.join = longestJoin(band.result.buckets);
}

/// Of how many runs at the steps where there is a band.
QString ofRuns(const std::vector<int>& runsIn, int count)
{
    int least = count, most = 0;
    for (const int runs : runsIn) {
        if (runs < std::min(2, count))
            continue;
        least = std::min(least, runs);
        most = std::max(most, runs);
    }
    return runsText(least, std::max(least, most), count);
}

}

std::vector<CurveSeries> linesOfRuns(const std::vector<ComparePart>& parts)
{
    std::vector<CurveSeries> lines;
    int place = 0;
    for (const auto& row : byRow(parts)) {
        for (const auto& [run, one] : row) {
            CurveSeries line = *one;
            line.slot = SeriesStyle::slotOfRun(static_cast<int>(run), place, static_cast<int>(parts.size()));
            line.hasRunColor = true;
            line.isOfOneRank = true; // which is chosen for all of them
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
        median.slot = (static_cast<int>(parts.size()) + place++)
            % SeriesStyle::kColors; // no run's, as long as there are others
        median.hasRunColor = true;
        median.isOtherRun = false;
        median.isMoved = true;
        for (const auto& of : row)
            median.ofRunNames.append(of.second->runName);
        CurveSeries band = median;
        band.isGroup = true;
        median.ofRuns = band.ofRuns = count;
        spread(row, band, median);
        median.runName = QCoreApplication::translate("CompareRuns", "median");
        band.runName = QCoreApplication::translate("CompareRuns", "range");
        median.where = band.where = ofRuns(band.runsIn, count);
        bands.push_back(std::move(median));
        bands.push_back(std::move(band));
    }
    return bands;
}

}
