// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <telltale/store/archive.h>

namespace telltale::shell {

class JobThread;
class RunDriver;
class Toaster;

/// Rename, delete and copy of archived runs: asks where asking is due, works on the job thread, says what came of it.
/// Thread: gui.
class RunActions : public QObject {
    Q_OBJECT
public:
    RunActions(RunDriver* driver, JobThread* jobs, Toaster* toaster, QWidget* window);

    void open(); ///< a file dialog
    void rename(const QString& id);
    void remove(const QString& id); ///< after a confirmation
    void exportCopy(const QString& id);

private:
    const store::RunSummary* find(const QString& id) const;
    void finish(const Expected<void>& result, const QString& done);

    RunDriver* m_driver;
    JobThread* m_jobs;
    Toaster* m_toaster;
    QWidget* m_window;
};

}
