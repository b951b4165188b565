// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <QString>

#include <telltale/core/connectioninfo.h>
#include <telltale/core/expected.h>
#include <telltale/core/steering.h>
#include <telltale/ingest/batchsink.h>
#include <telltale/server/serverlimits.h>
#include <telltale/store/storeservice.h>

namespace telltale::server {

struct ServerOptions {
    /// "ADDR:PORT" or "[ADDR]:PORT"; port 0 picks a free one. Empty: 127.0.0.1 and the port that this data directory
    /// used last (47800 at first). Anything but loopback speaks TLS.
    std::string listen;
    std::string dataDir; ///< token, port, key and certificate are kept in its folder "server"
    bool keepsPort = true; ///< the next start listens there too
    /// Takes one finished line without a newline, on the capture thread. Empty: nobody hears it.
    std::function<void(const std::string&)> log;
    ServerLimits limits;
};

using SteeringAnswer = std::function<void(const Expected<RunSteering>&)>;

/// The endpoint that agents stream to: starts and ends the capture thread, which owns every socket. Thread: its owner's
/// for start, stop and destruction; the const functions from any thread.
class CaptureServer {
public:
    /// Listening when it returns. Errors: Busy (somebody holds the port; the sentence names who), BadInput (address),
    /// Denied, Io. The store must outlive the server and hands its events to this server alone. While it runs, the
    /// file store::controlFile() says how programs of this user may ask it for something.
    static Expected<std::unique_ptr<CaptureServer>> start(ServerOptions options, store::StoreService& store);
    /// The same over any sink; nobody has the control role where there is no store.
    static Expected<std::unique_ptr<CaptureServer>> start(
        ServerOptions options, std::unique_ptr<ingest::BatchSink> sink, store::StoreService* store = nullptr);
    ~CaptureServer(); ///< stop()

    /// What the user gives to the training job: telltale://HOST:PORT#token=...[&fp=...].
    QString joinString() const;
    std::uint16_t port() const;
    /// Every agent seen since start, connected ones first. At most half a second old.
    std::vector<ConnectionInfo> connections() const;

    /// Offers a config to ranks of a run. `answer` is called once, on the capture thread, with how the run then stands
    /// or with the one sentence that says why not (all errors of the config, a run that is not known, ...); not at all
    /// when the server ends first.
    void offerConfig(ConfigRequest request, SteeringAnswer answer = {});
    /// Has the agents of a run send what their flight recorders keep; those that have none do nothing. why: a sentence
    /// for the run's log. Thread: any.
    void askRecorders(store::RunLocator run, std::string why);
    /// A line on the console of a run's training: of the lowest rank that is connected and knows how. Thread: any.
    void notify(store::RunLocator run, std::string text);
    /// How the runs stand with their configs that have had an agent since start. At most a tenth of a second old.
    std::vector<RunSteering> steering() const;
    /// Called on the capture thread when steering() says something else; must only wake. Empty: nobody is.
    void setSteeringWake(std::function<void()> wake);

    /// Stops accepting, tells the agents Bye(restarting), acks what the store still commits within limits.drain, closes
    /// every socket and ends the thread. Idempotent.
    void stop();

private:
    struct State;
    explicit CaptureServer(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

}
