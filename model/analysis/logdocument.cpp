// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/analysis/logdocument.h>

#include <utility>

#include <telltale/core/plaintext.h>
#include <telltale/store/stepnote.h>

namespace telltale::analysis {

std::string textOf(const store::LogRecord& record)
{
    if (const auto note = store::StepNote::of(record)) {
        const std::string until
            = note->steps.count() > 1 ? " (to step " + std::to_string(note->steps.last.value) + ")" : std::string();
        return note->text + until + (note->isRemoved ? " (removed)" : "");
    }
    if (!record.isDrop || record.items == 0) // how many is what nobody knows
        return record.text;
    const std::string where = record.steps.isEmpty()
        ? std::string()
        : " of steps " + std::to_string(record.steps.first.value) + " to " + std::to_string(record.steps.last.value);
    return std::to_string(record.items) + " items" + where + " were not stored: " + record.text;
}

Json toJson(const store::LogRecord& record)
{
    Json data = Json::parse(record.json, nullptr, false);
    Json line { { "time", utcTimeText(record.placeNs()) }, { "wall_ns", record.placeNs() },
        { "step", record.steps.isEmpty() ? Json() : Json(record.steps.first.value) }, { "rank", record.rank.value },
        { "kind", record.kind }, { "text", textOf(record) },
        { "data", data.is_discarded() ? Json() : std::move(data) } };
    if (record.steps.count() > 1)
        line["last_step"] = record.steps.last.value;
    for (const auto& [key, text] : { std::pair { "rule", &record.rule }, { "phase", &record.phase },
             { "cause", &record.cause }, { "author", &record.author } }) {
        if (!text->empty())
            line[key] = *text;
    }
    for (const auto& [key, number] : { std::pair { "id", record.id }, { "ref", record.ref }, { "rev", record.rev } }) {
        if (number != 0)
            line[key] = number;
    }
    return line;
}

}
