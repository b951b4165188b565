// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <telltale/judge/rulesinforce.h>
#include <telltale/judge/runjudge.h>
#include <telltale/store/storefeed.h>
#include <telltale/store/storeservice.h>

namespace telltale::judge {

/// Judges what the store records, as soon as it is durable, and writes incidents into the runs' logs: by the rules of
/// the run's log, or by those of the data directory, as they are at the time. Other rules count from the step on at
/// which they come; what they would have found before is not written. Thread: its subscription's; however long it
/// takes, the store does not wait, and what was missed meanwhile is read at once.
class LiveJudge : public store::StoreSubscriber {
public:
    /// `say`: what is wrong with rules that somebody wrote, on any thread.
    explicit LiveJudge(store::StoreService& store, std::function<void(const std::string&)> say = {});
    ~LiveJudge() override;

    /// Judges what the store has been given so far and writes what it finds, for `atMost` at most; then it is called
    /// no more. What was left is said by the run's log to be not judged. For who stops the store afterwards.
    void finish(std::chrono::milliseconds atMost);
    void onDurable(const store::Durable& durable) override;
    void onRuns(const std::vector<store::RunRef>& live) override;

private:
    using Clock = std::chrono::steady_clock;
    struct Run;

    bool isLive(const Run& run) const;
    Expected<void> follow(Run& run, const store::Durable& durable);
    void readDefault();
    void takeRules(Run& run);
    void write(Run& run, bool isLast);
    /// Of an incident that has become part of another: whether its record can say so now.
    static bool fold(const Run& run, IncidentDesk::Case& one);
    void endLeft(Run& run);
    void writeJudged(Run& run, bool isLast);

    store::StoreService& m_store;
    const std::function<void(const std::string&)> m_say;
    DefaultRules m_default;
    Clock::time_point m_defaultRead;
    std::vector<store::RunRef> m_live;
    std::map<std::string, std::unique_ptr<Run>> m_runs; ///< by locator: live ones, and those with more to say
    const series::CancelToken m_cancel = std::make_shared<std::atomic<bool>>(false); ///< when there is no more time
    std::unique_ptr<store::Subscription> m_subscription; ///< last: it calls the rest
};

}
