// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/tableparts.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace telltale::exchange {
namespace {

/// Metrics of other tools are of one process.
std::deque<ForeignSeries>* metricsOf(TablePart& part)
{
    return part.run.processes().empty() ? nullptr : &part.run.process(Rank { 0 }).all();
}

bool haveTwoValuesOfOneStep(std::vector<TablePart>& parts)
{
    std::unordered_map<std::string, std::vector<const Track*>> byName;
    for (TablePart& part : parts) {
        if (!part.runId.empty() || !metricsOf(part))
            continue;
        for (const ForeignSeries& series : *metricsOf(part)) {
            for (const Track& track : series.tracks)
                byName[series.desc.name].push_back(&track);
        }
    }
    return std::any_of(byName.begin(), byName.end(), [](const auto& named) {
        std::unordered_map<std::int64_t, double> told;
        for (const Track* track : named.second) {
            if (named.second.size() < 2)
                return false;
            for (std::size_t i = 0; i < track->steps.size(); ++i) {
                const double value = track->values[i];
                const auto [at, isNew] = told.try_emplace(track->steps[i], value);
                const bool isSame = isNew || at->second == value || (std::isnan(at->second) && std::isnan(value));
                if (!isSame && track != named.second.front())
                    return true;
            }
        }
        return false;
    });
}

}

Expected<void> joinParts(std::vector<TablePart>& parts, ForeignRun& run)
{
    const TablePart* own = nullptr;
    for (const TablePart& part : parts) {
        if (part.runId.empty())
            continue;
        if (own && own->runId != part.runId)
            return failure(ErrorCode::BadInput, own->file + " and " + part.file + " are of two runs of Telltale",
                "import each by itself");
        own = &part;
    }
    const bool areSeveral = haveTwoValuesOfOneStep(parts);
    for (TablePart& part : parts) {
        const bool isNamed = areSeveral && part.runId.empty();
        for (const auto& [key, process] : part.run.processes()) {
            ForeignProcess& whole = run.process(key.second, key.first);
            whole.absorb(part.run.process(key.second, key.first), isNamed ? part.file + '/' : std::string());
            if (whole.framework.empty())
                whole.framework = process.framework;
        }
        for (const auto& [what, count] : part.run.leftOut())
            run.leaveOut(what, count);
        for (const std::string& sentence : part.run.damages())
            run.noteDamage(sentence);
        if (part.run.createdNs > 0)
            run.createdNs = run.createdNs == 0 ? part.run.createdNs : std::min(run.createdNs, part.run.createdNs);
        if (run.name.empty() && !areSeveral)
            run.name = part.run.name;
    }
    return {};
}

}
