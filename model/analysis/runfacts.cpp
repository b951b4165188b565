// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/analysis/runfacts.h>

#include <limits>
#include <set>

namespace telltale::analysis {

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
    std::set<std::int64_t> ranks;
    for (const store::SourceInfo& source : (*catalog)->sources)
        ranks.insert(source.rank.value);
    facts.run.ranks.assign(ranks.begin(), ranks.end());
    return facts;
}

}
