// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <telltale/agent/blockinglink.h>
#include <telltale/core/expected.h>
#include <telltale/core/steering.h>
#include <telltale/core/threadhome.h>
#include <telltale/protocol/joinstring.h>
#include <telltale/protocol/messages.h>
#include <telltale/store/archive.h>

namespace telltale::client {

/// How a program of this machine asks the server that has a data directory. NotFound where none says so.
Expected<protocol::JoinString> controlJoin(const std::string& dataDir);

/// Asks a running server, here or elsewhere, to do something with the runs that it has. Thread: owned by one; every
/// question blocks until it is answered.
class ControlClient {
public:
    static Expected<std::unique_ptr<ControlClient>> connect(const protocol::JoinString& join);
    ~ControlClient();

    /// Brings a run's file into the server's data directory, with what is still in its log.
    Expected<store::ImportedRun> importRun(const std::string& path);
    /// The run that has the stream, with no path and no id when none does.
    Expected<store::ImportedRun> findStream(const protocol::Hello& stream);
    /// How a run stands with a revision of its config, 0 = the newest; of what ranks run only `rank` says it, -1 = the
    /// first that has said so.
    Expected<RunSteering> askConfig(const std::string& run, std::uint64_t rev = 0, Rank rank = Rank { -1 });
    /// Offers a config to ranks of a run; how that then stands.
    Expected<RunSteering> pushConfig(const ConfigRequest& request);
    /// Writes a note into a run's log, or what becomes of one; done once it is durable.
    Expected<void> writeNote(const protocol::NoteWrite& note);
    /// How to come as the agent of a stream that was asked for.
    protocol::JoinString agentJoin() const;

private:
    explicit ControlClient(protocol::JoinString join)
        : m_link(std::move(join))
    {
    }
    /// What the server says next that is no heartbeat. Says in between that we are still here.
    Expected<protocol::Message> hear();
    /// onTaken: told meanwhile how many bytes of a run the server has taken; an error of it is the answer.
    Expected<store::ImportedRun> hearReply(const std::function<Expected<void>(std::uint64_t bytes)>& onTaken = {});
    Expected<RunSteering> hearSteering();
    Expected<store::ImportedRun> takeReply(protocol::ControlReply reply);
    Expected<store::ImportedRun> upload(const std::string& path, const std::string& fileName);

    agent::BlockingLink m_link;
    std::string m_agentToken;
    ThreadHome m_home;
};

}
