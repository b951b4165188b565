// SPDX-License-Identifier: GPL-3.0-or-later
#include "logfeed.h"

#include <telltale/common/viewstate.h>

#include "rundriver.h"
#include "toaster.h"

namespace telltale::shell {

LogFeed::LogFeed(views::ViewState* state, RunDriver* driver, Toaster* toaster, QObject* parent)
    : QObject(parent)
    , m_state(state)
    , m_driver(driver)
{
    connect(state, &views::ViewState::catalogChanged, this, [this] { m_model.setRun(m_state->catalog().get()); });
    connect(driver, &RunDriver::connectionsChanged, this, &LogFeed::takeConnections);
    connect(toaster, &Toaster::logged, this, [this](Toaster::Severity severity, const QString& sentence) {
        if (m_model.isOfRun(sentence))
            return;
        items::LogModel::Entry entry;
        entry.kind = tr("Telltale");
        entry.text = sentence;
        entry.severity = severity == Toaster::Severity::Critical ? 2 : severity == Toaster::Severity::Warning ? 1 : 0;
        m_model.add(std::move(entry));
    });
}

void LogFeed::takeConnections()
{
    for (const ConnectionInfo& connection : m_driver->connections()) {
        std::string& known = m_refused[connection.agentId + '\n' + connection.peer];
        if (known == connection.lastRefusal)
            continue;
        known = connection.lastRefusal;
        if (known.empty())
            continue;
        items::LogModel::Entry entry;
        entry.rank = connection.agentId.empty() ? -1 : connection.rank.value;
        entry.kind = tr("refused");
        entry.text = tr("%1: %2").arg(QString::fromStdString(connection.peer), QString::fromStdString(known));
        entry.severity = 1;
        m_model.add(std::move(entry));
    }
}

}
