// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include <QObject>
#include <QString>
#include <QTimer>

#include <telltale/judge/comparisonreport.h>
#include <telltale/store/querypool.h>

namespace telltale::views {

/// Holds one run against another, value by value, as `telltale compare` does, and collects what else differs between
/// all compared runs. Reads every value once, behind the views' questions; tells how far it is and can be stopped.
/// Thread: gui; the reading is a query's.
class Conformance : public QObject {
    Q_OBJECT
public:
    explicit Conformance(store::QueryPool* queries, QObject* parent = nullptr);
    ~Conformance() override;

    /// What `wish` says of runs[against] against runs[0]; facts of all, unless it is of one kind. Nothing is found
    /// until it is done.
    void ask(std::vector<store::RunRef> runs, std::size_t against, judge::ComparisonWish wish);
    /// The same, unless that is what was asked last.
    void askOnce(std::vector<store::RunRef> runs, std::size_t against, judge::ComparisonWish wish);
    /// Live runs: the steps that came since. Nothing while it is busy or was never asked.
    void askMore();
    void stop(); ///< what was found before stays
    void clear();

    bool hasLive() const; ///< one of the runs is still recorded
    bool isBusy() const { return m_isBusy; }
    bool isStopped() const { return m_isStopped; }
    double share() const { return m_share->load(std::memory_order_relaxed); } ///< that is done, 0..1
    const std::optional<judge::Comparison>& found() const { return m_found; }
    const std::vector<judge::DifferingFact>& facts() const { return m_facts; }
    const QString& problem() const { return m_problem; }

Q_SIGNALS:
    void changed();

private:
    struct Answer;
    void forget();
    void submit(bool isMore);
    void take(const Answer& answer, bool isMore);

    store::QueryPool* m_queries;
    store::QueryPool::ViewId m_id;
    std::vector<store::RunRef> m_runs;
    std::size_t m_against = 1;
    judge::ComparisonWish m_wish;
    std::optional<judge::Comparison> m_found;
    std::vector<judge::DifferingFact> m_facts;
    QString m_problem;
    std::shared_ptr<std::atomic<double>> m_share = std::make_shared<std::atomic<double>>(0);
    QTimer m_progress;
    bool m_isBusy = false;
    bool m_isStopped = false;
};

}
