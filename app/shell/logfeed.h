// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>

#include <QObject>

#include <telltale/items/logmodel.h>

namespace telltale::views {
class ViewState;
}

namespace telltale::shell {

class RunDriver;
class Toaster;

/// Fills the log: the events of the run that is shown, every message that was a toast, every refused connection once.
/// Thread: gui.
class LogFeed : public QObject {
    Q_OBJECT
public:
    LogFeed(views::ViewState* state, RunDriver* driver, Toaster* toaster, QObject* parent);

    items::LogModel* model() { return &m_model; }

private:
    void takeConnections();

    views::ViewState* m_state;
    RunDriver* m_driver;
    items::LogModel m_model;
    std::map<std::string, std::string> m_refused; ///< last reason by agent and peer
};

}
