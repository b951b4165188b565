// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/archive/incidentsteps.h>

#include <algorithm>

#include <telltale/judge/incident.h>
#include <telltale/store/runreader.h>

namespace telltale::archive {

Expected<std::vector<StepRange>> stepsOfIncidents(const store::RunLocator& run, std::int64_t around)
{
    const auto reader = store::openReader({ run, {}, {}, nullptr });
    if (!reader)
        return tl::unexpected(reader.error());
    judge::IncidentBook book;
    if (const auto ok = book.update(**reader); !ok)
        return tl::unexpected(ok.error());
    std::vector<StepRange> ranges;
    for (const judge::Incident* incident : book.inOrder()) {
        const Step first = std::min(incident->first.step, incident->opened);
        // One that went on to the end would keep half a run: what matters is how it began and how it ended.
        const Step last = std::max({ first, incident->opened, incident->lastStep });
        for (const StepRange& part : { StepRange { first, incident->opened }, StepRange { last, last } })
            ranges.push_back({ Step { part.first.value - around }, Step { part.last.value + around } });
    }
    std::sort(ranges.begin(), ranges.end(), [](const StepRange& a, const StepRange& b) { return a.first < b.first; });
    std::vector<StepRange> joined;
    for (const StepRange& range : ranges) {
        if (!joined.empty() && range.first.value <= joined.back().last.value + 1)
            joined.back().last = std::max(joined.back().last, range.last);
        else
            joined.push_back(range);
    }
    return joined;
}

}
