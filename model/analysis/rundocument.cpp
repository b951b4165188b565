// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/analysis/rundocument.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include <telltale/store/confighistory.h>

namespace telltale::analysis {
namespace {

constexpr std::size_t kDeepestFact = 32;
constexpr std::size_t kNotesInLog = 200; ///< bytes of notes that their line in the log shows

Json objectOf(const Expected<std::string>& text)
{
    if (!text)
        return Json::object();
    Json json = Json::parse(*text, nullptr, false, true);
    return json.is_object() ? json : Json::object();
}

std::string dumped(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void collect(const Json& value, const std::string& name, std::size_t depth, std::vector<Fact>& facts)
{
    if (!value.is_object() || value.empty() || depth > kDeepestFact) {
        facts.push_back({ name, value.is_string() ? value.get<std::string>() : dumped(value) });
        return;
    }
    for (const auto& [key, one] : value.items())
        collect(one, name.empty() ? key : name + "." + key, depth + 1, facts);
}

/// The newest document of each rank.
Expected<std::map<Rank, Json>> newestByRank(store::RunReader& reader, const std::string& kind)
{
    const auto found = reader.documents(kind);
    if (!found)
        return tl::unexpected(found.error());
    std::map<Rank, std::int64_t> newest;
    for (const store::DocumentInfo& info : *found)
        newest[info.rank] = info.id;
    std::map<Rank, Json> documents;
    for (const auto& [rank, id] : newest) {
        if (Json json = objectOf(reader.document(id)); !json.empty())
            documents.emplace(rank, std::move(json));
    }
    return documents;
}

Json difference(const Json& base, const Json& other)
{
    Json different = Json::object();
    for (const auto& [key, value] : other.items()) {
        if (const auto known = base.find(key); known == base.end() || *known != value)
            different[key] = value;
    }
    return different;
}

Expected<std::vector<store::LogRecord>> recordsOf(store::RunReader& reader, const char* kind)
{
    std::vector<store::LogRecord> records;
    store::LogCursor cursor;
    for (;;) {
        auto page = reader.log(cursor, { kind, {}, {} });
        if (!page)
            return tl::unexpected(page.error());
        std::move(page->records.begin(), page->records.end(), std::back_inserter(records));
        if (page->isLast)
            return records;
        cursor = page->next;
    }
}

bool isPersons(const store::LogRecord& record)
{
    return record.rank.value < 0;
}

void eachText(const Json& json, const char* name, const auto& take)
{
    const auto found = json.find(name);
    if (found == json.end() || !found->is_array())
        return;
    for (const Json& one : *found) {
        if (one.is_string() && !one.get<std::string>().empty())
            take(one.get<std::string>());
    }
}

std::vector<std::string> tagsIn(const std::vector<store::LogRecord>& records)
{
    std::vector<std::string> tags;
    std::vector<std::string> refused;
    const auto add = [&tags](const std::string& tag) {
        if (std::find(tags.begin(), tags.end(), tag) == tags.end() && tags.size() < kMostTags)
            tags.push_back(tag);
    };
    for (const store::LogRecord& record : records) {
        const Json json = objectOf(record.json);
        if (!isPersons(record)) {
            eachText(json, "tags", [&](const std::string& tag) {
                if (std::find(refused.begin(), refused.end(), tag) == refused.end())
                    add(tag);
            });
            continue;
        }
        eachText(json, "remove", [&](const std::string& tag) {
            std::erase(tags, tag);
            refused.push_back(tag);
        });
        eachText(json, "add", [&](const std::string& tag) {
            std::erase(refused, tag);
            add(tag);
        });
    }
    return tags;
}

void readNotes(const std::vector<store::LogRecord>& records, RunDocument& document)
{
    const auto last = std::find_if(records.rbegin(), records.rend(), isPersons);
    const auto chosen = last != records.rend() ? last : records.rbegin();
    if (chosen == records.rend())
        return;
    const Json json = objectOf(chosen->json);
    if (const auto notes = json.find("notes"); notes != json.end() && notes->is_string())
        document.notes = notes->get<std::string>();
    document.notesAuthor = isPersons(*chosen) ? chosen->author : std::string();
}

Event eventOf(const char* kind, std::string text, const Json& json, Step step)
{
    Event event;
    event.kind = kind;
    event.step = step;
    event.text = std::move(text);
    event.json = dumped(json);
    return event;
}

}

std::vector<Fact> factsOf(const Json& object)
{
    std::vector<Fact> facts;
    if (object.is_object() && !object.empty())
        collect(object, {}, 0, facts);
    return facts;
}

/// What was reported last, or a revision that was put in force since: not every agent reports the file again.
Json configOf(store::RunReader& reader)
{
    const auto reportedBy
        = [&reader](std::int64_t step) { return objectOf(reader.blob("config", "config.json", Step { step })); };
    Json config = reportedBy(std::numeric_limits<std::int64_t>::max());
    store::ConfigHistory history;
    if (!history.update(reader))
        return config;
    for (auto revision = history.revisions().rbegin(); revision != history.revisions().rend(); ++revision) {
        const auto applied = std::ranges::find_if(
            revision->answers, [](const auto& answer) { return answer.second.phase == store::configphase::kApplied; });
        if (applied == revision->answers.end())
            continue;
        return config == reportedBy(applied->second.step.value - 1) ? objectOf(revision->config) : config;
    }
    return config;
}

Expected<RunDocument> readRunDocument(store::RunReader& reader)
{
    RunDocument document;
    auto settings = newestByRank(reader, "hyperparameters");
    auto environments = newestByRank(reader, "environment");
    const auto tags = recordsOf(reader, kTagsRecord);
    const auto notes = recordsOf(reader, kNotesRecord);
    if (!settings || !environments)
        return tl::unexpected(settings ? environments.error() : settings.error());
    if (!tags || !notes)
        return tl::unexpected(tags ? notes.error() : tags.error());
    if (!settings->empty())
        document.hyperparameters = std::move(settings->begin()->second);
    if (!environments->empty()) {
        document.environment = std::move(environments->begin()->second);
        environments->erase(environments->begin());
    }
    for (const auto& [rank, environment] : *environments) {
        if (Json own = difference(document.environment, environment); !own.empty())
            document.otherEnvironments.emplace(rank, std::move(own));
    }
    document.config = configOf(reader);
    document.tags = tagsIn(*tags);
    readNotes(*notes, document);
    return document;
}

Json toJson(const RunDocument& document)
{
    Json others = Json::object();
    for (const auto& [rank, environment] : document.otherEnvironments)
        others[std::to_string(rank.value)] = environment;
    return { { "hyperparameters", document.hyperparameters }, { "environment", document.environment },
        { "environment_by_rank", others }, { "tags", document.tags }, { "notes", document.notes },
        { "config", document.config } };
}

Event tagsEvent(const std::vector<std::string>& added, const std::vector<std::string>& removed, Step step)
{
    std::string text = "tags:";
    for (const std::string& tag : added)
        text += " +" + tag;
    for (const std::string& tag : removed)
        text += " -" + tag;
    return eventOf(kTagsRecord, std::move(text), { { "add", added }, { "remove", removed } }, step);
}

Event notesEvent(const std::string& notes, Step step)
{
    std::string line = notes.substr(0, std::min(notes.find('\n'), kNotesInLog));
    return eventOf(kNotesRecord, std::move(line), { { "notes", notes } }, step);
}

bool isRunOver(const store::Catalog& catalog)
{
    return std::none_of(catalog.sources.begin(), catalog.sources.end(),
        [](const store::SourceInfo& source) { return source.state == store::SourceState::Running; });
}

}
