// SPDX-License-Identifier: GPL-3.0-or-later
#include "heatpicture.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include <QCoreApplication>

#include "rowcluster.h"

namespace telltale::views {

using series::CellState;

namespace {

constexpr double kDeviationLimit = 10;
constexpr double kLeastOfSign = 0.1; ///< share of the cells other than zero: fewer are an exception, not a side
constexpr double kClipShare = 0.002; ///< of the finite cells at each end; their color saturates
constexpr std::size_t kScaleSample = 40000;
constexpr std::size_t kLeastForFence = 8; ///< values that have a middle half to speak of
constexpr double kLeastDecades = 1; ///< that the middle half of a log scale's values is taken to spread over

float medianOf(std::vector<float>& values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Where values near zero (the gradient of a key's bias, say) stop taking colors from all others: 1.5 times the spread
/// of the middle half below it, on a log scale (Tukey 1977). Values above 0. The largest keep their colors: they are
/// news.
double lowFenceOf(std::vector<float>& values)
{
    const auto at = [&](std::size_t index) {
        std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index), values.end());
        return std::log10(static_cast<double>(values[index]));
    };
    const double quarter = at(values.size() / 4);
    const double spread = std::max(at(values.size() * 3 / 4) - quarter, kLeastDecades);
    return std::pow(10.0, quarter - 1.5 * spread);
}

/// The range rounded outwards to an eighth of itself (at most a quarter decade on a log scale), so that the colors of
/// a live run do not flicker and those of a nearly constant one still tell its values apart.
std::pair<double, double> roundedOutwards(double low, double high, bool log)
{
    const double from = log ? std::log10(low) : low;
    const double to = log ? std::log10(high) : high;
    const double least = log ? 1e-6 : std::max(std::abs(low), std::abs(high)) * 1e-6;
    double grain = std::exp2(std::ceil(std::log2(std::max(to - from, least) / 8)));
    if (log)
        grain = std::min(grain, 0.25);
    const double bottom = std::floor(from / grain + 1e-6) * grain;
    const double top = std::ceil(to / grain - 1e-6) * grain;
    return log ? std::pair(std::pow(10.0, bottom), std::pow(10.0, top)) : std::pair(bottom, top);
}

}

analysis::RankOddness::Grade HeatPicture::gradeOf(Rank rank) const
{
    const auto known = odd.find(rank);
    return known == odd.end() ? analysis::RankOddness::Grade::Like : known->second.grade;
}

void HeatPicture::finish()
{
    // Letters outside Latin are about two wide in a font of one width. To measure every label would take the gui
    // seconds.
    const auto takeLonger = [](QString& longest, int& width, const QString& text) {
        const auto wide
            = std::count_if(text.begin(), text.end(), [](QChar letter) { return letter.unicode() > 0x2FF; });
        if (const int own = static_cast<int>(text.size() + wide); own > width) {
            width = own;
            longest = text;
        }
    };
    int labelWidth = 0;
    int groupWidth = 0;
    for (const Row& row : rows) {
        takeLonger(longestLabel, labelWidth, row.label);
        takeLonger(longestGroup, groupWidth, row.group);
    }
    strongest.assign(static_cast<std::size_t>(result.columns), CellState::NotCollected);
    seen.assign(strongest.size(), 0);
    for (auto cell = result.states.begin(); cell != result.states.end(); cell += result.columns) {
        std::transform(strongest.begin(), strongest.end(), cell, strongest.begin(),
            [](CellState a, CellState b) { return std::max(a, b); });
        std::transform(seen.begin(), seen.end(), cell, seen.begin(),
            [](std::uint8_t all, CellState one) { return static_cast<std::uint8_t>(all | bitOf(one)); });
    }
    findCollected();
    shown = result.values;
    sideRows.resize(sides ? rows.size() : 0);
    std::iota(sideRows.begin(), sideRows.end(), std::size_t { 0 });
    if (scaleMode == HeatScale::Deviation)
        computeDeviations();
    if (order == RowOrder::Value)
        orderByValue();
    else if (order == RowOrder::Clustered && axes != HeatAxes::RankByStep)
        orderByLikeness();
    for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
        const bool isGrouped = order == RowOrder::Model && (axes != HeatAxes::RankByStep || !rankBands.empty());
        const QString group = isGrouped ? rows[static_cast<std::size_t>(i)].group : QString();
        if (bands.empty() || bands.back().label != group)
            bands.push_back({ i, i, group });
        bands.back().lastRow = i;
    }
    hasScale = std::ranges::find(result.states, CellState::Value) != result.states.end();
    chooseScale();
}

