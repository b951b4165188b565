// SPDX-License-Identifier: GPL-3.0-or-later
#include "steeringstate.h"

#include <algorithm>
#include <utility>

#include <telltale/items/guithread.h>

namespace telltale::views {

void SteeringState::set(std::vector<RunSteering> runs)
{
    items::assertGuiThread();
    if (runs == m_runs)
        return;
    m_runs = std::move(runs);
    Q_EMIT changed();
}

void SteeringState::choose(const QStringList& runIds)
{
    items::assertGuiThread();
    m_chosen = runIds;
    Q_EMIT changed();
}

void SteeringState::setRates(const RunRates& rates)
{
    items::assertGuiThread();
    if (rates == m_rates)
        return;
    m_rates = rates;
    Q_EMIT ratesChanged();
}

void SteeringState::setWhyNoApply(const QString& why)
{
    items::assertGuiThread();
    if (why == m_whyNoApply)
        return;
    m_whyNoApply = why;
    Q_EMIT whyNoApplyChanged();
}

void SteeringState::mirror(const SteeringState* other)
{
    items::assertGuiThread();
    m_isMirror = true;
    const auto takeRuns = [this, other] {
        m_chosen = other->m_chosen;
        set(other->m_runs);
    };
    const auto takeRates = [this, other] { setRates(other->m_rates); };
    connect(other, &SteeringState::changed, this, takeRuns);
    connect(other, &SteeringState::ratesChanged, this, takeRates);
    takeRuns();
    takeRates();
}

std::vector<const RunSteering*> SteeringState::chosen() const
{
    std::vector<const RunSteering*> runs;
    for (const QString& id : m_chosen) {
        if (const RunSteering* run = of(id.toStdString()))
            runs.push_back(run);
    }
    return runs;
}

const RunSteering* SteeringState::of(const std::string& runId) const
{
    const auto found
        = std::find_if(m_runs.begin(), m_runs.end(), [&](const RunSteering& run) { return run.runId == runId; });
    return found == m_runs.end() ? nullptr : &*found;
}

}
