// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/incident.h>

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include <telltale/store/runreader.h>

namespace telltale::judge {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<Phase, std::string_view>, 8> kPhases { {
    { Phase::Weight, "weight" },
    { Phase::Forward, "forward" },
    { Phase::Loss, "loss" },
    { Phase::Backward, "backward" },
    { Phase::Gradient, "gradient" },
    { Phase::Optimizer, "optimizer" },
    { Phase::Updated, "updated" },
    { Phase::Step, "step" },
} };
constexpr std::array<std::string_view, 3> kSeverities { "notice", "warning", "critical" };
constexpr std::array<std::pair<Annotation::Action, std::string_view>, 4> kActions { {
    { Annotation::Action::Acknowledge, "acknowledge" },
    { Annotation::Action::Note, "note" },
    { Annotation::Action::True, "true" },
    { Annotation::Action::False, "false" },
} };

Json jsonOf(const Finding& finding)
{
    return { { "rule", finding.rule }, { "severity", kSeverities[static_cast<std::size_t>(finding.severity)] },
        { "step", finding.step.value }, { "rank", finding.rank.value }, { "kind", kindName(finding.kind) },
        { "name", finding.name }, { "slot", finding.slot }, { "stat", statName(finding.stat) },
        { "sentence", finding.sentence } };
}

/// Reads what is there and of its type; the rest keeps its default.
template <typename Value> void read(const Json& json, const char* name, Value& into)
{
    const auto found = json.find(name);
    if (found == json.end())
        return;
    if constexpr (std::is_same_v<Value, std::string>) {
        if (found->is_string())
            into = found->get<std::string>();
    } else if constexpr (std::is_same_v<Value, bool>) {
        if (found->is_boolean())
            into = found->get<bool>();
    } else if (found->is_number_integer()) {
        into = found->get<Value>();
    }
}

Finding findingFrom(const Json& json)
{
    Finding finding;
    std::string word;
    read(json, "rule", finding.rule);
    read(json, "severity", word);
    const auto* severity = std::find(kSeverities.begin(), kSeverities.end(), word);
    if (severity != kSeverities.end())
        finding.severity = static_cast<store::Severity>(severity - kSeverities.begin());
    read(json, "step", finding.step.value);
    read(json, "rank", finding.rank.value);
    word.clear();
    read(json, "kind", word);
    finding.kind = kindFromName(word).value_or(Kind::Unspecified);
    read(json, "name", finding.name);
    read(json, "slot", finding.slot);
    word.clear();
    read(json, "stat", word);
    finding.stat = statFromName(word).value_or(Stat::Unspecified);
    read(json, "sentence", finding.sentence);
    return finding;
}

std::string dumped(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename Take> void eachOf(const Json& json, const char* name, Take take)
{
    const auto found = json.find(name);
    if (found == json.end() || !found->is_array())
        return;
    for (const Json& item : *found)
        take(item);
}

}

std::string_view phaseWord(Phase phase)
{
    return kPhases[static_cast<std::size_t>(phase)].second;
}

std::optional<Phase> phaseFromWord(std::string_view word)
{
    const auto* found
        = std::find_if(kPhases.begin(), kPhases.end(), [&](const auto& row) { return row.second == word; });
    return found == kPhases.end() ? std::nullopt : std::optional(found->first);
}

Phase phaseOf(Kind kind)
{
    switch (kind) {
    case Kind::ParamOrigin:
    case Kind::Linear:
        return Phase::Weight;
    case Kind::Scalar:
        return Phase::Loss;
    case Kind::ActvGrad:
        return Phase::Backward;
    case Kind::GradUnreduced:
    case Kind::GradReduced:
    case Kind::GradSign:
    case Kind::Comm:
        return Phase::Gradient;
    case Kind::ExpAvg:
    case Kind::ExpAvgSq:
    case Kind::MgDirection:
    case Kind::Update:
    case Kind::UpdateRatio:
        return Phase::Optimizer;
    case Kind::ParamUpdated:
        return Phase::Updated;
    default:
        return Phase::Forward;
    }
}

std::string toJson(const Incident& incident)
{
    Json json = jsonOf(incident.first);
    json["id"] = incident.id;
    json["key"] = incident.key;
    json["opened"] = incident.opened.value;
    json["phase"] = phaseWord(incident.phase);
    json["last_step"] = incident.lastStep.value;
    json["over"] = incident.isOver;
    json["began"] = incident.first.sentence;
    json["sentence"] = incident.sentence;
    json["folded"] = incident.folded;
    json["rev"] = incident.rev;
    json["ties"] = incident.ties;
    Json& evidence = json["evidence"] = Json::array();
    for (const Finding& finding : incident.evidence)
        evidence.push_back(jsonOf(finding));
    Json& reach = json["reach"] = Json::array();
    for (const Reach& one : incident.reach)
        reach.push_back({ { "block", one.block }, { "rank", one.rank.value }, { "step", one.steps.first.value },
            { "last_step", one.steps.last.value }, { "findings", one.findings } });
    json["acknowledged"] = incident.isAcknowledged;
    json["label"] = incident.label == Incident::Label::None ? ""
        : incident.label == Incident::Label::True           ? "true"
                                                            : "false";
    json["notes"] = incident.notes;
    return dumped(json);
}

std::optional<Incident> incidentFrom(const std::string& text)
{
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("rule"))
        return {};
    Incident incident;
    incident.first = findingFrom(json);
    incident.opened = incident.lastStep = incident.first.step;
    read(json, "id", incident.id);
    read(json, "key", incident.key);
    read(json, "opened", incident.opened.value);
    std::string phase;
    read(json, "phase", phase);
    incident.phase = phaseFromWord(phase).value_or(phaseOf(incident.first.kind));
    read(json, "last_step", incident.lastStep.value);
    read(json, "over", incident.isOver);
    read(json, "began", incident.first.sentence);
    read(json, "sentence", incident.sentence);
    read(json, "folded", incident.folded);
    read(json, "rev", incident.rev);
    eachOf(json, "ties", [&](const Json& tie) {
        if (tie.is_string())
            incident.ties.push_back(tie.get<std::string>());
    });
    eachOf(json, "evidence", [&](const Json& finding) {
        if (finding.is_object() && incident.evidence.size() < Incident::kMostEvidence)
            incident.evidence.push_back(findingFrom(finding));
    });
    eachOf(json, "reach", [&](const Json& one) {
        Reach reach;
        if (!one.is_object() || incident.reach.size() >= Incident::kMostReach)
            return;
        read(one, "block", reach.block);
        read(one, "rank", reach.rank.value);
        read(one, "step", reach.steps.first.value);
        read(one, "last_step", reach.steps.last.value);
        read(one, "findings", reach.findings);
        incident.reach.push_back(std::move(reach));
    });
    return incident;
}

