// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/seriestable.h>

#include <algorithm>
#include <utility>

namespace telltale {
namespace {

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
        m_results.emplace_back();
    } else {
        m_values.resize(m_series.size() * m_stats.size());
        m_present.push_back(0);
    }
    return m_series.size() - 1;
}

void SeriesTable::set(std::size_t i, std::size_t stat, double value)
{
    m_values[i * m_stats.size() + stat] = value;
    m_present[i] = 1;
}

bool SeriesTable::registerNew(Sink& sink)
{
    const std::size_t known = m_parts.empty() ? 0 : m_parts.back().first + m_parts.back().count;
    if (known == m_series.size())
        return true;
    const std::span<const SeriesDesc> fresh(m_series.data() + known, m_series.size() - known);
    m_parts.push_back({ sink.addLayout(m_kind, m_stats, fresh), known, fresh.size() });
    return m_parts.back().layout != 0;
}

void SeriesTable::publish(Sink& sink)
{
    for (const auto& part : m_parts) {
        if (part.layout != 0 && isPresent(part))
            publish(sink, part);
    }
    clear();
}

void SeriesTable::publish(Sink& sink, const Part& part)
{
    if (m_stats.empty()) {
        if (tt_stats* to = sink.stats(part.layout))
            std::copy_n(m_results.data() + part.first, part.count, to);
        return;
    }
    std::uint8_t* present = nullptr;
    const auto width = m_stats.size();
    if (m_kind == Kind::Scalar) {
        if (double* to = sink.doubles(part.layout, &present)) {
            std::copy_n(m_values.data() + part.first, part.count, to);
            std::copy_n(m_present.data() + part.first, part.count, present);
        }
    } else if (float* to = sink.floats(part.layout, &present)) {
        for (std::size_t stat = 0; stat < width; ++stat) {
            for (std::size_t i = 0; i < part.count; ++i)
                to[stat * part.count + i] = static_cast<float>(m_values[(part.first + i) * width + stat]);
        }
        std::copy_n(m_present.data() + part.first, part.count, present);
    }
}

void SeriesTable::clear()
{
    for (auto& result : m_results)
        result.flags = 0;
    std::fill(m_present.begin(), m_present.end(), std::uint8_t { 0 });
}

bool SeriesTable::isPresent(std::size_t i) const
{
    return m_stats.empty() ? (m_results[i].flags & TT_STATS_PRESENT) != 0 : m_present[i] != 0;
}

bool SeriesTable::isPresent(const Part& part) const
{
    for (std::size_t i = part.first; i < part.first + part.count; ++i) {
        if (isPresent(i))
            return true;
    }
    return false;
}

std::uint64_t SeriesTable::presentCount() const
{
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < m_series.size(); ++i)
        count += isPresent(i) ? 1u : 0u;
    return count;
}

std::uint64_t SeriesTable::samples() const
{
    if (m_kind == Kind::Scalar)
        return 0;
    return presentCount() * (m_stats.empty() ? kSixOps : m_stats.size());
}

std::uint64_t SeriesTable::scalars() const
{
    return m_kind == Kind::Scalar ? presentCount() : 0;
}

}
