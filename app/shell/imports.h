// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QObject>
#include <QString>
#include <QStringList>

#include "appcontext.h"

class QTimer;

namespace telltale::shell {

class JobThread;
class RunDriver;
class Toaster;

/// What somebody drops on the window or chooses to import: runs of Telltale open where they are, what another tool
/// recorded becomes a run here, one after the other on a thread of its own. Thread: gui.
class Imports : public QObject {
    Q_OBJECT
public:
    Imports(const AppContext& context, RunDriver* driver, Toaster* toaster, QObject* parent);
    ~Imports() override; ///< ends what is under way, which leaves nothing

    void take(const QStringList& paths);
    bool isBusy() const { return m_waiting > 0; }
    /// Ends what is under way and what waits.
    void cancel();

Q_SIGNALS:
    /// "Importing runs/out 43 %", a few times a second; empty at the end.
    void progress(const QString& sentence);

private:
    struct Shared;
    void import(const QString& path);
    void finish(const QString& path, const Expected<store::ImportedRun>& imported);
    void tell();

    const AppContext& m_context;
    RunDriver* m_driver;
    Toaster* m_toaster;
    QTimer* m_timer;
    int m_waiting = 0;
    std::shared_ptr<Shared> m_shared;
    std::unique_ptr<JobThread> m_jobs; ///< last: it ends before what its work touches
};

}
