// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <telltale/core/steering.h>
#include <telltale/judge/incident.h>
#include <telltale/judge/rulesinforce.h>
#include <telltale/store/confighistory.h>
#include <telltale/store/runreader.h>
#include <telltale/store/storefeed.h>
#include <telltale/store/storeservice.h>

namespace telltale::app {

/// Gives the ranks around an incident the config that its rule asks for, for so many steps, and then what they had
/// before: as revisions of the run's config, by "rule NAME". What a person pushes comes first: nothing is given while
/// that is on its way, and after it there is no way back. How a run stands follows from its log alone, so that a server
/// that was started again goes on. Thread: its subscription's; onOpened any.
class Escalations final : public store::StoreSubscriber {
public:
    using Answer = std::function<void(const Expected<RunSteering>&)>;
    /// As the capture server does; the answer may come on any thread.
    using Push = std::function<void(ConfigRequest, Answer)>;
    using Steering = std::function<std::vector<RunSteering>()>;

    Escalations(store::StoreService& store, std::string dataDir, Push push, Steering steering,
        std::function<void(const std::string&)> say);
    ~Escalations() override;

    /// Something is done about it with a commit of the run's: the next, or a later one where until then nothing is
    /// known of its ranks' configs or another one is on its way to them.
    void onOpened(const store::RunRef& run, const judge::Incident& incident);
    void onDurable(const store::Durable& durable) override;
    void onRuns(const std::vector<store::RunRef>& live) override;

    /// The revision of a rule that is in force in a run: nothing where the newest is a person's, or a rule's way back.
    static const store::ConfigRevision* inForce(const store::ConfigHistory& history);
    /// How often a rule has given something in a run.
    static std::int64_t timesOf(const store::ConfigHistory& history, std::string_view rule);
    /// What its ranks ran before.
    static std::optional<std::string> before(const store::ConfigRevision& revision);

private:
    struct Run {
        store::RunRef ref;
        std::unique_ptr<store::RunReader> reader;
        store::ConfigHistory history;
        Step last { -1 };
        bool isBehind = true; ///< the log has more than the history
    };
    struct Opened {
        store::RunRef run;
        judge::Incident incident;
        std::chrono::steady_clock::time_point at; ///< when it was found
        std::optional<Step> since; ///< how far the run was when it was looked at first
    };
    /// What other threads tell.
    struct Told {
        std::mutex mutex;
        std::vector<Opened> opened;
        std::set<std::string> busy; ///< runs, by locator, in which what was pushed has no answer yet
    };
    bool isBusy(const Run& run) const;
    /// False where it must be tried again with a later commit.
    bool escalate(Run& run, const Opened& opened);
    void goBack(Run& run);
    /// What it is for is told again where the answer is to try again.
    void push(Run& run, ConfigRequest request, std::optional<Opened> what);

    const std::string m_dataDir;
    const Push m_push;
    const Steering m_steering;
    const std::function<void(const std::string&)> m_say;
    const std::shared_ptr<Told> m_told = std::make_shared<Told>(); ///< answers may come when this object is gone
    std::map<std::string, Run> m_runs; ///< by locator
    std::unique_ptr<store::Subscription> m_subscription; ///< last: it calls the rest
};

}
