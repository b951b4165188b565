// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/incidentdesk.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace telltale::judge {
namespace {

constexpr std::size_t kMostKept = 512;
constexpr std::size_t kMostTies = 8;

std::string placeText(const Finding& finding)
{
    return fmt::format("{}{}{}{}", finding.name, finding.slot.empty() ? "" : ":", finding.slot,
        finding.rank.value < 0 ? std::string() : fmt::format(" on rank {}", finding.rank.value));
}

/// What says how the optimizer makes something of a whole model's gradients.
bool explains(const Finding& finding)
{
    return finding.rule == idOf(Rule::LearningRate) || finding.rule == idOf(Rule::Staleness)
        || finding.rule == idOf(Rule::UpdateRatio);
}

}

IncidentDesk::Case* IncidentDesk::openCase(const Witness& witness)
{
    // How long a rank takes has nothing to do with its numbers.
    const auto isTime = [](const Finding& finding) { return finding.rule == idOf(Rule::Straggler); };
    // One that is over goes on where what is late belongs to it.
    const auto found = std::find_if(m_cases.rbegin(), m_cases.rend(), [&](const Case& one) {
        if (one.attempt != witness.attempt || isTime(one.incident.first) != isTime(witness.finding))
            return false;
        const Step step = witness.moment.step;
        // Had the cause been known in time, this one would have followed while it was open.
        const bool isCause
            = witness.opens && witness.moment < one.begins && one.begins.step.value - step.value <= kQuietSteps;
        return !one.incident.isOver || isCause || (one.incident.first.step <= step && step <= one.incident.lastStep);
    });
    return found == m_cases.rend() ? nullptr : &*found;
}

void IncidentDesk::reach(Incident& incident, const Witness& witness)
{
    const auto known = std::find_if(incident.reach.begin(), incident.reach.end(),
        [&](const Reach& one) { return one.block == witness.block && one.rank == witness.finding.rank; });
    if (known != incident.reach.end()) {
        known->steps.first = std::min(known->steps.first, witness.moment.step);
        known->steps.last = std::max(known->steps.last, witness.seen);
        ++known->findings;
    } else if (incident.reach.size() < Incident::kMostReach) {
        incident.reach.push_back({ witness.block, witness.finding.rank, { witness.moment.step, witness.seen }, 1 });
    }
}

void IncidentDesk::take(Witness witness)
{
    Case* open = openCase(witness);
    if (!witness.opens || (open != nullptr && explains(witness.finding))) {
        m_noted.push_back(witness);
        if (m_noted.size() > kMostKept)
            m_noted.pop_front();
    }
    if (open == nullptr && !witness.opens)
        return;
    if (open == nullptr) {
        Case fresh;
        fresh.begins = witness.moment;
        fresh.incident.first = witness.finding;
        fresh.incident.key = fmt::format("{}/{}/{}/{}", witness.finding.rule, witness.moment.step.value,
            kindName(witness.finding.kind), placeText(witness.finding));
        if (witness.attempt > 0) // it may go the same way again
            fresh.incident.key += fmt::format("/{}", witness.attempt);
        fresh.attempt = witness.attempt;
        fresh.incident.phase = witness.moment.phase;
        fresh.incident.opened = fresh.incident.lastStep = witness.seen;
        reach(fresh.incident, witness);
        m_cases.push_back(std::move(fresh));
        return;
    }
    Incident& incident = open->incident;
    if (witness.seen > incident.lastStep)
        incident.lastStep = witness.seen;
    open->isChanged = true;
    reach(incident, witness);
    const auto whereOf = [](const Moment& moment) { return std::pair(moment.step, moment.phase); };
    const bool isSamePlace = witness.finding.name == incident.first.name && witness.finding.slot == incident.first.slot
        && witness.finding.rank == incident.first.rank && witness.finding.kind == incident.first.kind;
    if (isSamePlace && witness.finding.rule == incident.first.rule && witness.moment.step == open->begins.step) {
        if (witness.finding.severity > incident.first.severity) { // and worse
            incident.first.severity = witness.finding.severity;
            incident.first.sentence = std::move(witness.finding.sentence);
            open->isNew = true;
        }
        return; // the same again
    }
    if (!witness.opens || !(witness.moment < open->begins)) {
        ++incident.folded;
        // Two ranks that go wrong at the same place of a step: nothing says which was first.
        const bool isTie = witness.opens && witness.finding.rank != incident.first.rank
            && whereOf(witness.moment) == whereOf(open->begins) && witness.moment.place == open->begins.place;
        const std::string place = isTie ? placeText(witness.finding) : std::string();
        if (isTie && incident.ties.size() < kMostTies
            && std::find(incident.ties.begin(), incident.ties.end(), place) == incident.ties.end())
            incident.ties.push_back(place);
        return;
    }
    // It began earlier, or elsewhere, than was known.
    ++incident.folded;
    incident.ties.clear();
    incident.first = std::move(witness.finding);
    incident.phase = witness.moment.phase;
    open->begins = witness.moment;
    open->isNew = true;
}

void IncidentDesk::passed(Step step, bool isBad, int attempt)
{
    for (Case& one : m_cases) {
        Incident& incident = one.incident;
        if (incident.isOver || one.attempt > attempt)
            continue;
        const bool hasEnded = one.attempt < attempt;
        if (!hasEnded && isBad && incident.first.rule == idOf(Rule::NonFinite) && step > incident.lastStep) {
            incident.lastStep = step;
            one.isChanged = true;
        }
        if (!hasEnded && step.value - incident.lastStep.value < kQuietSteps)
            continue;
        incident.isOver = true;
        one.isChanged = true;
    }
}

void IncidentDesk::lasts(Step step, const std::set<std::pair<std::string, Rank>>& blocks)
{
    for (Case& one : m_cases) {
        if (one.incident.isOver || one.incident.first.rule != idOf(Rule::NonFinite))
            continue;
        for (Reach& reach : one.incident.reach) {
            if (blocks.contains({ reach.block, reach.rank }))
                reach.steps.last = std::max(reach.steps.last, step);
        }
        one.isChanged = true;
    }
}

std::vector<const Witness*> IncidentDesk::noted(const std::string& block, Step step, std::int64_t steps) const
{
    std::vector<const Witness*> found;
    for (const Witness& one : m_noted) {
        const bool isNear = one.moment.step <= step && step.value - one.moment.step.value <= steps;
        if (isNear && (one.block == block || explains(one.finding)))
            found.push_back(&one);
    }
    return found;
}

}
