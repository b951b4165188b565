// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/alerts/alertwatch.h>

namespace telltale::alerts {
namespace {

std::int64_t wallNow()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

bool isQuiet(const judge::Incident& incident)
{
    return incident.isAcknowledged || incident.label == judge::Incident::Label::False;
}

}

AlertWatch::AlertWatch(std::function<void()> wake)
    : m_wake(std::move(wake))
{
}

void AlertWatch::onIncident(const store::RunRef& run, const judge::Incident& incident, judge::IncidentNews news)
{
    {
        const std::lock_guard lock(m_mutex);
        note(run, incident, news);
    }
    if (m_wake)
        m_wake();
}

void AlertWatch::note(const store::RunRef& run, const judge::Incident& incident, judge::IncidentNews news)
{
    const std::string& locator = run->locator.text();
    Candidate& candidate = m_candidates[Key(locator, incident.id)];
    const bool isUnheard = candidate.found == Clock::time_point();
    if (news == judge::IncidentNews::Known) {
        // Whoever watched then has told it. A run that comes back after a pause says again what was heard of it here.
        if (isUnheard)
            candidate.state = incident.first.severity >= m_least ? State::Told : State::Passed;
        return;
    }
    if (isUnheard) {
        candidate.found = Clock::now();
        candidate.alert = { run->id, run->name, locator, wallNow(), {} };
    }
    if (candidate.state == State::Told)
        return;
    candidate.alert.incident = incident;
    candidate.state = incident.into == 0 ? State::Waits : State::Passed; // the one that it is part of is told
}

std::vector<Alert> AlertWatch::take(Clock::time_point now, std::chrono::seconds settle)
{
    std::vector<Alert> all;
    const std::lock_guard lock(m_mutex);
    for (auto& [key, candidate] : m_candidates) {
        if (candidate.state != State::Waits || candidate.found + settle > now)
            continue;
        // One that is passed over is looked at again when its log says more of it.
        const bool isTold = candidate.alert.incident.first.severity >= m_least && !isQuiet(candidate.alert.incident);
        candidate.state = isTold ? State::Told : State::Passed;
        if (isTold)
            all.push_back(std::exchange(candidate.alert, {}));
    }
    return all;
}

std::optional<AlertWatch::Clock::time_point> AlertWatch::due(std::chrono::seconds settle) const
{
    std::optional<Clock::time_point> first;
    const std::lock_guard lock(m_mutex);
    for (const auto& [key, candidate] : m_candidates) {
        if (candidate.state == State::Waits && (!first || candidate.found + settle < *first))
            first = candidate.found + settle;
    }
    return first;
}

}
