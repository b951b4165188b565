// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/incidentdesk.h>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace telltale::judge {
namespace {

constexpr std::size_t kMostKept = 512;
constexpr std::size_t kMostTies = 8;

std::string onRank(const Finding& finding)
{
    return finding.rank.value < 0 ? std::string() : fmt::format(" on rank {}", finding.rank.value);
}

/// Without the micro step, which records of older versions do not have.
std::string keyOf(const Finding& finding, Step step)
{
    return fmt::format("{}/{}/{}/{}{}{}{}", finding.rule, step.value, kindName(finding.kind), finding.name,
        finding.slot.empty() ? "" : ":", finding.slot, onRank(finding));
}

/// What says how the optimizer makes something of a whole model's gradients.
bool explains(const Finding& finding)
{
    return finding.rule == idOf(Rule::LearningRate) || finding.rule == idOf(Rule::Staleness)
        || finding.rule == idOf(Rule::UpdateRatio);
}

/// How long a rank takes has nothing to do with its numbers.
bool isTime(const Finding& finding)
{
    return finding.rule == idOf(Rule::Straggler);
}

/// What a rule found by comparing numbers with those of steps before. What is exact is news by itself.
bool isCompared(const Finding& finding)
{
    constexpr std::array kRules { Rule::Level, Rule::Loss, Rule::Drift, Rule::EntropyCollapse, Rule::Explosion,
        Rule::Staleness, Rule::UpdateRatio, Rule::DeadUnits, Rule::MaxLogit };
    return std::any_of(kRules.begin(), kRules.end(), [&](Rule rule) { return finding.rule == idOf(rule); });
}

/// Steps after something was seen of a cause within which this follows from it. `rateBefore`: 0, or it raised the
/// learning rate, which stayed so.
std::int64_t reachOf(double rateBefore, const Finding& finding)
{
    return rateBefore > 0 && isCompared(finding) ? IncidentDesk::kRaisedSteps : IncidentDesk::kQuietSteps;
}

Reach reachOf(const Witness& witness)
{
    return { witness.block, witness.finding.rank, { witness.moment.step, witness.seen }, 1 };
}

}

IncidentDesk::Case* IncidentDesk::openCase(const Witness& witness)
{
    // One that is over goes on where what is late belongs to it.
    const auto found = std::find_if(m_cases.rbegin(), m_cases.rend(), [&](const Case& one) {
        if (!one.into.empty() || one.attempt != witness.attempt
            || isTime(one.incident.first) != isTime(witness.finding))
            return false;
        const Step step = witness.moment.step;
        // Had the cause been known in time, this one would have followed while it was open.
        const bool isCause = witness.opens && witness.moment < one.begins
            && one.begins.step.value - step.value <= reachOf(witness.rateBefore, one.incident.first);
        const bool isRaised = one.rateBefore > 0 && witness.opens
            && witness.seen.value - one.incident.lastStep.value <= reachOf(one.rateBefore, witness.finding);
        return !one.incident.isOver || isCause || isRaised
            || (one.incident.first.step <= step && step <= one.incident.lastStep);
    });
    return found == m_cases.rend() ? nullptr : &*found;
}

void IncidentDesk::reach(Incident& incident, const Reach& more)
{
    const auto known = std::find_if(incident.reach.begin(), incident.reach.end(),
        [&](const Reach& one) { return one.block == more.block && one.rank == more.rank; });
    if (known != incident.reach.end()) {
        known->steps.first = std::min(known->steps.first, more.steps.first);
        known->steps.last = std::max(known->steps.last, more.steps.last);
        known->findings += more.findings;
    } else if (incident.reach.size() < Incident::kMostReach) {
        incident.reach.push_back(more);
    }
}

void IncidentDesk::take(Witness witness)
{
    Case* open = openCase(witness);
    if (!witness.opens || (open != nullptr && explains(witness.finding)))
        note(witness);
    if (open != nullptr) {
        join(*open, std::move(witness));
        return;
    }
    if (!witness.opens)
        return;
    Case fresh;
    fresh.begins = witness.moment;
    fresh.rateBefore = witness.rateBefore;
    fresh.incident.first = witness.finding;
    fresh.incident.key = keyOf(witness.finding, witness.moment.step);
    if (witness.attempt > 0) // it may go the same way again
        fresh.incident.key += fmt::format("/{}", witness.attempt);
    fresh.attempt = witness.attempt;
    fresh.incident.phase = witness.moment.phase;
    fresh.incident.opened = fresh.incident.lastStep = witness.seen;
    reach(fresh.incident, reachOf(witness));
    m_cases.push_back(std::move(fresh));
}

void IncidentDesk::note(Witness witness)
{
    m_noted.push_back(std::move(witness));
    if (m_noted.size() > kMostKept)
        m_noted.pop_front();
}

