// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/incidentfeed.h>

#include <algorithm>
#include <utility>

#include <telltale/store/runreader.h>

namespace telltale::judge {

IncidentFeed::IncidentFeed(const store::StoreService& store, Heard heard)
    : m_heard(std::move(heard))
    , m_subscription(store.subscribe(*this))
{
}

IncidentFeed::~IncidentFeed() = default;

void IncidentFeed::onRuns(const std::vector<store::RunRef>& live)
{
    std::erase_if(m_runs, [&live](const auto& entry) {
        return std::none_of(
            live.begin(), live.end(), [&](const store::RunRef& run) { return run == entry.second.ref; });
    });
}

void IncidentFeed::onDurable(const store::Durable& durable)
{
    if (durable.events.isEmpty())
        return;
    Run& run = m_runs[durable.run->locator.text()];
    if (run.ref != durable.run) {
        run = {};
        run.ref = durable.run;
        run.firstNew = durable.events.first;
    }
    if (!run.reader) {
        auto reader = store::openReader(*run.ref);
        if (!reader)
            return; // with the next commit
        run.reader = std::move(*reader);
    }
    // What cannot be read now is read with the next commit.
    const auto isRead = run.book.update(*run.reader, [&](const store::LogRecord& record, const Incident& incident) {
        const bool isFirst = run.heard.insert(incident.id).second;
        const bool isOld = !run.isCaughtUp && record.id < run.firstNew; // later on, it is one that was changed
        m_heard(run.ref, incident,
            isOld         ? IncidentNews::Known
                : isFirst ? IncidentNews::Opened
                          : IncidentNews::Changed);
    });
    run.isCaughtUp = run.isCaughtUp || isRead;
    if (!durable.run->isLive()) // one more record of a run that is over: its file is left alone again
        m_runs.erase(durable.run->locator.text());
}

}
