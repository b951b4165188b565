// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/foreignrun.h>

#include <algorithm>
#include <iterator>

namespace telltale::exchange {
namespace {

constexpr std::size_t kMostDamages = 100;

}

Track& ForeignSeries::track(Stat stat)
{
    const auto found
        = std::find_if(tracks.begin(), tracks.end(), [stat](const Track& one) { return one.stat == stat; });
    if (found != tracks.end())
        return *found;
    tracks.push_back({ stat, {}, {} });
    return tracks.back();
}

ForeignSeries& ForeignProcess::series(Kind kind, const SeriesDesc& desc, const std::vector<double>& edges)
{
    std::string key = std::to_string(static_cast<int>(kind)) + '\0' + std::to_string(desc.vppStage) + '\0'
        + std::to_string(desc.microStep) + '\0' + desc.name + '\0' + desc.slot.text() + '\0' + desc.definition;
    if (!edges.empty())
        key.append("\0", 1).append(reinterpret_cast<const char*>(edges.data()), edges.size() * sizeof(double));
    const auto [at, isNew] = m_byName.try_emplace(std::move(key), nullptr);
    if (isNew) {
        m_series.push_back({ kind, desc, edges, {} });
        at->second = &m_series.back();
    }
    return *at->second;
}

void ForeignProcess::noteTime(std::int64_t step, std::int64_t wallNs)
{
    if (m_hasTimed && m_lastTimed == step)
        return;
    m_hasTimed = true;
    m_lastTimed = step;
    m_times.try_emplace(step, wallNs);
}

void ForeignProcess::absorb(ForeignProcess& other, const std::string& prefix)
{
    for (ForeignSeries& from : other.m_series) {
        SeriesDesc desc = from.desc;
        desc.name = prefix + desc.name;
        ForeignSeries& to = series(from.kind, desc, from.edges);
        for (Track& track : from.tracks) {
            Track& all = to.track(track.stat);
            if (all.steps.empty()) {
                all = std::move(track);
                continue;
            }
            all.steps.insert(all.steps.end(), track.steps.begin(), track.steps.end());
            all.values.insert(all.values.end(), track.values.begin(), track.values.end());
        }
    }
    for (const auto& [step, ns] : other.m_times)
        noteTime(step, ns);
    std::move(other.documents.begin(), other.documents.end(), std::back_inserter(documents));
}

ForeignProcess& ForeignRun::process(Rank rank, int attempt)
{
    return m_processes.try_emplace({ attempt, rank }, rank, attempt).first->second;
}

int ForeignRun::attemptsOf(Rank rank) const
{
    int attempts = 0;
    for (const auto& [key, process] : m_processes)
        attempts = key.second == rank ? std::max(attempts, key.first + 1) : attempts;
    return attempts;
}

std::uint64_t ForeignRun::values() const
{
    std::uint64_t values = 0;
    for (const auto& [key, process] : m_processes) {
        for (const ForeignSeries& series : process.all()) {
            for (const Track& track : series.tracks)
                values += track.steps.size();
        }
    }
    return values;
}

void ForeignRun::noteDamage(std::string sentence)
{
    if (m_damages.size() < kMostDamages)
        m_damages.push_back(std::move(sentence));
    else
        leaveOut("further files or rows that could not be read");
}

}
