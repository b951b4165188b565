// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <QString>
#include <QStringList>

#include <telltale/core/connectioninfo.h>
#include <telltale/core/steering.h>

namespace telltale::store {
class QueryPool;
class StoreService;
}

namespace telltale::notify {
class AlertService;
}

namespace telltale::shell {

/// What the window needs of the rest of the program, as plain pointers and calls, so that the shell knows no capture.
/// The pointees outlive the window. Thread: gui; the calls return at once.
struct AppContext {
    store::StoreService* store = nullptr; ///< null while another desktop holds the data directory
    store::QueryPool* queries = nullptr; ///< never null
    std::string dataDir;
    std::function<std::vector<ConnectionInfo>()> connections;
    std::function<QString()> joinString;
    QString captureProblem; ///< one sentence when nothing listens, else empty
    std::function<void(QStringList faults)> runDemo; ///< starts the demo trainer, with the fault if one is named
    std::function<std::vector<RunSteering>()> steering = {}; ///< of the runs that are recorded here; empty: none is
    std::function<void(const ConfigRequest&)> offerConfig = {};
    notify::AlertService* alerts = nullptr; ///< null: nobody can be told of incidents
};

}
