// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/seriestable.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <telltale/core/histogram.h>

namespace telltale {
namespace {

constexpr const char* kBinned = "elements a bin; signed bins by powers of two"; // as the Python agent has it
constexpr auto kSixOps = static_cast<std::uint64_t>(std::count_if(
    kStatTable.begin(), kStatTable.end(), [](const StatFacts& facts) { return facts.isOfPass && facts.isSample; }));

}

SeriesTable::SeriesTable(Kind kind, std::vector<Stat> stats)
    : m_kind(kind)
    , m_stats(std::move(stats))
{
}

std::size_t SeriesTable::add(SeriesDesc series)
{
    m_series.push_back(std::move(series));
    if (m_stats.empty()) {
        m_now.results.emplace_back();
        if (m_isBinned)
            m_now.bins.resize(m_series.size() * TT_BINS);
    } else {
        m_now.values.resize(m_series.size() * m_stats.size());
        m_now.present.push_back(0);
    }
    return m_series.size() - 1;
}

void SeriesTable::set(std::size_t i, std::size_t stat, double value)
{
    m_now.values[i * m_stats.size() + stat] = value;
    m_now.present[i] = 1;
}

bool SeriesTable::registerNew(Sink& sink)
{
    const std::size_t known = m_parts.empty() ? 0 : m_parts.back().first + m_parts.back().count;
    if (known == m_series.size())
        return true;
    const std::span<const SeriesDesc> fresh(m_series.data() + known, m_series.size() - known);
    Part part { sink.addLayout(m_kind, m_stats, fresh), 0, known, fresh.size() };
    if (m_isBinned) {
        std::vector<SeriesDesc> binned(fresh.begin(), fresh.end());
        for (SeriesDesc& desc : binned)
            desc.definition = kBinned;
        part.histograms = sink.addHistograms(m_kind, octaveEdges(), binned);
    }
    m_parts.push_back(part);
    return part.layout != 0 && (part.histograms != 0) == m_isBinned;
}

void SeriesTable::publish(Sink& sink)
{
    publish(sink, m_now);
    clear();
}

bool SeriesTable::publish(Sink& sink, const Values& values) const
{
    bool isWhole = true;
    for (const auto& part : m_parts) {
        if (part.layout != 0 && isPresent(values, part))
            isWhole = publish(sink, part, values) && isWhole;
    }
    return isWhole;
}

bool SeriesTable::publish(Sink& sink, const Part& part, const Values& values) const
{
    const auto there = [&part](std::size_t size) { return std::min(part.count, size - std::min(size, part.first)); };
    if (m_stats.empty()) {
        tt_stats* to = sink.stats(part.layout);
        if (to)
            std::copy_n(values.results.data() + part.first, there(values.results.size()), to);
        return to != nullptr && (part.histograms == 0 || publishBins(sink, part, values));
    }
    std::uint8_t* present = nullptr;
    const auto width = m_stats.size();
    const auto count = there(values.present.size());
    if (m_kind == Kind::Scalar) {
        double* to = sink.doubles(part.layout, &present);
        if (!to)
            return false;
        std::copy_n(values.values.data() + part.first, count, to);
        std::copy_n(values.present.data() + part.first, count, present);
        return true;
    }
    float* to = sink.floats(part.layout, &present);
    if (!to)
        return false;
    for (std::size_t stat = 0; stat < width; ++stat) {
        for (std::size_t i = 0; i < count; ++i)
            to[stat * part.count + i] = static_cast<float>(values.values[(part.first + i) * width + stat]);
    }
    std::copy_n(values.present.data() + part.first, count, present);
    return true;
}

bool SeriesTable::publishBins(Sink& sink, const Part& part, const Values& values) const
{
    std::uint8_t* present = nullptr;
    std::uint64_t* to = sink.counts(part.histograms, &present);
    if (!to)
        return false;
    for (std::size_t i = part.first; i < std::min(part.first + part.count, values.bins.size() / TT_BINS); ++i) {
        present[i - part.first] = isPresent(values, i) ? 1 : 0;
        std::copy_n(values.bins.data() + i * TT_BINS, TT_BINS, to + (i - part.first) * TT_BINS);
    }
    return true;
}

void SeriesTable::clear()
{
    for (auto& result : m_now.results)
        result.flags = 0;
    std::fill(m_now.present.begin(), m_now.present.end(), std::uint8_t { 0 });
}

bool SeriesTable::isPresent(const Values& values, std::size_t i) const
{
    if (m_stats.empty())
        return i < values.results.size() && (values.results[i].flags & TT_STATS_PRESENT) != 0;
    return i < values.present.size() && values.present[i] != 0;
}

bool SeriesTable::isPresent(const Values& values, const Part& part) const
{
    for (std::size_t i = part.first; i < part.first + part.count; ++i) {
        if (isPresent(values, i))
            return true;
    }
    return false;
}

bool SeriesTable::isBroken(std::size_t i) const
{
    if (!isPresent(m_now, i))
        return false;
    if (m_stats.empty())
        return m_now.results[i].finite != m_now.results[i].numel;
    const auto* first = m_now.values.data() + i * m_stats.size();
    return !std::all_of(first, first + m_stats.size(), [](double value) { return std::isfinite(value); });
}

std::uint64_t SeriesTable::presentCount(const Values& values) const
{
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < m_series.size(); ++i)
        count += isPresent(values, i) ? 1u : 0u;
    return count;
}

std::uint64_t SeriesTable::samples(const Values& values) const
{
    if (m_kind == Kind::Scalar)
        return 0;
    return presentCount(values) * (m_stats.empty() ? kSixOps + (m_isBinned ? TT_BINS : 0) : m_stats.size());
}

std::uint64_t SeriesTable::scalars() const
{
    return m_kind == Kind::Scalar ? presentCount(m_now) : 0;
}

}
