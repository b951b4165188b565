// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <vector>

#include <QObject>

#include <telltale/items/logmodel.h>
#include <telltale/store/querypool.h>

namespace telltale::views {
class ViewState;
}

namespace telltale::shell {

class RunDriver;
class Toaster;

/// Fills the log: what happened to the run that is shown, page by page as it grows, every message that was a toast
/// (those of a run in its log alone), every refused connection once. Thread: gui; pages come from the query pool.
class LogFeed : public QObject {
    Q_OBJECT
public:
    LogFeed(store::QueryPool* queries, views::ViewState* state, RunDriver* driver, Toaster* toaster, QObject* parent);
    ~LogFeed() override;

    items::LogModel* model() { return &m_model; }
    void readOn(); ///< what the log of the run has since

private:
    void takeConnections();

    store::QueryPool* m_queries;
    store::QueryPool::ViewId m_queryId;
    store::LogCursor m_cursor;
    bool m_grewMeanwhile = false;
    views::ViewState* m_state;
    RunDriver* m_driver;
    items::LogModel m_model;
    std::map<std::string, std::vector<items::LogModel::Entry>> m_said; ///< of each run by its id, by this window
    std::map<std::string, std::string> m_refused; ///< last reason by agent and peer
};

}
