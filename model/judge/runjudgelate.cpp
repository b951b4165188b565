// SPDX-License-Identifier: GPL-3.0-or-later
// What comes of steps that a source was judged by.
#include <telltale/judge/runjudge.h>

#include <algorithm>
#include <utility>

#include <telltale/judge/wording.h>

namespace telltale::judge {

void RunJudge::noteLate(Source& source, const Watchlist& newer)
{
    if (source.frontier.value == kNoStep)
        return;
    std::set<std::pair<Kind, std::uint32_t>> known;
    for (const Watched& row : source.judge.list().rows)
        known.emplace(row.kind, row.tensor);
    for (const Watched& row : newer.rows) {
        if (row.kind == Kind::Scalar || known.contains({ row.kind, row.tensor }))
            continue;
        if (!source.late)
            source.late.emplace(Late { source.judge, {} });
        source.late->rows.try_emplace({ row.kind, row.tensor }, Step { kNoStep });
    }
    if (!source.late)
        return;
    const auto& rows = source.late->rows;
    source.late->asked = Asked::of(newer, [&rows](const Watched& row) {
        return rows.contains({ row.kind, row.tensor });
    });
    source.late->asked.extras.clear(); // the rules that ask for them want a history
    source.late->judge.take(newer);
}

Expected<void> RunJudge::judgeLate(
    store::RunReader& reader, Source& source, StepRange steps, const series::CancelToken& cancel)
{
    if (!source.late)
        return {};
    Late& late = *source.late;
    const StepRange wanted { steps.first, std::min(steps.last, source.frontier) };
    if (wanted.isEmpty())
        return {};
    const Watchlist& list = late.judge.list();
    auto columns = StepColumns::read(reader, list, late.asked, wanted, cancel);
    if (!columns)
        return tl::unexpected<Error>(columns.error());
    std::vector<Step*> frontiers(list.rows.size(), nullptr);
    for (std::size_t i = 0; i < frontiers.size(); ++i) {
        if (const auto known = late.rows.find({ list.rows[i].kind, list.rows[i].tensor }); known != late.rows.end())
            frontiers[i] = &known->second;
    }
    std::vector<Sighting> sightings;
    for (Step step = wanted.first; *columns && step <= wanted.last; ++step.value) {
        const auto column = (*columns)->at(
            step, [&](std::size_t row) { return frontiers[row] == nullptr || step <= *frontiers[row]; });
        if (!column)
            continue;
        late.judge.judge(*column, sightings);
        for (std::size_t i = 0; i < frontiers.size(); ++i) {
            if (column->states[i] >= series::CellState::Absent)
                *frontiers[i] = step;
        }
        std::erase_if(sightings,
            [](const Sighting& seen) { return seen.rule != Rule::NonFinite && seen.rule != Rule::Overflow; });
        for (const Sighting& sighting : sightings)
            take(witnessOf(*m_catalog->rows, list, sighting, step), source.attempt);
    }
    return {};
}

}
