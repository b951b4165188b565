// SPDX-License-Identifier: GPL-3.0-or-later
#include "alertjump.h"

#include <telltale/anomalies/anomaliespanel.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>

#include "dockhost.h"
#include "logfeed.h"
#include "rundriver.h"
#include "toaster.h"
#include "viewtabs.h"
#include "windowparts.h"

namespace telltale::shell {

using views::ViewState;

AlertJump::AlertJump(const WindowParts& parts, QObject* parent)
    : QObject(parent)
    , m_parts(parts)
{
    const ViewState* state = parts.views.state;
    connect(state, &ViewState::runChanged, this, &AlertJump::arrive);
    connect(state->incidents(), &items::IncidentsModel::changed, this, &AlertJump::arrive);
    connect(state, &ViewState::logAppended, this, [this](const store::LogPage& page) {
        m_isAllRead = page.isLast && isThere();
        finishLook();
    });
    // Which says why the run cannot be opened.
    connect(parts.driver, &RunDriver::problem, this, [this] {
        if (!isThere())
            m_wanted.reset();
    });
}

void AlertJump::go(const notify::AlertPlace& place)
{
    items::assertGuiThread();
    if (place.locator.empty())
        return;
    m_wanted = place;
    m_isAllRead = false;
    m_looks = 0;
    if (!isThere())
        return m_parts.driver->openPath(QString::fromStdString(place.locator));
    arrive();
    if (m_wanted)
        m_parts.log->readOn();
}

bool AlertJump::isThere() const
{
    const store::RunRef run = m_parts.views.state->run();
    return m_wanted && run && run->locator.text() == m_wanted->locator;
}

void AlertJump::arrive()
{
    if (!isThere())
        return;
    ViewState* state = m_parts.views.state;
    const std::int64_t incident = m_wanted->incident;
    if (incident != 0 && state->incidents()->find(incident) == nullptr)
        return finishLook();
    m_wanted.reset();
    if (incident != 0)
        Q_EMIT arrived();
    state->goToIncident(incident);
    const auto* panel = m_parts.docks->panel<views::AnomaliesPanel>();
    if (incident == 0 || panel == nullptr || !panel->isVisible())
        m_parts.tabs->setCurrent(QStringLiteral("anomalies"));
}

/// What was on its way when it was asked for may have been read before the incident was written.
void AlertJump::finishLook()
{
    constexpr int kMostLooks = 2;
    const ViewState* state = m_parts.views.state;
    if (!isThere() || !m_isAllRead || !state->incidents()->isSettled())
        return;
    m_isAllRead = false;
    if (++m_looks < kMostLooks)
        return m_parts.log->readOn();
    m_wanted.reset();
    m_parts.toaster->postOfRun(Toaster::Severity::Notice, tr("The run has no such incident any more"));
}

}
