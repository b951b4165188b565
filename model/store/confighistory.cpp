// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/confighistory.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include <telltale/store/runreader.h>

namespace telltale::store {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kPage = 200; ///< records, of which each may hold a config

Json parsed(const std::string& text)
{
    Json json = Json::parse(text, nullptr, false);
    return json.is_object() ? json : Json::object();
}

/// What stands under a name, where it is what it should be.
template <typename Value> Value valueOf(const Json& json, const char* name, Value otherwise)
{
    const auto found = json.find(name);
    if constexpr (std::is_same_v<Value, std::string>)
        return found != json.end() && found->is_string() ? found->get<std::string>() : otherwise;
    else
        return found != json.end() && found->is_number_integer() ? found->get<Value>() : otherwise;
}

std::string textOf(const Json& json, const char* name)
{
    const auto found = json.find(name);
    return found == json.end() ? std::string() : found->dump(-1, ' ', false, Json::error_handler_t::replace);
}

ConfigRevision revisionOf(const LogRecord& record)
{
    const Json json = parsed(record.json);
    ConfigRevision revision;
    revision.rev = static_cast<std::uint64_t>(record.rev);
    revision.record = record.id;
    revision.wallNs = record.wallNs;
    revision.author = record.author;
    revision.text = record.text;
    revision.config = textOf(json, "config");
    revision.hash = valueOf(json, "hash", std::string());
    revision.changes = textOf(json, "changes");
    revision.applyAtStep = record.steps.first;
    if (const auto ranks = json.find("ranks"); ranks != json.end() && ranks->is_array()) {
        for (const Json& rank : *ranks) {
            if (rank.is_number_integer())
                revision.ranks.emplace_back(rank.get<std::int32_t>());
        }
    }
    return revision;
}

ConfigRevision::Answer answerOf(const LogRecord& record)
{
    const Json json = parsed(record.json);
    return { record.phase, record.steps.first, record.text, record.wallNs,
        valueOf(json, "incarnation", std::uint64_t { 0 }) };
}

}

bool ConfigRevision::asks(Rank rank) const
{
    return ranks.empty() || std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

bool ConfigRevision::isRefused() const
{
    const auto said = [this](std::string_view phase) {
        return std::any_of(
            answers.begin(), answers.end(), [phase](const auto& answer) { return answer.second.phase == phase; });
    };
    return said(configphase::kRefused) && !said(configphase::kApplied);
}

Expected<void> ConfigHistory::update(RunReader& reader)
{
    for (;;) {
        auto page = reader.log(m_cursor, { "config", {}, {} }, kPage);
        if (!page)
            return tl::unexpected<Error>(std::move(page.error()));
        for (const LogRecord& record : page->records)
            take(record);
        m_cursor = page->next;
        if (page->isLast)
            return {};
    }
}

void ConfigHistory::take(const LogRecord& record)
{
    if (record.kind != "config" || record.rev <= 0)
        return;
    const auto rev = static_cast<std::uint64_t>(record.rev);
    // Agents write of their own rank only: what is of none is the server's word.
    const bool isOffer = record.rank.value < 0 && record.phase == configphase::kOffered;
    if (isOffer && record.ref == 0) {
        if (!m_revisions.empty() && m_revisions.back().rev >= rev)
            return;
        m_revisions.push_back(revisionOf(record));
        if (m_revisions.size() > kMost)
            m_revisions.erase(m_revisions.begin());
        return;
    }
    const auto known = std::lower_bound(m_revisions.begin(), m_revisions.end(), rev,
        [](const ConfigRevision& revision, std::uint64_t wanted) { return revision.rev < wanted; });
    if (known == m_revisions.end() || known->rev != rev)
        return;
    if (isOffer)
        known->applyAtStep = record.steps.first;
    else if (record.rank.value >= 0)
        known->answers.insert_or_assign(record.rank, answerOf(record));
}

const ConfigRevision* ConfigHistory::newestFor(Rank rank) const
{
    const auto found = std::find_if(m_revisions.rbegin(), m_revisions.rend(),
        [rank](const ConfigRevision& revision) { return revision.asks(rank); });
    return found == m_revisions.rend() ? nullptr : &*found;
}

}
