// SPDX-License-Identifier: GPL-3.0-or-later
// What a run is asked for, so that what was found can be said.
#include <telltale/judge/runjudge.h>

#include <algorithm>
#include <array>

#include <telltale/judge/forecast.h>
#include <telltale/judge/wording.h>

namespace telltale::judge {

void RunJudge::describeNew(store::RunReader& reader)
{
    for (IncidentDesk::Case& one : m_desk.cases()) {
        if (one.isNew)
            describe(reader, *m_catalog, m_desk, ranksSeen(one.attempt), one);
    }
}

bool RunJudge::checkBits(store::RunReader& reader, const Source& source, Sighting& sighting, Step step)
{
    if (sighting.rule != Rule::Frozen)
        return true;
    const Watched& row = source.judge.list().rows[static_cast<std::size_t>(sighting.row)];
    std::array<std::uint64_t, 2> bits {};
    for (std::size_t i = 0; i < bits.size(); ++i) {
        const auto cells = reader.column(i == 0 ? sighting.moment.step : step, Stat::Checksum, { &row.attempts, 1 });
        if (!cells || cells->front().state != series::CellState::Value)
            return true;
        bits[i] = cells->front().identity;
    }
    sighting.isToTheBit = bits[0] == bits[1];
    return sighting.isToTheBit;
}

Witness RunJudge::inWords(store::RunReader& reader, const Source& source, const Sighting& sighting, Step step) const
{
    Witness witness = witnessOf(*m_catalog->rows, source.judge.list(), sighting, step);
    if (sighting.rule != Rule::Explosion)
        return witness;
    const Watched& row = source.judge.list().rows[static_cast<std::size_t>(sighting.row)];
    const auto cells = reader.column(step, Stat::AbsMax, { &row.attempts, 1 });
    const auto info = std::lower_bound(m_catalog->series.begin(), m_catalog->series.end(), row.attempts.series.front(),
        [](const store::SeriesInfo& one, SeriesId id) { return one.id < id; });
    if (cells && info != m_catalog->series.end() && cells->front().state == series::CellState::Value)
        witness.finding.sentence += overflowForecast(cells->front().value, sighting.growth, info->desc->dtype, step);
    return witness;
}

}
