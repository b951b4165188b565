// SPDX-License-Identifier: GPL-3.0-or-later
#include "storenews.h"

#include <algorithm>
#include <utility>

#include <telltale/items/guithread.h>
#include <telltale/store/storeservice.h>

namespace telltale::shell {

StoreNews::StoreNews(const store::StoreService& service)
    : m_subscription(service.subscribe(*this))
    , m_feed(service, [this](const store::RunRef& run, const judge::Incident& incident, judge::IncidentNews) {
        onIncident(run->locator, incident);
    })
{
    const std::lock_guard lock(m_mutex);
    if (!m_runs)
        m_runs = service.liveRuns();
}

std::optional<std::vector<store::RunRef>> StoreNews::takeRuns()
{
    items::assertGuiThread();
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_runs, std::nullopt);
}

store::Durable StoreNews::takeDurable(const store::RunRef& run)
{
    items::assertGuiThread();
    const std::lock_guard lock(m_mutex);
    // What is written into a run that is over comes from a handle of its own.
    const auto found = std::find_if(m_durable.begin(), m_durable.end(),
        [&run](const store::Durable& durable) { return run && durable.run->locator == run->locator; });
    store::Durable taken = found == m_durable.end() ? store::Durable {} : std::move(*found);
    m_durable.clear();
    return taken;
}

std::map<store::RunLocator, archive::IncidentCounts> StoreNews::incidents() const
{
    items::assertGuiThread();
    const std::lock_guard lock(m_mutex);
    std::map<store::RunLocator, archive::IncidentCounts> counts;
    for (const auto& [run, incidents] : m_incidents) {
        for (const auto& [id, severity] : incidents)
            ++counts[run][static_cast<std::size_t>(severity)];
    }
    return counts;
}

void StoreNews::onIncident(const store::RunLocator& run, const judge::Incident& incident)
{
    const std::lock_guard lock(m_mutex);
    if (incident.into != 0 || incident.label == judge::Incident::Label::False)
        m_incidents[run].erase(incident.id);
    else
        m_incidents[run][incident.id] = incident.first.severity;
}

void StoreNews::onDurable(const store::Durable& durable)
{
    const std::lock_guard lock(m_mutex);
    const auto known = std::find_if(m_durable.begin(), m_durable.end(),
        [&durable](const store::Durable& other) { return other.run == durable.run; });
    if (known == m_durable.end())
        m_durable.push_back(durable);
    else
        known->add(durable);
}

void StoreNews::onRuns(const std::vector<store::RunRef>& live)
{
    const std::lock_guard lock(m_mutex);
    m_runs = live;
}

}
