// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QObject>

#include <telltale/lab/replay.h>
#include <telltale/lab/suggestion.h>
#include <telltale/store/querypool.h>

namespace telltale::views {

/// Replays runs by rules in the query pool, one after the other on one of its threads, so that views go on being
/// answered. What is started later ends what is under way. Keeps what was read of the newest runs. Thread: gui.
class ReplayQueue : public QObject {
    Q_OBJECT
public:
    using Result = std::shared_ptr<const lab::LabRun::Result>;

    ReplayQueue(store::QueryPool* queries, std::string dataDir, QObject* parent = nullptr);
    ~ReplayQueue() override;

    /// Each run by `rules`, without any by those in force.
    void start(const std::vector<store::RunRef>& runs, const std::optional<judge::Rules>& rules);
    /// All runs by `rules`, with one parameter at one value after the other.
    void suggest(
        const std::vector<store::RunRef>& runs, const judge::Rules& rules, judge::Rule rule, std::size_t parameter);
    bool isBusy() const { return m_isBusy; }

Q_SIGNALS:
    void replayed(const QString& run, const telltale::views::ReplayQueue::Result& result);
    void failed(const QString& run, const QString& sentence);
    void tried(int done, int all);
    /// Nothing where there is nothing to separate.
    void suggested(
        telltale::judge::Rule rule, std::size_t parameter, const std::optional<telltale::lab::Suggestion>& found);
    void finished();

private:
    static constexpr std::size_t kMostBytes = 384u
        << 20; ///< of all runs; one alone may hold lab::RunMemory::kMostBytes

    struct Task {
        store::RunRef run;
        std::optional<judge::Rules> rules;
        int trial = -1; ///< in m_trials
    };
    struct Known {
        std::string id;
        std::shared_ptr<lab::LabRun> run;
    };

    void begin(std::deque<Task> tasks);
    void next();
    void take(const Task& task, Expected<lab::LabRun::Result> result);
    std::shared_ptr<lab::LabRun> labRunOf(const std::string& id);

    store::QueryPool* m_queries;
    const store::QueryPool::ViewId m_view;
    const std::string m_dataDir;
    std::deque<Known> m_known; ///< the newest last
    std::deque<Task> m_tasks;
    std::vector<lab::Trial> m_trials;
    int m_done = 0;
    judge::Rule m_rule = judge::Rule::NonFinite; ///< of the trials
    std::size_t m_parameter = 0;
    double m_now = 0;
    bool m_isBusy = false;
};

}
