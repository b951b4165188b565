// SPDX-License-Identifier: GPL-3.0-or-later
#include "replayqueue.h"

#include <algorithm>
#include <utility>

#include <telltale/items/guithread.h>
#include <telltale/items/saidwords.h>

namespace telltale::views {

ReplayQueue::ReplayQueue(store::QueryPool* queries, std::string dataDir, QObject* parent)
    : QObject(parent)
    , m_queries(queries)
    , m_view(queries != nullptr ? queries->newView() : 0)
    , m_dataDir(std::move(dataDir))
{
}

ReplayQueue::~ReplayQueue()
{
    if (m_queries != nullptr)
        m_queries->cancel(m_view);
}

void ReplayQueue::start(const std::vector<store::RunRef>& runs, const std::optional<judge::Rules>& rules)
{
    std::deque<Task> tasks;
    for (const store::RunRef& run : runs)
        tasks.push_back({ run, rules, -1 });
    m_trials.clear();
    begin(std::move(tasks));
}

void ReplayQueue::suggest(
    const std::vector<store::RunRef>& runs, const judge::Rules& rules, judge::Rule rule, std::size_t parameter)
{
    m_rule = rule;
    m_parameter = parameter;
    m_now = rules.value(rule, parameter);
    m_trials.clear();
    std::deque<Task> tasks;
    for (const double value : lab::valuesToTry(judge::infoOf(rule).parameters[parameter], m_now))
        m_trials.push_back({ value, 0, 0, 0 });
    for (const store::RunRef& run : runs) {
        for (std::size_t trial = 0; trial < m_trials.size(); ++trial) {
            judge::Rules tried = rules;
            tried.setOn(rule, true);
            tried.setValue(rule, parameter, m_trials[trial].value);
            tasks.push_back({ run, tried, static_cast<int>(trial) });
        }
    }
    begin(std::move(tasks));
}

void ReplayQueue::begin(std::deque<Task> tasks)
{
    items::assertGuiThread();
    if (m_queries == nullptr)
        return;
    m_queries->cancel(m_view);
    m_tasks = std::move(tasks);
    m_done = 0;
    m_isBusy = true;
    next();
}

std::shared_ptr<lab::LabRun> ReplayQueue::labRunOf(const std::string& id)
{
    auto known = std::find_if(m_known.begin(), m_known.end(), [&](const Known& one) { return one.id == id; });
    if (known == m_known.end())
        known = m_known.insert(m_known.end(), { id, std::make_shared<lab::LabRun>() });
    std::rotate(known, known + 1, m_known.end());
    std::size_t bytes = lab::RunMemory::kMostBytes;
    for (const Known& one : m_known)
        bytes += one.run->bytes();
    while (bytes > kMostBytes && m_known.size() > 1) {
        bytes -= m_known.front().run->bytes();
        m_known.pop_front();
    }
    return m_known.back().run;
}

void ReplayQueue::next()
{
    if (m_tasks.empty()) {
        m_isBusy = false;
        if (!m_trials.empty())
            Q_EMIT suggested(m_rule, m_parameter, lab::suggest(m_trials, m_now));
        m_trials.clear();
        Q_EMIT finished();
        return;
    }
    const Task task = std::move(m_tasks.front());
    m_tasks.pop_front();
    m_queries->submit(m_view, task.run,
        [this, task, run = labRunOf(task.run->id), dataDir = m_dataDir](
            Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
            auto result = reader ? run->replay(**reader, dataDir, task.rules ? &*task.rules : nullptr, cancel)
                                 : Expected<lab::LabRun::Result>(tl::unexpected(reader.error()));
            auto shared = std::make_shared<Expected<lab::LabRun::Result>>(std::move(result));
            return [this, task, shared] { take(task, std::move(*shared)); };
        });
}

void ReplayQueue::take(const Task& task, Expected<lab::LabRun::Result> result)
{
    const QString id = QString::fromStdString(task.run->id);
    ++m_done;
    if (!result) {
        Q_EMIT failed(id, items::saidwords::of(result.error()));
    } else if (task.trial >= 0) {
        const lab::Score& score = result->comparison.all;
        lab::Trial& trial = m_trials[static_cast<std::size_t>(task.trial)];
        trial.hits += score.hits;
        trial.missed += score.missed;
        trial.falseAlarms += score.falseAlarms;
        Q_EMIT tried(m_done, m_done + static_cast<int>(m_tasks.size()));
    } else {
        Q_EMIT replayed(id, std::make_shared<const lab::LabRun::Result>(std::move(*result)));
    }
    next();
}

}
