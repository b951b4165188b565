// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QJsonObject>
#include <QObject>
#include <QString>

#include <telltale/core/expected.h>

class QProcess;

namespace telltale::app {

/// What the demo trains.
struct DemoOptions {
    int ranks = 1;
    int steps = 2000;
    QString fault; ///< "nan@120:layers.2.mlp.fc1", empty = none
    bool isPython = false; ///< the PyTorch trainer of the telltale package, not the C++ one
    QString join; ///< empty = train without an agent
};

/// The demo's training processes, one a rank. Their closing JSON lines are collected; their progress goes to standard
/// error. Thread: main.
class DemoRun : public QObject {
    Q_OBJECT
public:
    explicit DemoRun(DemoOptions options, QObject* parent = nullptr);
    ~DemoRun() override; ///< ends what still trains (SIGTERM, then SIGKILL)

    Expected<void> start();
    bool isRunning() const { return m_running > 0; }
    /// One summary a rank that ended well: steps, produced, acked, dropped, step_ms_p50, ...
    const std::vector<QJsonObject>& summaries() const { return m_summaries; }
    /// The first failure as one sentence, empty when all went well.
    QString problem() const { return m_problem; }

Q_SIGNALS:
    void finished();

private:
    void onFinished(QProcess* process, int rank, int exitCode);

    DemoOptions m_options;
    std::vector<std::unique_ptr<QProcess>> m_processes;
    std::vector<QJsonObject> m_summaries;
    QString m_problem;
    int m_running = 0;
};

}