std::optional<Annotation> Annotation::of(const store::LogRecord& record)
{
    if (record.kind != kAnnotationRecord)
        return {};
    const Json json = Json::parse(record.json, nullptr, false);
    Annotation annotation;
    std::string word;
    if (json.is_object()) {
        read(json, "incident", annotation.incident);
        read(json, "action", word);
    }
    const auto* action
        = std::find_if(kActions.begin(), kActions.end(), [&](const auto& row) { return row.second == word; });
    if (action == kActions.end() || annotation.incident == 0)
        return {};
    annotation.action = action->first;
    annotation.note = record.text;
    return annotation;
}

Event annotationEvent(const Annotation& annotation, Step step, std::string author, std::int64_t wallNs)
{
    Event event;
    event.kind = kAnnotationRecord;
    event.step = step;
    event.wallNs = wallNs;
    const auto word = kActions[static_cast<std::size_t>(annotation.action)].second;
    event.text = annotation.action == Annotation::Action::Note ? annotation.note : std::string(word);
    event.json = dumped({ { "incident", annotation.incident }, { "action", word } });
    event.author = std::move(author);
    return event;
}

Event incidentEvent(const Incident& incident, std::int64_t wallNs)
{
    Event event;
    event.kind = kIncidentRecord;
    event.step = incident.opened;
    event.wallNs = wallNs;
    event.text = incident.sentence;
    event.json = toJson(incident);
    event.ref = static_cast<std::uint64_t>(incident.id);
    event.rule = incident.first.rule;
    event.phase = phaseWord(incident.phase);
    event.cause = kSeverities[static_cast<std::size_t>(incident.first.severity)];
    event.lastStep = std::max(incident.opened, incident.lastStep);
    event.rev = incident.rev;
    return event;
}

Event judgedEvent(const Judged& judged, std::int64_t wallNs)
{
    Event event;
    event.kind = kJudgedRecord;
    event.step = judged.steps.first;
    event.lastStep = judged.steps.last;
    event.wallNs = wallNs;
    event.text = "steps " + std::to_string(judged.steps.first.value) + " to " + std::to_string(judged.steps.last.value)
        + " were judged: " + std::to_string(judged.rows) + " tensors and scalars, by " + std::to_string(judged.rules)
        + " rules";
    event.json = dumped({ { "step", judged.steps.first.value }, { "last_step", judged.steps.last.value },
        { "rows", judged.rows }, { "ranks", judged.ranks }, { "rules", judged.rules } });
    event.ref = static_cast<std::uint64_t>(judged.id);
    return event;
}

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

void IncidentBook::takeJudged(const store::LogRecord& record)
{
    const Json json = Json::parse(record.json, nullptr, false);
    if (!json.is_object())
        return;
    Judged judged;
    judged.steps = {};
    read(json, "step", judged.steps.first.value);
    read(json, "last_step", judged.steps.last.value);
    read(json, "rows", judged.rows);
    read(json, "ranks", judged.ranks);
    read(json, "rules", judged.rules);
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
    for (const auto& [id, incident] : m_incidents)
        all.push_back(&incident);
    std::stable_sort(all.begin(), all.end(), [](const Incident* a, const Incident* b) {
        return std::pair(a->first.step, a->phase) < std::pair(b->first.step, b->phase);
    });
    return all;
}

}
