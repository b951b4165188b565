// SPDX-License-Identifier: GPL-3.0-or-later
#include "logfeed.h"

#include <QDateTime>

#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>

#include "rundriver.h"
#include "toaster.h"

namespace telltale::shell {

namespace {

constexpr std::size_t kMostSaid = 100; ///< messages of a run that come back with it

}

LogFeed::LogFeed(
    store::QueryPool* queries, views::ViewState* state, RunDriver* driver, Toaster* toaster, QObject* parent)
    : QObject(parent)
    , m_queries(queries)
    , m_queryId(queries->newView())
    , m_state(state)
    , m_driver(driver)
{
    connect(state, &views::ViewState::runChanged, this, [this] {
        m_queries->cancel(m_queryId);
        m_cursor = {};
        m_model.clearRun();
        const auto said = m_state->run() ? m_said.find(m_state->run()->id) : m_said.end();
        if (said != m_said.end()) {
            for (const items::LogModel::Entry& entry : said->second)
                m_model.add(entry, false);
        }
    });
    connect(state, &views::ViewState::catalogChanged, this, [this] {
        m_model.setDirectory(m_state->catalog().get());
        readOn();
    });
    connect(state, &views::ViewState::logAppended, this,
        [this](const store::LogPage& page) { m_model.append(page.records); });
    connect(driver, &RunDriver::logGrew, this, &LogFeed::readOn);
    connect(driver, &RunDriver::connectionsChanged, this, &LogFeed::takeConnections);
    connect(toaster, &Toaster::logged, this, [this](Toaster::Severity severity, const QString& sentence, bool isOfRun) {
        if (m_model.isOfRun(sentence))
            return;
        items::LogModel::Entry entry;
        entry.kind = tr("Telltale");
        entry.text = sentence;
        entry.severity = severity == Toaster::Severity::Critical ? 2 : severity == Toaster::Severity::Warning ? 1 : 0;
        entry.wallNs = QDateTime::currentMSecsSinceEpoch() * 1'000'000;
        if (isOfRun && m_state->run()) {
            auto& said = m_said[m_state->run()->id];
            said.push_back(entry);
            if (said.size() > kMostSaid)
                said.erase(said.begin());
        }
        m_model.add(std::move(entry), !(isOfRun && m_state->run()));
    });
}

LogFeed::~LogFeed()
{
    m_queries->cancel(m_queryId);
}

void LogFeed::readOn()
{
    items::assertGuiThread();
    m_grewMeanwhile = m_queries->isBusy(m_queryId);
    if (m_grewMeanwhile || !m_state->catalog()) // what is shown first comes first
        return;
    m_queries->submit(m_queryId, m_state->run(),
        [this, cursor = m_cursor](
            Expected<store::RunReader*> reader, const series::CancelToken&) -> store::QueryPool::Delivery {
            auto page = reader ? (*reader)->log(cursor) : Expected<store::LogPage>(tl::unexpected(reader.error()));
            if (!page) // the driver says why a run cannot be read
                return {};
            return [this, page = std::move(*page)] {
                m_cursor = page.next;
                m_state->appendLog(page);
                if (m_grewMeanwhile || !page.isLast)
                    readOn();
            };
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
