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
            source.late.emplace(Late { source.judge, Step { kNoStep }, {} });
        source.late->rows.emplace(row.kind, row.tensor);
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
    const StepRange wanted { Step { std::max(steps.first.value, late.frontier.value + 1) },
        Step { std::min(steps.last.value, source.frontier.value) } };
    if (wanted.isEmpty())
        return {};
    auto columns = StepColumns::read(reader, late.judge.list(), late.asked, wanted, cancel);
    if (!columns)
        return tl::unexpected<Error>(columns.error());
    std::vector<Sighting> sightings;
    for (Step step = wanted.first; *columns && step <= wanted.last; ++step.value) {
        const auto column = (*columns)->at(step);
        if (!column)
            continue;
        late.judge.judge(*column, sightings);
        late.frontier = step;
        std::erase_if(sightings,
            [](const Sighting& seen) { return seen.rule != Rule::NonFinite && seen.rule != Rule::Overflow; });
        for (const Sighting& sighting : sightings)
            take(witnessOf(*m_catalog->rows, late.judge.list(), sighting, step), source.attempt);
    }
    return {};
}

}
