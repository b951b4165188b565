// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/analysis/runfacts.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>

#include <nlohmann/json.hpp>

#include <telltale/config/textedit.h>
#include <telltale/store/confighistory.h>

namespace telltale::analysis {
namespace {

std::vector<config::FieldChange> changesBetween(const std::string& before, const std::string& after)
{
    const auto old = config::parseMonitorConfig(before.empty() ? "{}" : before);
    const auto now = config::parseMonitorConfig(after);
    return old && now ? config::configChanges(old->config, now->config) : std::vector<config::FieldChange> {};
}

/// What ran when the first revision was offered, which the offer was compared with; where it names no change, what the
/// file said: a rank that applies a revision writes it into its file.
std::string beforeFirst(store::RunReader& reader, const store::ConfigRevision& first)
{
    const auto told = nlohmann::json::parse(first.changes, nullptr, false);
    std::string text = first.config;
    if (told.is_array() && !told.empty()) {
        for (const auto& change : told) {
            if (change.is_object() && change.contains("pointer") && change["pointer"].is_string()
                && change.contains("before"))
                text = config::withMember(text, change["pointer"].get<std::string>(), change["before"].dump());
        }
        return text;
    }
    const auto own = reader.blob("config", "config.json", Step { first.applyAtStep.value - 1 });
    return own && !own->empty() ? *own : "{}";
}

RevisionFacts factsOf(const store::ConfigRevision& revision, const std::string& before)
{
    RevisionFacts facts { revision.rev, revision.applyAtStep, revision.wallNs, revision.author,
        changesBetween(before, revision.config), revision.config, before };
    for (const auto& [rank, answer] : revision.answers) {
        facts.applied += answer.phase == store::configphase::kApplied ? 1 : 0;
        facts.refused += answer.phase == store::configphase::kRefused ? 1 : 0;
    }
    return facts;
}

/// Samples a step of one series of a kind: those of its statistics, each bin of a histogram one.
double samplesOf(const store::GroupInfo& group)
{
    const auto samples
        = std::count_if(group.stats.begin(), group.stats.end(), [](Stat stat) { return countsAsSample(stat); });
    return static_cast<double>(samples) * group.bins();
}

void addSeen(config::RunFacts& run, const store::Catalog& catalog)
{
    std::map<std::pair<SourceId, Kind>, double> samples;
    std::map<Kind, std::set<SourceId>> sources;
    for (const store::GroupInfo& group : catalog.groups)
        samples[{ group.source, group.kind }] = samplesOf(group);
    // One that an agent announced again, after a change of its config, is the same one.
    std::set<std::tuple<SourceId, Kind, int, int, std::string_view, Slot>> known;
    for (const store::SeriesInfo& series : catalog.series) {
        if (series.kind == Kind::Scalar
            || !known
                    .emplace(series.source, series.kind, series.desc->vppStage, series.desc->microStep,
                        series.desc->name, series.desc->slot)
                    .second)
            continue;
        sources[series.kind].insert(series.source);
        config::RunFacts::Seen& seen = run.seen[series.kind][series.desc->name];
        seen.series += 1;
        seen.samples += samples[{ series.source, series.kind }];
        seen.elements += static_cast<double>(series.desc->numel);
    }
    // Of one rank; where each rank has modules of its own, that is less than it seems for those, and right for all.
    for (auto& [kind, names] : run.seen) {
        const auto count = static_cast<double>(sources[kind].size());
        for (auto& [name, seen] : names)
            seen = { seen.series / count, seen.samples / count, seen.elements / count };
    }
}

}

std::vector<RevisionFacts> revisionFacts(store::RunReader& reader, const store::ConfigHistory& history)
{
    const auto& all = history.revisions();
    std::string before = all.empty() ? std::string() : beforeFirst(reader, all.front());
    std::vector<RevisionFacts> facts;
    for (const store::ConfigRevision& revision : all) {
        facts.push_back(factsOf(revision, before));
        if (!revision.isRefused())
            before = revision.config;
    }
    return facts;
}

Expected<ConfigFacts> configFactsOf(store::RunReader& reader)
{
    const auto catalog = reader.catalog();
    if (!catalog)
        return tl::unexpected(catalog.error());
    constexpr Step newest { std::numeric_limits<std::int64_t>::max() };
    ConfigFacts facts;
    if (const auto structure = reader.blob("structure", "model", newest))
        facts.run.modules = config::modulesOf(*structure);
    if (const auto text = reader.blob("config", "config.json", newest))
        facts.text = *text;
    addSeen(facts.run, **catalog);
    std::set<std::int64_t> ranks;
    for (const store::SourceInfo& source : (*catalog)->sources)
        ranks.insert(source.rank.value);
    facts.run.ranks.assign(ranks.begin(), ranks.end());
    store::ConfigHistory history;
    if (auto read = history.update(reader); !read)
        return tl::unexpected(read.error());
    auto all = revisionFacts(reader, history);
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(std::min(all.size(), kMostRevisions)));
    facts.revisions = std::move(all);
    std::reverse(facts.revisions.begin(), facts.revisions.end());
    return facts;
}

}
