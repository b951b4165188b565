// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <QString>
#include <QStringList>

#include <telltale/core/connectioninfo.h>
#include <telltale/core/expected.h>
#include <telltale/core/steering.h>
#include <telltale/store/archive.h>

namespace telltale::store {
class QueryPool;
class StoreService;
}

namespace telltale::notify {
class AlertService;
}

namespace telltale::shell {

/// What the window needs of the rest of the program, as plain pointers and calls, so that the shell knows no capture.
/// The pointees outlive the window. Thread: gui; the calls return at once, but for importFile.
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
    /// Makes a run of the data directory of what another tool recorded; null: nothing can be imported. `goesOn` is told
    /// the share that is done, and ends it by false. Thread: any; blocks.
    std::function<Expected<store::ImportedRun>(const std::string& path, const std::function<bool(double)>& goesOn)>
        importFile = {};
    notify::AlertService* alerts = nullptr; ///< null: nobody can be told of incidents
    bool isWaiting = false; ///< what captureProblem names may end, and then this program records
};

}
