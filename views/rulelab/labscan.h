// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <QObject>

#include <telltale/judge/rulesinforce.h>
#include <telltale/lab/truth.h>
#include <telltale/store/querypool.h>

namespace telltale::views {

/// Reads of runs what people said of them, and which rules are in force, one run after the other. Thread: gui.
class LabScan : public QObject {
    Q_OBJECT
public:
    struct Found {
        lab::Truth truth;
        judge::RulesInForce rules;
    };

    LabScan(store::QueryPool* queries, std::string dataDir, QObject* parent = nullptr);
    ~LabScan() override;

    /// Reads these, before those that wait; one that waits already waits no longer.
    void read(const std::vector<store::RunRef>& runs);
    bool isBusy() const { return m_isBusy; }

Q_SIGNALS:
    void found(const QString& run, const std::shared_ptr<const telltale::views::LabScan::Found>& what);
    void finished();

private:
    void next();

    store::QueryPool* m_queries;
    const store::QueryPool::ViewId m_view;
    const std::string m_dataDir;
    std::deque<store::RunRef> m_waiting;
    bool m_isBusy = false;
};

}
