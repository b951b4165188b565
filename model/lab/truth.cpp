// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/lab/truth.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include <telltale/store/runreader.h>

namespace telltale::lab {
namespace {

constexpr const char* kRun = "run"; ///< of an annotation that is of no incident
constexpr const char* kClean = "clean";

std::optional<bool> cleanFrom(const store::LogRecord& record)
{
    if (record.kind != judge::kAnnotationRecord || record.rank.value >= 0)
        return {};
    const auto json = nlohmann::json::parse(record.json, nullptr, false);
    const auto run = json.is_object() ? json.find(kRun) : json.end();
    return run == json.end() ? std::nullopt : std::optional(*run == kClean);
}

}

int Truth::count(judge::Incident::Label label) const
{
    return static_cast<int>(std::count_if(
        labeled.begin(), labeled.end(), [label](const judge::Incident& incident) { return incident.label == label; }));
}

Expected<Truth> truthOf(store::RunReader& reader)
{
    Truth truth;
    judge::IncidentBook book;
    for (const std::string_view kind : { judge::kIncidentRecord, judge::kAnnotationRecord }) {
        store::LogCursor cursor;
        for (bool isLast = false; !isLast;) {
            auto page = reader.log(cursor, { std::string(kind), Rank { -1 }, {} });
            if (!page)
                return tl::unexpected<Error>(std::move(page.error()));
            for (const store::LogRecord& record : page->records) {
                if (!book.take(record))
                    truth.isClean = cleanFrom(record).value_or(truth.isClean);
            }
            cursor = page->next;
            isLast = page->isLast;
        }
    }
    for (const judge::Incident* incident : book.inOrder()) {
        if (incident->label != judge::Incident::Label::None)
            truth.labeled.push_back(*incident);
    }
    return truth;
}

Event cleanEvent(bool isClean, Step step, std::string author, std::int64_t wallNs)
{
    Event event;
    event.kind = judge::kAnnotationRecord;
    event.step = step;
    event.wallNs = wallNs;
    event.text = isClean ? "clean" : "not said to be clean";
    event.json = nlohmann::json { { kRun, isClean ? kClean : "" } }.dump();
    event.author = std::move(author);
    return event;
}

}