void HeatPicture::orderByValue()
{
    struct Key {
        int nonFinite = 0;
        float largest = -1;
    };
    std::vector<Key> keys(rows.size());
    const auto columnCount = static_cast<std::size_t>(result.columns);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (std::size_t i = row * columnCount; i < (row + 1) * columnCount; ++i) {
            if (series::isNonFinite(result.states[i]))
                ++keys[row].nonFinite;
            else if (result.states[i] == CellState::Value)
                keys[row].largest = std::max(keys[row].largest, std::abs(shown[i]));
        }
    }
    std::vector<std::size_t> permutation(rows.size());
    std::iota(permutation.begin(), permutation.end(), std::size_t { 0 });
    std::stable_sort(permutation.begin(), permutation.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(keys[a].nonFinite, keys[a].largest) > std::pair(keys[b].nonFinite, keys[b].largest);
    });
    permute(permutation);
}

void HeatPicture::permute(const std::vector<std::size_t>& permutation)
{
    const auto columnCount = static_cast<std::size_t>(result.columns);
    HeatPicture sorted = *this;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const std::size_t from = permutation[row];
        sorted.rows[row] = rows[from];
        const auto copy = [&](const auto& source, auto& target) {
            std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(from * columnCount), columnCount,
                target.begin() + static_cast<std::ptrdiff_t>(row * columnCount));
        };
        copy(result.values, sorted.result.values);
        copy(result.states, sorted.result.states);
        copy(shown, sorted.shown);
        if (!cellSteps.empty())
            copy(cellSteps, sorted.cellSteps);
        if (sides)
            sorted.sideRows[row] = sideRows[from];
    }
    *this = std::move(sorted);
}

std::vector<float> HeatPicture::likenessFeatures(std::size_t bins) const
{
    // A row is its course (mean and spread taken out), its level among the others, and where it is not finite.
    const std::size_t dimensions = 2 * bins + 1;
    const auto columnCount = static_cast<std::size_t>(result.columns);
    std::vector<float> features(rows.size() * dimensions);
    double levelSum = 0;
    double levelSquares = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        float* const out = features.data() + row * dimensions;
        std::vector<float> sums(bins);
        std::vector<float> counts(bins);
        std::vector<float> bad(bins);
        for (std::size_t c = 0; c < columnCount; ++c) {
            const std::size_t i = row * columnCount + c;
            const std::size_t bin = c * bins / columnCount;
            bad[bin] += series::isNonFinite(result.states[i]) ? 1.0F : 0.0F;
            if (result.states[i] != CellState::Value || (scaleMode == HeatScale::Log && shown[i] <= 0))
                continue;
            sums[bin] += scaleMode == HeatScale::Log ? std::log(shown[i]) : shown[i];
            counts[bin] += 1;
        }
        const float total = std::accumulate(sums.begin(), sums.end(), 0.0F);
        const float mean = total / std::max(1.0F, std::accumulate(counts.begin(), counts.end(), 0.0F));
        float spread = 0;
        for (std::size_t bin = 0; bin < bins; ++bin) {
            out[bin] = counts[bin] > 0 ? sums[bin] / counts[bin] - mean : 0;
            spread += out[bin] * out[bin];
            out[bins + bin] = bad[bin] > 0 ? 1.0F : 0.0F;
        }
        const float least = std::max(std::abs(mean) * 1e-4F, 1e-12F);
        for (std::size_t bin = 0; bin < bins; ++bin)
            out[bin] /= std::max(std::sqrt(spread), least);
        out[2 * bins] = mean;
        levelSum += static_cast<double>(mean);
        levelSquares += static_cast<double>(mean) * static_cast<double>(mean);
    }
    const auto count = static_cast<double>(rows.size());
    const double average = levelSum / count;
    const double deviation = std::sqrt(std::max(levelSquares / count - average * average, 1e-24));
    for (std::size_t row = 0; row < rows.size(); ++row) {
        float& level = features[row * dimensions + 2 * bins];
        level = static_cast<float>((static_cast<double>(level) - average) / deviation);
    }
    return features;
}

void HeatPicture::orderByLikeness()
{
    constexpr std::size_t kBins = 24;
    if (rows.size() < 3 || result.columns == 0)
        return;
    const std::size_t bins = std::min(kBins, static_cast<std::size_t>(result.columns));
    permute(clusteredOrder(likenessFeatures(bins), 2 * bins + 1));
}

