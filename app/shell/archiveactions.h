// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <QObject>
#include <QStringList>

#include <telltale/store/archive.h>

namespace telltale::store {
class QueryPool;
}

namespace telltale::shell {

class JobThread;
class RunActions;
class RunDriver;
class Toaster;

/// What keeps an archive in order: folders, pins and the trash. Works on the job thread and says what came of it; what
/// is refused is a sentence for each run, and the others are done. Thread: gui.
class ArchiveActions : public QObject {
    Q_OBJECT
public:
    ArchiveActions(RunDriver* driver, JobThread* jobs, store::QueryPool* queries, Toaster* toaster,
        RunActions* questions, std::string dataDir, QWidget* window);

    void askFolder(const QStringList& ids); ///< a dialog
    /// What of them is open here is closed meanwhile, and shown again from where it is then.
    void moveTo(const QStringList& ids, const QString& folder);
    bool isAny(const QStringList& ids, bool isPinned) const; ///< of them that is pinned, or is not
    void setPinned(const QStringList& ids, bool on);
    void showTrash(); ///< a dialog

private:
    struct Carry {
        store::RunLocator run;
        std::string from; ///< folders
        std::string to;
        QString name;
    };
    const store::RunSummary* find(const QString& id) const;
    /// Those that can be moved; of the others it is said why not.
    QStringList movable(const QStringList& ids) const;
    void carry(std::vector<Carry> carries, bool isUndoing);
    void tellMoved(const std::vector<Carry>& moved, bool isUndoing);
    void refuse(const QString& sentence) const;

    RunDriver* m_driver;
    JobThread* m_jobs;
    store::QueryPool* m_queries;
    Toaster* m_toaster;
    RunActions* m_questions;
    const std::string m_dataDir;
    QWidget* m_window;
};

}
