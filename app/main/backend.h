// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include <QObject>

#include <telltale/core/expected.h>
#include <telltale/judge/incidentfeed.h>
#include <telltale/judge/livejudge.h>
#include <telltale/notify/alertservice.h>
#include <telltale/server/captureserver.h>
#include <telltale/store/querypool.h>
#include <telltale/store/storeservice.h>

#include "escalations.h"
#include "memoryreturn.h"

namespace telltale::app {

/// Where capture, store and views meet: owns the store thread, the capture thread and the query pool, and ends them in
/// the order that loses nothing (stop accepting, drain, flush, cancel queries). Thread: main.
class Backend : public QObject {
    Q_OBJECT
public:
    struct Options {
        std::string dataDir;
        std::string listen; ///< "ADDR:PORT", empty = 127.0.0.1 and the port used last
        bool keepsPort = true; ///< agents find the next server at the same port
    };

    /// Fails only when neither recording nor reading is possible.
    static Expected<std::unique_ptr<Backend>> start(const Options& options);
    ~Backend() override;

    /// Another program holds the data directory or the port, and may let go of it: what is missing can be had then.
    bool isWaiting() const { return m_server == nullptr && m_problem.code == ErrorCode::Busy; }
    /// Takes over what the other one has let go of, and returns whether anything came of it: a store, a server,
    /// or another problem. Cheap while nothing has.
    bool retry();

    /// Null when another program records into the data directory: runs are followed read-only then.
    store::StoreService* store() const { return m_store.get(); }
    /// Null when not listening; captureProblem says why.
    server::CaptureServer* server() const { return m_server.get(); }
    store::QueryPool& queries() { return m_queries; }
    /// Never null. Also without a store, for the settings.
    notify::AlertService* alerts() const { return m_alerts.get(); }
    const std::string& dataDir() const { return m_options.dataDir; }
    const Error& captureProblem() const { return m_problem; }

    /// Stops capture and store and waits until everything durable is written. Idempotent.
    void stopRecording();

private:
    explicit Backend(const Options& options);
    /// Both leave what they could not do in m_problem.
    void startStore();
    void startServer();

    const Options m_options;
    Error m_problem;
    const MemoryReturn m_memoryReturn;
    store::QueryPool m_queries; ///< its consumer sets the wake
    std::unique_ptr<store::StoreService> m_store;
    std::unique_ptr<judge::LiveJudge> m_judge;
    std::unique_ptr<notify::AlertService> m_alerts;
    std::unique_ptr<server::CaptureServer> m_server;
    std::unique_ptr<Escalations> m_escalations; ///< asks the server
    std::unique_ptr<judge::IncidentFeed> m_incidents; ///< asks both
};

}