std::pair<float, float> HeatPicture::spreadOf(int row) const
{
    std::vector<float> values;
    for (int column = 0; column < columns(); ++column) {
        if (state(row, column) == CellState::Value)
            values.push_back(value(row, column));
    }
    if (values.empty())
        return {};
    const float median = medianOf(values);
    for (float& one : values)
        one = std::abs(one - median);
    // A series that hardly moves must not turn rounding into alarms, and of one that is 0 there are no multiples.
    constexpr float kLeast = 1e-30F;
    const float mad = std::max(medianOf(values), std::abs(median) * 1e-4F);
    return { median, mad < kLeast ? 0.0F : mad };
}

void HeatPicture::computeDeviations()
{
    for (int row = 0; row < static_cast<int>(rows.size()); ++row) {
        const auto [median, mad] = spreadOf(row);
        for (int column = 0; column < columns(); ++column)
            shown[at(row, column)] = mad > 0 ? (value(row, column) - median) / mad : 0.0F;
    }
}

/// Finite cells above and below zero.
std::pair<std::size_t, std::size_t> HeatPicture::signs() const
{
    std::size_t above = 0;
    std::size_t below = 0;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (result.states[i] == CellState::Value) {
            above += shown[i] > 0 ? 1 : 0;
            below += shown[i] < 0 ? 1 : 0;
        }
    }
    return { above, below };
}

void HeatPicture::chooseScale()
{
    if (scaleMode == HeatScale::Difference)
        return spreadDifferences();
    if (scaleMode == HeatScale::Ratio)
        return spreadRatios();
    if (scaleMode == HeatScale::Deviation) {
        scale = ValueScale(ValueScale::Mode::Linear, -kDeviationLimit, kDeviationLimit);
        return markClipped();
    }
    const auto [above, below] = signs();
    isZero = hasScale && above + below == 0;
    const double least = kLeastOfSign * static_cast<double>(above + below);
    // Signed values have their zero in the middle, and a logarithm on both sides of it.
    const bool log = scaleMode == HeatScale::Log && static_cast<double>(below) <= least;
    const bool isSigned = static_cast<double>(std::min(above, below)) > least || (scaleMode == HeatScale::Log && !log);
    std::vector<float> sample;
    float smallest = INFINITY;
    float largest = -INFINITY;
    const std::size_t stride = std::max<std::size_t>(1, shown.size() / kScaleSample);
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (result.states[i] != CellState::Value || !std::isfinite(shown[i]) || (log && shown[i] <= 0))
            continue;
        smallest = std::min(smallest, shown[i]);
        largest = std::max(largest, shown[i]);
        if (i % stride == 0)
            sample.push_back(shown[i]);
    }
    const auto mode = log                ? ValueScale::Mode::Log
        : scaleMode == HeatScale::Linear ? ValueScale::Mode::Linear
                                         : ValueScale::Mode::Symlog;
    if (!(smallest <= largest)) {
        const double most = isWhole(stat) ? 10 : 1;
        scale = ValueScale(mode, log ? most / 10 : 0, most).ofShares(factsOf(stat).shown == Shown::Share);
        return markClipped();
    }
    double low = smallest;
    double high = largest;
    if (sample.size() > 500) {
        const auto cut = static_cast<std::ptrdiff_t>(static_cast<double>(sample.size()) * kClipShare);
        std::nth_element(sample.begin(), sample.begin() + cut, sample.end());
        low = sample[static_cast<std::size_t>(cut)];
        std::nth_element(sample.begin(), sample.end() - 1 - cut, sample.end());
        high = sample[sample.size() - 1 - static_cast<std::size_t>(cut)];
    }
    if (log && sample.size() >= kLeastForFence)
        low = std::max(low, lowFenceOf(sample));
    if (log || scaleMode == HeatScale::Linear)
        std::tie(low, high) = roundedOutwards(low, high, log);
    if (isWhole(stat) && low >= 1) { // no count has a fraction
        low = std::floor(low);
        high = std::ceil(high);
    }
    if (!log && low >= 0 && low < 0.5 * high)
        low = 0;
    if (isSigned) {
        high = std::max(-low, high);
        if (mode == ValueScale::Mode::Symlog)
            high = roundedOutwards(high / 10, high, true).second;
        low = -high;
    }
    scale = ValueScale(mode, low, high).ofShares(factsOf(stat).shown == Shown::Share);
    markClipped();
}

void HeatPicture::markClipped()
{
    clippedLow = clippedHigh = false;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (result.states[i] != CellState::Value)
            continue;
        // On a log scale zero and what is below it are beyond any low end.
        clippedLow = clippedLow || static_cast<double>(shown[i]) < scale.low();
        clippedHigh = clippedHigh || static_cast<double>(shown[i]) > scale.high();
    }
}

}
