// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/factsheet.h>

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include <telltale/analysis/rundocument.h>
#include <telltale/store/confighistory.h>

namespace telltale::judge {
namespace {

using analysis::Json;

std::string textOf(const Json& value)
{
    return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool isPlain(const Json& list)
{
    return std::none_of(list.begin(), list.end(), [](const Json& one) { return one.is_structured(); });
}

void addValue(FactSheet& sheet, const std::string& section, const std::string& name, const Json& value)
{
    const auto under
        = [&name](const std::string& part) { return name.empty() ? part : fmt::format("{}.{}", name, part); };
    if (value.is_object() && !value.empty()) {
        for (const auto& [key, one] : value.items())
            addValue(sheet, section, under(key), one);
    } else if (value.is_array() && !isPlain(value)) {
        for (std::size_t i = 0; i < value.size(); ++i)
            addValue(sheet, section, under(std::to_string(i)), value[i]);
    } else {
        sheet.add(section, name, textOf(value));
    }
}

Expected<void> addRevisions(FactSheet& sheet, store::RunReader& reader)
{
    store::ConfigHistory history;
    if (auto read = history.update(reader); !read)
        return read;
    for (const store::ConfigRevision& revision : history.revisions()) {
        std::string text = fmt::format("step {}", revision.applyAtStep.value);
        const Json changes = Json::parse(revision.changes, nullptr, false);
        for (const Json& change : changes.is_array() ? changes : Json::array()) {
            if (change.is_object() && change.contains("pointer"))
                text += fmt::format(", {} {}", textOf(change["pointer"]), textOf(change.value("after", Json())));
        }
        sheet.add(factsection::kRevisions, fmt::format("rev {}", revision.rev), std::move(text));
    }
    return {};
}

void addDirectory(FactSheet& sheet, const store::Catalog& catalog)
{
    std::set<Rank> ranks;
    std::set<std::string> devices;
    std::set<std::string> frameworks;
    std::map<std::string, std::set<int>> spread;
    for (const store::SourceInfo& source : catalog.sources) {
        ranks.insert(source.rank);
        devices.insert(source.device);
        frameworks.insert(source.framework);
        for (const auto& [name, place] :
            { std::pair { "dp", source.dp }, { "tp", source.tp }, { "pp", source.pp }, { "ep", source.ep } }) {
            if (place >= 0)
                spread[name].insert(place);
        }
    }
    const auto joined = [](const std::set<std::string>& words) {
        std::string text;
        for (const std::string& word : words)
            text += (text.empty() || word.empty() ? "" : ", ") + word;
        return text;
    };
    sheet.add(factsection::kRun, "ranks", std::to_string(ranks.size()));
    if (const std::string text = joined(devices); !text.empty())
        sheet.add(factsection::kRun, "device", text);
    if (const std::string text = joined(frameworks); !text.empty())
        sheet.add(factsection::kRun, "framework", text);
    for (const auto& [name, places] : spread)
        sheet.add(factsection::kRun, name, std::to_string(places.size()));
    if (!catalog.steps.isEmpty())
        sheet.add(
            factsection::kRun, "steps", fmt::format("{} to {}", catalog.steps.first.value, catalog.steps.last.value));
    std::map<Kind, std::set<std::pair<std::string, std::string>>> tensors;
    std::map<Kind, std::set<std::string>> types;
    for (const store::SeriesInfo& series : catalog.series) {
        tensors[series.kind].emplace(series.desc->name, series.desc->slot.text());
        types[series.kind].insert(std::string(dtypeName(series.desc->dtype)));
    }
    for (const auto& [kind, names] : tensors)
        sheet.add(factsection::kRun, fmt::format("{}.series", kindName(kind)), std::to_string(names.size()));
    for (const auto& [kind, names] : types)
        sheet.add(factsection::kRun, fmt::format("{}.dtype", kindName(kind)), joined(names));
}

}

void FactSheet::add(const std::string& section, const std::string& name, std::string value)
{
    m_facts[{ section, name }] = std::move(value);
}

bool FactSheet::addDocument(const std::string& section, std::string_view json)
{
    const Json document = Json::parse(json, nullptr, false);
    if (document.is_discarded())
        return false;
    if (!document.empty())
        addValue(*this, section, {}, document);
    return true;
}

Expected<FactSheet> factSheetOf(store::RunReader& reader)
{
    const auto catalog = reader.catalog();
    if (!catalog)
        return tl::unexpected(catalog.error());
    FactSheet sheet;
    const auto document = analysis::readRunDocument(reader);
    if (!document)
        return tl::unexpected(document.error());
    for (const auto& [section, json] : { std::pair { factsection::kConfig, &document->config },
             std::pair { factsection::kHyperparameters, &document->hyperparameters },
             std::pair { factsection::kEnvironment, &document->environment } }) {
        if (!json->empty())
            addValue(sheet, section, {}, *json);
    }
    if (const auto read = addRevisions(sheet, reader); !read)
        return tl::unexpected(read.error());
    addDirectory(sheet, **catalog);
    return sheet;
}

std::vector<DifferingFact> differingFacts(std::span<const FactSheet> runs)
{
    std::set<std::pair<std::string, std::string>> names;
    for (const FactSheet& run : runs) {
        for (const auto& [name, value] : run.facts())
            names.insert(name);
    }
    std::vector<DifferingFact> differing;
    for (const auto& name : names) {
        DifferingFact fact { name.first, name.second, {} };
        for (const FactSheet& run : runs) {
            const auto found = run.facts().find(name);
            fact.values.push_back(
                found == run.facts().end() ? std::nullopt : std::optional<std::string>(found->second));
        }
        if (std::any_of(fact.values.begin(), fact.values.end(),
                [&fact](const auto& value) { return value != fact.values.front(); }))
            differing.push_back(std::move(fact));
    }
    static constexpr std::array kOrder { factsection::kConfig, factsection::kRevisions, factsection::kHyperparameters,
        factsection::kEnvironment, factsection::kRun };
    const auto placeOf
        = [](const std::string& section) { return std::find(kOrder.begin(), kOrder.end(), section) - kOrder.begin(); };
    std::stable_sort(differing.begin(), differing.end(),
        [&](const DifferingFact& a, const DifferingFact& b) { return placeOf(a.section) < placeOf(b.section); });
    return differing;
}

}
