// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include <telltale/judge/incident.h>
#include <telltale/judge/jsonfield.h>
#include <telltale/store/runreader.h>

namespace telltale::judge {

Expected<void> IncidentBook::update(store::RunReader& reader, const Changed& changed)
{
    for (;;) {
        auto page = reader.log(m_cursor);
        if (!page)
            return tl::unexpected<Error>(std::move(page.error()));
        for (const store::LogRecord& record : page->records) {
            const Incident* incident = take(record);
            if (incident && changed)
                changed(record, *incident);
        }
        m_cursor = page->next;
        if (page->isLast)
            return {};
    }
}

const Incident* IncidentBook::take(const store::LogRecord& record)
{
    // Agents write of their own rank: what is of none is the server's, or a person's, word.
    if (record.rank.value >= 0)
        return nullptr;
    if (record.kind == kIncidentRecord) {
        auto incident = incidentFrom(record.json);
        if (!incident)
            return nullptr;
        const std::int64_t id = record.ref != 0 ? record.ref : record.id;
        Incident& known = m_incidents[id];
        incident->id = id;
        incident->isAcknowledged = known.isAcknowledged;
        incident->label = known.label;
        incident->notes = std::move(known.notes);
        known = std::move(*incident);
        return &known;
    }
    if (record.kind == kJudgedRecord) {
        takeJudged(record);
        return nullptr;
    }
    const auto annotation = Annotation::of(record);
    const auto known = annotation ? m_incidents.find(annotation->incident) : m_incidents.end();
    if (known == m_incidents.end())
        return nullptr;
    Incident& incident = known->second;
    switch (annotation->action) {
    case Annotation::Action::Acknowledge:
        incident.isAcknowledged = true;
        break;
    case Annotation::Action::Note:
        incident.notes.push_back(annotation->note);
        break;
    case Annotation::Action::True:
        incident.label = Incident::Label::True;
        break;
    case Annotation::Action::False:
        incident.label = Incident::Label::False;
        break;
    }
    return &incident;
}

const Incident* IncidentBook::standing(std::int64_t id) const
{
    // What a log says may go in circles.
    for (std::size_t hops = 0; hops <= m_incidents.size(); ++hops) {
        const auto found = m_incidents.find(id);
        if (found == m_incidents.end())
            return nullptr;
        if (found->second.into == 0)
            return &found->second;
        id = found->second.into;
    }
    return nullptr;
}

void IncidentBook::takeJudged(const store::LogRecord& record)
{
    const nlohmann::json json = nlohmann::json::parse(record.json, nullptr, false);
    if (!json.is_object())
        return;
    Judged judged;
    judged.steps = {};
    readField(json, "step", judged.steps.first.value);
    readField(json, "last_step", judged.steps.last.value);
    readField(json, "rows", judged.rows);
    readField(json, "ranks", judged.ranks);
    readField(json, "rules", judged.rules);
    judged.id = record.ref != 0 ? record.ref : record.id;
    const auto known
        = std::find_if(m_judged.begin(), m_judged.end(), [&judged](const Judged& one) { return one.id == judged.id; });
    if (known == m_judged.end())
        m_judged.push_back(judged);
    else
        *known = judged;
}

std::vector<const Incident*> IncidentBook::inOrder() const
{
    std::vector<const Incident*> all;
    all.reserve(m_incidents.size());
    for (const auto& [id, incident] : m_incidents) {
        if (incident.into == 0)
            all.push_back(&incident);
    }
    std::stable_sort(all.begin(), all.end(), [](const Incident* a, const Incident* b) {
        return std::pair(a->first.step, a->phase) < std::pair(b->first.step, b->phase);
    });
    return all;
}

}
