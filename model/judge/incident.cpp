// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/incident.h>

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include <telltale/judge/jsonfield.h>

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
    Json json { { "rule", finding.rule }, { "severity", kSeverities[static_cast<std::size_t>(finding.severity)] },
        { "step", finding.step.value }, { "rank", finding.rank.value }, { "kind", kindName(finding.kind) },
        { "name", finding.name }, { "slot", finding.slot }, { "stat", statName(finding.stat) },
        { "sentence", finding.sentence } };
    if (finding.microStep >= 0)
        json["micro_step"] = finding.microStep;
    return json;
}

Finding findingFrom(const Json& json)
{
    Finding finding;
    std::string word;
    readField(json, "rule", finding.rule);
    readField(json, "severity", word);
    const auto* severity = std::find(kSeverities.begin(), kSeverities.end(), word);
    if (severity != kSeverities.end())
        finding.severity = static_cast<store::Severity>(severity - kSeverities.begin());
    readField(json, "step", finding.step.value);
    readField(json, "rank", finding.rank.value);
    word.clear();
    readField(json, "kind", word);
    finding.kind = kindFromName(word).value_or(Kind::Unspecified);
    readField(json, "name", finding.name);
    readField(json, "slot", finding.slot);
    readField(json, "micro_step", finding.microStep);
    word.clear();
    readField(json, "stat", word);
    finding.stat = statFromName(word).value_or(Stat::Unspecified);
    readField(json, "sentence", finding.sentence);
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

std::string placeOf(const Finding& finding)
{
    return fmt::format("{}{}{}{}", finding.name, finding.slot.empty() ? "" : ":", finding.slot,
        finding.microStep > 0 ? fmt::format(" (micro step {})", finding.microStep) : std::string());
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
    if (incident.into != 0)
        json["into"] = incident.into;
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
    readField(json, "id", incident.id);
    readField(json, "key", incident.key);
    readField(json, "opened", incident.opened.value);
    std::string phase;
    readField(json, "phase", phase);
    incident.phase = phaseFromWord(phase).value_or(phaseOf(incident.first.kind));
    readField(json, "last_step", incident.lastStep.value);
    readField(json, "over", incident.isOver);
    readField(json, "began", incident.first.sentence);
    readField(json, "sentence", incident.sentence);
    readField(json, "folded", incident.folded);
    readField(json, "rev", incident.rev);
    readField(json, "into", incident.into);
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
        readField(one, "block", reach.block);
        readField(one, "rank", reach.rank.value);
        readField(one, "step", reach.steps.first.value);
        readField(one, "last_step", reach.steps.last.value);
        readField(one, "findings", reach.findings);
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
        readField(json, "incident", annotation.incident);
        readField(json, "action", word);
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
    event.severity = kSeverities[static_cast<std::size_t>(incident.first.severity)];
    if (incident.into != 0)
        event.cause = std::to_string(incident.into);
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

}