void IncidentDesk::join(Case& open, Witness witness)
{
    Incident& incident = open.incident;
    const bool isLate = witness.seen < incident.opened;
    if (witness.seen.value - incident.lastStep.value > kQuietSteps)
        incident.isOver = false; // it goes on
    incident.lastStep = std::max(incident.lastStep, witness.seen);
    if (witness.rateBefore > 0)
        open.rateBefore = witness.rateBefore;
    open.isChanged = true;
    reach(incident, reachOf(witness));
    const auto whereOf = [](const Moment& moment) { return std::pair(moment.step, moment.phase); };
    const bool isSamePlace = witness.finding.name == incident.first.name && witness.finding.slot == incident.first.slot
        && witness.finding.rank == incident.first.rank && witness.finding.kind == incident.first.kind;
    if (isSamePlace && witness.finding.rule == incident.first.rule && witness.moment.step == open.begins.step) {
        if (witness.finding.severity > incident.first.severity) { // and worse
            incident.first.severity = witness.finding.severity;
            incident.first.sentence = std::move(witness.finding.sentence);
            open.isNew = true;
        }
        return; // the same again
    }
    ++incident.folded;
    const store::Severity worst = std::max(incident.first.severity, witness.finding.severity);
    if (witness.opens && worst > incident.first.severity) { // an incident is as severe as the worst that came of it
        incident.first.severity = worst;
        open.isNew = true;
        note(witness);
    }
    if (!witness.opens || !(witness.moment < open.begins)) {
        // Two ranks that go wrong at the same place of a step: nothing says which was first.
        const bool isTie = witness.opens && witness.finding.rank != incident.first.rank
            && whereOf(witness.moment) == whereOf(open.begins) && witness.moment.place == open.begins.place;
        const std::string place = isTie ? placeOf(witness.finding) + onRank(witness.finding) : std::string();
        if (isTie && incident.ties.size() < kMostTies
            && std::find(incident.ties.begin(), incident.ties.end(), place) == incident.ties.end())
            incident.ties.push_back(place);
        return;
    }
    // It began earlier, or elsewhere, than was known; what it was known by says more of it.
    incident.ties.clear();
    note({ std::exchange(incident.first, std::move(witness.finding)), open.begins, incident.opened, witness.block, true,
        open.attempt });
    incident.first.severity = worst;
    incident.phase = witness.moment.phase;
    open.begins = witness.moment;
    open.isNew = true;
    gather(open, isLate);
}

/// What would have followed from this one, had it been known in time, or, where that is late, what this one would have
/// followed from, becomes one with it: the one that was opened first.
void IncidentDesk::gather(Case& cause, bool isLate)
{
    Case* kept = &cause;
    const auto follows = [&](const Case& one) {
        const bool isEarlier = one.begins < kept->begins;
        if (&one == kept || !one.into.empty() || one.attempt != kept->attempt
            || isTime(one.incident.first) != isTime(kept->incident.first) || (isEarlier && !isLate))
            return false;
        const Case& before = isEarlier ? one : *kept;
        const Case& after = isEarlier ? *kept : one;
        const Step from = isEarlier ? after.begins.step : after.incident.opened;
        return from.value - before.incident.lastStep.value <= reachOf(before.rateBefore, after.incident.first);
    };
    for (;;) {
        const auto other = std::find_if(m_cases.begin(), m_cases.end(), follows);
        if (other == m_cases.end())
            return;
        // Those that were told first keep their id.
        const bool isOlder = std::any_of(m_cases.begin(), other, [&](const Case& one) { return &one == kept; });
        Case& from = isOlder ? *other : *kept;
        kept = isOlder ? kept : &*other;
        fold(*kept, from);
    }
}

void IncidentDesk::fold(Case& kept, Case& other)
{
    Incident& incident = kept.incident;
    const Incident& folded = other.incident;
    incident.lastStep = std::max(incident.lastStep, folded.lastStep);
    incident.isOver = incident.isOver && folded.isOver;
    incident.folded += folded.folded + 1;
    for (const Reach& one : folded.reach)
        reach(incident, one);
    kept.rateBefore = std::max(kept.rateBefore, other.rateBefore);
    const store::Severity worst = std::max(incident.first.severity, folded.first.severity);
    if (other.begins < kept.begins) {
        kept.begins = other.begins;
        incident.first = folded.first;
        incident.phase = folded.phase;
        incident.ties = folded.ties;
    }
    incident.first.severity = worst;
    kept.isChanged = kept.isNew = true;
    other.into = incident.key;
    other.incident.isOver = true;
    other.isChanged = true;
    other.isNew = false;
}

void IncidentDesk::passed(const Now& now)
{
    constexpr double kRaised = 1.5;
    for (Case& one : m_cases) {
        Incident& incident = one.incident;
        const bool hasEnded = one.attempt < now.attempt;
        if (hasEnded
            || (one.attempt == now.attempt && now.learningRate > 0 && now.learningRate < kRaised * one.rateBefore))
            one.rateBefore = 0;
        if (incident.isOver || one.attempt > now.attempt)
            continue;
        if (!hasEnded && incident.first.rule == idOf(Rule::NonFinite) && now.bad > incident.lastStep) {
            incident.lastStep = *now.bad;
            one.isChanged = true;
        }
        if (!hasEnded && now.everyone.value - incident.lastStep.value < kQuietSteps)
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
